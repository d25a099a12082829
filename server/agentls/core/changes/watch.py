"""Finds out what agents did to files: looks before a turn, after tool calls, and at its end.

Invariant: a prompt goes out only when the state of the files before it is known, or when that took
too long, which the person is told. What the person saved meanwhile is not taken for the agent's.

With several turns in one folder at once, a file belongs to the turn whose tool calls named it last.
If none did, it is given to the turn that used a tool last, which may be wrong: nobody can know.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator

from .. import events as ev
from ..model import OPEN_STATUSES, Diff, Level, Prompt, SessionId
from ..ports import Clock, Tasks, Timer
from ..session import Session
from ..transcript import Entry, ToolCall
from .looking import Folders, Found, Look, Person
from .merge import carried_over
from .record import FileState, Origin
from .remembering import Deed, Memory
from .renames import renamed
from .review import Review

_SOON = 0.4
"""Seconds from a tool call that ended to the look, which is then for others that end, too."""
_PAUSES = 3
"""So many times as long as a look took, there is none."""
_LONGEST_PROMPT = 300


class _Turn:
    """A turn that runs, and what its agent said about files."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self.session = session
        self.origin = origin
        self.named: dict[str, int] = {}
        """Paths, and when they were named."""
        self.last_call = 0


class Watch:
    """An observer of all sessions, and what they ask before they send a prompt."""

    def __init__(
        self,
        review: Review,
        folders: Folders,
        person: Person,
        clock: Clock,
        tasks: Tasks,
        *,
        memory: Memory,
    ) -> None:
        self._review = review
        self._folders = folders
        self._person = person
        self._memory = memory
        self._deeds: list[Deed] = []
        """What was found and is not written down yet."""
        self._clock = clock
        self._tasks = tasks
        self._turns: dict[SessionId, _Turn] = {}
        """From the look before a turn to the look after it."""
        self._soon: dict[str, Timer] = {}
        self._took = 0.0
        """Seconds that the last look took."""
        self._decided: dict[str, list[tuple[FileState, FileState]]] = {}
        """What decisions made of files since the last look at them."""
        self._count = 0

    # -- what sessions do

    def prepare(self, session: Session, prompt: Prompt, go: Callable[[], None]) -> None:
        """A turn has begun: `go` sends its prompt."""
        origin = Origin(
            session=session.id,
            turn=session.transcript.turn,
            agent=session.agent_name,
            prompt=prompt.text[:_LONGEST_PROMPT],
        )
        self._tasks.start(self._begin(session, origin, go), f"look before a turn of {session.id}")

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.ToolCallChanged) and isinstance(entry, ToolCall):
            self._tool_call(session, entry)
        elif isinstance(event, ev.TurnEnded):
            self._tasks.start(self._end(session, event.turn), f"look after a turn of {session.id}")

    def _tool_call(self, session: Session, call: ToolCall) -> None:
        turn = self._turns.get(session.id)
        if turn is None:
            return
        turn.last_call = now = self._next()
        for path in _named(call):
            turn.named[posixpath.normpath(posixpath.join(session.cwd, path))] = now
        if call.status not in OPEN_STATUSES:
            self._look_soon(session.cwd)

    # -- looks

    async def _begin(self, session: Session, origin: Origin, go: Callable[[], None]) -> None:
        try:
            await self._memory.recall(session.id)
            look = await self._folders.look(session.cwd, begins=True)
            await self._take_in(look)
            if look.problem and _goes_on(session, origin):
                text = f"Some of what the agent changes may not be found: {look.problem}"
                session.deliver(ev.NoticeShown(Level.WARNING, text))
        finally:
            if _goes_on(session, origin):
                self._turns[session.id] = _Turn(session, origin)
                self._review.turn_began(session.id)
            go()

    async def _end(self, session: Session, number: int) -> None:
        turn = self._turns.get(session.id)
        if turn is None or turn.origin.turn != number:
            return
        self._drop_timer(session.cwd)
        await self._take_in(await self._folders.look(session.cwd))
        if self._turns.get(session.id) is turn:
            del self._turns[session.id]
            self._review.turn_ended(session.id)

    def _look_soon(self, root: str) -> None:
        if root not in self._soon:
            delay = max(_SOON, _PAUSES * self._took)
            self._soon[root] = self._clock.later(delay, lambda: self._look_now(root))

    def _look_now(self, root: str) -> None:
        self._drop_timer(root)
        self._tasks.start(self._look(root), f"look at {root}")

    def _drop_timer(self, root: str) -> None:
        if (timer := self._soon.pop(root, None)) is not None:
            timer.cancel()

    async def _look(self, root: str) -> None:
        began = self._clock.now()
        look = await self._folders.look(root)
        self._took = self._clock.now() - began
        await self._take_in(look)

    # -- whose it is

    def decided(self, path: str, before: FileState, after: FileState) -> None:
        """A file was changed because a person undid something or went back: not by an agent."""
        if any(_within(path, turn.session.cwd) for turn in self._turns.values()):
            self._decided.setdefault(path, []).append((before, after))

    async def _take_in(self, look: Look) -> None:
        await self._person.settled(look.found)
        undecided = [found for found in look.found if found.path not in self._decided]
        moved = {
            path: old
            for path, old in renamed(undecided).items()
            if self._writer(old.path) is self._writer(path) is not None
        }
        gone = {old.path for old in moved.values()}
        for found in look.found:
            if found.path in moved:
                self._renamed(moved[found.path], found)
            elif found.path not in gone:
                self._found(found)
        deeds, self._deeds = self._deeds, []
        await self._memory.keep(deeds)

    def _found(self, found: Found) -> None:
        before = self._with_saves(found)
        turn = self._writer(found.path)
        if turn is None or before == found.after:
            self._review.seen(found.path, found.after, by_user=before != found.before)
            return
        self._review.seen(found.path, before, by_user=before != found.before)
        self._review.wrote(turn.origin, found.path, before, found.after)
        self._deeds.append(
            Deed(origin=turn.origin, path=found.path, before=before, after=found.after)
        )
        if self._person.agent_wrote(turn.origin, found.path, before, found.after):
            self._review.typed(found.path)

    def _renamed(self, old: Found, new: Found) -> None:
        turn = self._writer(new.path)
        assert turn is not None, "it was looked for just now"
        before = self._with_saves(old)
        self._review.seen(old.path, before, by_user=before != old.before)
        self._review.wrote(turn.origin, new.path, before, new.after, old_path=old.path)
        self._deeds.append(
            Deed(
                origin=turn.origin,
                path=new.path,
                before=before,
                after=new.after,
                old_path=old.path,
            )
        )
        self._review.seen(old.path, old.after)

    def _with_saves(self, found: Found) -> FileState:
        """The file before the agent changed it, but after what the person did to it."""
        before, after = found.before, found.after
        for was, saved in self._person.saves(found.path):
            if isinstance(before.content, str):
                carried = carried_over(before.content, was, saved)
                before = FileState(carried, before.mode) if carried is not None else before
            elif before.content is None:
                before = FileState(saved, after.mode)
        for there, made in self._decided.pop(found.path, ()):
            before = _carried(before, there, made)
        return before

    def _writer(self, path: str) -> _Turn | None:
        there = [turn for turn in self._turns.values() if _within(path, turn.session.cwd)]
        if not there:
            return None
        named = [turn for turn in there if path in turn.named]
        if named:
            return max(named, key=lambda turn: turn.named[path])
        return max(there, key=lambda turn: turn.last_call)

    def _next(self) -> int:
        self._count += 1
        return self._count


def _goes_on(session: Session, origin: Origin) -> bool:
    return session.transcript.turn == origin.turn and session.transcript.turn_running


def _carried(state: FileState, was: FileState, made: FileState) -> FileState:
    """A file after somebody made one state of another, as far as that can be told."""
    if state.content == was.content:
        return FileState(made.content, made.mode if made.mode is not None else state.mode)
    texts = state.content, was.content, made.content
    if all(isinstance(text, str) for text in texts):
        carried = carried_over(str(texts[0]), str(texts[1]), str(texts[2]))
        return FileState(carried, state.mode) if carried is not None else state
    return state


def _within(path: str, root: str) -> bool:
    return path.startswith(f"{root.rstrip('/')}/")


def _named(call: ToolCall) -> Iterator[str]:
    for content in call.content:
        if isinstance(content, Diff):
            yield content.path
    for location in call.locations:
        yield location.path
