"""Commands that run, and their output: one record for each, whoever runs it.

A terminal is hosted by this server, run by the editor, or mirrored: the agent runs the command
itself and only reports it. Observers see it opened, then its output, then its exit; everybody who
waits for the exit hears of it once.
"""

from __future__ import annotations

import logging
import shlex
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol, TypeVar

from msgspec import Struct, field

from .errors import TerminalRefused, UnknownTerminal
from .model import SessionId, TerminalId
from .ports import Clock
from .tail import Tail

log = logging.getLogger(__name__)

OUTPUT_LIMIT = 1024 * 1024
"""Bytes that are kept of a command's output when nobody says how much."""
_PAST_LIMIT = 16 * 1024 * 1024
"""Bytes that are kept of the output of all commands that are over and done with."""
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish"}
_LARGEST_OUTPUT = 16 * 1024 * 1024
_LARGEST_SIDE = 0xFFFF

_T = TypeVar("_T")


class Source(StrEnum):
    """Who runs a command."""

    HOSTED = "hosted"
    EDITOR = "editor"
    MIRRORED = "mirrored"


class Exit(Struct, frozen=True):
    """How a command ended. Neither code nor signal means: nobody knows."""

    code: int | None = None
    signal: str = ""
    """Its name, e.g. "SIGTERM"."""


class TerminalSpec(Struct, frozen=True, kw_only=True):
    """What to run. Without arguments, the command is a program or a whole shell line."""

    command: str
    args: tuple[str, ...] = ()
    cwd: str
    env: dict[str, str] = field(default_factory=dict)
    """What the agent sets, beyond the environment of the editor."""
    columns: int = 120
    rows: int = 40

    @property
    def shown(self) -> str:
        """The command for people: what a shell is told to run, and not that it is a shell."""
        if not self.args:
            return self.command
        is_shell = self.command.rpartition("/")[2] in _SHELLS
        if is_shell and len(self.args) == 2 and self.args[0] in {"-c", "-lc"}:
            return self.args[1]
        return shlex.join((self.command, *self.args))


class Terminal(Struct, kw_only=True, eq=False):
    """One command: running, or over but still readable."""

    id: TerminalId
    session: SessionId
    command: str
    """For people."""
    cwd: str
    source: Source
    turn: int = 0
    """In which turn of its session it was started."""
    created: float
    tail: Tail
    exit: Exit | None = None
    ended: float | None = None
    released: bool = False
    """The agent cannot ask for it any more, or never could; it can still be looked at."""

    @property
    def running(self) -> bool:
        return self.exit is None

    @property
    def writable(self) -> bool:
        return self.running and self.source is Source.HOSTED


class Snapshot(Struct, frozen=True):
    """What an agent gets to know of its command."""

    output: str
    truncated: bool
    exit: Exit | None


class TerminalSink(Protocol):
    """Where whoever runs a command puts what comes of it, also before `start` has returned."""

    def data(self, data: bytes) -> None: ...

    def exited(self, exit: Exit) -> None:
        """Called once, when all that the command itself wrote has come; what it left behind may
        still write."""
        ...


class TerminalHandle(Protocol):
    """A command that was started. Nothing here fails because the command is over."""

    @property
    def source(self) -> Source: ...

    def write(self, data: bytes) -> None: ...

    def resize(self, columns: int, rows: int) -> None: ...

    def kill(self) -> None:
        """End it and everything that it started, which may take a while."""
        ...

    def release(self) -> None:
        """Only people may still want to see it."""
        ...

    def pause(self) -> None:
        """Read no more of its output until `resume`; it waits when it writes on."""
        ...

    def resume(self) -> None: ...


class TerminalBackend(Protocol):
    """Whoever can run commands."""

    async def start(
        self, terminal: Terminal, spec: TerminalSpec, sink: TerminalSink
    ) -> TerminalHandle:
        """Raises a `TerminalError` when there is nothing to wait for."""
        ...


class NoTerminals:
    """The backend of those who have none."""

    async def start(
        self,
        terminal: Terminal,  # noqa: ARG002 - all are refused alike
        spec: TerminalSpec,
        sink: TerminalSink,  # noqa: ARG002
    ) -> TerminalHandle:
        raise TerminalRefused(f"No commands can be run here, so {spec.shown!r} was not.")


class TerminalObserver(Protocol):
    """Whoever wants to see every terminal of every session."""

    def opened(self, terminal: Terminal) -> None:
        """There is a new one, or more is known about it."""
        ...

    def grew(self, terminal: Terminal) -> None: ...

    def exited(self, terminal: Terminal) -> None: ...


class _Entry:
    """A terminal, whoever runs it, and whoever waits for it. Implements `TerminalSink`."""

    def __init__(self, terminal: Terminal, all: Terminals) -> None:
        self.terminal = terminal
        self.handle: TerminalHandle | None = None
        self.opened = False
        """Nothing is told of a command before it is known to have been started."""
        self.doomed = False
        """It was killed before it was started."""
        self.forgotten = False
        """Its session is not here any more."""
        self.early_exit: Exit | None = None
        self.waiting: dict[object, Callable[[Exit], None]] = {}
        self._all = all

    def data(self, data: bytes) -> None:
        self.terminal.tail.append(data)
        if self.opened:
            self._all.grew(self)

    def exited(self, exit: Exit) -> None:
        if self.opened:
            self._all.exited(self, exit)
        else:
            self.early_exit = exit

    def kill(self) -> None:
        self.doomed = True
        if self.handle is not None:
            self.handle.kill()


