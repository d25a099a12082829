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
from ..core.transcript import Ask, Entry, Message
from . import convert
from . import protocol as p

TEXT_INTERVAL = 0.030
"""Seconds between batches that only bring more text."""
OTHER_INTERVAL = 0.018
"""Seconds between batches otherwise: with the burst, at most 60 a second."""
BURST = 0.050
"""How far ahead of its pace a session may be that was quiet: the first batches go out at once."""
BACKLOG_LIMIT = 256 * 1024
"""Bytes the editor has not read yet, past which nothing is sent until it has."""
BATCH_LIMIT = 256 * 1024
"""Characters in one batch, roughly; the rest goes on in the next."""
_ENTRY_SIZE = 256
"""What an entry takes beside its text."""
_REMEMBERED = 1000
"""Sessions that are not open here, of which the last number is known."""
_RETRY = 0.050


class Feed:
    """What one session still has to tell."""

    __slots__ = ("changed", "due", "head", "seq", "session", "text_sent", "timer", "told", "urgent")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.seq = 0
        self.told = 0
        """How many entries the editor knows of."""
        self.changed: dict[str, Entry] = {}
        """Entries it knows of that have changed since."""
        self.text_sent: dict[str, int] = {}
        """For messages that may still grow, or were too long: how much of it the editor has."""
        self.head = True
        self.due = float("-inf")
        """When the next batch may go out."""
        self.timer: Timer | None = None
        self.urgent = False

    @property
    def behind(self) -> bool:
        return bool(self.changed or self.head or self.told < len(self.session.transcript.entries))


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
        self._last: dict[SessionId, int] = {}
        """Of sessions that are not open here: the number of the last batch."""
        self._highest = 1
        """The same, at most, of those that are too many to be remembered."""

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        feed = self._feeds.get(session.id)
        if feed is None:
            feed = self._begin(session, entry)
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
            if isinstance(entry, Ask) and (call := session.transcript.call(entry.call)):
                feed.changed[call.id] = call  # it may be rejected now
        alone = (
            type(event) is ev.AskOpened
            and event.decision is None
            and len(session.transcript.open_asks()) == 1
        )
        if alone or not feed.urgent:
            feed.urgent = True
            if feed.timer is not None:
                feed.timer.cancel()
            if alone:
                # The agent stands still until a person answers: there is nothing to gather.
                feed.timer = self._clock.later(0.0, lambda: self._flush(feed, 0.0))
            else:
                self._schedule(feed, OTHER_INTERVAL)

    def snapshot(
        self, session: Session, last: int | None, before: int | None = None
    ) -> p.SnapshotResult:
        """The session as it is, or some of it. What was about to be told is told first, in
        batches: others look at the same session, and need it too."""
        feed = self._feeds.get(session.id)
        if feed is None:
            feed = self._begin(session, None)
        while feed.behind and self._send_batch(feed):
            pass
        entries = session.transcript.entries
        end = len(entries) if before is None else max(0, min(before - 1, len(entries)))
        start = max(0, end - last) if last else 0
        return p.SnapshotResult(
            seq=feed.seq,
            session=convert.head(session),
            entries=[convert.entry(entry) for entry in entries[start:end]],
            total=len(entries),
        )

    def seq(self, id: SessionId) -> int:
        """The number of the last batch about a session that is not open here."""
        return self._remember(id, self._last.get(id, self._highest))

    def forget(self, id: SessionId) -> None:
        """It is not open here any more. Should it be again, the numbers go on."""
        feed = self._feeds.pop(id, None)
        if feed is not None:
            if feed.timer is not None:
                feed.timer.cancel()
            while feed.behind and self._send_batch(feed):
                pass
            self._remember(id, feed.seq)

    def _remember(self, id: SessionId, seq: int) -> int:
        self._last[id] = seq
        if len(self._last) > _REMEMBERED:
            # Should that one be open again, the numbers leap, and whoever has it reads it anew.
            self._highest = max(self._highest, self._last.pop(next(iter(self._last))))
        return seq

    def _begin(self, session: Session, entry: Entry | None) -> Feed:
        """A session that was past until now has entries, which whoever looks at it has read; who
        has not sees from the number that there is something to read."""
        feed = self._feeds[session.id] = Feed(session)
        feed.told = int(entry.id[1:]) - 1 if entry else len(session.transcript.entries)
        feed.seq = self._last.pop(session.id, self._highest if feed.told else 0)
        return feed

    def _schedule(self, feed: Feed, interval: float) -> None:
        now = self._monotonic()
        due = max(feed.due, now - BURST)
        # Never within the call that changed the session: neighbours belong in the same batch.
        feed.timer = self._clock.later(max(0.0, due - now), lambda: self._flush(feed, interval))

    def _flush(self, feed: Feed, interval: float) -> None:
        if self._backlog() > BACKLOG_LIMIT:
            feed.timer = self._clock.later(_RETRY, lambda: self._flush(feed, interval))
            return
        feed.timer = None
        feed.urgent = False
        if self._send_batch(feed):
            feed.due = max(feed.due, self._monotonic() - BURST) + interval
        if feed.behind:
            self._schedule(feed, OTHER_INTERVAL)

    def _send_batch(self, feed: Feed) -> bool:
        """Whether there was anything to tell."""
        changes = self._changes(feed)
        if changes:
            feed.seq += 1
            self._send(p.DidChangeParams(session_id=feed.session.id, seq=feed.seq, changes=changes))
        return bool(changes)

    def _changes(self, feed: Feed) -> list[p.Change]:
        """As much of what is new as one batch takes: first what changed, then what was added."""
        changes: list[p.Change] = []
        room = BATCH_LIMIT
        for id, entry in list(feed.changed.items()):
            if room <= 0:
                break
            if int(id[1:]) > feed.told:
                del feed.changed[id]  # it is new: it comes whole, below
            elif isinstance(entry, Message):
                room -= self._more_text(feed, entry, room, changes)
            else:
                del feed.changed[id]
                changes.append(p.EntryChanged(entry=convert.entry(entry)))
                room -= _ENTRY_SIZE
        entries = feed.session.transcript.entries
        while room > 0 and feed.told < len(entries):
            entry = entries[feed.told]
            feed.told += 1
            changes.append(p.EntryChanged(entry=self._entry(feed, entry, room)))
            room -= _ENTRY_SIZE + (entry.text.length if isinstance(entry, Message) else 0)
        if room > 0 and feed.head:
            feed.head = False
            changes.append(p.HeadChanged(session=convert.head(feed.session)))
        self._tidy(feed)
        return changes

    def _entry(self, feed: Feed, entry: Entry, room: int) -> p.Entry:
        if not isinstance(entry, Message):
            return convert.entry(entry)
        end = min(entry.text.length, room)
        feed.text_sent[entry.id] = end
        if end < entry.text.length:
            feed.changed[entry.id] = entry
        return convert.message(entry, entry.text.between(0, end))

    def _more_text(self, feed: Feed, entry: Message, room: int, changes: list[p.Change]) -> int:
        sent = feed.text_sent.get(entry.id, entry.text.length)
        end = min(entry.text.length, sent + room)
        if end > sent:
            text = entry.text.between(sent, end)
            changes.append(p.TextAppended(entry_id=entry.id, text=text))
        feed.text_sent[entry.id] = end
        if end == entry.text.length:
            del feed.changed[entry.id]
        return end - sent

    def _tidy(self, feed: Feed) -> None:
        """Forget how much was sent of messages that are complete: only the last one grows."""
        entries = feed.session.transcript.entries
        last = entries[-1].id if entries else ""
        for id in [id for id in feed.text_sent if id != last and id not in feed.changed]:
            del feed.text_sent[id]


_HEAD_EVENTS: tuple[type[Any], ...] = (
    ev.TurnStarted,
    ev.TurnEnded,
    ev.AskOpened,
    ev.AskSettled,
    ev.QuestionAsked,
    ev.QuestionSettled,
)
"""Events that change an entry and the head."""
