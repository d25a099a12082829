"""What a person can see and decide of all that agents did to files.

Invariant: nothing is written but through `Files.replace`, which writes only over what was looked
at just before; so whatever anybody else wrote meanwhile stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from ..errors import BadRequest
from ..model import SessionId
from ..text import Encoding, Range
from .hunks import Hunks, Plan
from .merge import Merge
from .pieces import HunkState
from .radar import Meeting, Radar
from .record import MISSING, Change, ChangeId, FileState, Origin, Record, text_of

log = logging.getLogger(__name__)

_ATTEMPTS = 2
_ALTERED = "It was changed since the agent wrote it: merge instead."


class Outcome(Struct, frozen=True):
    """Whether a file was written; if not, why, as a sentence."""

    done: bool
    why: str = ""


class Files(Protocol):
    """The files as the person sees them: what is open in the editor, then what is on disk."""

    async def current(self, path: str) -> FileState: ...

    async def replace(self, path: str, expected: FileState, new: FileState) -> Outcome:
        """Write, create or remove a file, but only if it is as expected. Returns when `current`
        gives the new state, or when it is known that it will not."""
        ...


class Selection(Struct, frozen=True, kw_only=True):
    """Which changes are meant: those that fit all that is said here."""

    session: SessionId | None = None
    turn: int | None = None
    path: str | None = None
    change: ChangeId | None = None
    hunks: tuple[str, ...] = ()
    """Of the change; all of it if none is named."""


EVERYTHING = Selection()


class Refusal(Struct, frozen=True):
    """What could not be done, and why. No hunks: the change as a whole."""

    change: ChangeId
    hunks: tuple[str, ...]
    why: str


class Decided(Struct, frozen=True):
    """What came of a decision."""

    changes: tuple[Change, ...]
    refused: tuple[Refusal, ...] = ()


class Attribution(Struct, frozen=True):
    """Who wrote a line."""

    origin: Origin
    change: ChangeId
    hunk: str


class ReviewObserver(Protocol):
    """Whoever wants to know what there is to decide."""

    def changed(self, change: Change) -> None:
        """It is new, or another, or something was decided about it."""
        ...

    def gone(self, change: ChangeId) -> None: ...

    def met(self, meeting: Meeting) -> None: ...


_DECIDED = 100
"""Changes of closed sessions that can be decided otherwise."""


class Review:
    """All changes of all sessions, oldest first."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._records: dict[ChangeId, Record] = {}
        self._radar = Radar()
        self._count = 0
        self._stamps: dict[str, int] = {}
        self.observers: list[ReviewObserver] = []

    # -- which there are

    def changes(self, which: Selection = EVERYTHING, *, pending: bool = False) -> list[Change]:
        found = [record.shown() for record in self._chosen(which)]
        return [change for change in found if change.pending or not pending]

    def get(self, id: ChangeId) -> Change:
        return self._record(id).shown()

    def knows(self, path: str) -> bool:
        """Whether there is any change of this file."""
        return any(record.path == path for record in self._records.values())

    def writer_of(self, path: str, line: int) -> Attribution | None:
        """Who wrote a line that is there now; None if no agent is known to have."""
        for record in reversed(self._at(path)):
            hunk = record.hunks.writer_of(line) if record.hunks else None
            if hunk is not None:
                return Attribution(record.origin, record.id, hunk)
        return None

    # -- what happens to files

    def turn_began(self, session: SessionId) -> None:
        self._radar.begin(session)

    def turn_ended(self, session: SessionId) -> None:
        self._radar.end(session)

    def wrote(
        self, origin: Origin, path: str, before: FileState, after: FileState, *, old_path: str = ""
    ) -> Change | None:
        """An agent changed a file. What it did to the same file in the same turn is one change,
        to which this is added: then `before` is taken to be what is known of the file. None if
        nothing is left to decide."""
        record = self._in_turn(origin, old_path or path)
        if record is None:
            self._count += 1
            id = ChangeId(f"{origin.session}.c{self._count}")
            record = Record(id, origin, path, before, after, old_path=old_path)
        else:
            if old_path:
                record.move(path)
            record.write(after)
        self._seen(path, after, but=record)
        self._meet(path, origin.session)
        if record.empty:
            if self._records.pop(record.id, None):
                self._tell(lambda observer: observer.gone(record.id))
            return None
        self._records[record.id] = record
        change = record.shown()
        self._tell(lambda observer: observer.changed(change))
        return change

    def edited(self, path: str, range: Range, text: str, encoding: Encoding) -> None:
        """A document changed here, which was just as the file was last seen, see `stamp`: costs
        as much as the edit is long, and not as the file is."""
        self._follow(self._at(path), lambda hunks: hunks.edit(range, text, encoding))

    def stamp(self, path: str) -> int:
        """Another whenever the text of a file was seen anew, and not by `edited`."""
        return self._stamps.get(path, 0)

    def typed(self, path: str) -> None:
        """The person is at work in a file, whether it is saved or not."""
        self._meet(path, None)

    def written_so(self, path: str, text: str) -> bool:
        """Whether this is what an agent made of a file."""
        return any(record.after.content == text for record in self._at(path))

    def missing_person(self, path: str) -> bool:
        """Whether agents are at work in a file, and the person is not known to be."""
        return self._radar.only_agents(path)

    def seen(self, path: str, now: FileState, *, by_user: bool = False) -> None:
        """A file is as this now, by whatever way it got there."""
        self._seen(path, now)
        if by_user:
            self._meet(path, None)

    def session_closed(self, session: SessionId) -> None:
        """The session is closed. What is pending stays until it is decided; of what was decided in
        closed sessions, the newest."""
        for record in self._records.values():
            record.closed = record.closed or record.origin.session == session
        decided = [r for r in self._records.values() if r.closed and not r.shown().pending]
        for record in decided[:-_DECIDED]:
            self._drop(record)

    def forget(self, session: SessionId) -> None:
        """Nobody will decide about the changes of this session any more."""
        for record in self._chosen(Selection(session=session)):
            self._drop(record)
        self._radar.end(session)

    # -- what a person decides

    def keep(self, which: Selection) -> Decided:
        """All that is pending, altered or not."""
        changed: list[Change] = []
        for record in self._chosen(which):
            ids = _meant(record, which, back=True)
            whole = record.whole is HunkState.PENDING and not which.hunks
            if ids and record.hunks is not None:
                record.hunks.keep(ids)
            if whole:
                record.whole = HunkState.KEPT
            if ids or whole:
                changed.append(self._told(record))
        return Decided(tuple(changed))

    async def undo(self, which: Selection) -> Decided:
        """All that is pending; of named hunks, and of a named change without pending ones, also
        what was kept."""
        return await self._decide(which, back=True)

    async def redo(self, which: Selection) -> Decided:
        """What was undone is there again."""
        return await self._decide(which, back=False)

    async def merge_undo(self, change: ChangeId, hunks: Sequence[str] = ()) -> Merge:
        """What undoing makes of hunks that somebody altered; nothing is written."""
        return await self._merge(change, hunks, Hunks.merge_undo)

    async def merge_redo(self, change: ChangeId, hunks: Sequence[str] = ()) -> Merge:
        return await self._merge(change, hunks, Hunks.merge_redo)

    # -- how

    def _record(self, id: ChangeId) -> Record:
        record = self._records.get(id)
        if record is None:
            raise BadRequest(f"There is no change {id!r}.", hint="Look at the changes again.")
        return record

    def _chosen(self, which: Selection) -> list[Record]:
        if which.hunks and which.change is None:
            raise BadRequest("Hunks were named, but not the change that they are part of.")
        records = (
            list(self._records.values()) if which.change is None else [self._record(which.change)]
        )
        return [
            record
            for record in records
            if which.session in (None, record.origin.session)
            and which.turn in (None, record.origin.turn)
            and which.path in (None, record.path)
        ]

    def _at(self, path: str) -> list[Record]:
        return [record for record in self._records.values() if record.path == path]

    def _in_turn(self, origin: Origin, path: str) -> Record | None:
        wanted = (origin.session, origin.turn)
        found = (r for r in self._at(path) if (r.origin.session, r.origin.turn) == wanted)
        return next(found, None)

    async def _decide(self, which: Selection, *, back: bool) -> Decided:
        changed: list[Change] = []
        refused: list[Refusal] = []
        records = self._chosen(which)
        # The last written is undone first, so that what is below it is as it was again.
        for record in reversed(records) if back else records:
            ids = _meant(record, which, back=back)
            whole = _whole_meant(record, which, back=back)
            if ids:
                refused += await self._decide_hunks(record, ids, back=back)
            if whole:
                refused += await self._decide_whole(record, back=back)
            if ids or whole:
                changed.append(self._told(record))
        return Decided(tuple(changed), tuple(refused))

    async def _decide_hunks(
        self, record: Record, ids: Sequence[str], *, back: bool
    ) -> list[Refusal]:
        why = ""
        for _ in range(_ATTEMPTS):
            now = await self._files.current(record.path)
            text = text_of(now)
            if text is None or record.hunks is None:
                return [Refusal(record.id, tuple(ids), "The file is not a text any more.")]
            record.hunks.see(text)
            self._stamps[record.path] = self.stamp(record.path) + 1
            plan = record.hunks.undoing(ids) if back else record.hunks.redoing(ids)
            refused = [Refusal(record.id, plan.refused, _ALTERED)] if plan.refused else []
            if not plan.hunks:
                return refused
            new = record.state_of(plan.text, now)
            outcome = await self._files.replace(record.path, now, new)
            if outcome.done:
                await self._adopt(record, record.hunks, plan)
                return refused
            why = outcome.why
        return [Refusal(record.id, tuple(ids), why or "The file changes all the time.")]

    async def _adopt(self, record: Record, hunks: Hunks, plan: Plan) -> None:
        now = await self._files.current(record.path)
        text = text_of(now)
        if record.hunks is hunks:
            hunks.adopt(plan, text)
        self._seen(record.path, now, but=record)

    async def _decide_whole(self, record: Record, *, back: bool) -> list[Refusal]:
        now = await self._files.current(record.path)
        new = record.whole_changed(now, back=back)
        if new is None:
            return [Refusal(record.id, (), _ALTERED)]
        path, other = record.path, record.other_path
        if other:
            # The new place first: if the second step fails there are two files, and not none.
            outcome = await self._files.replace(other, MISSING, new)
            if outcome.done:
                outcome = await self._files.replace(path, now, MISSING)
        else:
            outcome = await self._files.replace(path, now, new)
        if not outcome.done:
            return [Refusal(record.id, (), outcome.why)]
        record.whole = HunkState.UNDONE if back else HunkState.PENDING
        self._seen(record.path, new)
        return []

    async def _merge(
        self, change: ChangeId, ids: Sequence[str], merge: Callable[[Hunks, Sequence[str]], Merge]
    ) -> Merge:
        record = self._record(change)
        text = text_of(await self._files.current(record.path))
        if record.hunks is None or text is None:
            raise BadRequest("Only texts can be merged.", hint="Undo the change as a whole.")
        record.hunks.see(text)
        self._stamps[record.path] = self.stamp(record.path) + 1
        return merge(record.hunks, ids or record.hunks.ids())

    def _seen(self, path: str, now: FileState, *, but: Record | None = None) -> None:
        text = text_of(now)
        self._stamps[path] = self.stamp(path) + 1
        if text is not None:
            records = [record for record in self._at(path) if record is not but]
            self._follow(records, lambda hunks: hunks.see(text))

    def _follow(self, records: Iterable[Record], follow: Callable[[Hunks], None]) -> None:
        """Tells of a change only if it is another for a person, and did not just move."""
        for record in records:
            if record.hunks is not None:
                before = record.hunks.conditions()
                follow(record.hunks)
                if record.hunks.conditions() != before:
                    self._told(record)

    def _drop(self, record: Record) -> None:
        del self._records[record.id]
        self._tell(lambda observer: observer.gone(record.id))

    def _told(self, record: Record) -> Change:
        change = record.shown()
        self._tell(lambda observer: observer.changed(change))
        return change

    def _meet(self, path: str, who: SessionId | None) -> None:
        meeting = self._radar.enter(path, who)
        if meeting is not None:
            self._tell(lambda observer: observer.met(meeting))

    def _tell(self, tell: Callable[[ReviewObserver], None]) -> None:
        for observer in self.observers:
            try:
                tell(observer)
            except Exception:  # who looks on must not stop what goes on
                log.exception("whoever follows the changes failed")


def _meant(record: Record, which: Selection, *, back: bool) -> list[str]:
    if record.hunks is None:
        return []
    if which.hunks:
        return list(which.hunks)
    if not back:
        return record.hunks.ids(HunkState.UNDONE)
    pending = record.hunks.ids(HunkState.PENDING)
    return pending or (record.hunks.ids(HunkState.KEPT) if which.change else [])


def _whole_meant(record: Record, which: Selection, *, back: bool) -> bool:
    if which.hunks or record.whole is None:
        return False
    if not back:
        return record.whole is HunkState.UNDONE
    return record.whole is HunkState.PENDING or (
        record.whole is HunkState.KEPT and which.change is not None
    )
