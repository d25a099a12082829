"""Sees everything that happens in the sessions, and has it stored a moment later.

It remembers *which* entries changed, not what they said: the transcript has that. So streamed text
costs next to nothing here, a disk that is slow or full costs no memory, and what could not be
stored is simply tried again. A decision is noted down before the agent hears of it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agentls.core import events as ev
from agentls.core.model import SessionId, State
from agentls.core.ports import Clock, Timer
from agentls.core.session import Session
from agentls.core.transcript import Ask, Entry, ToolCall

from .changes import Batch, Outcome, SessionChange
from .feeds import Feed, Taken, note_of, take

if TYPE_CHECKING:
    from .writer import Writer

log = logging.getLogger(__name__)

INTERVAL: Final = 0.1
"""Seconds that text may wait; with the writing itself, well below 200 ms."""
_SOON: Final = 0.005
_SLOWEST: Final = 5.0
"""Seconds between attempts while nothing can be stored."""
_PATIENCE: Final = 10.0
"""Seconds that another program may hold the database before a person hears of it."""
_ROOM: Final = 1 << 20
"""Characters in one batch, roughly: what the loop copies at a time."""
_CLOSING: Final = 10.0
_HEAD_EVENTS: Final = (ev.TurnStarted, ev.TurnEnded, ev.AskOpened, ev.AskSettled)
"""Events that change an entry and the head."""


class Recorder:
    """An observer of all sessions. All methods belong to the thread of the event loop, `close`
    may be called from another when the loop does nothing to the sessions any more."""

    def __init__(
        self, clock: Clock, problem: Callable[[str], None], start: Callable[[], Writer]
    ) -> None:
        self._clock = clock
        self._problem = problem
        self._start = start
        self._writer: Writer | None = None
        self._feeds: dict[SessionId, Feed] = {}
        self._told: dict[SessionId, int] = {}
        """Of sessions that are taken up: how many entries are stored."""
        self._timer: Timer | None = None
        self._urgent = False
        self._flight: tuple[Batch, list[Taken]] | None = None
        self._failures = 0
        self._failing_since = 0.0
        self._said: set[str] = set()
        self._off = False
        self._doubt = False
        self._waiting: list[tuple[SessionId, int, Callable[[], None]]] = []
        """Who wants to know when a session is stored as it was, and which batch will have it."""
        self._batches = 0
        self.ended: Callable[[SessionId], None] = lambda _: None
        """Told of each session that is closed, and stored whole."""

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        feed = self._feeds.get(session.id)
        if feed is None:
            if self._off:
                return
            feed = self._add(session)
        if type(event) is ev.TextAdded:
            if entry is None:
                return
            feed.changed[entry.id] = entry
            if self._timer is None:
                self._timer = self._clock.later(INTERVAL, self._tick)
            return
        if entry is None:
            feed.head = True
        else:
            feed.changed[entry.id] = entry
            feed.head = feed.head or isinstance(event, _HEAD_EVENTS)
            if isinstance(entry, Ask):
                self._hurry(feed, entry)
                return
        if self._timer is None:
            self._timer = self._clock.later(INTERVAL, self._tick)

    def adopt(self, session: Session) -> None:
        """A stored session goes on here, under this object, with the transcript that it has."""
        self._told[session.id] = len(session.transcript.entries)
        self._add(session)

    def forget(self, id: SessionId) -> None:
        """Nothing more of it is to be stored."""
        self._feeds.pop(id, None)
        self._told.pop(id, None)

    def when_stored(self, id: SessionId, then: Callable[[], None]) -> None:
        """Call back when it is stored as it is now, or an attempt to store it has failed."""
        feed = self._feeds.get(id)
        if (
            feed is None
            or self._writer is None
            or self._off
            or self._failures
            or (self._flight is None and not feed.behind)
        ):
            then()
        else:
            self._waiting.append((id, self._batches + 1, then))
            self._soon()

    def doubt(self) -> None:
        """Somebody, on any thread, could not read the database."""
        self._doubt = True

    def close(self) -> None:
        """Store what is left, as far as that is possible."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        writer, self._writer = self._writer, None
        if writer is None:
            return
        deadline = time.monotonic() + _CLOSING
        failures = self._failures
        while time.monotonic() < deadline and self._failures <= failures and not self._off:
            if self._flight is None and not self._send(writer):
                break
            assert self._flight is not None, "it was just sent"
            if self._flight[0].done.wait(max(0.0, deadline - time.monotonic())):
                self._landed(writer)

    # -- between the loop and the writer

    def _add(self, session: Session) -> Feed:
        if self._writer is None and not self._off:
            self._writer = self._start()
        feed = self._feeds[session.id] = Feed(session, self._told.pop(session.id, 0))
        return feed

    def _hurry(self, feed: Feed, ask: Ask) -> None:
        if ask.decision is not None:
            if self._writer is not None:
                self._writer.note(lambda: note_of(feed.session, ask))
            call = feed.session.transcript.call(ask.call)
            if call is not None:  # it says now whether it was rejected
                feed.changed[call.id] = call
        self._soon()

    def _soon(self) -> None:
        if not self._urgent:
            self._urgent = True
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._clock.later(0.0, self._tick)

    def _tick(self) -> None:
        self._timer = None
        writer = self._writer
        if writer is None or self._off:
            return
        if self._flight is not None:
            if not self._flight[0].done.is_set():
                self._timer = self._clock.later(_SOON, self._tick)
                return
            self._landed(writer)
            if self._failures:
                self._urgent = False
                wait = min(_SLOWEST, INTERVAL * 2.0**self._failures)
                self._timer = self._clock.later(wait, self._tick)
                return
        if self._send(writer):
            self._timer = self._clock.later(INTERVAL, self._tick)

    def _send(self, writer: Writer) -> bool:
        """Whether there was anything to store."""
        changes: list[SessionChange] = []
        taken: list[Taken] = []
        room = _ROOM
        for feed in self._feeds.values():
            if room > 0 and feed.behind:
                change, what, size = take(feed, room)
                room -= size
                changes.append(change)
                taken.append(what)
        if not changes:
            return False
        batch = Batch(changes, urgent=self._urgent, notes=writer.noted, doubtful=self._doubt)
        self._urgent = self._doubt = False
        self._flight = batch, taken
        self._batches += 1
        writer.submit(batch)
        return True

    def _landed(self, writer: Writer) -> None:
        assert self._flight is not None
        (batch, taken), self._flight = self._flight, None
        outcome = batch.outcome
        if outcome.remark:
            self._say(outcome.remark, outcome.remark)
        if not outcome.fault and not outcome.begun_anew:
            self._failures = 0
            for what in taken:
                what.feed.parts.update(what.parts)
                self._tidy(what.feed)
            writer.stored(batch.notes)
            self._answer_waiting()
            return
        for what in taken:
            what.feed.told = min(what.told, what.feed.told)
            what.feed.head = what.feed.head or what.head
            what.feed.changed.update({entry.id: entry for entry in what.entries})
        if outcome.begun_anew:
            self._told.clear()
            for feed in self._feeds.values():
                feed.forget()
        else:
            self._failed(outcome)
            self._answer_waiting()

    def _answer_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for id, batch, then in waiting:
            feed = self._feeds.get(id)
            # One that goes on is behind for ever; one that is closed is stored whole at last.
            goes_on = feed is not None and feed.session.state is not State.CLOSED
            landed = goes_on and self._batches >= batch
            if feed is None or self._failures or landed or not feed.behind:
                then()
            else:
                self._waiting.append((id, batch, then))

    def _failed(self, outcome: Outcome) -> None:
        now = self._clock.now()
        self._failing_since = self._failing_since if self._failures else now
        self._failures += 1
        if outcome.for_good:
            self._off = True
            self._feeds.clear()
        if not outcome.may_pass or now - self._failing_since > _PATIENCE:
            self._say(outcome.fault, outcome.sentence)

    def _say(self, kind: str, sentence: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            log.warning("%s", sentence)
            self._problem(sentence)

    def _tidy(self, feed: Feed) -> None:
        if feed.parts:
            for key in [key for key in feed.parts if key[0] not in feed.changed]:
                entry = feed.session.transcript.entries[int(key[0][1:]) - 1]
                if entry is not feed.growing and not (
                    isinstance(entry, ToolCall) and entry.is_open
                ):
                    del feed.parts[key]
        if feed.session.state is State.CLOSED and not feed.behind:
            self._feeds.pop(feed.session.id, None)
            self.ended(feed.session.id)
