"""A text as pieces, hunks and gaps by turns, which stay what they are while the text changes.

Invariant: the pieces joined are the text, a gap is before and after every hunk, and what somebody
else than the agent writes next to a hunk goes to a gap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate

from msgspec import Struct

from .diff import Difference, differences, joined


class HunkState(StrEnum):
    """What was decided about a hunk."""

    PENDING = "pending"
    KEPT = "kept"
    UNDONE = "undone"


class Piece(Struct, kw_only=True, eq=False):
    """Lines of a text: a hunk, or a gap, which has no id and is the same before and after."""

    lines: list[str]
    """As they are now."""
    before: list[str]
    after: list[str]
    """As the agent wrote them."""
    id: str = ""
    state: HunkState = HunkState.PENDING

    @property
    def expected(self) -> list[str]:
        """What is there as long as nobody but the agent and us has a hand in it."""
        return self.before if self.state is HunkState.UNDONE else self.after

    @property
    def altered(self) -> bool:
        return self.lines != self.expected

    def settle(self) -> None:
        """Whoever puts back what was there, has undone it; or done it again."""
        if not self.id:
            return
        if self.lines == self.before:
            self.state = HunkState.UNDONE
        elif self.state is HunkState.UNDONE and self.lines == self.after:
            self.state = HunkState.PENDING


def gap(lines: list[str]) -> Piece:
    return Piece(lines=lines, before=lines, after=lines)


def pieces_of(before: Sequence[str], after: Sequence[str], ids: Iterator[str]) -> list[Piece]:
    """What leads from one text to the other, now that the other is there."""
    pieces: list[Piece] = []
    at = 0
    for it in joined(differences(before, after), before):
        old, new = list(before[it.start : it.end]), list(after[it.new_start : it.new_end])
        pieces.append(gap(list(after[at : it.new_start])))
        pieces.append(Piece(lines=list(new), before=old, after=new, id=next(ids)))
        at = it.new_end
    pieces.append(gap(list(after[at:])))
    return pieces


def starts_of(parts: Iterable[Sequence[str]]) -> list[int]:
    """The number of the first line of each part, and after the last."""
    return [0, *accumulate(map(len, parts))]


class Layout:
    """Where pieces are in a text of which `parts` are the lines of each."""

    def __init__(self, pieces: Sequence[Piece], parts: Sequence[list[str]]) -> None:
        self._pieces = pieces
        self._parts = parts
        self.starts = starts_of(parts)

    def after(self, found: Sequence[Difference], new: Sequence[str]) -> list[list[str]]:
        """The parts when the text has become `new`."""
        parts = [list(lines) for lines in self._parts]
        # From the last to the first, so that the numbers of lines stay right.
        for it in reversed(found):
            added = list(new[it.new_start : it.new_end])
            touched = self.touched(it.start, it.end)
            owner = self.owner(touched, it.start, it.end, added)
            for n in touched:
                parts[n][self.within(n, it.start, it.end)] = added if n == owner else []
        return parts

    def within(self, part: int, start: int, end: int) -> slice:
        """Which of its own lines a part has from line `start` to line `end` of the text."""
        first = self.starts[part]
        low = max(0, start - first)
        return slice(low, max(low, min(end, self.starts[part + 1]) - first))

    def touched(self, start: int, end: int) -> range:
        """The parts that lose lines; where none is lost, those that could take in lines there."""
        low, high = bisect_left(self.starts, start), bisect_right(self.starts, start)
        if start < end:
            return range(high - 1, bisect_left(self.starts, end))
        return range(max(0, low - 1), min(len(self._parts), high))

    def owner(self, touched: range, start: int, end: int, added: list[str]) -> int:
        """The part that new lines go to: the only one, one that they complete, or a gap."""
        if len(touched) == 1:
            return touched[0]
        for n in touched if start == end else ():
            lines, piece = self._parts[n], self._pieces[n]
            whole = [*lines, *added] if self.starts[n + 1] == start else [*added, *lines]
            if whole in (piece.before, piece.after):
                return n
        return next(n for n in touched if not self._pieces[n].id)
