"""Bringing files back to how they were before a turn, without what anybody else wrote since.

Invariant: first it is shown what would become of each file; only those files are touched, each only
if it still is as it was shown; and all of it can be undone.
"""

from __future__ import annotations

from msgspec import Struct

from ..errors import BadRequest
from ..model import SessionId
from .merge import merge
from .pieces import HunkState
from .record import MISSING, Change, FileState, Kind
from .remembering import Memory
from .review import Files, Review, Selection

_MOST = 50


class Step(Struct, frozen=True, kw_only=True):
    """One file and what would be, or was, made of it."""

    path: str
    now: FileState
    then: FileState
    why_not: str = ""
    """Why it is left as it is, as a sentence."""


class Restore(Struct, frozen=True, kw_only=True):
    """What going back means; `done` once that has happened."""

    id: str
    session: SessionId
    turn: int
    steps: tuple[Step, ...]
    done: bool = False


class Restores:
    """Shown, done and undone by their ids."""

    def __init__(self, review: Review, files: Files, memory: Memory) -> None:
        self._memory = memory
        self._review = review
        self._files = files
        self._known: dict[str, Restore] = {}
        self._count = 0

    async def plan(self, session: SessionId, turn: int) -> Restore:
        """Going back to before that turn; nothing is written."""
        await self._memory.recall(session)
        by_path: dict[str, list[_Deed]] = {}
        for change in self._review.changes(Selection(session=session)):
            if change.origin.turn >= turn:
                for path, deed in _deeds(change):
                    by_path.setdefault(path, []).append(deed)
        steps = [await self._step(path, deeds) for path, deeds in by_path.items()]
        wanted = [step for step in steps if step.why_not or step.now != step.then]
        return self._new(session, turn, wanted)

    def step(self, id: str, path: str) -> Step:
        """What was shown of one file."""
        steps = self._known[id].steps if id in self._known else ()
        for step in steps:
            if step.path == path:
                return step
        raise BadRequest(f"The restore {id!r} is not about {path}.", hint="Look at it first.")

    async def do(self, id: str) -> Restore:
        """What could not be done says why; the result can be undone."""
        plan = self._known.get(id)
        if plan is None or plan.done:
            raise BadRequest(f"There is no restore {id!r} to do.", hint="Look at it first.")
        return await self._carry_out(plan, plan.steps)

    async def undo(self, id: str) -> Restore:
        """What the files were before it, where nobody changed them since."""
        done = self._known.get(id)
        if done is None or not done.done:
            raise BadRequest(f"There is no restore {id!r} to undo.")
        back = [
            Step(path=step.path, now=step.then, then=step.now)
            for step in done.steps
            if not step.why_not
        ]
        return await self._carry_out(self._new(done.session, done.turn, back), back)

    async def _carry_out(self, plan: Restore, steps: tuple[Step, ...] | list[Step]) -> Restore:
        result: list[Step] = []
        for step in steps:
            why = step.why_not
            if not why:
                outcome = await self._files.replace(step.path, step.now, step.then)
                why = "" if outcome.done else outcome.why
                self._review.seen(step.path, await self._files.current(step.path))
            result.append(Step(path=step.path, now=step.now, then=step.then, why_not=why))
        done = Restore(
            id=plan.id, session=plan.session, turn=plan.turn, steps=tuple(result), done=True
        )
        self._known[plan.id] = done
        return done

    async def _step(self, path: str, deeds: list[_Deed]) -> Step:
        now = then = await self._files.current(path)
        for before, after in reversed(deeds):
            undone = _undone(before, after, then)
            if undone is None:
                why = "Somebody else changed the same lines since: undo it hunk by hunk."
                return Step(path=path, now=now, then=now, why_not=why)
            then = undone
        return Step(path=path, now=now, then=then)

    def _new(self, session: SessionId, turn: int, steps: list[Step]) -> Restore:
        self._count += 1
        plan = Restore(id=f"r{self._count}", session=session, turn=turn, steps=tuple(steps))
        self._known[plan.id] = plan
        while len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        return plan


_Deed = tuple[FileState, FileState]
"""What was made of a file: before and after."""


def _deeds(change: Change) -> list[tuple[str, _Deed]]:
    """A file that was renamed is gone in one place and new in another."""
    if change.kind is Kind.RENAMED and change.whole is not HunkState.UNDONE:
        return [
            (change.old_path, (change.before, MISSING)),
            (change.path, (MISSING, change.after)),
        ]
    return [(change.path, (change.before, change.after))]


def _undone(before: FileState, after: FileState, state: FileState) -> FileState | None:
    """The file without this change, but with what others did; None if that cannot be told."""
    if state.content in (after.content, before.content):
        return before
    texts = state.content, after.content, before.content
    if all(isinstance(text, str) for text in texts):
        text = merge(str(after.content), str(state.content), str(before.content)).text
        return None if text is None else FileState(text, state.mode)
    return None
