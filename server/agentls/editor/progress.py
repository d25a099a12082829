"""A running turn as `$/progress`, for editors that show it; cancelling it cancels the turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from ..core import events as ev
from ..core.model import SessionId
from ..core.ports import Clock, Tasks, Timer
from ..core.session import Session
from ..core.transcript import Entry, ToolCall

REPORT_INTERVAL = 0.25
"""Seconds between two reports of one turn: a person does not read faster."""


class _Turn(Struct):
    token: str
    session: SessionId
    shown: bool = False
    over: bool = False
    message: str = ""
    timer: Timer | None = None


class Progress:
    """An observer of all sessions."""

    def __init__(
        self,
        create: Callable[[str], Awaitable[Any]],
        tell: Callable[[str, Any], None],
        clock: Clock,
        tasks: Tasks,
        cancel: Callable[[SessionId], None],
    ) -> None:
        self._create = create
        self._tell = tell
        self._clock = clock
        self._tasks = tasks
        self._cancel = cancel
        self._turns: dict[SessionId, _Turn] = {}

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.TextAdded):
            return
        if isinstance(event, ev.TurnStarted):
            turn = _Turn(token=f"agentls-{session.id}-{event.turn}", session=session.id)
            self._turns[session.id] = turn
            self._tasks.start(self._show(turn, session), f"progress {turn.token}")
        elif isinstance(event, ev.TurnEnded):
            self._end(session.id, event.reason)
        elif isinstance(event, ev.AskOpened):
            self._report(session.id, f"waiting for you: {event.title}")
        elif isinstance(entry, ToolCall) and entry.is_open:
            self._report(session.id, entry.title)

    def cancelled(self, token: Any) -> None:
        """The person pressed the editor's cancel."""
        for turn in list(self._turns.values()):
            if turn.token == token:
                self._cancel(turn.session)

    async def _show(self, turn: _Turn, session: Session) -> None:
        try:
            await self._create(turn.token)
        except Exception:
            self._turns.pop(turn.session, None)  # an editor that refuses gets no progress
            return
        begin = {"kind": "begin", "title": f"{session.agent_name}: {session.title}"}
        self._send(turn, {**begin, "cancellable": True})
        turn.shown = True
        if turn.over:
            self._send(turn, {"kind": "end", "message": turn.message})

    def _report(self, id: SessionId, message: str) -> None:
        turn = self._turns.get(id)
        if turn is None or turn.message == message:
            return
        turn.message = message
        if turn.shown and turn.timer is None:
            self._send_report(turn)
            turn.timer = self._clock.later(REPORT_INTERVAL, lambda: self._again(turn, message))

    def _again(self, turn: _Turn, message: str) -> None:
        turn.timer = None
        if not turn.over and turn.message != message:
            self._send_report(turn)

    def _send_report(self, turn: _Turn) -> None:
        self._send(turn, {"kind": "report", "message": turn.message[:200]})

    def _end(self, id: SessionId, reason: str) -> None:
        turn = self._turns.pop(id, None)
        if turn is None:
            return
        turn.over = True
        turn.message = reason
        if turn.timer is not None:
            turn.timer.cancel()
        if turn.shown:
            self._send(turn, {"kind": "end", "message": reason})

    def _send(self, turn: _Turn, value: dict[str, Any]) -> None:
        self._tell("$/progress", {"token": turn.token, "value": value})
