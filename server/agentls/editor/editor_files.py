"""Files with those that are open in the editor: their unsaved text is read, and edits go there.

Invariants: text that came into a document after it was looked at is never overwritten, and that an
editor has applied an edit counts only once its document says so: some say "applied" after a no.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from ..core.errors import FileError, FileFailed, FileMoved, FileRefused
from ..core.ports import Files, FileText
from ..core.text import line_end, same_text, with_line_end
from .documents import Document, Documents

log = logging.getLogger(__name__)

Request = Callable[[str, Any], Awaitable[Any]]
_PATIENCE = 10.0
"""Seconds for the editor to answer."""
_SETTLING = 2.0
"""Seconds for the change to come back; editors gather changes for up to half a second."""


class _State(Struct, frozen=True):
    """What a document was when its file was read."""

    document: Document
    version: int
    text: str
    disk: FileText | None


class EditorFiles:
    """Implements `core.ports.Files`, on top of those on disk."""

    def __init__(
        self,
        documents: Documents,
        disk: Files,
        request: Request,
        *,
        edits: bool,
        patience: float = _PATIENCE,
        settling: float = _SETTLING,
    ) -> None:
        self._documents = documents
        self._disk = disk
        self._request = request
        self._edits = edits
        """Whether the editor lets itself be told to edit."""
        self._patience = patience
        self._settling = settling

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

    async def write(self, path: str, text: str, before: FileText | None) -> None:
        document = self._open(path)
        state = before.state if before is not None else None
        if not isinstance(state, _State):
            if document is not None:
                raise FileMoved(f"{path} was opened in the editor meanwhile.", hint="Try again.")
            await self._disk.write(path, text, before)
            return
        if document is not state.document:
            raise FileMoved(f"{path} was closed in the editor meanwhile.", hint="Try again.")
        if document.version != state.version or document.text != state.text:
            raise _typed(path)
        await self._write_open(path, text, document, state.disk)

    async def _write_open(
        self, path: str, text: str, document: Document, disk: FileText | None
    ) -> None:
        old = document.text
        clean = disk is not None and self._follows_disk(document, disk)
        if not clean:
            self._check_unsaved(path, text, document, disk)
        if self._edits:
            await self._edit(path, document, _in_form_of(text, old, disk))
        try:
            await self._disk.write(path, text, disk)
        except FileError:
            if self._edits:
                await self._take_back(path, document, old, _in_form_of(text, old, disk))
            raise
        if same_text(document.text, text):
            document.saved()

    def _check_unsaved(
        self, path: str, text: str, document: Document, disk: FileText | None
    ) -> None:
        """What is unsaved in the editor and what somebody wrote to disk must not meet here."""
        if not self._edits:
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

    # -- editing

    async def make(self, document: Document, text: str) -> bool:
        """Have the editor make this the text of a document, without saving it; whether it did."""
        if not self._edits:
            return False
        try:
            await self._edit(document.uri, document, text)
        except FileError as error:
            log.warning("not merged: %s", error)
            return False
        return True

    async def _edit(self, path: str, document: Document, text: str) -> None:
        """Have the editor make this the text; whatever it answers, the document decides."""
        from ..core.changes.merge import merge  # noqa: PLC0415 - not at start

        old, version = document.text, document.version
        if same_text(old, text):
            return

        def done() -> bool:
            now = document.text
            # Editors that end every file with a newline add it; people go on typing.
            return (
                same_text(now, text)
                or same_text(now, text + "\n")
                or (now != old and merge(old, now, text).text == now)
            )

        applied = await self._apply(document, text, done)
        if done():
            return
        if self._documents.get(document.uri) is not document:
            raise FileMoved(f"{path} was closed in the editor meanwhile.", hint="Try again.")
        if document.version != version:
            raise _typed(path)
        said = "" if applied else " It was refused there."
        raise FileFailed(f"The editor did not take the change to {path}.{said}")

    async def _apply(self, document: Document, text: str, done: Callable[[], bool]) -> bool:
        """Ask for it, and wait until it is done or will not be. What the editor said."""
        settled, applied, version = asyncio.Event(), True, document.version

        def news(changed: Document) -> None:
            gone = self._documents.get(document.uri) is not document
            moved = not applied and document.version != version
            if changed is document and (gone or moved or done()):
                settled.set()

        self._documents.observers.append(news)
        try:
            try:
                sent = self._request(lsp.WORKSPACE_APPLY_EDIT, self._params(document, text))
                answer = await asyncio.wait_for(sent, self._patience)
                applied = getattr(answer, "applied", None) is not False
            except (TimeoutError, JsonRpcException) as error:
                log.warning("the editor could not apply an edit: %r", error)
                applied = False
            news(document)
            with suppress(TimeoutError):
                await asyncio.wait_for(settled.wait(), self._settling)
        finally:
            self._documents.observers.remove(news)
        return applied

    def _params(self, document: Document, text: str) -> lsp.ApplyWorkspaceEditParams:
        from ..core.changes.edits import edits  # noqa: PLC0415 - not at start

        changes = [
            lsp.TextEdit(
                range=lsp.Range(
                    start=lsp.Position(edit.range.start.line, edit.range.start.character),
                    end=lsp.Position(edit.range.end.line, edit.range.end.character),
                ),
                new_text=edit.text,
            )
            for edit in edits(document.text, text, self._documents.encoding)
        ]
        where = lsp.OptionalVersionedTextDocumentIdentifier(
            uri=document.uri, version=document.version
        )
        edit = lsp.TextDocumentEdit(text_document=where, edits=list(changes))
        return lsp.ApplyWorkspaceEditParams(
            label="agentls", edit=lsp.WorkspaceEdit(document_changes=[edit])
        )

    async def _take_back(self, path: str, document: Document, old: str, new: str) -> None:
        """It could not be saved, so it is not there in the editor either."""
        if same_text(document.text, new):
            with suppress(FileError):
                await self._edit(path, document, old)


def _typed(path: str) -> FileMoved:
    return FileMoved(f"{path} was changed in the editor meanwhile.", hint="Read it again.")


def _in_form_of(text: str, document: str, disk: FileText | None) -> str:
    """With the line ends that the editor uses: some have only "\\n" whatever the file has."""
    if "\r" not in document and disk is not None and line_end(disk.text) == "\r\n":
        return text.replace("\r\n", "\n")
    return with_line_end(text, line_end(document))
