"""Bringing files back to how they were at a checkpoint.

Invariants: only chosen files are touched, and each only if it still is what the person saw in the
plan; nothing is overwritten or removed whose content could not be brought back; no link leads a
write out of the folder. What was there before is itself a checkpoint.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH101, PTH103, PTH105, PTH106, PTH108, PTH112, PTH114, PTH115, PTH120, PTH211

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from agentls.core.errors import FileError

from .checkpoints import Checkpoints
from .disk import read_bytes, write_bytes
from .values import Checkpoint, FileChange, Restored, Skipped, Stop

_Act = Callable[[FileChange], str]
"""Does it, and says why not otherwise."""
_MOVED = "It has changed since the plan was made."
_TOO_BIG = "What it held was too big to keep."
_NOT_UNDOABLE = "What it holds now is too big to keep, so this could not be undone."
_IN_THE_WAY = "Something else of that name is in the way."
_THROUGH_A_LINK = "A folder on the way to it is a link now."


def plan(
    checkpoints: Checkpoints, checkpoint: Checkpoint, stop: Stop | None = None
) -> list[FileChange]:
    """What a restore would do: `before` is what is there now, `after` what was there then."""
    return checkpoints.changes(checkpoints.take(stop, kept=False), checkpoint, stop)


def restore(
    checkpoints: Checkpoints,
    chosen: Sequence[FileChange],
    *,
    instead: Mapping[str, bytes] | None = None,
    stop: Stop | None = None,
) -> Restored:
    """Do what was chosen of a plan.

    `instead` has other content for some paths, such as the old text with what the user wrote since
    merged into it. Files that are not any more as in the plan are skipped, and said to be.
    """
    undo = checkpoints.take(stop)
    work = _Work(checkpoints, instead or {})
    # Removing first: a file may stand where a folder was, and the other way round.
    for change in sorted(chosen, key=lambda change: change.path, reverse=True):
        if change.after is None:
            work.attempt(change, work.remove)
    for change in sorted(chosen, key=lambda change: change.path):
        if change.after is not None:
            work.attempt(change, work.write)
    after = checkpoints.take(stop)
    return Restored(undo, after, tuple(sorted(work.done)), tuple(work.skipped))


def undo(checkpoints: Checkpoints, restored: Restored, stop: Stop | None = None) -> Restored:
    """Put back what a restore has changed, where nobody has changed it since."""
    back = checkpoints.changes(restored.after, restored.undo, stop)
    return restore(checkpoints, [x for x in back if x.path in restored.paths], stop=stop)


class _Work:
    """One restore while it goes on."""

    def __init__(self, checkpoints: Checkpoints, instead: Mapping[str, bytes]) -> None:
        self.done: list[str] = []
        self.skipped: list[Skipped] = []
        self._checkpoints = checkpoints
        self._instead = instead
        self._root = checkpoints.root

    def attempt(self, change: FileChange, act: _Act) -> None:
        try:
            why = self._reason_not_to(change) or act(change)
        except FileError as error:
            why = error.message
        except OSError as error:
            why = f"It cannot be changed: {(error.strerror or str(error)).lower()}."
        if why:
            self.skipped.append(Skipped(change.path, why))
        else:
            self.done.append(change.path)

    def _reason_not_to(self, change: FileChange) -> str:
        if change.before is not None and not change.before.stored:
            return _NOT_UNDOABLE
        if (
            change.after is not None
            and not change.after.stored
            and change.path not in self._instead
        ):
            return _TOO_BIG
        parts = PurePosixPath(change.path).parts
        if ".." in parts or not parts or parts[0] == "/":
            return _IN_THE_WAY
        folder = self._root
        for part in parts[:-1]:
            folder = f"{folder}/{part}"
            if os.path.islink(folder):
                return _THROUGH_A_LINK
        return "" if self._is_as_planned(change) else _MOVED

    def _is_as_planned(self, change: FileChange) -> bool:
        name = self._name(change)
        try:
            found = os.lstat(name)
        except (FileNotFoundError, NotADirectoryError):
            return change.before is None
        if stat.S_ISDIR(found.st_mode):
            return change.before is None  # whether it can go is seen when it has to
        if change.before is None or stat.S_IFMT(found.st_mode) != stat.S_IFMT(change.mode_before):
            return False
        content = self._checkpoints.read(change.before)
        if stat.S_ISLNK(found.st_mode):
            return os.fsencode(os.readlink(name)) == content
        return found.st_size == len(content) and read_bytes(name, largest=len(content)) == content

    def remove(self, change: FileChange) -> str:
        if change.before is None:
            return ""
        os.unlink(self._name(change))
        self._drop_empty_folders(change.path)
        return ""

    def write(self, change: FileChange) -> str:
        name, blob = self._name(change), change.after
        if blob is None:
            return _IN_THE_WAY
        content = self._instead.get(change.path)
        if content is None:
            content = self._checkpoints.read(blob)
        if os.path.isdir(name) and not os.path.islink(name):
            with suppress(OSError):
                os.rmdir(name)
            if os.path.lexists(name):
                return _IN_THE_WAY
        if stat.S_ISLNK(change.mode_after):
            self._link(name, content, change)
            return ""
        expected = None
        if change.before is not None and stat.S_ISLNK(change.mode_before):
            os.unlink(name)
        elif change.before is not None:
            expected = self._checkpoints.read(change.before)
        write_bytes(name, content, expected=expected, force=True)
        self._set_mode(name, change.mode_after)
        return ""

    def _link(self, name: str, target: bytes, change: FileChange) -> None:
        fresh = f"{os.path.dirname(name)}/.agentls-{change.after and change.after.id[:16]}.tmp"
        os.makedirs(os.path.dirname(name), exist_ok=True)
        os.symlink(target, os.fsencode(fresh))
        try:
            os.replace(fresh, name)
        except OSError:
            os.unlink(fresh)
            raise

    def _set_mode(self, name: str, wanted: int) -> None:
        now = stat.S_IMODE(os.lstat(name).st_mode)
        if self._checkpoints.exact_modes:
            mode = stat.S_IMODE(wanted)
        else:  # who may read it may execute it, as git does
            mode = now | (now & 0o444) >> 2 if wanted & 0o100 else now & ~0o111
        if mode != now:
            os.chmod(name, mode)

    def _drop_empty_folders(self, path: str) -> None:
        """Folders that are empty now are gone, as git has it."""
        with suppress(OSError):
            while "/" in path:
                path = path.rpartition("/")[0]
                os.rmdir(f"{self._root}/{path}")

    def _name(self, change: FileChange) -> str:
        return f"{self._root}/{change.path}"
