"""Text that only grows: appending costs the same however long it already is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

_PIECES_PER_BLOCK = 512


class GrowingText:
    """Pieces are gathered, and joined into blocks now and then, so that neither appending nor
    reading the newest part depends on the length of the whole."""

    __slots__ = ("_blocks", "_ends", "_pieces", "length")

    def __init__(self, text: str = "") -> None:
        # Most texts never have a block, and a long session has a hundred thousand texts.
        self._blocks: list[str] | tuple[str, ...] = ()
        self._ends: list[int] | tuple[int, ...] = ()
        """Where each block ends in the whole."""
        self._pieces: list[str] = [text] if text else []
        self.length = len(text)

    def append(self, piece: str) -> None:
        pieces = self._pieces
        pieces.append(piece)
        self.length += len(piece)
        if len(pieces) >= _PIECES_PER_BLOCK:
            self._settle("".join(pieces))
            pieces.clear()

    def _settle(self, block: str) -> None:
        if isinstance(self._blocks, tuple) or isinstance(self._ends, tuple):
            self._blocks, self._ends = [], []
        self._blocks.append(block)
        self._ends.append(self.length)

    def since(self, start: int) -> str:
        """The text from index `start` on."""
        missing = self.length - start
        if missing <= 0:
            return ""
        found: list[str] = []
        for parts in (self._pieces, self._blocks):
            for part in reversed(parts):
                found.append(part)
                missing -= len(part)
                if missing <= 0:
                    found.reverse()
                    return "".join(found)[-missing:]
        return str(self)

    def between(self, start: int, end: int) -> str:
        """A part of the text, at the cost of that part."""
        settled = self._ends[-1] if self._ends else 0
        if end > settled:
            return self.since(start)[: max(0, end - start)]
        first = bisect_right(self._ends, start)
        last = bisect_left(self._ends, end)
        offset = self._ends[first - 1] if first else 0
        return "".join(self._blocks[first : last + 1])[start - offset : end - offset]

    def __str__(self) -> str:
        if self._pieces:
            whole = "".join((*self._blocks, *self._pieces))
            if not self._blocks:
                self._pieces[:] = [whole]
            return whole
        return "".join(self._blocks)

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"GrowingText({str(self)!r})"
