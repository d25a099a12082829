"""Which servers live: each holds a lock on a file of its own for as long as its process does.

The kernel gives the lock back however the process ends, so that neither kill -9 nor a number that
is used again can make a dead server look alive. The same file takes in decisions that are not in
the database yet: writing a line there waits for nobody, and outlives the process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from agentls.core.store import Head

_SUFFIX = ".server"


class Note(Struct, frozen=True):
    """A decided ask, on its way to the database."""

    head: Head
    number: int
    body: msgspec.Raw


class ServerFile:
    """The file of this server."""

    def __init__(self, folder: Path) -> None:
        """Raises `OSError`."""
        make_private(folder.parent)
        make_private(folder)
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._path = folder / (self.id + _SUFFIX)
        fresh = folder / f"{self.id}.new"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(fresh, flags, 0o600)
        # Locked before anybody can see it under the name that says "server".
        fcntl.flock(self._file, fcntl.LOCK_EX)
        fresh.rename(self._path)
        self._noted = 0

    def note(self, note: Note) -> int:
        """Safe from the end of this process when it returns. How many there were so far."""
        self._noted += 1
        with suppress(OSError):  # a full disk: the database will be tried all the same
            os.write(self._file, msgspec.json.encode(note) + b"\n")
        return self._noted

    def stored(self, count: int) -> None:
        """So many notes are in the database."""
        if 0 < count == self._noted:
            with suppress(OSError):
                os.ftruncate(self._file, 0)

    @property
    def noted(self) -> int:
        return self._noted

    def close(self) -> None:
        """The file stays when there is something in it that the database has not."""
        with suppress(OSError):
            if os.fstat(self._file).st_size == 0:
                self._path.unlink()
        os.close(self._file)


def make_private(folder: Path) -> None:
    """A folder that only this user can look into. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o077:
        with suppress(PermissionError):
            folder.chmod(0o700)


def is_alive(folder: Path, id: str) -> bool:
    try:
        file = os.open(folder / (id + _SUFFIX), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two who look at the same time do not take each other for the server.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def dead_servers(folder: Path) -> list[str]:
    """Those that left their file behind."""
    found = (path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))
    return [id for id in found if not is_alive(folder, id)]


def notes_of(folder: Path, id: str) -> Iterator[Note]:
    """What a dead server had not stored; a line that it could not finish is left out."""
    try:
        lines = (folder / (id + _SUFFIX)).read_bytes().split(b"\n")
    except OSError:
        return
    for line in lines:
        with suppress(msgspec.MsgspecError):
            yield msgspec.json.decode(line, type=Note)


def bury(folder: Path, id: str) -> None:
    with suppress(OSError):
        (folder / (id + _SUFFIX)).unlink()
