"""Commands in terminals that the editor runs itself, for editors that said they can.

What the editor tells of a command counts from the moment it was asked to run it, also before it has
said that it does. Whatever goes wrong, the command ends for whoever waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from pygls.exceptions import JsonRpcException

from ..core.errors import TerminalFailed
from ..core.model import SessionId, TerminalId
from ..core.ports import Clock, Tasks
from ..core.terminals import Exit, Source, Terminal, TerminalSink, TerminalSpec
from . import protocol as p

log = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds for the editor to say that a command has started, or to end one."""

Request = Callable[[str, Any], Awaitable[Any]]
Launch = Callable[[TerminalSpec], tuple[list[str], dict[str, str]]]
"""The program with its arguments, and what to set in its environment."""


class EditorTerminals:
    """Implements `core.terminals.TerminalBackend`."""

    def __init__(
        self,
        request: Request,
        launch: Launch,
        clock: Clock,
        tasks: Tasks,
        *,
        patience: float = _PATIENCE,
    ) -> None:
        self.request = request
        self.clock = clock
        self.tasks = tasks
        self.patience = patience
        self.live: dict[tuple[SessionId, TerminalId], EditorTerminal] = {}
        self._launch = launch

    async def start(
        self, terminal: Terminal, spec: TerminalSpec, sink: TerminalSink
    ) -> EditorTerminal:
        argv, env = self._launch(spec)
        handle = EditorTerminal(self, terminal, sink)
        self.live[terminal.session, terminal.id] = handle
        params = p.TerminalRunParams(
            session_id=terminal.session,
            terminal_id=terminal.id,
            title=spec.shown,
            argv=argv,
            cwd=spec.cwd,
            env=env,
        )
        try:
            await asyncio.wait_for(self.request("agentls/terminal/run", params), self.patience)
        except TimeoutError:
            handle.kill()  # it may still come to run it
            del self.live[terminal.session, terminal.id]
            raise TerminalFailed("The editor did not open a terminal in time.") from None
        except JsonRpcException as error:
            del self.live[terminal.session, terminal.id]
            raise TerminalFailed(f"The editor could not open a terminal: {error}.") from None
        return handle

    # -- what the editor tells; about a terminal that is over it may come late

    def terminal_output(self, params: p.TerminalOutputParams) -> None:
        if handle := self.live.get(_key(params)):
            handle.sink.data(params.text.encode("utf-8", "replace"))

    def terminal_exited(self, params: p.TerminalExitedParams) -> None:
        if handle := self.live.get(_key(params)):
            handle.over(Exit(params.exit_code, params.signal))


class EditorTerminal:
    """Implements `core.terminals.TerminalHandle`."""

    source = Source.EDITOR

    def __init__(self, all: EditorTerminals, terminal: Terminal, sink: TerminalSink) -> None:
        self.sink = sink
        self._all = all
        self._key = (terminal.session, terminal.id)
        self._killed = False

    def over(self, exit: Exit) -> None:
        if self._all.live.get(self._key) is self:
            del self._all.live[self._key]
            self.sink.exited(exit)

    def kill(self) -> None:
        if not self._killed and self._key in self._all.live:
            self._killed = True
            self._ask("agentls/terminal/kill")
            self._all.clock.later(self._all.patience, lambda: self.over(Exit()))

    def release(self) -> None:
        self._ask("agentls/terminal/release")

    def write(self, data: bytes) -> None:
        """Nobody but the editor types there."""

    def resize(self, columns: int, rows: int) -> None:
        """Its window is the editor's."""

    def pause(self) -> None:
        """The editor shows it by itself."""

    def resume(self) -> None:
        """Likewise."""

    def _ask(self, method: str) -> None:
        session, terminal = self._key
        params = p.TerminalParams(session_id=session, terminal_id=terminal)
        self._all.tasks.start(self._asked(method, params), f"{method} {terminal}")

    async def _asked(self, method: str, params: p.TerminalParams) -> None:
        try:
            await asyncio.wait_for(self._all.request(method, params), self._all.patience)
        except (TimeoutError, JsonRpcException) as error:
            log.warning("%s failed: %r", method, error)


def _key(params: p.TerminalOutputParams | p.TerminalExitedParams) -> tuple[SessionId, TerminalId]:
    return SessionId(params.session_id), TerminalId(params.terminal_id)
