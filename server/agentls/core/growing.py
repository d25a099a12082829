"""Text that only grows: appending costs the same however long it already is."""

from __future__ import annotations

_PIECES_PER_BLOCK = 512


class GrowingText:
    """Pieces are gathered, and joined into blocks now and then, so that neither appending nor
    reading the newest part depends on the length of the whole."""

    __slots__ = ("_blocks", "_pieces", "length")

    def __init__(self, text: str = "") -> None:
        self._blocks: list[str] = []
        self._pieces: list[str] = [text] if text else []
        self.length = len(text)

    def append(self, piece: str) -> None:
        pieces = self._pieces
        pieces.append(piece)
        self.length += len(piece)
        if len(pieces) >= _PIECES_PER_BLOCK:
            self._blocks.append("".join(pieces))
            pieces.clear()

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
