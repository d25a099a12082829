"""Text files on disk, read and written in threads.

Invariant: a write takes effect only if the file still has the bytes that were read; of two writes
to one file in this process the second begins when the first is over.
"""

from __future__ import annotations

import asyncio
import os
from weakref import WeakValueDictionary

from msgspec import Struct

from agentls.core.errors import FileMissing
from agentls.core.ports import FileText

from .texts import Form, decode, encode, in_line_ends_of


class _State(Struct, frozen=True):
    """What a file was when it was read."""

    data: bytes
    form: Form


class DiskFiles:
    """Implements `core.ports.Files`."""

    def __init__(self) -> None:
        self._writing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, path: str) -> FileText | None:
        return await asyncio.to_thread(_read, path)

    async def write(self, path: str, text: str, before: FileText | None) -> str:
        lock = self._writing.setdefault(path, asyncio.Lock())
        async with lock:
            await asyncio.to_thread(_write, path, text, before)
        return text


def _read(path: str) -> FileText | None:
    from .disk import read_bytes  # noqa: PLC0415 - not at start

    try:
        # Before the content: a change in between must not look older than what was read.
        changed = os.stat(path).st_mtime  # noqa: PTH116 - text that may stand for any bytes
        data = read_bytes(path)
    except (FileMissing, FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        changed, data = 0.0, read_bytes(path)  # which says what is wrong
    text, form = decode(data, path)
    return FileText(text=text, saved=text, changed=changed, state=_State(data, form))


def _write(path: str, text: str, before: FileText | None) -> None:
    from .disk import write_bytes  # noqa: PLC0415 - not at start

    if before is None:
        write_bytes(path, encode(text, Form(), path), expected=None)
        return
    state: _State = before.state
    data = encode(in_line_ends_of(text, state.form), state.form, path)
    if data != state.data:
        write_bytes(path, data, expected=state.data)
