"""What is said about the files of a folder at one moment, and between two.

Invariant: a path is relative to the folder, with "/" between its parts; bytes in it that are no
UTF-8 are kept the way `os.fsdecode` does.
"""

from __future__ import annotations

import enum
import stat
import threading
import time
from typing import Final

from msgspec import Struct

from agentls.core.errors import CheckpointFailed

LINK: Final = stat.S_IFLNK
"""The mode of a symbolic link; its content is where it leads."""


class Blob(Struct, frozen=True):
    """Content by reference; equal ids are equal contents."""

    id: str
    size: int
    stored: bool = True
    """False for what was too big or could not be read: it is known, but cannot come back."""


class FileState(Struct, frozen=True):
    """One file or link at one moment."""

    mode: int
    """0o100644, 0o100755 and so on; `LINK` for a link."""
    blob: Blob


class Kind(enum.StrEnum):
    """What happened to a path."""

    CREATED = "created"
    MODIFIED = "modified"
    """Other content, other permissions, or both."""
    DELETED = "deleted"
    TYPE_CHANGED = "typechange"
    """A file became a link, or a link a file."""


class FileChange(Struct, frozen=True):
    """What happened to one path between two moments."""

    path: str
    before: Blob | None
    after: Blob | None
    mode_before: int = 0
    mode_after: int = 0

    @property
    def kind(self) -> Kind:
        if self.before is None:
            return Kind.CREATED
        if self.after is None:
            return Kind.DELETED
        if stat.S_IFMT(self.mode_before) != stat.S_IFMT(self.mode_after):
            return Kind.TYPE_CHANGED
        return Kind.MODIFIED


def change(path: str, before: FileState | None, after: FileState | None) -> FileChange:
    return FileChange(
        path,
        before.blob if before else None,
        after.blob if after else None,
        before.mode if before else 0,
        after.mode if after else 0,
    )


class Tree(Struct, frozen=True):
    """The files of one repository, as an object of our own store."""

    store: str
    id: str


class Checkpoint(Struct, frozen=True):
    """The state of the files of a folder at one moment."""

    id: str
    root: str
    taken: float
    """Seconds since the epoch."""
    trees: dict[str, Tree] = {}
    """By the path at which the repository is: "" for the folder itself, then repositories in it."""
    files: dict[str, FileState] = {}
    """What is in no tree: everything without git, otherwise what was too big."""
    partial: bool = False
    """Whether there were more files than we look at."""


class Skipped(Struct, frozen=True):
    """A file that was left as it is, and why: a sentence for a person."""

    path: str
    why: str


class Restored(Struct, frozen=True):
    """What a restore did. `undo` is the state before it, `after` the state it left."""

    undo: Checkpoint
    after: Checkpoint
    paths: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class Limits(Struct, frozen=True):
    """How much is looked at and kept."""

    file_bytes: int = 8 << 20
    """A larger file is known by its size and time, not kept."""
    new_bytes: int = 512 << 20
    """How much one checkpoint may add to what is kept."""
    files: int = 50_000
    """Files looked at in a folder without git, and files new to one checkpoint with it."""
    nested: int = 40
    """Repositories within a repository."""
    seconds: float = 120.0
    """How long a checkpoint may take."""
    kept: int = 200
    """Checkpoints of one folder."""
    days: float = 30.0
    """How old a checkpoint may get."""


class Stop:
    """Ends long work from another thread, or when its time is up."""

    def __init__(self, seconds: float = 120.0) -> None:
        self._asked = threading.Event()
        self._deadline = time.monotonic() + seconds

    def ask(self) -> None:
        self._asked.set()

    def check(self) -> None:
        """Raises `CheckpointFailed` when the work has to end."""
        if self._asked.is_set():
            raise CheckpointFailed("The checkpoint was called off.")
        if time.monotonic() > self._deadline:
            raise CheckpointFailed(
                "Looking at the files took too long.", hint="Ignore folders that are not needed."
            )
