"""A tool to ask the person, who answers anywhere in the editor.

Invariant: one question is asked once. An agent that gives up waiting and asks again in the same
words, in the same turn, waits on for the same answer, and gets one that came meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from ..errors import ToolRefused
from ..model import Reply, SessionId
from .tool import Answer, Arguments, Caller, Tool
from .waiting import Waiting

if TYPE_CHECKING:
    from ..session import Session

_MOST_OPTIONS = 12
_DROPS_IT = frozenset({"gemini"})
"""Agents that have a tool of their own called ask_user, without one for editors, and drop all of
that name."""


class AskUser(Arguments, frozen=True):
    question: Annotated[str, Meta(description="What you want to know.", min_length=1)]
    options: Annotated[
        tuple[str, ...],
        Meta(
            description="Answers to choose from; the person may also answer in their own words.",
            max_length=_MOST_OPTIONS,
        ),
    ] = ()


class _Asked:
    """A question, until its answer has reached the agent."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.reply: Reply | None = None
        self.waiting: list[Callable[[Reply], None]] = []

    def join(self, then: Callable[[Reply], None]) -> Callable[[], None]:
        self.waiting.append(then)
        if self.reply is not None:
            then(self.reply)
        return lambda: self.waiting.remove(then)

    def answered(self, reply: Reply) -> None:
        self.reply = reply
        for then in tuple(self.waiting):
            then(reply)


class _PersonTools:
    def __init__(self, waiting: Waiting, timeout: float) -> None:
        self._waiting = waiting
        self._timeout = timeout
        self._asked: dict[tuple[SessionId, str], _Asked] = {}

    async def ask(self, caller: Caller, given: AskUser) -> Answer:
        session, turn = caller.session, caller.session.transcript.turn
        for key in [k for k, a in self._asked.items() if k[0] == session.id and a.turn != turn]:
            del self._asked[key]
        key = (session.id, given.question)
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = _Asked(turn)
            session.inquiry.ask(
                given.question, asked.answered, timeout=self._timeout, options=given.options
            )
        reply = await self._waiting.for_a_while(asked.join, caller.patience)
        if reply is None:
            return Answer(
                "The person has not answered yet. Call this tool again with the same question to"
                " go on waiting; it is not shown twice."
            )
        self._asked.pop(key, None)
        if reply.text is None:
            raise ToolRefused(f"The person did not answer ({reply.by}).")
        return Answer(reply.text)


def person_tools(waiting: Waiting, timeout: float) -> list[Tool]:
    ask = _PersonTools(waiting, timeout).ask

    def tool(name: str, offered: Callable[[Session], bool]) -> Tool:
        return Tool(
            name=name,
            title="Question",
            description=(
                "Ask the person a question and wait for the answer: when you need a decision, or"
                " words, that only they can give. They see it in their editor, wherever they are."
            ),
            arguments=AskUser,
            kind="think",
            run=ask,
            offered=offered,
        )

    return [
        tool("ask_user", lambda session: session.agent_name not in _DROPS_IT),
        tool("ask_person", lambda session: session.agent_name in _DROPS_IT),
    ]
