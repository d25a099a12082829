"""What the person saves while agents work, and who has which file open.

Invariant: a text counts as the person's only from where the editor and the disk last agreed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..core.ports import Tasks
from .conflicts import Conflict, Conflicts
from .documents import Document, Documents, path_of

if TYPE_CHECKING:
    from ..core.changes.looking import Found
    from ..core.changes.record import FileState, Origin

_SETTLING = 0.3
"""Seconds that editors take to say that they saved what is on disk already."""


MergeIn = Callable[[Document, str], Awaitable[bool]]
"""Has the editor make this the text of a document; whether it did."""


class Saves:
    """Implements `core.changes.looking.Person`."""

    def __init__(
        self,
        documents: Documents,
        tell: Callable[[str], None],
        merge_in: MergeIn,
        tasks: Tasks,
        conflicts: Conflicts,
    ) -> None:
        self._documents = documents
        self._tell = tell
        self._merge_in = merge_in
        self._tasks = tasks
        self._conflicts = conflicts
        self._agreed: dict[str, str] = {}
        """By path, what was on disk when the editor last had the same."""
        self._saves: dict[str, list[tuple[str, str]]] = {}

    def opened(self, uri: str, text: str) -> None:
        if path := path_of(uri):
            self._agreed[path] = text

    def saved(self, uri: str) -> None:
        path, document = path_of(uri), self._documents.get(uri)
        if path and document is not None:
            was, text = self._agreed.get(path, document.text), document.text
            if was != text:
                self._saves.setdefault(path, []).append((was, text))
            self._agreed[path] = text

    def writing(self, path: str, before: str, after: str) -> Callable[[], None]:
        """A document is changed and saved, but not by the person: theirs is only what was unsaved.
        Returned: how to take that back, if it could not be saved."""
        was, saves = self._agreed.get(path, before), len(self._saves.get(path, []))
        if was != before:
            self._saves.setdefault(path, []).append((was, before))
        self._agreed[path] = after

        def take_back() -> None:
            self._agreed[path] = was
            del self._saves.get(path, [])[saves:]

        return take_back

    def closed(self, uri: str) -> None:
        if path := path_of(uri):
            self._agreed.pop(path, None)

    def open_at(self, path: str) -> Document | None:
        return next((it for it in self._documents if path_of(it.uri) == path), None)

    # -- core.changes.looking.Person

    async def settled(self, found: tuple[Found, ...]) -> None:
        for it in found:
            document = self.open_at(it.path)
            if document is not None and document.text == it.after.content and document.changed:
                await asyncio.sleep(_SETTLING)
                return

    def saves(self, path: str) -> list[tuple[str, str]]:
        return self._saves.pop(path, [])

    def agent_wrote(self, origin: Origin, path: str, before: FileState, after: FileState) -> bool:
        document = self.open_at(path)
        if document is None or not isinstance(after.content, str):
            return False
        text = document.text
        if text not in (before.content, after.content) and document.changed:
            base = before.content if isinstance(before.content, str) else ""
            conflict = Conflict(path=path, agent=origin.agent, before=base, written=after.content)
            work = self._guard(conflict, document)
            self._tasks.start(work, f"guard {path}")
            return True
        self._agreed[path] = after.content
        return False

    async def _guard(self, conflict: Conflict, document: Document) -> None:
        """Unsaved text and what the agent wrote both stay, in one text if that can be."""
        from ..core.changes.merge import merge  # noqa: PLC0415 - not at start

        path = conflict.path
        said = f"{conflict.agent} changed {path} on disk while it has unsaved text in the editor."
        merged = merge(conflict.before, document.text, conflict.written).text
        if merged is not None and await self._merge_in(document, merged):
            self._agreed[path] = conflict.written
            self._tell(f"{said} What it wrote was merged into your text, which is not saved yet.")
        else:
            self._conflicts.found(conflict)
            self._tell(f"{said} Both are kept: choose by a code action in the file.")
