"""Calls of tools by agents: shown to people, behind the rules for tools, answered once.

Invariants: a call belongs to the session whose agent made it; it shows as one tool call, the
agent's own where there is one; what a tool does beside reading what is its own passes the policy
within the tool.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from .. import events as ev
from ..errors import AgentlsError, ToolRefused
from ..model import Block, SessionId, ToolCallId, ToolCallPatch
from ..permission import Permit
from ..policy.verdicts import Subject, Verdict
from ..printable import one_line
from .names import arguments_in, tool_called
from .tool import PATIENCE, SERVER, Answer, Arguments, Caller, Tool, Toolbox, given
from .waiting import Waiting

if TYPE_CHECKING:
    from ..session import Session

Pause = Callable[[float], Awaitable[None]]
_LOOKS = 5
_BETWEEN_LOOKS = 0.04
"""Seconds: agents say that they call a tool before they do, but on another way."""
_SHOWN = 2000
"""Characters of an answer that our own card shows."""
_TITLE = 80


class ToolCalls:
    """Runs tools for sessions."""

    def __init__(
        self,
        toolbox: Toolbox,
        waiting: Waiting,
        pause: Pause,
        came: Callable[[Session, str], None] = lambda *_: None,
        listed: Callable[[Session], None] = lambda _: None,
    ) -> None:
        """`came` is told which tool was really called, `listed` who fetched the list."""
        self._toolbox = toolbox
        self._waiting = waiting
        self._pause = pause
        self._running: set[tuple[SessionId, ToolCallId]] = set()
        self._came = came
        self._listed = listed

    def offered(self, session: Session) -> list[Tool]:
        self._listed(session)
        return self._toolbox.offered(session)

    async def call(
        self, session: Session, name: str, raw: Any, patience: float = PATIENCE
    ) -> Answer:
        """Run a tool for a session. Raises `AgentlsError`."""
        tool = self._toolbox.find(session, name)
        self._came(session, name)
        arguments = given(tool, raw)
        if session.ending:
            raise ToolRefused(f"{name} was not run: the turn was cancelled.")
        card = await self._agents_card(session, tool, raw)
        own = card is None
        if card is None:
            card = session.permission.own_card(
                _title(tool, arguments), tool.kind, name=f"mcp__{SERVER}__{name}", input=raw
            )
        running = (session.id, card)
        self._running.add(running)
        status, text = "cancelled", ""
        try:
            await self._gate(session, tool, card)
            answer = await tool.run(Caller(session, card, patience), arguments)
            status, text = "completed", answer.text
        except AgentlsError as error:
            status, text = "failed", str(error)
            raise
        except Exception:
            status, text = "failed", "It failed inside agentls."
            raise
        else:
            return answer
        finally:
            self._running.discard(running)
            if own:
                _close(session, card, status, text)

    async def _agents_card(self, session: Session, tool: Tool, raw: Any) -> ToolCallId | None:
        for look in range(_LOOKS):
            if look:
                await self._pause(_BETWEEN_LOOKS)
            for call in session.transcript.open_calls():
                if (session.id, call.call) in self._running or tool_called(call) != tool.name:
                    continue
                if (said := arguments_in(call)) is None or said == (raw or {}):
                    return call.call
        return None

    async def _gate(self, session: Session, tool: Tool, card: ToolCallId) -> None:
        """Rules about the tool as such; what it does is judged where it does it."""
        subject = Subject(
            agent=session.agent_name,
            kind=tool.kind,
            cwd=session.cwd,
            tool=f"mcp__{SERVER}__{tool.name}",
        )
        ruling = session.permission.policy.ruling(subject)
        if ruling.rule is None or ruling.verdict is Verdict.ALLOW:
            return
        permit: Permit = await self._waiting.answer(
            lambda then: session.permission.permit(subject, tool.title, then, call=card)
        )
        if not permit.given:
            raise ToolRefused(f"{tool.name} was not allowed ({permit.decision.by}).")


def _title(tool: Tool, arguments: Arguments) -> str:
    """The tool and what it is given first, which is what it is about."""
    values = (getattr(arguments, name) for name in arguments.__struct_fields__)
    about = next((value for value in values if isinstance(value, str) and value), "")
    short = one_line(about)
    return f"{tool.title}: {short if len(short) <= _TITLE else f'{short[:_TITLE]}…'}".rstrip(": ")


def _close(session: Session, card: ToolCallId, status: str, text: str) -> None:
    """Our own card shows how it ended, unless a terminal in it has done so."""
    entry = session.transcript.call(card)
    if entry is None or not entry.is_open:
        return
    content = entry.content
    if text and not content:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        content = (Block(kind="text", text=shown),)
    session.deliver(ev.ToolCallChanged(ToolCallPatch(id=card, status=status, content=content)))
