"""The checkpoints of one folder, as files of our own, and the right to change them.

Invariant: one process at a time changes what belongs to a folder.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from agentls.core.errors import CheckpointFailed

from .values import Checkpoint, FileState, Limits, Stop, Tree

_DAY: Final = 86_400.0
_LOCK_TICK: Final = 0.02


class _Record(msgspec.Struct):
    """A checkpoint on disk, where a path is bytes."""

    id: str
    root: bytes
    taken: float
    trees: dict[bytes, Tree]
    files: dict[bytes, FileState]
    partial: bool


class Ledger:
    """What is written down about one folder, in `place`."""

    def __init__(self, place: Path, root: str) -> None:
        self.place = place
        self.root = root
        self._records = place / "taken"

    @contextmanager
    def alone(self, stop: Stop) -> Iterator[None]:
        """Keep other processes, and other threads, from changing what is here."""
        import fcntl  # noqa: PLC0415 - only to write

        try:
            self.place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.place.mkdir(mode=0o700, exist_ok=True)
            self._records.mkdir(mode=0o700, exist_ok=True)
            at = os.open(self.place, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise CheckpointFailed(
                f"The folder {self.place} cannot be used: {(error.strerror or '').lower()}."
            ) from None
        try:
            while True:
                try:
                    fcntl.flock(at, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    stop.check()
                    time.sleep(_LOCK_TICK)
            yield
        except OSError as error:
            raise CheckpointFailed(
                f"The state of the files cannot be kept: {(error.strerror or str(error)).lower()}.",
                hint=f"Look at the folder {self.place}.",
            ) from None
        finally:
            os.close(at)

    def new(
        self,
        trees: dict[str, Tree],
        files: dict[str, FileState],
        *,
        partial: bool,
        kept: bool,
    ) -> Checkpoint:
        taken = time.time()
        # By time first, so that the names are in order; the rest keeps two of a moment apart.
        # In the order of their taking, also within a millisecond.
        id = f"{int(taken * 1000):013x}{int(taken * 1_000_000) % 1000:03x}{secrets.token_hex(4)}"
        checkpoint = Checkpoint(id, self.root, taken, trees, files, partial)
        if kept:
            self._save(checkpoint)
        return checkpoint

    def _save(self, checkpoint: Checkpoint) -> None:
        record = _Record(
            checkpoint.id,
            os.fsencode(checkpoint.root),
            checkpoint.taken,
            {os.fsencode(path): tree for path, tree in checkpoint.trees.items()},
            {os.fsencode(path): state for path, state in checkpoint.files.items()},
            checkpoint.partial,
        )
        path = self._records / checkpoint.id
        fresh = path.with_suffix(".new")
        fresh.write_bytes(msgspec.msgpack.encode(record))
        fresh.replace(path)

    def ids(self) -> list[str]:
        """Of all checkpoints there are, the oldest first."""
        try:
            return sorted(x.name for x in self._records.iterdir() if not x.suffix)
        except FileNotFoundError:
            return []

    def find(self, id: str) -> Checkpoint:
        """Raises `CheckpointFailed` when it has been dropped."""
        try:
            if not id.isalnum():
                raise FileNotFoundError
            record = msgspec.msgpack.decode((self._records / id).read_bytes(), type=_Record)
        except (OSError, msgspec.DecodeError):
            raise CheckpointFailed(
                "That checkpoint is not there any more.", hint="Choose a later one."
            ) from None
        return Checkpoint(
            record.id,
            os.fsdecode(record.root),
            record.taken,
            {os.fsdecode(path): tree for path, tree in record.trees.items()},
            {os.fsdecode(path): state for path, state in record.files.items()},
            record.partial,
        )

    def drop_old(self, limits: Limits, now: float) -> list[Checkpoint]:
        """Forget checkpoints that are too old or too many; the others are returned."""
        kept = []
        for place, id in enumerate(reversed(self.ids())):
            too_old = int(id[:13], 16) / 1000 < now - limits.days * _DAY
            with suppress(CheckpointFailed):
                if not too_old and place < limits.kept:
                    kept.append(self.find(id))
                    continue
            (self._records / id).unlink(missing_ok=True)
        return kept


def place_of(state_folder: Path, root: str) -> Path:
    """Where what belongs to a folder is kept."""
    return state_folder / "checkpoints" / key(root)


def key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def drop_unused(state_folder: Path, limits: Limits, now: float) -> int:
    """Forget folders in which no checkpoint was taken for long; how many there were."""
    dropped = 0
    places = state_folder / "checkpoints"
    for place in places.iterdir() if places.is_dir() else ():
        newest = max((place / "taken").glob("*"), default=None, key=lambda path: path.name)
        used = place.stat().st_mtime if newest is None else newest.stat().st_mtime
        if used < now - limits.days * _DAY:
            shutil.rmtree(place, ignore_errors=True)
            dropped += 1
    return dropped
