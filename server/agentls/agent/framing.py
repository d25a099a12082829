"""Bytes to lines: splits a stream at newlines, and never holds more than one bounded line.

A line past the limit is skipped up to its newline, and reported with its first and last bytes;
what comes after it is read as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Callable

DEFAULT_LINE_LIMIT = 64 * 1024 * 1024
_ENDS = 4096


class TooLong:
    """What is left of a line that was too long: enough to say whose it was."""

    __slots__ = ("head", "size", "tail")

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        if len(self.head) < _ENDS:
            self.head += data[: _ENDS - len(self.head)]
        self.tail = (self.tail + data[-_ENDS:])[-_ENDS:]


class Lines:
    """Feed it bytes as they come; it calls `line` for each complete line, in order."""

    def __init__(
        self,
        line: Callable[[bytes], None],
        too_long: Callable[[TooLong], None],
        limit: int = DEFAULT_LINE_LIMIT,
    ) -> None:
        self._line = line
        self._too_long = too_long
        self._limit = limit
        self._held: list[bytes] = []
        self._held_size = 0
        self._skipping: TooLong | None = None

    def feed(self, data: bytes) -> None:
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and (self._held or self._skipping):
            self._finish(lines[0])
            del lines[0]
        line = self._line
        for one in lines:
            if one:
                if len(one) > self._limit:
                    self._skip([one])
                    self._finish(b"")
                else:
                    line(one)
        if rest:
            self._hold(rest)

    def end(self) -> None:
        """No more bytes will come: an unfinished line is a line."""
        self._finish(b"")

    def _hold(self, data: bytes) -> None:
        if self._skipping is not None:
            self._skipping.add(data)
            return
        self._held.append(data)
        self._held_size += len(data)
        if self._held_size > self._limit:
            self._skip(self._held)

    def _skip(self, pieces: list[bytes]) -> None:
        self._skipping = TooLong()
        for piece in pieces:
            self._skipping.add(piece)
        self._held = []
        self._held_size = 0

    def _finish(self, last: bytes) -> None:
        if last:
            self._hold(last)
        if self._skipping is not None:
            skipped, self._skipping = self._skipping, None
            self._too_long(skipped)
        elif self._held:
            whole = b"".join(self._held)
            self._held = []
            self._held_size = 0
            self._line(whole)
