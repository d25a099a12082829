"""What the core wants of a store of sessions: the values, the port, and how a session comes back.

Invariant: `restored` gives a transcript that goes on as the stored one would have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from . import events as ev
from .family.spawn import Spawn
from .model import (
    AgentOption,
    AgentSessionId,
    Decision,
    EntryId,
    Level,
    Mode,
    Prompt,
    Reply,
    SessionId,
    SlashCommand,
    State,
    ToolCallPatch,
    Usage,
)
from .spending import DayUsage
from .transcript import Ask, Entry, Notice, Plan, Question, ToolCall, Transcript, TurnEnd

if TYPE_CHECKING:
    from .session import Session

SERVER_GONE = "never answered: the server ended"
"""Who decided about an ask that was open when its server died."""


class Head(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All of a session but its entries: what it takes to list it and to start it again."""

    id: SessionId
    agent: str
    cwd: str
    created: float
    active: float
    """When anything last happened in it."""
    agent_session: AgentSessionId | None = None
    agent_session_at: float = 0.0
    """When the agent made that session."""
    title: str = ""
    state: State = State.STARTING
    detail: str = ""
    policy: str = "ask"
    mode: str = ""
    modes: tuple[Mode, ...] = ()
    options: tuple[AgentOption, ...] = ()
    commands: tuple[SlashCommand, ...] = ()
    usage: Usage = Usage()
    queue: tuple[Prompt, ...] = ()
    turn: int = 0
    turn_running: bool = False
    turn_began: float = 0.0
    parent: SessionId | None = None
    """The session that this one was forked from."""
    spawn: Spawn = Spawn()
    """Who started it, where that was another agent."""

    @property
    def model(self) -> str:
        values = (o.value for o in self.options if "model" in {o.category, o.id})
        return next((value for value in values if isinstance(value, str)), "")


