"""The values everything speaks in: frozen, version-neutral, ignorant of LSP, ACP and JSON.

Kinds that agents may extend (tool kinds, option kinds, block kinds) are plain strings, so that a
value nobody has seen yet is carried, shown and never dropped.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NewType

from msgspec import UNSET, Struct, UnsetType, field

SessionId = NewType("SessionId", str)
"""Ours: unique over all agents and servers."""
AgentSessionId = NewType("AgentSessionId", str)
"""The agent's own name for a session: unique within one agent only."""
EntryId = NewType("EntryId", str)
AskId = NewType("AskId", str)
QuestionId = NewType("QuestionId", str)
ToolCallId = NewType("ToolCallId", str)
TerminalId = NewType("TerminalId", str)


class State(StrEnum):
    """What a session is doing, as a person would say it."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING_FOR_YOU = "waiting_for_you"
    WAITING_FOR_AGENT = "waiting_for_agent"
    FAILED = "failed"
    CLOSED = "closed"


class Role(StrEnum):
    """Who a text comes from."""

    USER = "user"
    AGENT = "agent"
    THOUGHT = "thought"


class Level(StrEnum):
    """How bad a notice is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Block(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of a message: text, image, audio, link, resource, or what comes after those."""

    kind: str
    text: str = ""
    uri: str = ""
    name: str = ""
    mime: str = ""
    data: str = ""
    """Base64, of images, audio and binary resources."""
    raw: dict[str, Any] | None = None
    """The whole block as it came, when its kind is unknown to us."""


class Diff(Struct, frozen=True):
    """What a tool did or wants to do to one file. `old` is None when the file is new."""

    path: str
    old: str | None
    new: str


class TerminalRef(Struct, frozen=True):
    """A terminal whose output belongs here."""

    terminal: TerminalId


ToolContent = Block | Diff | TerminalRef


class Location(Struct, frozen=True):
    """A place in a file that a tool call touches. `line` counts from 1."""

    path: str
    line: int | None = None


OPEN_STATUSES = frozenset({"pending", "in_progress"})
"""A tool call with one of these is still going on; with any other it is over."""


class ToolCallPatch(Struct, frozen=True, kw_only=True):
    """What an agent said about a tool call. Fields it did not mention are UNSET."""

    id: ToolCallId
    title: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    content: tuple[ToolContent, ...] | UnsetType = UNSET
    locations: tuple[Location, ...] | UnsetType = UNSET
    input: Any = UNSET
    output: Any = UNSET


class PlanStep(Struct, frozen=True):
    """One line of an agent's plan."""

    text: str
    status: str = "pending"
    priority: str = "medium"


class Option(Struct, frozen=True):
    """One of the answers an agent offers with an ask."""

    id: str
    name: str
    kind: str
    """allow_once, allow_always, reject_once, reject_always, or something we do not know."""


class Always(Struct, frozen=True):
    """A rule on offer that would allow the same from now on."""

    id: str
    label: str


class Decision(Struct, frozen=True, kw_only=True):
    """How an ask ended. No option means: cancelled, nothing was allowed."""

    option: Option | None
    by: str
    """Who or what decided: "you", a rule, "time-out", "turn cancelled", "agent gone"…"""
    remembered: str = ""
    """The rule that was made of it."""

    @property
    def allows(self) -> bool:
        return self.option is not None and self.option.kind in {"allow_once", "allow_always"}


class Reply(Struct, frozen=True, kw_only=True):
    """How a question ended. No text means: nobody answered."""

    text: str | None
    by: str
    """Who answered, or why nobody did: "you", the name of an agent, "time-out"…"""


class Mode(Struct, frozen=True):
    """A way of working an agent offers, e.g. "plan" or "accept edits"."""

    id: str
    name: str
    description: str = ""


class Choice(Struct, frozen=True):
    """One value of a setting that an agent offers."""

    value: str
    name: str
    description: str = ""
    group: str = ""


class AgentOption(Struct, frozen=True, kw_only=True):
    """A setting that an agent offers for a session: its model, its thinking level, a switch…"""

    id: str
    name: str
    kind: str
    value: str | bool
    category: str = ""
    description: str = ""
    choices: tuple[Choice, ...] = ()


class SlashCommand(Struct, frozen=True):
    """A command the agent understands when a prompt begins with a slash and its name."""

    name: str
    description: str = ""
    hint: str = ""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens and money, as far as the agent tells."""

    context_used: int | None = None
    context_size: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    currency: str = ""
    earlier: float = 0.0
    """The part of the cost that was told by earlier processes of the agent."""


class Prompt(Struct, frozen=True):
    """What a person (or another agent) says to a session."""

    blocks: tuple[Block, ...]
    sender: str = ""
    """The agent that says it; empty for a person."""

    @property
    def text(self) -> str:
        return "\n".join(b.text for b in self.blocks if b.kind == "text")


class Abilities(Struct, frozen=True, kw_only=True):
    """What an agent says it can do beyond holding a conversation."""

    load: bool = False
    resume: bool = False
    fork: bool = False
    list: bool = False
    close: bool = False
    delete: bool = False
    images: bool = False
    audio: bool = False
    embedded: bool = False
    mcp_http: bool = False
    mcp_sse: bool = False
    directories: bool = False
    """It can work in more folders than one."""


class AuthMethod(Struct, frozen=True, kw_only=True):
    """A way to log in that an agent offers."""

    id: str
    name: str
    description: str = ""
    kind: str = "agent"
    """agent: it does all by itself; terminal: a program to run; env_var: variables to set."""
    command: tuple[str, ...] = ()
    """What to run in a terminal."""
    env: dict[str, str] = field(default_factory=dict)
    """What to set for that."""
    foreign: bool = False
    """The agent itself has chosen the program to run: a person must see it first."""
    variables: tuple[str, ...] = ()
    link: str = ""
    """Where to get what the variables want."""


class AgentInfo(Struct, frozen=True, kw_only=True):
    """Who answered the handshake."""

    name: str
    """The name in our catalog."""
    title: str
    version: str = ""
    abilities: Abilities = Abilities()
    auth_methods: tuple[AuthMethod, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    """What is set for its process, and for a program that logs in to it."""
    pid: int = 0


class KnownAgent(Struct, frozen=True, kw_only=True):
    """An agent of the catalog, running or not, installed or not."""

    name: str
    title: str
    installed: bool
    install: str = ""
    """How to install it."""
    source: str = ""
    running: bool = False
    version: str = ""


class SessionSetup(Struct, frozen=True, kw_only=True):
    """What an agent says about a session when it is opened."""

    id: AgentSessionId
    modes: tuple[Mode, ...] = ()
    mode: str = ""
    options: tuple[AgentOption, ...] = ()


class PastSession(Struct, frozen=True, kw_only=True):
    """A session that an agent remembers."""

    id: AgentSessionId
    cwd: str
    title: str = ""
    updated: str = ""
