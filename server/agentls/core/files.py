"""The files that agents read and write through us, wherever their text is at that moment.

Invariant: what is open in the editor comes before what is on disk, and whoever watches is told of
every write that was done, with the text before and after.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from msgspec import Struct

from .model import SessionId, ToolCallId
from .ports import Files, FileText

log = logging.getLogger(__name__)


class FileWritten(Struct, frozen=True, kw_only=True):
    """An agent has written a file through us."""

    session: SessionId
    turn: int
    call: ToolCallId | None
    """The tool call that shows it, if there is one."""
    path: str
    """Absolute, with links resolved."""
    before: str | None
    """None when there was no such file."""
    after: str


class AllFiles:
    """Implements `ports.Files`: by the editor if there is one, else on disk."""

    def __init__(self, disk: Files) -> None:
        self.disk = disk
        self.editor: Files | None = None
        self.observers: list[Callable[[FileWritten], None]] = []

    async def read(self, path: str) -> FileText | None:
        return await (self.editor or self.disk).read(path)

    async def write(self, path: str, text: str, before: FileText | None) -> str:
        return await (self.editor or self.disk).write(path, text, before)

    def tell(self, written: FileWritten) -> None:
        for observer in self.observers:
            try:
                observer(written)
            except Exception:  # who looks on must not stop what goes on
                log.exception("an observer of %s failed", written.path)
