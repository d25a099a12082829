"""Everything that can happen in a session, as one closed union.

Agents' messages of any protocol version, our own doings and the end of a turn all become one of
these, and nothing else ever changes a transcript.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from .model import (
    AgentOption,
    Always,
    AskId,
    Block,
    Decision,
    Level,
    Mode,
    Option,
    PlanStep,
    Prompt,
    QuestionId,
    Reply,
    Role,
    SlashCommand,
    State,
    TerminalId,
    ToolCallId,
    ToolCallPatch,
    Usage,
)


class _Event(Struct, frozen=True, tag_field="event", omit_defaults=True):
    """Base of the union; the tag is what `--json` and recordings of events print."""


class TextAdded(_Event, frozen=True, tag="text"):
    """More of a message. `message` groups the pieces of one message, where the agent says so."""

    role: Role
    text: str
    message: str = ""


class BlockAdded(_Event, frozen=True, tag="block"):
    """A piece of a message that is not text."""

    role: Role
    block: Block


class ToolCallChanged(_Event, frozen=True, tag="tool_call"):
    """A tool call began or went on."""

    patch: ToolCallPatch


class OutputAdded(_Event, frozen=True, tag="output"):
    """Output of a command: one of ours, or one that the agent runs itself and only reports."""

    tool_call: ToolCallId
    terminal: TerminalId
    data: str = ""
    whole: bool = False
    """The data is all of the output so far and replaces what was there."""
    retold: bool = False
    """The agent may tell again what it has told, with more at the end."""


class OutputEnded(_Event, frozen=True, tag="output_ended"):
    """A command is over."""

    tool_call: ToolCallId
    terminal: TerminalId
    exit_code: int | None = None
    signal: str = ""


class PlanChanged(_Event, frozen=True, tag="plan"):
    """The agent's plan; always all of it."""

    steps: tuple[PlanStep, ...]
    plan: str = ""


class AskOpened(_Event, frozen=True, tag="ask"):
    """The agent waits for a decision."""

    ask: AskId
    tool_call: ToolCallId
    title: str
    options: tuple[Option, ...]
    shown: str = ""
    """What exactly would happen: the command line, or the paths."""
    why: str = ""
    """Why a person is asked, or which rule decided."""
    always: tuple[Always, ...] = ()
    editable: bool = False
    """It is about texts of files, which can be edited before they are accepted."""
    decision: Decision | None = None
    """There at once when a rule decided and nobody was asked."""


class AskSettled(_Event, frozen=True, tag="ask_settled"):
    """The decision was made, or will never be."""

    ask: AskId
    decision: Decision


class QuestionAsked(_Event, frozen=True, tag="question"):
    """The agent waits for words."""

    question: QuestionId
    text: str
    options: tuple[str, ...] = ()
    """Answers on offer; any other words will do as well."""
    to: str = ""
    """The agent that is asked, by its name; empty for the person."""


class QuestionSettled(_Event, frozen=True, tag="question_settled"):
    """It was answered, or will never be."""

    question: QuestionId
    reply: Reply


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """A prompt went to the agent."""

    turn: int
    prompt: Prompt


class TurnEnded(_Event, frozen=True, tag="turn_ended"):
    """The agent answered the prompt, failed to, or will never."""

    turn: int
    reason: str
    """end_turn, max_tokens, max_turn_requests, refusal, cancelled, failed, or a new one."""
    error: str = ""
    usage: Usage | None = None


class PromptQueued(_Event, frozen=True, tag="prompt_queued"):
    """A prompt waits until the running turn is over."""

    prompt: Prompt


class QueueCleared(_Event, frozen=True, tag="queue_cleared"):
    """Waiting prompts were taken back."""


class StateChanged(_Event, frozen=True, tag="state"):
    """What the session is doing changed."""

    state: State
    detail: str = ""


class PolicyChanged(_Event, frozen=True, tag="policy"):
    """How much the person lets the agent do changed."""

    policy: str


class TitleChanged(_Event, frozen=True, tag="title"):
    """The session got a name."""

    title: str


class ModesChanged(_Event, frozen=True, tag="modes"):
    """The modes on offer, and the present one."""

    modes: tuple[Mode, ...]
    mode: str


class ModeChanged(_Event, frozen=True, tag="mode"):
    """The present mode."""

    mode: str


class OptionsChanged(_Event, frozen=True, tag="options"):
    """The agent's settings for this session; always all of them."""

    options: tuple[AgentOption, ...]


class CommandsChanged(_Event, frozen=True, tag="commands"):
    """The slash commands on offer; always all of them."""

    commands: tuple[SlashCommand, ...]


class UsageChanged(_Event, frozen=True, tag="usage"):
    """Tokens, context and cost so far."""

    usage: Usage


class NoticeShown(_Event, frozen=True, tag="notice"):
    """Something the person should know that nobody said in the conversation."""

    level: Level
    text: str


class OtherUpdate(_Event, frozen=True, tag="other"):
    """An update of a kind that we do not know. Kept whole."""

    kind: str
    raw: dict[str, Any]


Event = (
    TextAdded
    | BlockAdded
    | ToolCallChanged
    | OutputAdded
    | OutputEnded
    | PlanChanged
    | AskOpened
    | AskSettled
    | QuestionAsked
    | QuestionSettled
    | TurnStarted
    | TurnEnded
    | PromptQueued
    | QueueCleared
    | StateChanged
    | PolicyChanged
    | TitleChanged
    | ModesChanged
    | ModeChanged
    | OptionsChanged
    | CommandsChanged
    | UsageChanged
    | NoticeShown
    | OtherUpdate
)
