"""What an agent may call back: a tool, who calls it, and what it answers.

Invariant: a tool runs for the session that calls it and for no other, and what it is given has the
shape that it declares; what cannot be done is an `AgentlsError`, whose sentence the agent gets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ..errors import BadRequest
from ..model import ToolCallId

if TYPE_CHECKING:
    from ..session import Session

SERVER = "agentls"
"""The name under which agents know us as a server of tools."""
PATIENCE = 45.0
"""Seconds that every agent waits for an answer: some give up after a minute."""


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of what tools take. The docs of a field are `Meta(description=...)`, for the model.

    A field that may be left out has a default of its own type, not None: some models cannot send
    it, and some agents cannot show its schema.
    """


class Caller(Struct, frozen=True):
    """The session that calls a tool."""

    session: Session
    call: ToolCallId
    """The tool call that shows it to people: the agent's own if there is one, else one of ours."""
    patience: float = PATIENCE
    """Seconds after which the agent may give up: what takes longer says so by then."""


class Answer(Struct, frozen=True):
    """What a tool says to the agent."""

    text: str
    value: dict[str, Any] | None = None
    """The same for programs, where that is of use."""


def _everybody(_: Session) -> bool:
    return True


class Tool(Struct, frozen=True, kw_only=True):
    """Something that an agent can call."""

    name: str
    title: str
    description: str
    """For the model: what it does, and when to use it."""
    arguments: type[Arguments]
    kind: str
    """The tool kind of ACP, as the policy and the front ends know it: read, search, execute…"""
    run: Callable[[Caller, Any], Awaitable[Answer]]
    """Takes what `arguments` says. It is cancelled when nobody waits for it any more."""
    offered: Callable[[Session], bool] = _everybody
    """Whether a session gets it at all."""

    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments, an object at the top as MCP wants it."""
        whole = msgspec.json.schema(self.arguments)
        parts = whole.pop("$defs")
        top: dict[str, Any] = parts.pop(self.arguments.__name__)
        top.pop("title", None)
        top.pop("description", None)
        return {**top, "$defs": parts} if parts else top


class Toolbox:
    """All tools, and which of them a session is offered."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def offered(self, session: Session) -> list[Tool]:
        return [tool for tool in self._tools.values() if tool.offered(session)]

    def find(self, session: Session, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None or not tool.offered(session):
            known = ", ".join(each.name for each in self.offered(session))
            raise BadRequest(f"There is no tool {name!r} here.", hint=f"There are: {known}.")
        return tool


def given(tool: Tool, raw: Any) -> Arguments:
    """What a tool was given, if it has the shape that the tool declares."""
    try:
        return msgspec.convert(raw if raw is not None else {}, tool.arguments)
    except msgspec.ValidationError as error:
        raise BadRequest(f"The arguments of {tool.name} are wrong: {error}.") from None
