"""What of each session is not stored yet, and copies of it that can be stored.

The loop may change a session at any moment, and the writer has its own thread: what it gets is
copied here, as little as possible.
"""

from __future__ import annotations

import copy
from typing import Final

from msgspec import Raw, Struct

from agentls.core.growing import GrowingText
from agentls.core.model import State
from agentls.core.session import Session
from agentls.core.store import Head
from agentls.core.transcript import Ask, Entry, Message, ToolCall

from .changes import EntryChange, SessionChange
from .codec import PART, TEXT, GrownText, encoded, grown
from .servers import Note

_ENTRY_SIZE: Final = 256
"""What an entry takes beside its text."""


class Feed:
    """What of one session is not stored yet."""

    __slots__ = (
        "changed",
        "growing",
        "head",
        "parts",
        "session",
        "told",
    )

    def __init__(self, session: Session, told: int) -> None:
        self.session = session
        self.told = told
        """How many entries are stored."""
        self.changed: dict[str, Entry] = {}
        """Entries that have changed since they were."""
        self.head = True
        self.growing: Entry | None = None
        """The message that was last stored as one that may go on."""
        self.parts: dict[tuple[str, str], tuple[GrowingText, int]] = {}
        """By entry and name of a long text: which text it was, and how many parts are stored."""

    @property
    def behind(self) -> bool:
        return bool(self.head or self.changed or self.told < len(self.session.transcript.entries))

    def forget(self) -> None:
        """Nothing of it is stored, after all."""
        self.told = 0
        self.head = True
        self.changed.clear()
        self.parts.clear()
        self.growing = None


class Taken(Struct):
    """What a batch has of one session, to be remembered when it is stored."""

    feed: Feed
    told: int
    """How many entries were stored before it."""
    head: bool
    entries: list[Entry]
    parts: dict[tuple[str, str], tuple[GrowingText, int]]


def take(feed: Feed, room: int) -> tuple[SessionChange, Taken, int]:
    """As much of what is new as fits: first what changed, then what was added."""
    transcript = feed.session.transcript
    entries = transcript.entries
    taken = Taken(feed, feed.told, feed.head, [], {})
    last = entries[-1] if entries and feed.session.state is not State.CLOSED else None
    if feed.growing is not None and feed.growing is not last:
        feed.changed[feed.growing.id] = feed.growing  # it is complete: it can be indexed
        feed.growing = None
    changes: list[EntryChange] = []
    left = room
    for id, entry in list(feed.changed.items()):
        if int(id[1:]) > feed.told:
            del feed.changed[id]  # it is new: it comes below
        elif left > 0:
            del feed.changed[id]
            change, size = _copy(taken, entry, left, entry is last)
            changes.append(change)
            left -= size
    while left > 0 and feed.told < len(entries):
        entry = entries[feed.told]
        feed.told += 1
        change, size = _copy(taken, entry, left, entry is last)
        changes.append(change)
        left -= size
    head = _head(feed) if feed.head else None
    feed.head = False
    if last is not None and isinstance(last, Message) and feed.told == len(entries):
        feed.growing = last
    session = feed.session
    change_ = SessionChange(
        id=session.id,
        active=session.last_sign,
        stored=taken.told,
        total=feed.told,
        head=head,
        entries=changes,
    )
    return change_, taken, room - left + _ENTRY_SIZE


def _copy(taken: Taken, entry: Entry, room: int, is_last: bool) -> tuple[EntryChange, int]:
    taken.entries.append(entry)
    texts: dict[str, GrownText] = {}
    size = _ENTRY_SIZE
    growing = False
    named: dict[str, GrowingText] = {}
    if isinstance(entry, Message):
        named[TEXT] = entry.text
        growing = is_last
    elif isinstance(entry, ToolCall):
        named.update({id: output.text for id, output in entry.terminals.items()})
        growing = entry.is_open
    for name, text in named.items():
        before = taken.feed.parts.get((entry.id, name))
        first = before[1] if before is not None and before[0] is text else 0
        now = texts[name] = grown(text, first, room)
        size += len(now.parts) * PART + len(now.tail)
        if now.count:
            taken.parts[entry.id, name] = text, now.count
        if now.count * PART + len(now.tail) < text.length:
            taken.feed.changed[entry.id] = entry  # the rest comes with the next batch
    copied = copy.copy(entry)
    if isinstance(copied, ToolCall):
        copied.terminals = {id: copy.copy(output) for id, output in copied.terminals.items()}
    return EntryChange(int(entry.id[1:]), copied, texts, growing), size


def _head(feed: Feed) -> Head:
    session = feed.session
    transcript = session.transcript
    return Head(
        id=session.id,
        agent=session.agent_name,
        cwd=session.cwd,
        created=session.created,
        active=session.last_sign,
        agent_session=session.agent_session,
        agent_session_at=session.agent_session_at,
        title=transcript.title,
        state=transcript.state,
        detail=transcript.detail,
        policy=transcript.policy,
        mode=transcript.mode,
        modes=transcript.modes,
        options=transcript.options,
        commands=transcript.commands,
        usage=transcript.usage,
        queue=tuple(transcript.queue),
        turn=transcript.turn,
        turn_running=transcript.turn_running,
        turn_began=transcript._turn_began,
        parent=session.parent,
        spawn=session.spawn,
    )


def note_of(session: Session, ask: Ask) -> Note:
    head = Head(
        id=session.id,
        agent=session.agent_name,
        cwd=session.cwd,
        created=session.created,
        active=session.last_sign,
        agent_session=session.agent_session,
        title=session.title,
        state=State.RUNNING,
        turn=ask.turn,
    )
    return Note(head, int(ask.id[1:]), Raw(encoded(ask, {})))
