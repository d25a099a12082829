"""A pseudo-terminal as whoever sits in front of it sees it: bytes to show, keys typed, a size.

Reading never blocks, never takes more than a slice at a time, and stops while nobody wants more.
"""

from __future__ import annotations

import asyncio
import os
import termios
from collections.abc import Callable
from math import inf
from time import monotonic

from ..core.errors import TerminalFailed

_READ = 64 * 1024
_SLICE = 256 * 1024
"""Bytes that are read at most before everybody else has a turn."""
_TURN = 0.0005
"""Seconds, likewise: a read that never blocks still waits for the kernel to hand over what is being
written just now, which goes on for as long as a program writes."""
_LAST_WORDS = 64 * 1024
"""Bytes that are read at most once the program has exited, more than the kernel holds: its children
may write for ever."""
_UNREAD_LIMIT = 1024 * 1024
"""Bytes we keep for a program that does not read what is typed."""
_UTF8_INPUT = 0x4000
"""IUTF8 on Linux and macOS, which `termios` does not name: erasing takes whole characters."""


class Screen:
    """Calls `on_data` with what comes."""

    def __init__(self, columns: int, rows: int, on_data: Callable[[bytes], None]) -> None:
        self._master, self.program_side = os.openpty()
        """The latter is held until the program has exited: without anybody who holds it, what a
        program wrote last may be lost, and one that closes its terminal and opens it again would
        look as if it were gone."""
        self._on_data = on_data
        self._typed = bytearray()
        self._wanted = True
        self._open = True
        self._loop = asyncio.get_running_loop()
        os.set_blocking(self._master, False)
        settings = termios.tcgetattr(self.program_side)
        settings[0] |= _UTF8_INPUT
        termios.tcsetattr(self.program_side, termios.TCSANOW, settings)
        self.resize(columns, rows)
        self._loop.add_reader(self._master, self._readable)

    # -- output

    def pause(self) -> None:
        if self._open and self._wanted:
            self._wanted = False
            self._loop.remove_reader(self._master)

    def resume(self) -> None:
        if self._open and not self._wanted:
            self._wanted = True
            self._loop.add_reader(self._master, self._readable)

    def program_exited(self) -> None:
        """Read what it wrote last, wanted or not; go on for what it left behind."""
        if self._open:
            self._read(_LAST_WORDS)
            os.close(self.program_side)
            self.program_side = -1

    def close(self) -> None:
        if not self._open:
            return
        self._read(_LAST_WORDS)
        self._open = False
        self._loop.remove_reader(self._master)
        self._loop.remove_writer(self._master)
        os.close(self._master)
        if self.program_side >= 0:
            os.close(self.program_side)

    def _readable(self) -> None:
        if not self._read(_SLICE, monotonic() + _TURN):
            self.close()

    def _read(self, most: int, until: float = inf) -> bool:
        """False when nobody holds the other side any more."""
        pieces: list[bytes] = []
        alive = True
        while most > 0:
            try:
                data = os.read(self._master, _READ)
            except BlockingIOError:
                break
            except OSError:  # Linux says EIO, others that there is nothing to read
                data = b""
            if not data:
                alive = False
                break
            pieces.append(data)
            most -= len(data)
            if monotonic() > until:
                break
        if pieces:
            self._on_data(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        return alive

    # -- input

    def write(self, data: bytes) -> None:
        if not self._open:
            return
        if len(self._typed) + len(data) > _UNREAD_LIMIT:
            raise TerminalFailed("The program does not read what is typed.", hint="Kill it.")
        idle = not self._typed
        self._typed += data
        if idle and not self._write():
            self._loop.add_writer(self._master, self._writable)

    def _writable(self) -> None:
        if self._write():
            self._loop.remove_writer(self._master)

    def _write(self) -> bool:
        """Whether all was taken."""
        try:
            while self._typed:
                del self._typed[: os.write(self._master, self._typed)]
        except BlockingIOError:
            return False
        except OSError:  # nobody holds the other side any more
            self._typed.clear()
        return True

    def resize(self, columns: int, rows: int) -> None:
        """The program is told by a signal, as in any terminal."""
        if self._open:
            termios.tcsetwinsize(self._master, (rows, columns))
