"""Checkpoints of a folder that git does not know, or where there is no git.

Invariant: a file is read again when its size, times, place or permissions differ from last time, or
when it changed so shortly before last time that its times cannot tell.

Small files are kept whole when a checkpoint is taken, up to a limit; what is beyond it is known by
size and time, and kept when `touch` says that it is about to change.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH115, PTH116

from __future__ import annotations

import hashlib
import os
import stat
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from agentls.core.errors import CheckpointFailed, FileError

from .big_files import Remembered, Signature, signature_of
from .disk import read_bytes
from .ledger import Ledger
from .values import LINK, Blob, Checkpoint, FileChange, FileState, Limits, Stop, change

PLAIN_LIMITS: Final = Limits(file_bytes=2 << 20, new_bytes=64 << 20, files=20_000, seconds=30.0)
HEAVY: Final = frozenset(
    """.git .hg .svn .bzr .jj node_modules bower_components .venv venv .tox .nox __pycache__ .cache
    .mypy_cache .pytest_cache .ruff_cache .gradle .m2 .cargo .terraform .next .nuxt .yarn
    .pnpm-store target dist build out coverage .Trash Library""".split()  # noqa: SIM905 - one list
)
"""Folders that are made by tools, or are too large to look at."""
_SETTLED: Final = 100_000_000
"""Nanoseconds after which a second change of a file is sure to have another time."""


class _Known(msgspec.Struct):
    """What was found last time, and when that began."""

    began: int = 0
    files: dict[bytes, Remembered] = {}


class PlainCheckpoints:
    """All checkpoints of one folder. Blocking: run it in a thread."""

    exact_modes = True

    def __init__(self, ledger: Ledger, limits: Limits | None = None) -> None:
        self.root = ledger.root
        self._ledger = ledger
        self._limits = limits or PLAIN_LIMITS
        self._blobs = ledger.place / "blobs"
        self._known = ledger.place / "known"
        self._own = os.fsencode(ledger.place.parent.parent.resolve())
        """Where checkpoints are kept, of this folder and others, and the sessions beside them: one
        that had those in it would have all earlier ones in it."""

    def take(self, stop: Stop | None = None, *, kept: bool = True) -> Checkpoint:
        """Remember the present state. Raises `CheckpointFailed`."""
        stop = stop or Stop(self._limits.seconds)
        with self._ledger.alone(stop):
            known, began = self._load(), time.time_ns()
            left, partial = self._limits.new_bytes, False
            fresh: dict[bytes, Remembered] = {}
            for path, found in _walk(os.fsencode(self.root), self._own, stop):
                if len(fresh) >= self._limits.files:
                    partial = True
                    break
                old = known.files.get(path)
                if old is None or not _same(old, signature_of(found), known.began):
                    old = self._remember(path, found, min(left, self._limits.file_bytes))
                    if old is None:
                        continue  # gone meanwhile
                    left -= old.state.blob.size if old.state.blob.stored else 0
                fresh[path] = old
            self._save(_Known(began, fresh))
            files = {os.fsdecode(path): item.state for path, item in fresh.items()}
            return self._ledger.new({}, files, partial=partial, kept=kept)

    def _remember(self, path: bytes, found: os.stat_result, largest: int) -> Remembered | None:
        name = os.fsencode(self.root) + b"/" + path
        try:
            if stat.S_ISLNK(found.st_mode):
                target = os.readlink(name)
                return Remembered(signature_of(found), FileState(LINK, self._keep(target)))
            blob = None
            if found.st_size <= largest:
                try:
                    blob = self._keep(read_bytes(os.fsdecode(name), largest=largest))
                except FileError:
                    os.lstat(name)  # still there: only unreadable
        except FileNotFoundError:
            return None
        blob = blob or Blob(_id_by_time(found), found.st_size, stored=False)
        return Remembered(signature_of(found), FileState(found.st_mode, blob))

    def touch(self, path: str) -> None:
        """A file is about to change: keep what it holds, also if it is big."""
        try:
            found = os.lstat(f"{self.root}/{path}")
            if not stat.S_ISREG(found.st_mode):
                return
            alias = self._alias(_id_by_time(found))
            if not alias.exists():
                with self._ledger.alone(Stop(self._limits.seconds)):
                    blob = self._keep(read_bytes(f"{self.root}/{path}"))
                    alias.write_text(f"{blob.id} {blob.size}")
        except (OSError, FileError):
            return  # there is nothing to keep, or it is larger than anything that we would write

    def changes(
        self, before: Checkpoint, after: Checkpoint, stop: Stop | None = None
    ) -> list[FileChange]:
        """What is different, by path."""
        found = []
        for path in sorted({*before.files, *after.files}):
            was, now = before.files.get(path), after.files.get(path)
            if was != now:
                found.append(change(path, self._resolved(was), self._resolved(now)))
        if stop is not None:
            stop.check()
        return [x for x in found if (x.before, x.mode_before) != (x.after, x.mode_after)]

    def _resolved(self, state: FileState | None) -> FileState | None:
        """With the content that `touch` kept."""
        if state is None or state.blob.stored:
            return state
        try:
            name, _, size = self._alias(state.blob.id).read_text().partition(" ")
        except OSError:
            return state
        return FileState(state.mode, Blob(name, int(size)))

    def read(self, blob: Blob) -> bytes:
        """Content that was kept. Raises `CheckpointFailed`."""
        try:
            return zlib.decompress(self._place(blob.id).read_bytes())
        except (OSError, zlib.error):
            raise CheckpointFailed("That content was not kept, or is not there any more.") from None

    def ids(self) -> list[str]:
        return self._ledger.ids()

    def find(self, id: str) -> Checkpoint:
        """Raises `CheckpointFailed` when it has been dropped."""
        return self._ledger.find(id)

    def collect(self, now: float, stop: Stop | None = None) -> None:
        """Drop what is too old or too much. Raises `CheckpointFailed`."""
        stop = stop or Stop(self._limits.seconds)
        with self._ledger.alone(stop):
            states = [s for c in self._ledger.drop_old(self._limits, now) for s in c.files.values()]
            states += [item.state for item in self._load().files.values()]
            wanted = {state.blob.id for state in states}
            wanted |= {found.blob.id for state in states if (found := self._resolved(state))}
            for path in [*self._blobs.glob("*/*")]:
                stop.check()
                if path.parent.name + path.name not in wanted and path.name not in wanted:
                    path.unlink(missing_ok=True)

    # --- our folder

    def _keep(self, data: bytes) -> Blob:
        name = hashlib.sha256(data).hexdigest()
        path = self._place(name)
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = path.with_suffix(".new")
            fresh.write_bytes(zlib.compress(data, 1))
            fresh.replace(path)
        return Blob(name, len(data))

    def _place(self, name: str) -> Path:
        return self._blobs / name[:2] / name[2:]

    def _alias(self, id: str) -> Path:
        self._blobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._blobs / "by-time").mkdir(mode=0o700, exist_ok=True)
        return self._blobs / "by-time" / id

    def _load(self) -> _Known:
        try:
            return msgspec.msgpack.decode(self._known.read_bytes(), type=_Known)
        except (OSError, msgspec.DecodeError):
            return _Known()

    def _save(self, known: _Known) -> None:
        fresh = self._known.with_suffix(".new")
        fresh.write_bytes(msgspec.msgpack.encode(known))
        fresh.replace(self._known)


def _id_by_time(found: os.stat_result) -> str:
    return f"time:{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"


def _same(old: Remembered, now: Signature, began: int) -> bool:
    _, changed, changed_too, *_ = now
    return old.signature == now and max(changed, changed_too) < began - _SETTLED


def _walk(root: bytes, own: bytes, stop: Stop) -> Iterator[tuple[bytes, os.stat_result]]:
    """Files and links below a folder on the same disk, those in the outer folders first."""
    device = os.stat(root).st_dev
    waiting = [b""]
    for folder in waiting:
        stop.check()
        try:
            entries = sorted(os.scandir(root + b"/" + folder), key=lambda entry: entry.name)
        except OSError:
            continue  # gone, or not ours to look into
        for entry in entries:
            path = folder + entry.name
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(found.st_mode):
                heavy = os.fsdecode(entry.name) in HEAVY or root + b"/" + path == own
                if not heavy and found.st_dev == device:
                    waiting.append(path + b"/")
            elif stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
                yield path, found
