"""Commands that run, and their output: one record for each, whoever runs it.

A terminal is hosted by this server, run by the editor, or mirrored: the agent runs the command itself
and only reports it. Observers see it opened, then its output, then its exit; everybody who waits for
the exit hears of it once.
"""

from __future__ import annotations

import logging
import shlex
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

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
_LARGEST = 0xFFFF


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
        if len(self.args) == 2 and self.args[0] in {"-c", "-lc"}:
            if self.command.rpartition("/")[2] in _SHELLS:
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
    created: float
    tail: Tail
    exit: Exit | None = None
    ended: float | None = None
    released: bool = False
    """The agent does not want it any more; it can still be looked at."""

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


class _Live:
    """A terminal that this server or the editor runs, and whoever waits for it."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.handle: TerminalHandle | None = None
        self.waiting: dict[object, Callable[[Exit], None]] = {}


class Terminals:
    """All terminals of all sessions, oldest first."""

    def __init__(
        self, backend: TerminalBackend, clock: Clock, new_id: Callable[[], str]
    ) -> None:
        self._backend = backend
        self._clock = clock
        self._new_id = new_id
        self._terminals: dict[tuple[SessionId, TerminalId], _Live] = {}
        self._past: deque[tuple[Terminal, int]] = deque()
        self._past_size = 0
        self.observers: list[TerminalObserver] = []
