"""What becomes of hunks when the agent writes the same file again.

Invariant: hunks that it left alone stay as they are. Where it wrote, pending hunks become part of
the new ones, which undo both; but what a person has kept, undone or altered is theirs now, and is
what undoing leads back to.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from .diff import Difference, differences, joined
from .pieces import HunkState, Piece, gap, pieces_of, starts_of


def rewritten(pieces: Sequence[Piece], new: Sequence[str], ids: Iterator[str]) -> list[Piece]:
    """The pieces after the agent made `new` of the text as it is now."""
    now = [line for piece in pieces for line in piece.lines]
    found = _spread(joined(differences(now, new), now), pieces)
    result = _Result(new, ids)
    for it, within in _sorted_out(pieces, found):
        if isinstance(it, Piece) and not within:
            result.add(it if it.id else gap(it.lines))
        elif isinstance(it, Piece):
            result.take_in(it)
        else:
            result.close(it)
    return result.pieces


def _is_open(piece: Piece) -> bool:
    """Whether nobody but the agent has had a say in it."""
    return piece.state is HunkState.PENDING and not piece.altered


def _attached(it: Difference, start: int, end: int, piece: Piece) -> bool:
    """Whether a hunk at these lines is part of what the agent wrote again."""
    if _is_open(piece):
        return start <= it.end and it.start <= end
    return it.start < end and start < it.end


def _spread(found: Sequence[Difference], pieces: Sequence[Piece]) -> list[Difference]:
    """The differences, each with the whole of the hunks that it is attached to."""
    todo = list(reversed(found))
    result: list[Difference] = []
    starts = starts_of(piece.lines for piece in pieces)
    for n, piece in enumerate(pieces):
        if not piece.id:
            continue
        start, end = starts[n], starts[n + 1]
        while todo and todo[-1].end <= start and not _attached(todo[-1], start, end, piece):
            result.append(todo.pop())
        attached: list[Difference] = []
        if result and _attached(result[-1], start, end, piece):
            attached.append(result.pop())
        while todo and _attached(todo[-1], start, end, piece):
            attached.append(todo.pop())
        if attached:
            result.append(_over(attached, start, end))
    return [*result, *reversed(todo)]


def _over(found: Sequence[Difference], start: int, end: int) -> Difference:
    """All in one, with what is between them, and at least from line `start` to line `end`."""
    before, after = max(0, found[0].start - start), max(0, end - found[-1].end)
    return Difference(
        found[0].start - before,
        found[-1].end + after,
        found[0].new_start - before,
        found[-1].new_end + after,
    )


def _sorted_out(
    pieces: Sequence[Piece], found: Sequence[Difference]
) -> Iterator[tuple[Piece | Difference, bool]]:
    """Pieces, or parts of gaps, with whether they are within a difference, and each difference
    after all that is within it."""
    todo = list(reversed(found))
    for piece, start, end in _cut(pieces, sorted({n for it in found for n in (it.start, it.end)})):
        while todo and not _within(todo[-1], start, end, piece) and todo[-1].end <= start:
            yield todo.pop(), False
        yield piece, bool(todo) and _within(todo[-1], start, end, piece)
    while todo:
        yield todo.pop(), False


def _within(it: Difference, start: int, end: int, piece: Piece) -> bool:
    if piece.id and start == end:
        return _attached(it, start, end, piece)
    return start < end and it.start <= start and end <= it.end


def _cut(pieces: Iterable[Piece], places: Sequence[int]) -> Iterator[tuple[Piece, int, int]]:
    """The pieces and where they are, gaps cut at these places."""
    at = 0
    for piece in pieces:
        end = at + len(piece.lines)
        if piece.id:
            yield piece, at, end
        else:
            cuts = places[bisect_right(places, at) : bisect_left(places, end)]
            for start, stop in pairwise((at, *cuts, end)):
                yield gap(piece.lines[start - at : stop - at]), start, stop
        at = end


class _Result:
    """Pieces that are put together again."""

    def __init__(self, new: Sequence[str], ids: Iterator[str]) -> None:
        self.pieces: list[Piece] = [gap([])]
        self._new = new
        self._ids = ids
        self._before: list[str] = []
        self._free: list[str] = []

    def add(self, piece: Piece) -> None:
        if piece.id:
            self.pieces += (piece, gap([]))
        else:
            self.pieces[-1] = gap([*self.pieces[-1].lines, *piece.lines])

    def take_in(self, piece: Piece) -> None:
        """Part of what the agent wrote again."""
        if piece.id and _is_open(piece):
            self._before += piece.before
            self._free.append(piece.id)
        else:
            self._before += piece.lines

    def close(self, it: Difference) -> None:
        """All that was taken in is now what the agent wrote."""
        after = self._new[it.new_start : it.new_end]
        for piece in pieces_of(self._before, after, chain(self._free, self._ids)):
            self.add(piece)
        self._before, self._free = [], []
