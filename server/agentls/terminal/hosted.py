"""Commands in pseudo-terminals of this server, ended with everything that they started.

A command leads a session and a process group and has the terminal for its own. It is over when it
has exited and nothing is left of what it started; until then its group is guarded by the warden.

POSIX only. Windows has ConPTY: that would be another `core.terminals.TerminalBackend` beside this
one, with a job object for the tree, and only the composition root would choose between them.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import cast

from ..core.errors import TerminalFailed
from ..core.ports import Warden
from ..core.terminals import Exit, Source, Terminal, TerminalSink, TerminalSpec
from . import launch, trees
from .screen import Screen

log = logging.getLogger(__name__)

_GRACE = 2.0
"""Seconds between TERM and KILL."""
_PATIENCE = 2.0
"""Seconds after KILL: what is there then cannot be killed by us."""
_SOON = 0.02
_NOW_AND_THEN = 5.0
"""Seconds between looks at what ended commands have left behind."""


class HostedTerminals:
    """Implements `core.terminals.TerminalBackend`."""

    def __init__(self, warden: Warden, env: Mapping[str, str], *, grace: float = _GRACE) -> None:
        self.warden = warden
        self.grace = grace
        self.live: set[HostedTerminal] = set()
        """Commands that run, or have left something behind."""
        self._env = env
        self._watched: set[HostedTerminal] = set()
        self._watching: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self.closed = False

    async def start(
        self,
        terminal: Terminal,  # noqa: ARG002 - nobody else needs to be told of it
        spec: TerminalSpec,
        sink: TerminalSink,
    ) -> HostedTerminal:
        if self.closed:
            raise TerminalFailed("The server is going down.")
        launch.check_folder(spec.cwd)
        env, mark = self.warden.mark(launch.environment(spec, self._env))
        command = launch.command_line(spec, env)
        try:
            screen = Screen(spec.columns, spec.rows, sink.data)
        except OSError as error:
            raise TerminalFailed(f"No terminal could be opened: {error.strerror}.") from None
        hosted = HostedTerminal(self, screen, sink, mark)
        side = screen.program_side
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: hosted,
                *command,
                stdin=side,
                stdout=side,
                stderr=side,
                cwd=spec.cwd,
                env=env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            screen.close()
            why = error.strerror if isinstance(error, OSError) else "it has impossible characters"
            raise TerminalFailed(f"{spec.shown!r} could not be started: {why}.") from None
        except BaseException:
            hosted.kill()
            raise
        return hosted

    def watch(self, terminal: HostedTerminal) -> None:
        """Look soon whether anything is left of it."""
        self._watched.add(terminal)
        self._news.set()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._look_after(), name="look after terminals")

    async def close(self) -> None:
        """End all commands, at the same time."""
        self.closed = True
        while self.live:
            for terminal in list(self.live):
                terminal.kill()
            if self._watching is not None:
                await self._watching

    async def _look_after(self) -> None:
        while self._watched:
            self._news.clear()
            # As long as there are many processes, so not on the loop.
            processes = await asyncio.to_thread(trees.running)
            for terminal in list(self._watched):
                if terminal.look(processes):
                    self._watched.discard(terminal)
                    self.live.discard(terminal)
            ending = any(terminal.killed for terminal in self._watched)
            if self._watched:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), _SOON if ending else _NOW_AND_THEN)


class HostedTerminal(asyncio.SubprocessProtocol):
    """Implements `core.terminals.TerminalHandle`."""

    source = Source.HOSTED

    def __init__(self, all: HostedTerminals, screen: Screen, sink: TerminalSink, mark: str) -> None:
        self._all = all
        self._screen = screen
        self._sink = sink
        self._mark = mark
        self._transport: asyncio.SubprocessTransport | None = None
        self._tree: trees.Tree | None = None
        self._exited = False
        self._killed: float | None = None
        self._told: set[int] = set()
        self.write = screen.write
        self.resize = screen.resize
        self.pause = screen.pause
        self.resume = screen.resume

    @property
    def pid(self) -> int:
        return self._tree.pid if self._tree else 0

    @property
    def killed(self) -> bool:
        return self._killed is not None

    def kill(self) -> None:
        if self._tree is None:
            self._screen.close()  # it was called off before it was started
        elif self in self._all.live and not self.killed:
            self._killed = asyncio.get_running_loop().time()
            if not self._exited:
                self._tell({-self._tree.pid})
            self._all.watch(self)

    def release(self) -> None:
        """Nothing is held for whoever started it."""

    def look(self, processes: Iterable[trees.Process] | None) -> bool:
        """Go on ending it, if it was killed. Whether it is over."""
        assert self._tree is not None
        left = self._tree.members(processes)
        if not left and self._exited:
            self._over()
            return True
        if self._killed is None:
            return False
        waited = asyncio.get_running_loop().time() - self._killed
        if waited < self._all.grace:
            self._tell(left)
        elif waited < self._all.grace + _PATIENCE:
            trees.send(signal.SIGKILL, left)
        else:
            log.warning("could not end process %d and what it started: %s", self.pid, left)
            self._over()
            return True
        return False

    def _tell(self, targets: set[int]) -> None:
        """TERM, once; and a stopped program must go on to hear it."""
        new, self._told = targets - self._told, self._told | targets
        trees.send(signal.SIGTERM, new)
        trees.send(signal.SIGCONT, new)

    def _over(self) -> None:
        self._screen.close()
        self._all.warden.forget(self.pid)
        if not self._exited:
            self._exited = True
            self._sink.exited(Exit())

    # -- asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._tree = trees.Tree(self._transport.get_pid(), self._mark)
        self._all.live.add(self)
        self._all.warden.guard(self.pid)
        if self._all.closed:
            self.kill()

    def process_exited(self) -> None:
        assert self._transport is not None
        code = self._transport.get_returncode()
        self._transport.close()
        if self._exited or code is None:
            return  # it had been given up
        self._exited = True
        self._screen.program_exited()
        self._sink.exited(_exit(code))
        self._all.watch(self)


def _exit(code: int) -> Exit:
    if code >= 0:
        return Exit(code)
    try:
        return Exit(signal=signal.Signals(-code).name)
    except ValueError:  # a real-time signal
        return Exit(signal=f"SIG{-code}")
