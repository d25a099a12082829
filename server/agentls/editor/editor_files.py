"""Files with those that are open in the editor: their unsaved text is read, and edits go there.

Invariant: text that came into a document after it was looked at is never overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct
from pygls.uris import to_fs_path

from ..core.errors import FileError, FileMoved, FileRefused
from ..core.ports import Files, FileText
from ..core.text import line_end, same_text, with_line_end
from .documents import Document, Documents
from .editor_edits import EditorEdits, typed

Writing = Callable[[str, str, str], Callable[[], None]]
"""A path, and the text of its document before and after it is written for somebody."""


class _State(Struct, frozen=True):
    """What a document was when its file was read."""

    document: Document
    version: int
    text: str
    disk: FileText | None


class EditorFiles:
    """Implements `core.ports.Files`, on top of those on disk."""

    def __init__(self, documents: Documents, disk: Files, edits: EditorEdits) -> None:
        self._documents = documents
        self._disk = disk
        self._edits = edits
        self.writing: Writing = lambda *_: lambda: None
        """Told before it is saved; what it returns takes that back."""
        self.busy: set[Document] = set()
        """Documents that are being written for somebody else than the person."""

    async def read(self, path: str) -> FileText | None:
        disk = await self._disk.read(path)
        document = self._open(path)
        if document is None:
            return disk
        text = document.text
        if disk is not None and self._follows_disk(document, disk):
            text = disk.text
        return FileText(
            text=text,
            saved=disk.text if disk else None,
            changed=disk.changed if disk else 0.0,
            state=_State(document, document.version, document.text, disk),
        )

    async def write(self, path: str, text: str, before: FileText | None) -> str:
        document = self._open(path)
        state = before.state if before is not None else None
        if not isinstance(state, _State):
            if document is not None:
                raise FileMoved(f"{path} was opened in the editor meanwhile.", hint="Try again.")
            return await self._disk.write(path, text, before)
        if document is not state.document:
            raise FileMoved(f"{path} was closed in the editor meanwhile.", hint="Try again.")
        if document.version != state.version or document.text != state.text:
            raise typed(path)
        self.busy.add(document)
        try:
            return await self._write_open(path, text, document, state.disk)
        finally:
            self.busy.discard(document)

    async def _write_open(
        self, path: str, text: str, document: Document, disk: FileText | None
    ) -> str:
        old = document.text
        clean = disk is not None and self._follows_disk(document, disk)
        if not clean:
            self._check_unsaved(path, text, document, disk)
        form = in_form_of(text, old, disk)
        if self._edits.applies:
            await self._edits.edit(path, document, form)
        not_written = self.writing(path, old, text)
        if (saved := await self._saved(path, document, disk)) is not None:
            return saved
        try:
            await self._disk.write(path, text, disk)
        except FileError:
            not_written()
            if self._edits.applies:
                await self._take_back(path, document, old, form)
            raise
        if same_text(document.text, text):
            document.saved()
        return text

    async def _saved(self, path: str, document: Document, disk: FileText | None) -> str | None:
        """The editor saves it, if it can: what is on disk then, which may be formatted."""
        before = await self._disk.read(path) if self._edits.saves else None
        if (before.text if before else None) != (disk.text if disk else None):
            return None  # somebody wrote to disk meanwhile: an editor would write over it
        if not await self._edits.save(document):
            return None
        found = await self._disk.read(path)
        if found is None or (disk and found.text == disk.text and found.text != document.text):
            return None
        return found.text

    def _check_unsaved(
        self, path: str, text: str, document: Document, disk: FileText | None
    ) -> None:
        """What is unsaved in the editor and what somebody wrote to disk must not meet here."""
        if not self._edits.applies:
            raise FileRefused(
                f"{path} has unsaved text in an editor that cannot be told to edit.",
                hint="Save it there, then try again.",
            )
        if disk is None or same_text(disk.text, text):
            return
        if disk.changed > document.saved_at:
            raise FileMoved(
                f"{path} has unsaved text in the editor, and was changed on disk too; nothing was"
                " written.",
                hint="Save or reload it in the editor, then try again.",
            )

    def _follows_disk(self, document: Document, disk: FileText) -> bool:
        """Whether nothing in the document is unsaved, so that what is on disk counts."""
        if same_text(document.text, disk.text):
            document.saved()
            return True
        return not document.changed and disk.changed > document.saved_at

    def _open(self, path: str) -> Document | None:
        for document in self._documents:
            name = to_fs_path(document.uri)
            if name == path:
                return document
        for document in self._documents:
            name = to_fs_path(document.uri)
            if name and os.path.realpath(name) == path:
                return document
        return None

    async def _take_back(self, path: str, document: Document, old: str, new: str) -> None:
        """It could not be saved, so it is not there in the editor either."""
        if same_text(document.text, new):
            with suppress(FileError):
                await self._edits.edit(path, document, old)


def in_form_of(text: str, document: str, disk: FileText | None) -> str:
    """With the line ends that the editor uses: some have only "\\n" whatever the file has."""
    if "\r" not in document and disk is not None and line_end(disk.text) == "\r\n":
        return text.replace("\r\n", "\n")
    return with_line_end(text, line_end(document))
