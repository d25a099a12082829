"""What agents changed, where the code is: diagnostics, code actions, code lenses, and who wrote it.

Every surface shows the same changes; what is decided on one is gone from all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from ..core.ports import Clock, Tasks, Timer
from . import protocol as p
from .capabilities import EditorAbilities
from .diagnostics import Diagnostics
from .documents import path_of

if TYPE_CHECKING:
    from ..core.changes.hunks import Hunk
    from ..core.changes.radar import Meeting
    from ..core.changes.record import Change, ChangeId
    from ..core.changes.reviewing import Reviewing

_SOON = 0.03
_LONGEST = 80


class ChangeSurface:
    """An observer of the review."""

    def __init__(
        self,
        abilities: EditorAbilities,
        diagnostics: Diagnostics,
        clock: Clock,
        tasks: Tasks,
        *,
        tell: Callable[[str, Any], None],
        met: Callable[[Meeting], None],
        refresh_lenses: Callable[[], None],
    ) -> None:
        self._abilities = abilities
        self._diagnostics = diagnostics
        self._clock = clock
        self._tasks = tasks
        self._tell = tell
        self._met = met
        self._refresh_lenses = refresh_lenses
        self._reviewing: Reviewing | None = None
        self._labels: dict[str, str] = {}
        self._changed: dict[ChangeId, None] = {}
        self._gone: list[str] = []
        self._paths: dict[str, None] = {}
        self._timer: Timer | None = None

    def show(self, reviewing: Reviewing) -> None:
        """From now on there is something to show."""
        self._reviewing = reviewing
        reviewing.review.observers.append(self)

    # -- what the review tells

    def changed(self, change: Change) -> None:
        self._changed[change.id] = None
        self._paths[change.path] = None
        self._soon()

    def gone(self, change: ChangeId) -> None:
        self._changed.pop(change, None)
        self._gone.append(change)
        self._soon()

    def met(self, meeting: Meeting) -> None:
        self._met(meeting)

    def moved(self, path: str) -> None:
        """Lines of a document moved, and with them the changes in it."""
        for change, _ in self._pending(path):
            self._changed[change.id] = None
            self._paths[path] = None
            self._soon()

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = self._clock.later(_SOON, self._publish)

    def _publish(self) -> None:
        self._timer = None
        changes, gone, paths = list(self._changed), self._gone, list(self._paths)
        self._changed, self._gone, self._paths = {}, [], {}
        for path in paths:
            said = [_diagnostic(c, h, self.label(h.id)) for c, h in self._pending(path)]
            self._diagnostics.publish("changes", Path(path).as_uri(), said)
        if self._abilities.lens_refresh and paths:
            self._refresh_lenses()
        all = self._all()
        found = [c for c in all if c.id in changes]
        if gone:
            known = {hunk.id for change in all for hunk in change.hunks}
            self._labels = {id: text for id, text in self._labels.items() if id in known}
        if self._abilities.plugin and (found or gone):
            items = [self.item(change) for change in found]
            self._tell("agentls/change/didChange", p.ChangeDidChangeParams(items=items, gone=gone))
        for change in found:
            if any(hunk.id not in self._labels for hunk in change.hunks):
                self._tasks.start(self._label(change), f"label {change.id}")

    async def _label(self, change: Change) -> None:
        assert self._reviewing is not None
        content = change.after.content
        now = await self._reviewing.files.current(change.path)
        text = now.content if isinstance(now.content, str) else content
        if not isinstance(text, str):
            return
        hunks = [hunk for hunk in change.hunks if hunk.id not in self._labels]
        parts = [(h.lines.start, max(h.lines.start, h.lines.end - 1)) for h in hunks]
        found = await self._reviewing.labels(change.path, text, parts)
        self._labels.update(zip((hunk.id for hunk in hunks), found, strict=True))
        if any(found):
            self.changed(change)

    # -- what there is

    def label(self, hunk: str) -> str:
        """The function or class it is in, if that is known."""
        return self._labels.get(hunk, "")

    def item(self, change: Change) -> p.ChangeItem:
        return p.ChangeItem(
            change_id=change.id,
            session_id=change.origin.session,
            turn=change.origin.turn,
            agent=change.origin.agent,
            prompt=change.origin.prompt,
            path=change.path,
            old_path=change.old_path,
            type=change.kind.value,
            pending=change.pending,
            whole=change.whole.value if change.whole else "",
            hunks=[self._hunk(hunk) for hunk in change.hunks],
        )

    def _hunk(self, hunk: Hunk) -> p.HunkItem:
        return p.HunkItem(
            hunk_id=hunk.id,
            state=hunk.state.value,
            start=hunk.lines.start,
            end=hunk.lines.end,
            removed=len(hunk.before.splitlines()),
            added=len(hunk.after.splitlines()),
            altered=hunk.altered,
            label=self.label(hunk.id),
        )

    def _all(self) -> list[Change]:
        return self._reviewing.review.changes() if self._reviewing else []

    def _pending(self, path: str) -> Iterator[tuple[Change, Hunk]]:
        if self._reviewing is None:
            return
        from ..core.changes.review import Selection  # noqa: PLC0415 - not at start

        for change in self._reviewing.review.changes(Selection(path=path)):
            for hunk in change.hunks:
                if hunk.state.value == "pending":
                    yield change, hunk

    # -- what the editor asks for

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        """What can be decided about the hunks in a range, and about the file and turn."""
        found: list[lsp.CodeAction | lsp.Command] = []
        first, last = params.range.start.line, params.range.end.line
        for change, hunk in self._pending(path_of(params.text_document.uri)):
            if hunk.lines.start <= last and first <= max(hunk.lines.start, hunk.lines.end - 1):
                found += [self._action(*choice) for choice in _choices(change, hunk)]
        return found

    def lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return [
            lsp.CodeLens(
                range=_range(hunk.lines.start),
                command=lsp.Command(title=title, command=command, arguments=[argument]),
            )
            for change, hunk in self._pending(path_of(params.text_document.uri))
            for title, command, argument in _choices(change, hunk)[:2]
        ]

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        path = path_of(params.text_document.uri)
        said = self.who(path, params.position.line)
        if said is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.PlainText, said.text))

    def who(self, path: str, line: int) -> p.ChangeWhoResult | None:
        """Who wrote a line that is not committed yet, as far as we know."""
        found = self._reviewing.review.writer_of(path, line) if self._reviewing else None
        if found is None:
            return None
        origin = found.origin
        text = f"Written by {origin.agent} in turn {origin.turn}: {_short(origin.prompt)}"
        return p.ChangeWhoResult(
            text=text, session_id=origin.session, turn=origin.turn, change_id=found.change
        )

    def _action(
        self, title: str, command: str, argument: dict[str, Any]
    ) -> lsp.CodeAction | lsp.Command:
        run = lsp.Command(title=title, command=command, arguments=[argument])
        if not self._abilities.action_literals:
            return run
        return lsp.CodeAction(title=title, kind=lsp.CodeActionKind.QuickFix, command=run)


def _choices(change: Change, hunk: Hunk) -> list[tuple[str, str, dict[str, Any]]]:
    """Title, command and argument."""
    of_hunk: dict[str, Any] = {"changeId": change.id, "hunkIds": [hunk.id]}
    of_turn: dict[str, Any] = {"sessionId": change.origin.session, "turn": change.origin.turn}
    agent = change.origin.agent
    wide = (("all in this file", {"path": change.path}), ("all of this turn", of_turn))
    undo = (
        (f"{agent}: Merge to undo this change", "merge")
        if hunk.altered
        else (f"{agent}: Undo this change", "undo")
    )
    narrow = ((f"{agent}: Keep this change", "keep"), undo)
    found = [(title, of_hunk, verdict) for title, verdict in narrow]
    found += [
        (f"{agent}: {verdict.capitalize()} {what}", which, verdict)
        for what, which in wide
        for verdict in ("keep", "undo")
    ]
    return [
        (title, "agentls.change.decide", {**which, "verdict": verdict})
        for title, which, verdict in found
    ]


def _diagnostic(change: Change, hunk: Hunk, label: str) -> dict[str, Any]:
    removed, added = len(hunk.before.splitlines()), len(hunk.after.splitlines())
    where = f" in {label}" if label else ""
    return {
        "range": {
            "start": {"line": hunk.lines.start, "character": 0},
            "end": {"line": max(hunk.lines.end, hunk.lines.start), "character": 0},
        },
        "severity": lsp.DiagnosticSeverity.Hint.value,
        "source": "agentls",
        "code": hunk.id,
        "message": f"{change.origin.agent} changed this{where}: +{added} -{removed} lines",
    }


def _range(line: int) -> lsp.Range:
    return lsp.Range(start=lsp.Position(line, 0), end=lsp.Position(line, 0))


def _short(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
