"""The stored sessions of this user, of all servers: listed, read, searched, changed, deleted.

Implements `core.store.SessionStore`. Every call may wait for the disk: it belongs on a thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from agentls.core.errors import SessionNotReady, StoreError
from agentls.core.model import SessionId
from agentls.core.spending import DayUsage
from agentls.core.store import Cursor, Filter, Head, Hit, Page, Place, SessionSummary, Stored

from . import reading
from .database import NewerSchema, connect_known, connect_to_read, transaction
from .exchange import given_out, read, taken_in
from .faults import Fault, fault_of, sentence
from .index import index_some, is_behind, merge_some, search
from .recovery import recover
from .removal import delete_some, doom
from .rows import clean
from .servers import is_alive
from .writer import folder_of_servers

_ALL = Filter()
_STEPS_BEFORE_SEARCH = 10
"""More than that is left to the chores: whoever searches waits for it."""


class OwnName(Protocol):
    """What this server is called in the database, if it is there already, or from now on."""

    def __call__(self, *, begin: bool) -> str | None: ...


class StoredSessions:
    """Connects for each call, so that calls on different threads do not meet."""

    def __init__(
        self, path: Path, own: OwnName, new_id: Callable[[], str], doubt: Callable[[], None]
    ) -> None:
        """`doubt` is called when the database turns out to be damaged."""
        self._path = path
        self._folder = folder_of_servers(path)
        self._own = own
        self._new_id = new_id
        self._doubt = doubt

    # -- reading

    def summaries(
        self,
        wanted: Filter = _ALL,
        *,
        limit: int = 50,
        after: SessionSummary | Cursor | None = None,
    ) -> list[SessionSummary]:
        with self._reading() as connection:
            return reading.summaries(connection, wanted, self._where(), limit, after)

    def get(self, id: SessionId) -> SessionSummary:
        with self._reading() as connection:
            return reading.summary_of(connection, id, self._where())

    def head(self, id: SessionId) -> Head:
        with self._reading() as connection:
            return reading.head_of(connection, reading.number_of(connection, id))

    def page(self, id: SessionId, *, last: int = 100, before: int | None = None) -> Page:
        with self._reading() as connection:
            return reading.page(connection, id, last, before)

    def load(self, id: SessionId) -> Stored:
        with self._reading() as connection:
            return reading.load(connection, id)

    def search(self, words: str, wanted: Filter = _ALL, *, limit: int = 50) -> list[Hit]:
        with self._reading() as connection:
            behind = is_behind(connection)
        if behind:
            self._catch_up()
        with self._reading() as connection:
            return search(connection, words, wanted, limit)

    def _catch_up(self) -> None:
        """Index what a server that ended at once has left, or what has only just been said."""
        with suppress(StoreError), self._writing() as connection:
            for _ in range(_STEPS_BEFORE_SEARCH):
                if not index_some(connection):
                    return

    def usage(self, wanted: Filter = _ALL) -> list[DayUsage]:
        from .spent import by_day  # noqa: PLC0415 - few ask

        with self._reading() as connection:
            return by_day(connection, wanted)

    def export(self, id: SessionId) -> bytes:
        return given_out(self.load(id))

    # -- changing

    def recover(self) -> list[SessionId]:
        """Close and mark the sessions of servers that died; which they were."""
        if not self._path.exists():
            return []
        with self._writing() as connection:
            return recover(connection, self._folder)

    def claim(self, id: SessionId) -> Stored:
        server = self._own(begin=True)
        self.recover()
        with self._writing() as connection:
            with transaction(connection):
                summary = self._not_elsewhere(connection, id)
                if summary.place is Place.HERE:
                    raise SessionNotReady("The session is open already.")
                connection.execute(
                    "UPDATE session SET server = ?, died = 0, compacted = 0 WHERE id = ?",
                    (server, id),
                )
            return reading.load(connection, id)

    def rename(self, id: SessionId, title: str) -> None:
        self._set(id, "name", clean(title.strip()))

    def archive(self, id: SessionId, archived: bool = True) -> None:
        self._set(id, "archived", int(archived))

    def _set(self, id: SessionId, column: str, value: str | int) -> None:
        with self._writing() as connection, transaction(connection):
            query = f"UPDATE session SET {column} = ? WHERE number = ?"
            connection.execute(query, (value, reading.number_of(connection, id)))

    def delete(self, id: SessionId) -> None:
        with self._writing() as connection:
            with transaction(connection):
                if self._not_elsewhere(connection, id).place is Place.HERE:
                    raise SessionNotReady("The session is open.", hint="Close it first.")
                doom(connection, reading.number_of(connection, id), decisions=True)
            # It is gone for everybody; the rest is done by whoever comes to it first.
            with suppress(sqlite3.Error):
                while delete_some(connection):
                    pass
                begin = True
                while merge_some(connection, begin=begin):
                    begin = False
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _not_elsewhere(self, connection: sqlite3.Connection, id: SessionId) -> SessionSummary:
        summary = reading.summary_of(connection, id, self._where())
        if summary.place is Place.ELSEWHERE:
            raise SessionNotReady(
                "The session is open in another window.", hint="Close it there first."
            )
        return summary

    def take_in(self, data: bytes) -> SessionId:
        stored = read(data)
        with self._writing() as connection:
            return taken_in(connection, stored, lambda: SessionId(self._new_id()))

    # -- connections

    def _where(self) -> Callable[[str | None], Place]:
        """Looks at each server once."""
        own = self._own(begin=False)
        known: dict[str, Place] = {} if own is None else {own: Place.HERE}

        def where(server: str | None) -> Place:
            if server is None:
                return Place.PAST
            if server not in known:
                alive = is_alive(self._folder, server)
                known[server] = Place.ELSEWHERE if alive else Place.PAST
            return known[server]

        return where

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._sentences():
            connection = connect_to_read(self._path)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._sentences():
            connection = connect_known(self._path)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """What is wrong with the database becomes an error that a person can read."""
        try:
            yield
        except (sqlite3.Error, OSError, NewerSchema) as error:
            fault = fault_of(error)
            if fault is Fault.DAMAGED:
                self._doubt()
            raise StoreError(sentence(fault, self._path, error)) from error
