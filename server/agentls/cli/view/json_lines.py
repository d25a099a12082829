"""Everything that happens, as one JSON object a line on stdout, for programs."""

from __future__ import annotations

import sys
import time

import msgspec

from agentls.core import events as ev
from agentls.core.model import Level
from agentls.core.session import Session
from agentls.core.transcript import Entry


class JsonView:
    """Each event as it is, with `session` and `at` (seconds since the epoch)."""

    pace = 0.0
    tick: float | None = None

    def __init__(self) -> None:
        self._out = sys.stdout.buffer
        self._session = ""

    def show(self, session: Session, event: ev.Event, entry: Entry | None, at: float) -> None:  # noqa: ARG002
        self._session = session.id
        self._write(event, at)

    def refresh(self) -> None:
        self._out.flush()

    def cancelling(self, why: str) -> None:
        self.note(why)

    def end_turn(self) -> None:
        self._out.flush()

    def note(self, text: str) -> None:
        self._write(ev.NoticeShown(Level.WARNING, text), time.time())
        self._out.flush()

    def error(self, text: str) -> None:
        if not self._session:  # later on, what goes wrong is an event already
            self._write(ev.NoticeShown(Level.ERROR, text), time.time())
        self._out.flush()
        print(f"agentls: {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        self._out.flush()

    def _write(self, event: ev.Event, at: float) -> None:
        told = msgspec.to_builtins(event)
        line = {"event": told.pop("event"), "session": self._session, "at": round(at, 3), **told}
        self._out.write(msgspec.json.encode(line) + b"\n")
