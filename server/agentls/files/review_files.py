"""Files as they are decided about: written, made and removed, only if they are as expected.

Invariants: text that is open in the editor is changed there and then on disk; closed files get
exactly the bytes they had, whatever they are.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH101, PTH108

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable

from agentls.core.changes.record import MISSING, Blob, FileState
from agentls.core.changes.review import Outcome
from agentls.core.errors import FileError, FileRefused
from agentls.core.ports import Files, FileText

from .disk import read_bytes, write_bytes
from .folders import Contents, executable, lstat, text_in
from .on_disk import DiskFiles
from .texts import encode

_MOVED = "It was changed meanwhile."
_GONE = "What it held was not kept, or is not there any more."
_LARGEST = 64 << 20


class ReviewFiles:
    """Implements `core.changes.review.Files`."""

    def __init__(self, files: Files, contents: Contents) -> None:
        self._files = files
        self._disk = DiskFiles()
        self._contents = contents
        self.decided: Callable[[str, FileState, FileState], None] = lambda *_: None
        """Told of every file that was changed here, with the state before and after."""

    async def current(self, path: str) -> FileState:
        return (await self._read(path))[0]

    async def replace(self, path: str, expected: FileState, new: FileState) -> Outcome:
        try:
            now, text, is_open = await self._read(path)
            if now.content != expected.content:
                return Outcome(done=False, why=_MOVED)
            if is_open and isinstance(new.content, str):
                await self._files.write(path, new.content, text)
            else:
                await asyncio.to_thread(self._replace, path, now, new)
            if new.content is not None and new.mode not in (None, now.mode):
                await asyncio.to_thread(_set_mode, path, new.mode or 0)
        except FileError as error:
            return Outcome(done=False, why=str(error))
        except OSError as error:
            why = f"It cannot be changed: {(error.strerror or str(error)).lower()}."
            return Outcome(done=False, why=why)
        self.decided(path, now, new)
        return Outcome(done=True)

    async def _read(self, path: str) -> tuple[FileState, FileText | None, bool]:
        """What it is, and if it is text, that, and whether it is open in the editor."""
        found = await asyncio.to_thread(lstat, path)
        if found is None:
            return MISSING, None, False
        if stat.S_ISLNK(found.st_mode) or not stat.S_ISREG(found.st_mode):
            return FileState(Blob("not a file", 0)), None, False
        mode = executable(found.st_mode)
        try:
            on_disk = await self._disk.read(path)
            text = await self._files.read(path)
        except FileRefused:
            data = await asyncio.to_thread(lambda: read_bytes(path, largest=_LARGEST))
            return FileState(self._contents.blob(data), mode), None, False
        if text is None or on_disk is None:
            return MISSING, None, False
        is_open = type(text.state) is not type(on_disk.state)
        return FileState(text.text, mode), text, is_open

    def _replace(self, path: str, now: FileState, new: FileState) -> None:
        old = self.bytes_of(path, now)
        if isinstance(new.content, Blob) or new.content is not None:
            data = self.bytes_of(path, new)
            if data is None:
                raise FileRefused(_GONE)
            write_bytes(path, data, expected=old)
        elif old is not None:
            if read_bytes(path, largest=_LARGEST) != old:
                raise FileRefused(_MOVED)
            os.unlink(path)

    def state_of(self, path: str, data: bytes | None, mode: int | None) -> FileState:
        """What bytes are as the content of a file; the other way round from `bytes_of`."""
        if data is None:
            return MISSING
        text = text_in(data, path)
        if text is None:
            return FileState(self._contents.blob(data), mode)
        self._contents.remember(path, text[1])
        return FileState(text[0], mode)

    def bytes_of(self, path: str, state: FileState) -> bytes | None:
        if state.content is None:
            return None
        if isinstance(state.content, Blob):
            data = self._contents.get(state.content.ref)
            if data is None:
                raise FileRefused(_GONE)
            return data
        return encode(state.content, self._contents.form(path), path)


def _set_mode(path: str, wanted: int) -> None:
    now = stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116
    mode = now | (now & 0o444) >> 2 if wanted & 0o100 else now & ~0o111
    if mode != now:
        os.chmod(path, mode)
