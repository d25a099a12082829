"""Tells the editor what changed in the sessions, in numbered batches, neither too often nor late.

It remembers *which* entries changed, not what they said: the transcript has that. So a slow editor
costs no memory, and when it is ready again it gets what is new in one batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import events as ev
from ..core.model import SessionId
from ..core.ports import Clock, Timer
from ..core.session import Session
from ..core.transcript import Entry, Message
from . import convert
from . import protocol as p

TEXT_INTERVAL = 0.030
"""Seconds between batches that only bring more text."""
OTHER_INTERVAL = 0.017
"""Seconds between batches otherwise: at most 60 a second."""
BACKLOG_LIMIT = 256 * 1024
"""Bytes the editor has not read yet, past which nothing is sent until it has."""
_RETRY = 0.050


class Feed:
    """What one session still has to tell."""

    __slots__ = (
        "changed",
        "head",
        "last",
        "seq",
        "session",
        "text_sent",
        "timer",
        "told",
        "urgent",
    )

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seq = 0
        self.told = 0
        """How many entries the editor knows of."""
        self.changed: dict[str, Entry] = {}
        """Entries it knows of that have changed since."""
        self.text_sent: dict[str, int] = {}
        """For messages that may still grow: how much of the text the editor has."""
        self.head = True
        self.last = float("-inf")
        self.timer: Timer | None = None
        self.urgent = False


class Publisher:
    """An observer of all sessions."""

    def __init__(
        self,
        send: Callable[[p.DidChangeParams], None],
        backlog: Callable[[], int],
        clock: Clock,
        monotonic: Callable[[], float],
    ) -> None:
        self._send = send
        self._backlog = backlog
        self._clock = clock
        self._monotonic = monotonic
        self._feeds: dict[SessionId, Feed] = {}

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        feed = self._feeds.get(session.id)
        if feed is None:
            feed = self._feeds[session.id] = Feed(session)
        if type(event) is ev.TextAdded:
            if entry is None:
                return
            if entry.id in feed.text_sent:
                feed.changed[entry.id] = entry
            if feed.timer is None:
                self._schedule(feed, TEXT_INTERVAL)
            return
        if entry is None:
            feed.head = True
        else:
            feed.head = feed.head or isinstance(event, _HEAD_EVENTS)
            feed.changed[entry.id] = entry
        if not feed.urgent:
            feed.urgent = True
            if feed.timer is not None:
                feed.timer.cancel()
            self._schedule(feed, OTHER_INTERVAL)

    def snapshot(self, session: Session, last: int | None) -> p.SnapshotResult:
        """Everything, and the editor is up to date: what it is told next comes after this."""
        feed = self._feeds.get(session.id)
        if feed is None:
            feed = self._feeds[session.id] = Feed(session)
        self._mark_told(feed)
        entries = session.transcript.entries
        return p.SnapshotResult(
            seq=feed.seq,
            session=convert.head(session),
            entries=[convert.entry(e) for e in (entries[-last:] if last else entries)],
            total=len(entries),
        )

    def _schedule(self, feed: Feed, interval: float) -> None:
        wait = feed.last + interval - self._monotonic()
        # Never within the call that changed the session: neighbours belong in the same batch.
        feed.timer = self._clock.later(max(0.0, wait), lambda: self._flush(feed))

    def _flush(self, feed: Feed) -> None:
        if self._backlog() > BACKLOG_LIMIT:
            feed.timer = self._clock.later(_RETRY, lambda: self._flush(feed))
            return
        feed.timer = None
        feed.urgent = False
        changes = self._changes(feed)
        if changes:
            feed.seq += 1
            feed.last = self._monotonic()
            self._send(p.DidChangeParams(session_id=feed.session.id, seq=feed.seq, changes=changes))

    def _changes(self, feed: Feed) -> list[p.Change]:
        entries = feed.session.transcript.entries
        changes: list[p.Change] = []
        for id, entry in feed.changed.items():
            sent = feed.text_sent.get(id)
            if sent is not None and isinstance(entry, Message):
                changes.append(p.TextAppended(entry_id=id, text=entry.text.since(sent)))
            elif int(id[1:]) <= feed.told:
                changes.append(p.EntryChanged(entry=convert.entry(entry)))
        changes += [
            p.EntryChanged(entry=convert.entry(entries[i])) for i in range(feed.told, len(entries))
        ]
        if feed.head:
            changes.append(p.HeadChanged(session=convert.head(feed.session)))
        self._mark_told(feed)
        return changes

    def _mark_told(self, feed: Feed) -> None:
        entries = feed.session.transcript.entries
        feed.changed.clear()
        feed.head = False
        feed.told = len(entries)
        feed.text_sent.clear()
        # Text is only ever added to the last entry.
        if entries and isinstance(entries[-1], Message):
            feed.text_sent[entries[-1].id] = entries[-1].text.length


_HEAD_EVENTS: tuple[type[Any], ...] = (
    ev.TurnStarted,
    ev.TurnEnded,
    ev.AskOpened,
    ev.AskSettled,
)
"""Events that change an entry and the head."""
