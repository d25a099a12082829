"""Which backend runs a command: the editor while it can, this server otherwise."""

from __future__ import annotations

import logging
from collections.abc import Callable

from .errors import TerminalFailed
from .terminals import Terminal, TerminalBackend, TerminalHandle, TerminalSink, TerminalSpec

log = logging.getLogger(__name__)


class Backends:
    """Implements `TerminalBackend`. An editor that failed once is not trusted with another
    command; the one it failed with is not tried again, because nobody knows what became of it."""

    def __init__(self, hosted: Callable[[], TerminalBackend]) -> None:
        self._hosted = hosted
        """Called when the first command is to be run here."""
        self._own: TerminalBackend | None = None
        self.editor: TerminalBackend | None = None

    async def start(
        self, terminal: Terminal, spec: TerminalSpec, sink: TerminalSink
    ) -> TerminalHandle:
        if self.editor is not None:
            try:
                return await self.editor.start(terminal, spec, sink)
            except TerminalFailed as error:
                log.warning("the editor runs no more terminals: %s", error)
                self.editor = None
                raise
        if self._own is None:
            self._own = self._hosted()
        return await self._own.start(terminal, spec, sink)
