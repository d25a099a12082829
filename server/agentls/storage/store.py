"""Sessions that last: what happens is recorded, what happened is found again.

Invariant: nothing is opened, and nothing heavy imported, before the first session: loading all that
recording needs takes 7 ms, and SQLite 10 more on its thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from agentls.core.model import SessionId
from agentls.core.ports import Clock

if TYPE_CHECKING:
    from agentls.core.events import Event
    from agentls.core.session import Session
    from agentls.core.transcript import Entry

    from .recorder import Recorder
    from .stored_sessions import StoredSessions
    from .writer import Writer

DAYS = 90.0
"""After so many without a word, a session loses long outputs and the texts of changes."""
MEGABYTES = 1024.0
"""When the database is larger, the oldest sessions lose them sooner, and go at last."""


class Store:
    """One for each server. `observe` belongs among the observers of all sessions."""

    def __init__(
        self,
        path: Path,
        clock: Clock,
        new_id: Callable[[], str],
        *,
        problem: Callable[[str], None] = lambda _: None,
        days: float = DAYS,
        megabytes: float = MEGABYTES,
    ) -> None:
        """`problem` gets one sentence, once, for each thing that keeps sessions from lasting."""
        self._path = path
        self._clock = clock
        self._new_id = new_id
        self._problem = problem
        self._limits = days, megabytes
        self._writer: Writer | None = None
        self._starting = threading.Lock()
        self.when_ended: Callable[[SessionId], None] = lambda _: None
        """Told of each session that is closed, and stored whole."""

    @cached_property
    def recorder(self) -> Recorder:
        """For use on the event loop."""
        from .recorder import Recorder  # noqa: PLC0415 - see above

        recorder = Recorder(self._clock, self._problem, self._started)
        recorder.ended = self._ended
        return recorder

    @cached_property
    def sessions(self) -> StoredSessions:
        """For use on a thread."""
        from .stored_sessions import StoredSessions  # noqa: PLC0415 - see above

        return StoredSessions(self._path, self._own, self._new_id, self._doubt)

    def observe(self, session: Session, event: Event, entry: Entry | None) -> None:
        self.recorder(session, event, entry)

    def close(self) -> None:
        """When this returns, all that can be stored is, and the thread has ended."""
        if self._writer is None:
            return
        self.recorder.close()
        with self._starting:
            writer, self._writer = self._writer, None
        if writer is not None:
            writer.stop()

    def _started(self) -> Writer:
        from .writer import Limits, Writer  # noqa: PLC0415 - see above

        with self._starting:
            if self._writer is None:
                days, megabytes = self._limits
                self._writer = Writer(self._path, Limits(days=days, megabytes=megabytes))
            return self._writer

    def _ended(self, id: SessionId) -> None:
        self.when_ended(id)

    def _doubt(self) -> None:
        self.recorder.doubt()

    def _own(self, *, begin: bool) -> str | None:
        writer = self._started() if begin else self._writer
        return writer.server if writer is not None else None
