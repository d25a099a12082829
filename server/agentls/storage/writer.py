"""The thread that writes, as the event loop sees it: batches go in, and nothing here waits."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from .changes import Batch
from .servers import Note, ServerFile
from .store import DAYS, MEGABYTES

log = logging.getLogger(__name__)

_PATIENCE: Final = 10.0
"""Seconds to wait for the thread."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much is kept; see `store`."""

    days: float = DAYS
    megabytes: float = MEGABYTES


class Writer:
    """Starts its thread when it is made."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self._server = _server_file(path)
        self._jobs: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        # A daemon: a database that hangs must not keep the server from ending.
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

    @property
    def server(self) -> str | None:
        """The name of this server in the database."""
        return self._server.id if self._server is not None else None

    @property
    def noted(self) -> int:
        return self._server.noted if self._server is not None else 0

    def note(self, make: Callable[[], Note]) -> None:
        """Keep a decision, whatever happens to this process from now on."""
        if self._server is not None:
            self._server.note(make())

    def stored(self, notes: int) -> None:
        if self._server is not None:
            self._server.stored(notes)

    def submit(self, batch: Batch) -> None:
        self._jobs.put(batch)

    def stop(self) -> None:
        """Waits until the thread has ended, but not for a disk that hangs."""
        self._jobs.put(None)
        self._thread.join(_PATIENCE)
        if self._server is not None and not self._thread.is_alive():
            self._server.close()
            self._server = None

    def _run(self) -> None:
        # Here and not above: a server starts without sessions, and SQLite takes 4 ms to load.
        from .write_loop import WriteLoop  # noqa: PLC0415

        WriteLoop(self._path, self.server, self._limits).run(self._jobs)


def _server_file(path: Path) -> ServerFile | None:
    try:
        return ServerFile(folder_of_servers(path))
    except OSError as error:
        log.info("no file for this server: %s", error)
        return None


def folder_of_servers(path: Path) -> Path:
    return path.with_name("servers")
