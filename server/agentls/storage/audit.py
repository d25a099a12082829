"""Who decided what, and when: one row per decision about an ask, for good.

Writing happens on a thread of its own, in order; a database that cannot be written costs the rows,
is said once in the log, and never holds up an answer.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ..core import events as ev
from ..core.session import Session
from ..core.transcript import Ask, Entry

log = logging.getLogger(__name__)

_COLUMNS = (
    "at, session, agent, folder, ask, title, shown, allowed, option, kind, by, why, remembered"
)


class DecisionRow(Struct, frozen=True, kw_only=True):
    """A decision as it is remembered."""

    at: float
    session: str
    agent: str
    folder: str
    ask: str
    title: str
    shown: str
    allowed: bool
    option: str | None
    kind: str | None
    by: str
    why: str
    remembered: str


class Audit:
    """An observer of all sessions that writes their decisions down."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: queue.SimpleQueue[DecisionRow | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if not isinstance(event, ev.AskOpened | ev.AskSettled) or not isinstance(entry, Ask):
            return
        if entry.decision is not None:
            self._rows.put(_row(session, entry))
            self._start()

    def close(self) -> None:
        """Every row that was put is written when this returns."""
        if self._writer is not None:
            self._rows.put(None)
            self._writer.join(timeout=10.0)
            self._writer = None

    def _start(self) -> None:
        if self._writer is None:
            # A daemon: a database that hangs must not keep the server from ending.
            self._writer = threading.Thread(target=self._write, name="audit", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        # Here, because a server starts without decisions, and SQLite takes 4 ms to load.
        import sqlite3  # noqa: PLC0415

        from .database import connect  # noqa: PLC0415

        connection: sqlite3.Connection | None = None
        failed = False
        while (row := self._rows.get()) is not None:
            try:
                connection = connection or connect(self._path)
                values = ", ".join("?" * len(_COLUMNS.split(",")))
                connection.execute(
                    f"INSERT INTO decision ({_COLUMNS}) VALUES ({values})",
                    tuple(getattr(row, name.strip()) for name in _COLUMNS.split(",")),
                )
            except (sqlite3.Error, OSError) as error:
                if not failed:
                    log.warning("decisions are not written down: %s: %s", self._path, error)
                failed = True
        if connection is not None:
            connection.close()


def decisions(path: Path, limit: int) -> Iterator[DecisionRow]:
    """The newest decisions, newest first."""
    from .database import connect  # noqa: PLC0415 - as in Audit._write

    if not path.exists():
        return
    connection = connect(path)
    try:
        query = f"SELECT {_COLUMNS} FROM decision ORDER BY id DESC LIMIT ?"
        for values in connection.execute(query, (limit,)):
            row = dict(zip((n.strip() for n in _COLUMNS.split(",")), values, strict=True))
            yield DecisionRow(**{**row, "allowed": bool(row["allowed"])})
    finally:
        connection.close()


def _row(session: Session, ask: Ask) -> DecisionRow:
    decision = ask.decision
    assert decision is not None
    option = decision.option
    return DecisionRow(
        at=session.last_sign,
        session=session.id,
        agent=session.agent_name,
        folder=session.cwd,
        ask=ask.ask,
        title=ask.title,
        shown=ask.shown,
        allowed=decision.allows,
        option=option.id if option else None,
        kind=option.kind if option else None,
        by=decision.by,
        why=ask.why,
        remembered=decision.remembered,
    )
