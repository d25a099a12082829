"""Looks at the files of whole folders, in threads: what is different since the last look.

Invariants: looks at one folder come one after the other; a look that a prompt waits for gives up
in time, and its thread ends by itself. Contents of files that are no text are kept by reference.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentls.core.changes.looking import Found, Look
from agentls.core.changes.record import MISSING, Blob, FileState
from agentls.core.errors import CheckpointFailed, FileError, FileRefused

from .checkpoints import Checkpoints, checkpoints_of
from .ledger import drop_unused
from .texts import Form, decode, encode
from .values import Blob as StoredBlob
from .values import Checkpoint, FileChange, Limits, Stop

log = logging.getLogger(__name__)

_PATIENCE = 4.0
"""Seconds that a prompt waits."""
_TIDY_EVERY = 100
"""Looks at a folder between two times of dropping old ones."""
_MOST_KEPT = 200_000_000
"""Bytes of files that are no text, of which undoing needs the contents."""
_MOST_FOUND = 2000
"""Files in one look: more are no change of an agent that anybody would decide file by file."""


class Contents:
    """What is not text, and how texts are written down, as long as the server runs."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}
        self._forms: dict[str, Form] = {}
        self._size = 0

    def blob(self, data: bytes) -> Blob:
        ref = hashlib.sha256(data).hexdigest()
        if ref not in self._kept and self._size + len(data) <= _MOST_KEPT:
            self._kept[ref] = data
            self._size += len(data)
        return Blob(ref, len(data))

    def get(self, ref: str) -> bytes | None:
        return self._kept.get(ref)

    def form(self, path: str) -> Form:
        """How the file was written down when it was last seen."""
        return self._forms.get(path, Form())

    def remember(self, path: str, form: Form) -> None:
        if form != Form(line_end=form.line_end):
            self._forms[path] = form


class Folders:
    """Implements `core.changes.looking.Folders`."""

    def __init__(self, state_folder: Path, env: Mapping[str, str], contents: Contents) -> None:
        self._state_folder = state_folder
        self._env = env
        self._contents = contents
        self._folders: dict[str, _Folder] = {}

    async def look(self, root: str, *, begins: bool = False) -> Look:
        folder = self._folders.get(root)
        if folder is None:
            folder = _Folder(root, self._state_folder, self._env, self._contents)
            self._folders[root] = folder
        work = asyncio.ensure_future(folder.look())
        if not begins:
            return await work
        done, _ = await asyncio.wait({work}, timeout=_PATIENCE)
        if done:
            return work.result()
        folder.late.add(work)
        work.add_done_callback(folder.late.discard)
        return Look(problem=f"looking at {root} takes more than {_PATIENCE:g} seconds.")

    def close(self) -> None:
        for folder in self._folders.values():
            folder.stop()


class _Folder:
    def __init__(
        self, root: str, state_folder: Path, env: Mapping[str, str], contents: Contents
    ) -> None:
        self._state_folder = state_folder
        self._env = env
        self._root = root
        self._contents = contents
        self._checkpoints: Checkpoints | None = None
        self._last: Checkpoint | None = None
        self._stop: Stop | None = None
        self._alone = asyncio.Lock()
        self._looks = 0
        self.late: set[asyncio.Future[Any]] = set()

    async def look(self) -> Look:
        async with self._alone:
            look = await asyncio.to_thread(self._look)
        if self._looks % _TIDY_EVERY == 0:
            tidying = asyncio.ensure_future(self._tidy_up())
            self.late.add(tidying)
            tidying.add_done_callback(self.late.discard)
        self._looks += 1
        return look

    async def _tidy_up(self) -> None:
        """Old checkpoints make room; nobody waits for that."""
        async with self._alone:
            await asyncio.to_thread(self._tidy)

    def _tidy(self) -> None:
        self._stop = stop = Stop()
        now = time.time()
        try:
            drop_unused(self._state_folder, Limits(), now)
            if self._checkpoints is not None:
                self._checkpoints.collect(now, stop)
        except (FileError, OSError) as error:
            log.warning("old checkpoints of %s were not dropped: %s", self._root, error)

    def stop(self) -> None:
        if self._stop is not None:
            self._stop.ask()

    def _look(self) -> Look:
        self._stop = stop = Stop()
        try:
            if self._checkpoints is None:
                self._checkpoints = checkpoints_of(self._root, self._state_folder, self._env)
            now = self._checkpoints.take(stop)
            before, self._last = self._last, now
            if before is None:
                return Look()
            changes = self._checkpoints.changes(before, now, stop)
            if len(changes) > _MOST_FOUND:
                return Look(problem=f"{len(changes)} files changed at once.")
            return Look(tuple(self._found(change) for change in changes))
        except FileError as error:
            return Look(problem=str(error))
        except OSError as error:
            return Look(problem=f"{(error.strerror or str(error)).capitalize()}.")

    def _found(self, change: FileChange) -> Found:
        path = f"{self._root}/{change.path}"
        old, new = self._data(change.before), self._data(change.after)
        links = stat.S_ISLNK(change.mode_before) or stat.S_ISLNK(change.mode_after)
        before, after = text_in(old, path), text_in(new, path)
        if before and after and before[1] != _with_line_end(after[1], before[1]):
            before = after = None  # written down in another way: only as a whole
        as_text = not links and (before or old is None) and (after or new is None)
        if as_text and before:
            self._contents.remember(path, before[1])
        return Found(
            path,
            self._state(change.before, old, before if as_text else None, change.mode_before),
            self._state(change.after, new, after if as_text else None, change.mode_after),
        )

    def _data(self, blob: StoredBlob | None) -> bytes | None:
        assert self._checkpoints is not None
        if blob is None or not blob.stored:
            return None
        with suppress(CheckpointFailed):
            return self._checkpoints.read(blob)
        return None

    def _state(
        self, blob: StoredBlob | None, data: bytes | None, text: tuple[str, Form] | None, mode: int
    ) -> FileState:
        if blob is None:
            return MISSING
        if stat.S_ISLNK(mode):
            return FileState(Blob(f"link:{blob.id}", blob.size))
        if text is not None:
            return FileState(text[0], executable(mode))
        kept = self._contents.blob(data) if data is not None else Blob(blob.id, blob.size)
        return FileState(kept, executable(mode))


def executable(mode: int) -> int:
    """What is told of the permissions of a file: whether it is a program."""
    return 0o755 if mode & 0o100 else 0o644


def text_in(data: bytes | None, path: str) -> tuple[str, Form] | None:
    if data is None:
        return None
    try:
        text, form = decode(data, path)
        return (text, form) if encode(text, form, path) == data else None
    except FileRefused:
        return None


def _with_line_end(form: Form, other: Form) -> Form:
    return Form(form.encoding, form.mark, other.line_end)


def lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
