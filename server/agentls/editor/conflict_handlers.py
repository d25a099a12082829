"""Requests about conflicts: listed, shown, settled."""

from __future__ import annotations

from ..core.errors import FileMoved
from ..core.ports import Files, FileText
from . import protocol as p
from .conflicts import Conflict, Conflicts
from .documents import Document
from .editor_edits import EditorEdits
from .editor_files import in_form_of


class ConflictHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(self, conflicts: Conflicts, edits: EditorEdits, disk: Files) -> None:
        self._conflicts = conflicts
        self._edits = edits
        self._disk = disk

    def conflict_list(self, params: p.Nothing) -> p.ConflictListResult:
        return self._conflicts.all()

    def conflict_show(self, params: p.ConflictParams) -> p.ConflictShowResult:
        conflict, document = self._conflicts.get(params.path)
        return p.ConflictShowResult(
            conflict=p.ConflictItem(path=conflict.path, agent=conflict.agent),
            before=conflict.before,
            mine=document.text,
            written=conflict.written,
        )

    async def conflict_settle(self, params: p.ConflictSettleParams) -> p.ConflictListResult:
        conflict, document = self._conflicts.get(params.path)
        on_disk = await self._disk.read(conflict.path)
        if on_disk is None or on_disk.text != conflict.written:
            raise FileMoved(f"{conflict.path} was changed on disk again.", hint="Look again.")
        if params.take == "mine":
            await self._save_mine(conflict, document, on_disk)
        else:
            text = conflict.written if params.take == "agent" else _both(conflict, document)
            form = in_form_of(text, document.text, on_disk)
            await self._edits.edit(conflict.path, document, form)
            if params.take == "agent":
                await self._edits.save(document)
        self._conflicts.over(document.uri)
        return self._conflicts.all()

    async def _save_mine(self, conflict: Conflict, document: Document, on_disk: FileText) -> None:
        text = document.text
        if await self._edits.save(document):
            now = await self._disk.read(conflict.path)
            if now is not None and now.text != conflict.written:
                return
        await self._disk.write(conflict.path, text, on_disk)
        document.saved()


def _both(conflict: Conflict, document: Document) -> str:
    from ..core.changes.merge import merge  # noqa: PLC0415 - not at start

    both = merge(conflict.before, document.text, conflict.written)
    return both.with_markers(ours="mine", base="before", theirs=conflict.agent)
