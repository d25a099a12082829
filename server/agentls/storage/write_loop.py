"""What the writing thread does: batches as they come, and the chores when there is time.

Nothing that can be wrong with the database ends it; each batch says what became of it.
"""

from __future__ import annotations

import logging
import queue
import sqlite3
import time
from pathlib import Path
from typing import Final

from .changes import Batch, Outcome
from .chores import IDLE, LATER, Chores
from .database import NewerSchema, connect_known, transaction
from .faults import Fault, fault_of, put_aside, sentence
from .rows import NotStored, write_change
from .writer import Limits

log = logging.getLogger(__name__)

_BUSY: Final = 2.0
"""Seconds that one batch waits for other servers."""


class WriteLoop:
    """Lives on its thread."""

    def __init__(self, path: Path, server: str | None, limits: Limits) -> None:
        self._path = path
        self._server = server
        self._limits = limits
        self._connection: sqlite3.Connection | None = None
        self._chores: Chores | None = None
        self._file: tuple[int, int] | None = None
        """Which file is open."""

    def run(self, jobs: queue.SimpleQueue[Batch | None]) -> None:
        """Until None comes."""
        due = time.monotonic()
        while True:
            try:
                batch = jobs.get(timeout=max(0.0, due - time.monotonic()))
            except queue.Empty:
                due = time.monotonic() + self._do_chores()
                continue
            if batch is None:
                break
            batch.outcome = self._stored(batch)
            batch.done.set()
            if time.monotonic() > due:  # batches may come without a pause
                due = time.monotonic() + self._do_chores()
            due = min(due, time.monotonic() + IDLE)
        self._let_go()
        self._leave()

    def _stored(self, batch: Batch) -> Outcome:
        try:
            self._write(batch)
        except NotStored:
            return Outcome(begun_anew=True)
        except Exception as error:  # one that cannot be written must not end all writing
            fault = fault_of(error)
            if fault is Fault.OTHER:
                log.exception("a batch could not be stored")
            return self._trouble(fault, error)
        return Outcome()

    def _write(self, batch: Batch) -> None:
        if batch.doubtful or self._replaced():
            self._leave()
        connection = self._opened()
        # Killing this process loses nothing that is committed, synced or not; a power failure
        # loses the newest commits unless they are synced. Text may be lost so, decisions not.
        connection.execute(f"PRAGMA synchronous = {'FULL' if batch.urgent else 'NORMAL'}")
        with transaction(connection):
            for change in batch.changes:
                write_change(connection, change, self._server)

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = connect_known(self._path, _BUSY)
            self._file = _identity(self._path)
            self._chores = Chores(self._connection, self._path, self._server, self._limits)
        return self._connection

    def _replaced(self) -> bool:
        """Whether the file that is open is not the one of that name any more."""
        return self._connection is not None and _identity(self._path) != self._file

    def _trouble(self, fault: Fault, error: Exception) -> Outcome:
        if fault is not Fault.LOCKED:
            self._leave()  # the next attempt starts from the file as it is then
        if fault is Fault.DAMAGED:
            try:
                kept = put_aside(self._path)
            except Exception as second:  # whatever a file system can say
                log.exception("%s could not be put aside", self._path)
                fault, error = fault_of(second), second
            else:
                remark = (
                    f"The stored sessions in {self._path} were damaged; a new file was begun,"
                    f" and the old one is kept as {kept}."
                )
                return Outcome(begun_anew=True, remark=remark if kept else "")
        return Outcome(
            fault=fault.value,
            sentence=sentence(fault, self._path, error),
            may_pass=fault is Fault.LOCKED,
            for_good=fault is Fault.NEWER,
        )

    def _do_chores(self) -> float:
        """Seconds until there is more to do."""
        try:
            self._opened()
            assert self._chores is not None, "it is made with the connection"
            return self._chores.step()
        except (sqlite3.Error, OSError, NewerSchema) as error:
            log.debug("a chore has to wait: %s", error)
        except Exception:
            log.exception("a chore failed")
        return LATER

    def _let_go(self) -> None:
        """Sessions that are open to the end, or were only claimed, are nobody's from now on."""
        if self._connection is None or self._server is None:
            return
        try:
            with transaction(self._connection):
                query = "UPDATE session SET server = NULL WHERE server = ?"
                self._connection.execute(query, (self._server,))
        except sqlite3.Error as error:
            log.debug("the sessions of this server look as if it had died: %s", error)

    def _leave(self) -> None:
        connection, self._connection, self._chores = self._connection, None, None
        if connection is not None:
            try:
                connection.close()
            except sqlite3.Error as error:
                log.debug("the database could not be closed: %s", error)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
