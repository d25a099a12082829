"""The newest output of a command: kept as bytes up to a limit, read as text.

What does not fit is cut from the front, between two characters; what is read is always a suffix of
what decoding everything at once would have given. An append costs the same however much there is.
"""

from __future__ import annotations

import codecs
from collections import deque
from itertools import islice

from msgspec import Struct

_BLOCK = 16 * 1024
_LONGEST_REST = 3
"""Bytes of a UTF-8 character after its first."""


class Part(Struct, frozen=True):
    """Output from some place on. Places are counted in bytes since the beginning."""

    text: str
    start: int
    end: int
    """Where to go on reading: before a character of which only the beginning has come."""
    lost: bool
    """The asked place is not kept any more; whoever shows the output must begin anew."""


class Tail:
    """Full blocks of one size, and one that is being filled."""

    __slots__ = ("_base", "_blocks", "_cut", "_ended", "_limit", "_open", "_origin", "truncated")

    def __init__(self, limit: int) -> None:
        self._limit = max(0, limit)
        self._blocks: deque[bytes] = deque()
        self._open = bytearray()
        self._base = 0
        """The place of the first byte that is held."""
        self._cut = 0
        """The place of the first byte that counts: up to a block later."""
        self._origin = 0
        """Where the output began, or was replaced last."""
        self._ended = False
        self.truncated = False

    @property
    def end(self) -> int:
        return self._base + len(self._blocks) * _BLOCK + len(self._open)

    def __len__(self) -> int:
        """The bytes that are kept."""
        return self.end - self._cut

    def append(self, data: bytes) -> None:
        self._ended = False
        if len(data) > self._limit:
            skipped = len(data) - self._limit
            self._begin_at(self.end + skipped)
            self.truncated = True
            data = data[skipped:]
        room = _BLOCK - len(self._open)
        if len(data) < room:
            self._open += data
        else:
            self._fill(memoryview(data), room)
        if len(self) > self._limit:
            self._cut_to(self.end - self._limit)

    def become(self, whole: bytes) -> None:
        """All of the output is told again: what goes on from what was known is an append."""
        known = self.end - self._origin
        kept = memoryview(whole)[self._cut - self._origin : known]
        if len(whole) >= known and kept == self._bytes(self._cut):
            self.append(whole[known:])
            return
        # At a later place, so that nobody takes it for what they have seen already.
        self._begin_at(self.end + 1)
        self._origin = self.end
        self.truncated = False
        self.append(whole)

    def finish(self) -> None:
        """Nothing more is expected: half a character at the end is a wrong one."""
        self._ended = True

    def shrink(self, limit: int) -> None:
        """Keep less than was said at first, from now on."""
        self._limit = min(self._limit, max(0, limit))
        if len(self) > self._limit:
            self._cut_to(self.end - self._limit)

    def text(self) -> str:
        """All that is kept; in UTF-8 it is no longer than the limit."""
        text = self.since(self._cut).text
        # Only a replaced byte takes more room than it did.
        if "\ufffd" not in text or len(encoded := text.encode()) <= self._limit:
            return text
        self.truncated = True
        start = len(encoded) - self._limit
        while start < len(encoded) and _continues(encoded[start]):
            start += 1
        return encoded[start:].decode()

    def since(self, place: int) -> Part:
        """What came after that place; what is left of it when its beginning is gone."""
        first = self._first()
        start = min(max(first, place), self.end)
        text, used = codecs.utf_8_decode(self._bytes(start), "replace", self._ended)
        return Part(text, start, start + used, place < first)

    # -- blocks

    def _fill(self, data: memoryview, room: int) -> None:
        self._open += data[:room]
        self._blocks.append(bytes(self._open))
        full = room + (len(data) - room) // _BLOCK * _BLOCK
        for start in range(room, full, _BLOCK):
            self._blocks.append(bytes(data[start : start + _BLOCK]))
        self._open = bytearray(data[full:])

    def _begin_at(self, place: int) -> None:
        self._blocks.clear()
        self._open = bytearray()
        self._base = self._cut = place

    def _cut_to(self, place: int) -> None:
        self._cut = place
        self.truncated = True
        while self._blocks and self._base + _BLOCK <= place:
            self._blocks.popleft()
            self._base += _BLOCK

    def _bytes(self, start: int) -> bytes:
        skipped, offset = divmod(start - self._base, _BLOCK)
        if skipped >= len(self._blocks):
            return bytes(self._open[start - self.end :]) if start < self.end else b""
        # From the end: the newest part is what is read most often.
        blocks = list(islice(reversed(self._blocks), len(self._blocks) - skipped))
        blocks[-1] = blocks[-1][offset:]
        return b"".join((*reversed(blocks), self._open))

    def _first(self) -> int:
        """The place of the first whole character."""
        if self._cut == self._origin:
            return self._cut
        # More continuation bytes than that belong to no character: each is a wrong one by itself.
        for place in range(self._cut, min(self._cut + _LONGEST_REST, self.end)):
            if not _continues(self._at(place)):
                return place
        return min(self._cut + _LONGEST_REST, self.end)

    def _at(self, place: int) -> int:
        block, offset = divmod(place - self._base, _BLOCK)
        return (self._blocks[block] if block < len(self._blocks) else self._open)[offset]


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80
