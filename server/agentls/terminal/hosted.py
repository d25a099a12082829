"""Commands in pseudo-terminals of this server, read in bounded pieces, ended with all they started.

A command is the leader of a session and of a process group and has the terminal for its own. It is
over when it has exited and nothing is left of what it started; until then its group is guarded.

POSIX only. Windows has ConPTY instead: another `core.terminals.TerminalBackend` beside this module, with
a job object for the tree; nothing but `app` would have to know.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import termios
import tty
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol, cast

from ..core.errors import TerminalFailed
from ..core.terminals import Exit, Source, Terminal, TerminalSink, TerminalSpec
from . import launch, trees

log = logging.getLogger(__name__)

_READ = 64 * 1024
_SLICE = 256 * 1024
"""Bytes that are read at most before everybody else has a turn."""
_LAST_WORDS = 1024 * 1024
"""Bytes that are read at most once a command has exited: children of it may write for ever."""
_UNREAD_LIMIT = 1024 * 1024
"""Bytes we keep for a program that does not read what is typed."""
_UTF8_INPUT = 0x4000
"""IUTF8, on Linux and macOS: erasing takes whole characters."""
_GRACE = 2.0
"""Seconds between TERM and KILL."""
_PATIENCE = 2.0
"""Seconds after KILL; what is still there then is not ours to kill."""
_SOON = 0.02
_NOW_AND_THEN = 5.0
"""Seconds between looks at what ended commands left running."""


class Warden(Protocol):
    """Ends what is left when the server is killed."""

    def guard(self, group: int) -> None: ...

    def forget(self, group: int) -> None: ...

    def mark(self, env: Mapping[str, str]) -> tuple[dict[str, str], str]: ...


class HostedTerminals:
    """Implements `core.terminals.TerminalBackend`."""

    def __init__(self, warden: Warden, editor: Mapping[str, str], grace: float = _GRACE) -> None:
        self._warden = warden
        self._editor = editor
        """The environment that the editor gave us."""
        self.grace = grace
        self._live: set[HostedTerminal] = set()
        self._watched: set[HostedTerminal] = set()
        """Those that are being ended, or have ended and left something behind."""
        self._watch: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    async def start(
        self, terminal: Terminal, spec: TerminalSpec, sink: TerminalSink
    ) -> HostedTerminal:
        launch.check_folder(spec.cwd)
        env, mark = self._warden.mark(launch.environment(spec, self._editor))
        command = launch.command_line(spec, env)
        ...
