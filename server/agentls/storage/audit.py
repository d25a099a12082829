"""Who decided what, and when: one row per decision about an ask, for good, read for people.

The rows are written with the sessions, by `rows.write_decision`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

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


def decisions(path: Path, limit: int) -> Iterator[DecisionRow]:
    """The newest decisions, newest first."""
    from .database import connect  # noqa: PLC0415 - SQLite takes 4 ms to load

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
