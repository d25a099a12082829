"""Files that an agent changed on disk in the same lines that a person has changed and not saved.

Invariant: until the person decides, their text stays in the editor and the agent's on disk, and
neither is written over the other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct

from ..core.errors import BadRequest
from ..core.text import same_text
from . import protocol as p
from .capabilities import EditorAbilities
from .diagnostics import Diagnostics
from .documents import Document, Documents, path_of

_CHOICES: dict[str, str] = {
    "mine": "Take mine: save it over what {agent} wrote",
    "agent": "Take what {agent} wrote: drop my unsaved changes",
    "merge": "Merge by hand: put both into the text, marked",
}


class Conflict(Struct, frozen=True, kw_only=True):
    """A document that is not what is on disk, and cannot become it by a merge."""

    path: str
    agent: str
    before: str
    """What both had last; empty if there was no file, or no text."""
    written: str
    """What the agent made of it, on disk."""


class Conflicts:
    """Those that are open, by path: at most one for a file, the latest."""

    def __init__(
        self,
        abilities: EditorAbilities,
        documents: Documents,
        diagnostics: Diagnostics,
        *,
        tell: Callable[[str, Any], None],
    ) -> None:
        self._abilities = abilities
        self._documents = documents
        self._diagnostics = diagnostics
        self._tell = tell
        self._open: dict[str, Conflict] = {}

    def found(self, conflict: Conflict) -> None:
        first = self._open.get(conflict.path)
        if first is not None:  # they have been apart since the first
            conflict = Conflict(
                path=conflict.path,
                agent=conflict.agent,
                before=first.before,
                written=conflict.written,
            )
        self._open[conflict.path] = conflict
        self._changed(conflict.path)

    def over(self, uri: str) -> None:
        """The document was saved, reloaded or closed: somebody has decided."""
        if self._open.pop(path_of(uri), None) is not None:
            self._changed(path_of(uri))

    def moved(self, document: Document) -> None:
        """It may be what is on disk by now."""
        conflict = self._open.get(path_of(document.uri))
        if conflict is not None and same_text(document.text, conflict.written):
            self.over(document.uri)

    def all(self) -> p.ConflictListResult:
        items = [p.ConflictItem(path=it.path, agent=it.agent) for it in self._open.values()]
        return p.ConflictListResult(conflicts=items)

    def get(self, path: str) -> tuple[Conflict, Document]:
        conflict = self._open.get(path)
        document = self._documents.get(Path(path).as_uri()) if conflict else None
        if conflict is None or document is None:
            raise BadRequest(f"There is no conflict about {path}.")
        return conflict, document

    # -- where the text is

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        """Wherever one is in the file, since the conflict is about all of it."""
        conflict = self._open.get(path_of(params.text_document.uri))
        return [self._action(conflict, take) for take in _CHOICES] if conflict else []

    def _action(self, conflict: Conflict, take: str) -> lsp.CodeAction | lsp.Command:
        title = _CHOICES[take].format(agent=conflict.agent)
        argument = {"path": conflict.path, "take": take}
        run = lsp.Command(title=title, command="agentls.conflict.settle", arguments=[argument])
        if not self._abilities.action_literals:
            return run
        return lsp.CodeAction(title=title, kind=lsp.CodeActionKind.QuickFix, command=run)

    def _changed(self, path: str) -> None:
        uri = Path(path).as_uri()
        conflict, document = self._open.get(path), self._documents.get(uri)
        said = [_diagnostic(conflict, document)] if conflict and document else []
        self._diagnostics.publish("conflicts", uri, said)
        if self._abilities.plugin:
            self._tell("agentls/conflict/didChange", self.all())


def _diagnostic(conflict: Conflict, document: Document) -> dict[str, Any]:
    from ..core.changes.diff import differences, lines_of  # noqa: PLC0415 - not at start

    found = differences(lines_of(document.text), lines_of(conflict.written))
    line = found[0].start if found else 0
    return {
        "range": {
            "start": {"line": line, "character": 0},
            "end": {"line": line + 1, "character": 0},
        },
        "severity": lsp.DiagnosticSeverity.Warning.value,
        "source": "agentls",
        "code": "conflict",
        "message": (
            f"{conflict.agent} changed this file on disk where you have unsaved changes. Both are"
            " kept: take yours, the agent's, or merge by hand (code actions)."
        ),
    }