class Place(StrEnum):
    """Where a session is alive, if it is."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    """In another server, that is, in another editor or on a command line."""
    PAST = "past"


class SessionSummary(Struct, frozen=True, kw_only=True):
    """A stored session as a line of a list."""

    id: SessionId
    agent: str
    agent_session: AgentSessionId | None
    model: str
    cwd: str
    title: str
    """The name that a person gave it, else its own title."""
    named: bool
    """A person gave it that name."""
    state: State
    """As it was stored; `place` says whether it still lives."""
    place: Place
    died: bool
    """Its server ended without closing it."""
    policy: str
    mode: str
    created: float
    active: float
    archived: bool
    compacted: bool
    """It is so old that long outputs and the texts of changes are no longer kept."""
    parent: SessionId | None
    orchestrator: SessionId
    """The session that started this one and directs it; empty if a person did."""
    member: str
    """What that session calls it."""
    turns: int
    entries: int


class Cursor(Struct, frozen=True):
    """Where a page of a list ended."""

    active: float
    id: SessionId


class Filter(Struct, frozen=True, kw_only=True):
    """Which sessions are wanted; what is not said does not matter."""

    agent: str = ""
    project: str = ""
    """A folder: sessions in it and in folders below."""
    states: tuple[State, ...] = ()
    places: tuple[Place, ...] = ()
    archived: bool | None = False
    since: float | None = None
    until: float | None = None
    title: str = ""
    """Somewhere in the title, in any case."""
    file: str = ""
    """Only for a search: a path, or the end of one, that the entry is about."""
    session: SessionId | None = None
    agent_session: AgentSessionId | None = None
    """What the agent calls it; together with `agent`."""


class Page(Struct, frozen=True, kw_only=True):
    """Neighbouring entries of a session, oldest first."""

    entries: list[Entry]
    first: int
    """The number of the first of them; 1 means that there is nothing before."""
    total: int


class Stored(Struct, frozen=True, kw_only=True):
    """A whole session."""

    head: Head
    transcript: Transcript


class Hit(Struct, frozen=True, kw_only=True):
    """A place where searched words were found."""

    session: SessionId
    title: str
    agent: str
    cwd: str
    entry: EntryId
    kind: str
    """message, attachment, tool_call, plan, ask, turn_end, notice or other."""
    at: float
    snippet: str
    marks: tuple[tuple[int, int], ...]
    """Where the words are in the snippet: start and end, in characters."""


class SessionStore(Protocol):
    """Stored sessions, of all servers of this user. Every call may wait for the disk."""

    def summaries(
        self, wanted: Filter = ..., *, limit: int = ..., after: SessionSummary | Cursor | None = ...
    ) -> list[SessionSummary]:
        """Newest first; `after` is where the page before ended."""
        ...

    def get(self, id: SessionId) -> SessionSummary:
        """Raises `UnknownSession`, as all that follow do."""
        ...

    def head(self, id: SessionId) -> Head: ...

    def page(self, id: SessionId, *, last: int = ..., before: int | None = ...) -> Page:
        """The last entries, or the last before the entry of that number."""
        ...

    def load(self, id: SessionId) -> Stored: ...

    def claim(self, id: SessionId) -> Stored:
        """Make a past session ours, to go on with it. Raises `SessionNotReady` when it lives in
        another server."""
        ...

    def search(self, words: str, wanted: Filter = ..., *, limit: int = ...) -> list[Hit]: ...

    def usage(self, wanted: Filter = ...) -> list[DayUsage]:
        """What agents used, by day; the newest first."""
        ...

    def rename(self, id: SessionId, title: str) -> None: ...

    def archive(self, id: SessionId, archived: bool = ...) -> None: ...

    def delete(self, id: SessionId) -> None:
        """For good. Raises `SessionNotReady` while it lives anywhere."""
        ...

    def export(self, id: SessionId) -> bytes:
        """All of it, as JSON."""
        ...

    def take_in(self, data: bytes) -> SessionId:
        """What `export` gave, as a past session. Its id is new if there is one with the old."""
        ...

    def recover(self) -> list[SessionId]:
        """Close and mark the sessions of servers that died; which they were."""
        ...


class SessionRecorder(Protocol):
    """Has what happens in the sessions of this server stored. Nothing here waits."""

    def adopt(self, session: Session) -> None:
        """A stored session goes on here, with the transcript that it has."""
        ...

    def forget(self, id: SessionId) -> None:
        """Nothing more of it is to be stored."""
        ...

    def when_stored(self, id: SessionId, then: Callable[[], None]) -> None:
        """Call back when it is stored as it is now, or an attempt to store it has failed."""
        ...


class SessionMemory(Protocol):
    """Both, made when they are first needed."""

    @property
    def recorder(self) -> SessionRecorder: ...

    @property
    def sessions(self) -> SessionStore: ...


def restored(head: Head, entries: Iterable[Entry]) -> Transcript:
    """The transcript that has this head and these entries, which must be numbered from 1 on."""
    transcript = Transcript()
    transcript.entries = list(entries)
    transcript.turn = head.turn
    transcript.turn_running = head.turn_running
    transcript.state = head.state
    transcript.detail = head.detail
    transcript.title = head.title
    transcript.policy = head.policy
    transcript.mode = head.mode
    transcript.modes = head.modes
    transcript.options = head.options
    transcript.commands = head.commands
    transcript.usage = head.usage
    transcript.queue = list(head.queue)
    transcript._turn_began = head.turn_began
    asks: dict[Any, Ask] = {}
    for entry in transcript.entries:
        if isinstance(entry, ToolCall):
            transcript._calls[entry.call] = entry
            if entry.is_open:
                transcript._open_calls[entry.call] = entry
        elif isinstance(entry, Plan):
            transcript._plans[entry.plan] = entry
        elif isinstance(entry, TurnEnd):
            transcript._attributed += (entry.usage and entry.usage.cost) or 0.0
        elif isinstance(entry, Ask):
            asks.pop(entry.ask, None)  # the order is that of the last time it was opened
            asks[entry.ask] = entry
        elif isinstance(entry, Question) and entry.reply is None:
            transcript._questions[entry.question] = entry
    transcript._asks = {id: ask for id, ask in asks.items() if ask.decision is None}
    return transcript


def without_gaps(entries: Iterable[tuple[int, Entry]], turn: int = 0) -> Iterator[Entry]:
    """Numbered entries with a notice in place of each that was lost in a crash."""
    due = 1
    at = 0.0
    for number, entry in entries:
        while due < number:
            text = "Something here was lost when the server ended."
            id = EntryId(f"e{due}")
            yield Notice(id=id, at=at or entry.at, turn=turn, level=Level.WARNING, text=text)
            due += 1
        at, turn, due = entry.at, entry.turn, number + 1
        yield entry


def left_by_a_dead_server(transcript: Transcript) -> Iterator[ev.Event]:
    """What must happen in a session whose server died, so that nothing in it seems to go on."""
    for ask in transcript.open_asks():
        yield ev.AskSettled(ask.ask, Decision(option=None, by=SERVER_GONE))
    for question in transcript.open_questions():
        yield ev.QuestionSettled(question.question, Reply(text=None, by=SERVER_GONE))
    for call in transcript.open_calls():
        yield ev.ToolCallChanged(ToolCallPatch(id=call.call, status="cancelled"))
    if unsent := transcript.unsent():
        yield ev.QueueCleared()
        yield ev.NoticeShown(Level.WARNING, unsent)
    if transcript.turn_running:
        yield ev.TurnEnded(transcript.turn, "failed", "The server ended during this turn.")
    if transcript.state is not State.CLOSED:
        yield ev.StateChanged(State.CLOSED, "The server ended.")
