"""Has the editor edit and save documents that it has open.

Invariant: that an editor has applied an edit counts only once its document says so: some say
"applied" after a no.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from ..core.errors import FileError, FileFailed, FileMoved
from ..core.text import same_text
from . import protocol as p
from .documents import Document, Documents

log = logging.getLogger(__name__)

Request = Callable[[str, Any], Awaitable[Any]]
_PATIENCE = 10.0
"""Seconds for the editor to answer."""
_SETTLING = 2.0
"""Seconds for the change to come back; editors gather changes for up to half a second."""


class EditorEdits:
    """What can be asked of the editor for its documents."""

    def __init__(
        self,
        documents: Documents,
        request: Request,
        *,
        applies: bool,
        saves: bool,
        patience: float = _PATIENCE,
        settling: float = _SETTLING,
    ) -> None:
        self.applies = applies
        """Whether the editor lets itself be told to edit."""
        self.saves = saves
        """Whether it saves when it is asked to."""
        self._documents = documents
        self._request = request
        self._patience = patience
        self._settling = settling

    async def make(self, document: Document, text: str) -> bool:
        """Make this the text of a document, without saving it; whether that was done."""
        if not self.applies:
            return False
        try:
            await self.edit(document.uri, document, text)
        except FileError as error:
            log.warning("not edited: %s", error)
            return False
        return True

    async def save(self, document: Document) -> bool:
        """Save a document as a person would, with all that the editor does then."""
        if not self.saves:
            return False
        try:
            sent = self._request("agentls/document/save", p.DocumentParams(uri=document.uri))
            answer = await asyncio.wait_for(sent, self._patience)
        except (TimeoutError, JsonRpcException) as error:
            log.warning("the editor could not save a document: %r", error)
            return False
        return isinstance(answer, dict) and answer.get("saved") is True

    async def edit(self, path: str, document: Document, text: str) -> None:
        """Make this the text; whatever the editor answers, the document decides."""
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
            raise typed(path)
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


def typed(path: str) -> FileMoved:
    return FileMoved(f"{path} was changed in the editor meanwhile.", hint="Read it again.")
