"""Requests about changes: listed, kept, undone, shown, gone back to, and who wrote a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import BadRequest
from ..core.model import SessionId
from . import protocol as p
from .change_surface import ChangeSurface

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.changes.going_back import Restore, Step
    from ..core.changes.record import FileState
    from ..core.changes.review import Decided, Selection
    from ..core.changes.reviewing import Reviewing


class ChangeHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(self, reviewing: Callable[[], Reviewing], surface: ChangeSurface) -> None:
        self._reviewing = reviewing
        self._surface = surface

    def change_list(self, params: p.ChangeListParams) -> p.ChangeListResult:
        found = self._reviewing().review.changes(
            _selection(params.session_id, params.turn, params.path), pending=params.pending
        )
        return p.ChangeListResult(changes=[self._surface.item(change) for change in found])

    async def change_decide(self, params: p.ChangeDecideParams) -> p.ChangeDecideResult:
        review = self._reviewing().review
        which = _selection(
            params.session_id, params.turn, params.path, params.change_id, params.hunk_ids
        )
        if params.verdict == "keep":
            return self._decided(review.keep(which))
        if params.verdict == "undo":
            return self._decided(await review.undo(which))
        if params.verdict == "redo":
            return self._decided(await review.redo(which))
        if params.verdict == "merge":
            return await self._merge(params)
        raise BadRequest(f"{params.verdict!r} is none of keep, undo, redo and merge.")

    async def _merge(self, params: p.ChangeDecideParams) -> p.ChangeDecideResult:
        """Undo what somebody altered; where both changed the same lines, with marks."""
        from ..core.changes.record import ChangeId, FileState  # noqa: PLC0415 - not at start

        it = self._reviewing()
        change = it.review.get(ChangeId(params.change_id))
        merged = await it.review.merge_undo(change.id, params.hunk_ids)
        text = merged.with_markers(ours="yours", base=change.origin.agent, theirs="before")
        now = await it.files.current(change.path)
        outcome = await it.files.replace(change.path, now, FileState(text, now.mode))
        it.review.seen(change.path, await it.files.current(change.path))
        refused = [] if outcome.done else [_refusal(change.id, params.hunk_ids, outcome.why)]
        item = self._surface.item(it.review.get(change.id))
        return p.ChangeDecideResult(changes=[item], refused=refused)

    async def change_show(self, params: p.ChangeParams) -> p.ChangeShowResult:
        from ..core.changes.record import ChangeId  # noqa: PLC0415 - not at start

        it = self._reviewing()
        change = it.review.get(ChangeId(params.change_id))
        now = await it.files.current(change.path)
        return p.ChangeShowResult(
            change=self._surface.item(change),
            before=_text(change.before),
            after=_text(change.after),
            now=_text(now),
            hunks=[
                p.HunkText(hunk_id=hunk.id, before=hunk.before, after=hunk.after, now=hunk.now)
                for hunk in change.hunks
            ],
        )

    async def change_restore(self, params: p.ChangeRestoreParams) -> p.ChangeRestoreResult:
        restores = self._reviewing().restores
        if params.step == "preview":
            if not params.session_id or params.turn is None:
                raise BadRequest("A session and a turn are needed to go back to.")
            return _restore(await restores.plan(SessionId(params.session_id), params.turn))
        if params.step == "do":
            return _restore(await restores.do(params.restore_id))
        if params.step == "undo":
            return _restore(await restores.undo(params.restore_id))
        raise BadRequest(f"{params.step!r} is none of preview, do and undo.")

    def change_restore_show(self, params: p.RestoreShowParams) -> p.RestoreShowResult:
        step = self._reviewing().restores.step(params.restore_id, params.path)
        return p.RestoreShowResult(now=_text(step.now), then=_text(step.then))

    def change_who(self, params: p.ChangeWhoParams) -> p.ChangeWhoResult:
        found = self._surface.who(params.path, params.line)
        return found or p.ChangeWhoResult(text="No agent is known to have written this line.")

    def _decided(self, decided: Decided) -> p.ChangeDecideResult:
        return p.ChangeDecideResult(
            changes=[self._surface.item(change) for change in decided.changes],
            refused=[_refusal(it.change, list(it.hunks), it.why) for it in decided.refused],
        )


def _selection(
    session: str, turn: int | None, path: str, change: str = "", hunks: list[str] | None = None
) -> Selection:
    from ..core.changes.record import ChangeId  # noqa: PLC0415 - not at start
    from ..core.changes.review import Selection  # noqa: PLC0415 - not at start

    if turn is not None and not session:
        raise BadRequest("A turn was named, but not the session that it is of.")
    return Selection(
        session=SessionId(session) if session else None,
        turn=turn,
        path=path or None,
        change=ChangeId(change) if change else None,
        hunks=tuple(hunks or ()),
    )


def _refusal(change: str, hunks: list[str], why: str) -> p.ChangeRefusal:
    return p.ChangeRefusal(change_id=change, hunk_ids=hunks, why=why)


def _restore(it: Restore) -> p.ChangeRestoreResult:
    return p.ChangeRestoreResult(
        restore_id=it.id, done=it.done, files=[_file(step) for step in it.steps]
    )


def _file(step: Step) -> p.RestoreFile:
    if step.why_not:
        effect = "none"
    elif step.then.content is None:
        effect = "removed"
    else:
        effect = "made" if step.now.content is None else "changed"
    return p.RestoreFile(path=step.path, effect=effect, why=step.why_not)


def _text(state: FileState) -> str | None:
    return state.content if isinstance(state.content, str) else None
