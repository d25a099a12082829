"""Lines that a person types, read without a thread, so that waiting for one can end at any time.

While nobody is asked, keys are not echoed: they would spoil what is drawn. The terminal is left as
it was found.
"""

from __future__ import annotations

import asyncio
import os
import sys
import termios
from contextlib import suppress

_ECHO_FIELD = 3


class Keyboard:
    """Standard input, line by line."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._typed = b""
        self._ended = False
        self._before: list[int | list[bytes | int]] | None = None

    def mute(self) -> None:
        """Stop the echo of keys, where there is one."""
        with suppress(termios.error, OSError):
            # In the background a process that changes its terminal is stopped.
            if self._before is None and os.tcgetpgrp(self._fd) == os.getpgrp():
                self._before = termios.tcgetattr(self._fd)
                muted = termios.tcgetattr(self._fd)
                muted[_ECHO_FIELD] &= ~termios.ECHO
                termios.tcsetattr(self._fd, termios.TCSANOW, muted)

    def unmute(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)

    def forget_typed(self) -> None:
        """Drop what was typed on a terminal before the question was there."""
        with suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)
            self._typed = b""

    async def line(self) -> str | None:
        """The next line; None at the end of input. Can be cancelled."""
        while b"\n" not in self._typed and not self._ended:
            data = await self._read()
            self._typed += data
            self._ended = not data
        line, newline, self._typed = self._typed.partition(b"\n")
        if not line and not newline:
            self._ended = not os.isatty(self._fd)  # a terminal can go on after Ctrl-D
            return None
        return line.decode("utf-8", "replace")

    async def _read(self) -> bytes:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._fd, _set, ready)
        except PermissionError:  # a plain file, which never makes anybody wait
            return os.read(self._fd, 4096)
        try:
            await ready
        finally:
            loop.remove_reader(self._fd)
        with suppress(OSError):  # a terminal that is gone
            return os.read(self._fd, 4096)
        return b""


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
