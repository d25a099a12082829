"""What the writing thread does when nothing is to be written: one short step at a time."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path
from typing import Final, Literal

from .database import transaction
from .index import index_some, merge_some
from .recovery import recover
from .removal import compact_some, delete_some, doom
from .writer import Limits, folder_of_servers

log = logging.getLogger(__name__)

IDLE: Final = 0.3
"""Seconds after a batch until there is time for chores."""
LATER: Final = 600.0
_SOON: Final = 0.02
_DAY: Final = 86_400.0
_MEGABYTE: Final = 1 << 20


class Chores:
    """In the order of their urgency."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, server: str | None, limits: Limits
    ) -> None:
        self._connection = connection
        self._folder = folder_of_servers(path)
        self._server = server
        self._limits = limits
        self._look_again = 0.0
        """When dead servers, old sessions and the size are looked at next."""
        self._to_compact: list[int] = []
        """Sessions whose bodies are to be compacted, the next one last."""
        self._compacted = 0
        """The last key of that one that was."""
        self._merging: Literal["no", "begin", "on"] = "no"

    def step(self) -> float:
        """Seconds until the next one is due."""
        connection = self._connection
        if index_some(connection) or delete_some(connection):
            return _SOON
        if self._to_compact:
            self._compact()
        elif self._merging != "no":
            # Before the size is looked at: deleted words take room until then.
            more = merge_some(connection, begin=self._merging == "begin")
            self._merging = "on" if more else "no"
        elif time.monotonic() >= self._look_again:
            self._look_around()
        elif not self._vacuum():
            return LATER
        return _SOON

    def _compact(self) -> None:
        session = self._to_compact[-1]
        last = compact_some(self._connection, session, self._compacted)
        self._compacted = last or 0
        if last is None:
            self._to_compact.pop()

    def _look_around(self) -> None:
        for id in recover(self._connection, self._folder):
            log.info("the session %s was left by a server that died", id)
        if self._choose(time.time()):
            self._merging = "begin"
        else:
            self._look_again = time.monotonic() + LATER

    def _choose(self, now: float) -> bool:
        """Pick sessions that must get smaller or go; whether there are any."""
        find = "SELECT number FROM session WHERE server IS NULL AND compacted = 0"
        old = now - self._limits.days * _DAY
        self._to_compact = self._numbers(f"{find} AND active < ?", old)
        if not self._to_compact and self._size() > self._limits.megabytes * _MEGABYTE:
            (count,) = self._connection.execute("SELECT count(*) FROM session").fetchone()
            some = count // 20 + 1
            self._to_compact = self._numbers(f"{find} ORDER BY active LIMIT ?", some)[::-1]
            return bool(self._to_compact) or self._delete_oldest(some)
        return bool(self._to_compact)

    def _numbers(self, query: str, value: float) -> list[int]:
        return [number for (number,) in self._connection.execute(query, (value,))]

    def _delete_oldest(self, count: int) -> bool:
        query = "SELECT number FROM session WHERE server IS NULL ORDER BY archived, active LIMIT ?"
        numbers = self._numbers(query, count)
        if numbers:
            log.warning("%d old sessions are deleted: all take too much room", len(numbers))
        with transaction(self._connection):
            for number in numbers:
                doom(self._connection, number, decisions=False)
        return bool(numbers)

    def _size(self) -> int:
        """Bytes in use."""
        read = self._connection.execute
        (pages,) = read("PRAGMA page_count").fetchone()
        (free,) = read("PRAGMA freelist_count").fetchone()
        (size,) = read("PRAGMA page_size").fetchone()
        return int((pages - free) * size)

    def _vacuum(self) -> bool:
        """Give some free pages back to the system, when there are many; whether there are more."""
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if free < 1000:
            return False
        self._connection.execute("PRAGMA incremental_vacuum(500)").fetchall()
        (left,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        return bool(1000 <= left < free)