class Terminals:
    """All terminals of all sessions, oldest first. What an agent calls one may be another's too,
    so that they are known by session and id."""

    def __init__(self, backend: TerminalBackend, clock: Clock, new_id: Callable[[], str]) -> None:
        self._backend = backend
        self._clock = clock
        self._new_id = new_id
        self._entries: dict[tuple[SessionId, TerminalId], _Entry] = {}
        self._past: deque[tuple[Terminal, int]] = deque()
        self._past_size = 0
        self.observers: list[TerminalObserver] = []

    # -- which there are

    def get(self, session: SessionId, id: TerminalId) -> Terminal:
        """For a person, who may look at whatever there was."""
        entry = self._entries.get((session, id))
        if entry is None or not entry.opened:
            raise UnknownTerminal(
                f"There is no terminal {id!r} in this session.",
                hint="List the terminals to see which there are.",
            )
        return entry.terminal

    def of_agent(self, session: SessionId, id: TerminalId) -> Terminal:
        """For an agent, which may use what it has created and not released."""
        terminal = self.get(session, id)
        if terminal.source is Source.MIRRORED:
            raise UnknownTerminal(f"The terminal {id!r} was never created.")
        if terminal.released:
            raise UnknownTerminal(f"The terminal {id!r} has been released.")
        return terminal

    def of(self, session: SessionId) -> list[Terminal]:
        return [entry.terminal for entry in self._of(session) if entry.opened]

    def knows(self, session: SessionId, id: TerminalId) -> bool:
        return (session, id) in self._entries

    def _of(self, session: SessionId) -> list[_Entry]:
        return [e for (owner, _), e in self._entries.items() if owner == session]

    # -- what an agent does

    async def create(
        self, session: SessionId, spec: TerminalSpec, *, limit: int = OUTPUT_LIMIT, turn: int = 0
    ) -> Terminal:
        """Run a command, and keep as much of its output as the limit says."""
        terminal = Terminal(
            id=TerminalId(self._new_id()),
            session=session,
            command=spec.shown,
            cwd=spec.cwd,
            source=Source.HOSTED,
            turn=turn,
            created=self._clock.now(),
            tail=Tail(min(limit, _LARGEST_OUTPUT)),
        )
        entry = self._entries[session, terminal.id] = _Entry(terminal, self)
        try:
            entry.handle = await self._backend.start(terminal, spec, entry)
        except BaseException:
            del self._entries[session, terminal.id]
            raise
        terminal.source = entry.handle.source
        if entry.doomed:  # its session ended meanwhile
            entry.handle.kill()
        self._opened(entry)
        if len(terminal.tail):
            self.grew(entry)
        if entry.early_exit is not None:
            self.exited(entry, entry.early_exit)
        return terminal

    def output(self, terminal: Terminal) -> Snapshot:
        """What there is by now; asking changes nothing."""
        text = terminal.tail.text()
        return Snapshot(text, terminal.tail.truncated, terminal.exit)

    def wait(self, terminal: Terminal, then: Callable[[Exit], None]) -> Callable[[], None]:
        """Call `then` when the command has ended, at once if it has. Returned: how to call that
        off."""
        if terminal.exit is not None:
            then(terminal.exit)
            return lambda: None
        waiting, key = self._entry(terminal).waiting, object()
        waiting[key] = then

        def call_off() -> None:
            waiting.pop(key, None)

        return call_off

    def kill(self, terminal: Terminal) -> None:
        """End the command and all that it started; what it said stays."""
        if terminal.source is not Source.MIRRORED:
            self._entry(terminal).kill()
        elif terminal.running:
            raise TerminalRefused(
                "The agent runs this command itself.", hint="Cancel the turn to stop it."
            )

    def release(self, terminal: Terminal) -> None:
        """The agent is done with it; again and again is harmless."""
        if terminal.released:
            return
        terminal.released = True
        entry = self._entry(terminal)
        if terminal.running:
            entry.kill()
        else:
            self._keep_less(terminal)
        if entry.handle is not None:
            entry.handle.release()

    # -- what a person does

    def write(self, terminal: Terminal, text: str) -> None:
        """Type into it. What comes after its end goes nowhere."""
        if terminal.source is not Source.HOSTED:
            raise TerminalRefused(f"Nothing can be typed into {terminal.command!r} from here.")
        if handle := self._handle(terminal):
            handle.write(text.encode("utf-8", "replace"))

    def resize(self, terminal: Terminal, columns: int, rows: int) -> None:
        if handle := self._handle(terminal):
            handle.resize(*(min(max(1, size), _LARGEST_SIDE) for size in (columns, rows)))

    def pause(self, terminal: Terminal) -> None:
        """Let the command wait: whoever shows its output cannot keep up."""
        if handle := self._handle(terminal):
            handle.pause()

    def resume(self, terminal: Terminal) -> None:
        if handle := self._handle(terminal):
            handle.resume()

    def kill_all(self, session: SessionId) -> list[Terminal]:
        """End all commands of a session, and what ended ones left behind. Those that still run
        and are not ours to kill, because the agent runs them itself."""
        for entry in self._of(session):
            entry.kill()
        return [t for t in self.of(session) if t.running and t.source is Source.MIRRORED]

    def kill_turn(self, session: SessionId, turn: int) -> list[Terminal]:
        """End what was started in that turn. As in `kill_all`: those that are not ours to kill."""
        begun = [e for e in self._of(session) if e.terminal.turn == turn]
        for entry in begun:
            entry.kill()
        return [
            e.terminal
            for e in begun
            if e.opened and e.terminal.running and e.terminal.source is Source.MIRRORED
        ]

    def end_session(self, session: SessionId) -> None:
        """Neither the agent nor its commands are there any more."""
        for terminal in self.kill_all(session):
            self.exited(self._entry(terminal), Exit())
        for entry in self._of(session):
            self.release(entry.terminal)

    def forget(self, session: SessionId) -> None:
        """The session is closed and stored, and what its commands said with it. One that still
        ends is forgotten when it has."""
        for entry in self._of(session):
            entry.forgotten = True
            if entry.opened and not entry.terminal.running:
                self._drop(entry)

    def _drop(self, entry: _Entry) -> None:
        terminal = entry.terminal
        del self._entries[terminal.session, terminal.id]
        for kept in [kept for kept in self._past if kept[0] is terminal]:
            self._past.remove(kept)
            self._past_size -= kept[1]

    # -- what an agent tells of commands that it runs itself

    def mirror(
        self,
        session: SessionId,
        id: TerminalId,
        *,
        turn: int = 0,
        command: str = "",
        cwd: str = "",
        data: str = "",
        whole: bool = False,
        exit: Exit | None = None,
    ) -> Terminal:
        """An id that is not known yet becomes a terminal. `whole` data is all of the output so
        far, of which only what is new is taken."""
        entry = self._entries.get((session, id)) or self._mirrored(session, id, turn)
        terminal = entry.terminal
        if terminal.source is not Source.MIRRORED:
            return terminal  # we know better than what the agent says about it
        known = (command or terminal.command, cwd or terminal.cwd)
        if not entry.opened or known != (terminal.command, terminal.cwd):
            terminal.command, terminal.cwd = known
            self._opened(entry)
        if whole:
            terminal.tail.become(data.encode("utf-8", "replace"))
        elif data:
            terminal.tail.append(data.encode("utf-8", "replace"))
        if data or whole:
            self.grew(entry)
        if exit is not None:
            self.exited(entry, exit)
        return terminal

    def _mirrored(self, session: SessionId, id: TerminalId, turn: int) -> _Entry:
        terminal = Terminal(
            id=id,
            session=session,
            command="",
            cwd="",
            source=Source.MIRRORED,
            turn=turn,
            created=self._clock.now(),
            tail=Tail(OUTPUT_LIMIT),
            released=True,
        )
        entry = self._entries[session, id] = _Entry(terminal, self)
        return entry

    # -- what becomes of them

    def _entry(self, terminal: Terminal) -> _Entry:
        return self._entries[terminal.session, terminal.id]

    def _handle(self, terminal: Terminal) -> TerminalHandle | None:
        entry = self._entries.get((terminal.session, terminal.id))
        return entry.handle if entry is not None else None

    def _opened(self, entry: _Entry) -> None:
        entry.opened = True
        self._tell(lambda observer: observer.opened(entry.terminal))

    def grew(self, entry: _Entry) -> None:
        self._tell(lambda observer: observer.grew(entry.terminal))

    def exited(self, entry: _Entry, exit: Exit) -> None:
        terminal = entry.terminal
        if not terminal.running:
            return
        terminal.tail.finish()
        terminal.exit = exit
        terminal.ended = self._clock.now()
        self._tell(lambda observer: observer.exited(terminal))
        while entry.waiting:
            _call(entry.waiting.pop(next(iter(entry.waiting))), exit)
        if entry.forgotten:
            self._drop(entry)
        elif terminal.released:
            self._keep_less(terminal)

    def _keep_less(self, terminal: Terminal) -> None:
        """Only people still want to see the output of this one: the oldest of those make room."""
        self._past.append((terminal, len(terminal.tail)))
        self._past_size += len(terminal.tail)
        while self._past_size > _PAST_LIMIT:
            oldest, size = self._past.popleft()
            oldest.tail.shrink(0)
            self._past_size -= size

    def _tell(self, tell: Callable[[TerminalObserver], None]) -> None:
        for observer in self.observers:
            _call(tell, observer)


def _call(call: Callable[[_T], None], value: _T) -> None:
    try:
        call(value)
    except Exception:  # who looks on must not stop what goes on
        log.exception("whoever follows a terminal failed")
