"""Which lines differ between two texts, in the way a person would say it.

Invariant: outside the differences both texts have the same lines in the same order, so that
putting in the lines of the one where they differ gives the other. Effort is bounded: where the
lines say too little, a stretch is called different as a whole.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from .sequences import Run, common_pairs, increasing, shortest_script

_LARGE = 1000
"""From this many lines on, a look at where two texts differ comes before a look at how."""
_FEW = 40
"""So many lines removed or added are few, in a large text."""
_NEAR = 10
"""Differences with fewer lines than this between them are looked at together."""
_EFFORT = 300_000
"""Steps that may be spent on stretches in which no line is unique."""
_DEEPEST = 8
_FURTHEST_SLIDE = 100


class Lines(Struct, frozen=True, order=True, gc=False):
    """The lines from number `start` up to, not including, `end`; numbers start at zero."""

    start: int
    end: int


class Difference(Struct, frozen=True, gc=False):
    """Lines `start` to `end` of the old text became lines `new_start` to `new_end` of the new."""

    start: int
    end: int
    new_start: int
    new_end: int


class _Stretch(Struct, frozen=True, gc=False):
    """Lines of both texts that are still to be compared, and how often they have been divided."""

    start: int
    end: int
    new_start: int
    new_end: int
    depth: int = 0


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Unlike `text.split_lines`, none of them is empty."""
    if "\r" not in text:
        lines = text.split("\n")
        last = lines.pop()
        lines = [line + "\n" for line in lines]
        return [*lines, last] if last else lines
    return list(io.StringIO(text, newline=""))


def differences(old: Sequence[str], new: Sequence[str]) -> list[Difference]:
    """From first to last; between two of them there is at least one line that both texts have."""
    comparison = _Comparison(list(old), list(new))
    comparison.run()
    return _slid(comparison.found(), old, new)


def joined(found: Sequence[Difference], old: Sequence[str], *, gap: int = 2) -> list[Difference]:
    """The same, with those made one that only blank lines or brackets keep apart."""
    result: list[Difference] = []
    for next in found:
        last = result[-1] if result else None
        if (
            last is not None
            and next.start - last.end <= gap
            and _wordless(old[last.end : next.start])
        ):
            next = Difference(last.start, next.end, last.new_start, next.new_end)  # noqa: PLW2901
            result.pop()
        result.append(next)
    return result


def _wordless(lines: Sequence[str]) -> bool:
    return not any(char.isalnum() for line in lines for char in line)


class _Comparison:
    """The work of one comparison: stretches are divided at lines that belong together, until
    nothing is left to compare."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        self._old = old
        self._new = new
        self._runs: list[Run] = []
        """Lines that belong together, in any order."""
        self._todo: list[_Stretch] = []
        self._effort = _EFFORT

    def run(self) -> None:
        self._add(_Stretch(0, len(self._old), 0, len(self._new)))
        if self._todo and self._is_large(self._todo[0]):
            self._look_where(self._todo.pop())
        while self._todo:
            self._look_how(self._todo.pop())

    def found(self) -> list[Difference]:
        result: list[Difference] = []
        at = new_at = 0
        for start, new_start, length in (*sorted(self._runs), (len(self._old), len(self._new), 0)):
            if at < start or new_at < new_start:
                result.append(Difference(at, start, new_at, new_start))
            at, new_at = start + length, new_start + length
        return result

    def _add(self, stretch: _Stretch) -> None:
        """To be compared, without the equal lines at both ends."""
        old, new = self._old, self._new
        start, end, new_start, new_end, depth = (
            stretch.start,
            stretch.end,
            stretch.new_start,
            stretch.new_end,
            stretch.depth,
        )
        while start < end and new_start < new_end and old[start] == new[new_start]:
            start += 1
            new_start += 1
        if start > stretch.start:
            self._runs.append((stretch.start, stretch.new_start, start - stretch.start))
        while start < end and new_start < new_end and old[end - 1] == new[new_end - 1]:
            end -= 1
            new_end -= 1
        if end < stretch.end:
            self._runs.append((end, new_end, stretch.end - end))
        if start < end and new_start < new_end:
            self._todo.append(_Stretch(start, end, new_start, new_end, depth))

    def _is_large(self, stretch: _Stretch) -> bool:
        return min(stretch.end - stretch.start, stretch.new_end - stretch.new_start) >= _LARGE

    def _look_where(self, stretch: _Stretch) -> None:
        """Few differences in a large text: only their neighbourhoods need a closer look."""
        old = self._old[stretch.start : stretch.end]
        new = self._new[stretch.new_start : stretch.new_end]
        script = shortest_script(old, new, most=_FEW, effort=_EFFORT)
        if script.runs is None:
            self._todo.append(stretch)
            return
        long = [run for run in script.runs if run[2] >= _NEAR]
        self._divide(stretch, [(x + stretch.start, y + stretch.new_start, n) for x, y, n in long])

    def _look_how(self, stretch: _Stretch) -> None:
        """Lines that are unique in both texts belong together, as far as their order allows."""
        old = self._old[stretch.start : stretch.end]
        new = self._new[stretch.new_start : stretch.new_end]
        counts, new_counts = Counter(old), Counter(new)
        common = counts.keys() & new_counts.keys()
        if not common:
            return
        unique = {line for line in common if counts[line] == 1 == new_counts[line]}
        if not unique or stretch.depth >= _DEEPEST:
            self._search(stretch, common)
            return
        places = {line: y for y, line in enumerate(new, stretch.new_start) if line in unique}
        pairs = [(x, places[line]) for x, line in enumerate(old, stretch.start) if line in unique]
        self._divide(stretch, [(x, y, 1) for x, y in increasing(pairs)])

    def _divide(self, stretch: _Stretch, runs: list[Run]) -> None:
        at, new_at, depth = stretch.start, stretch.new_start, stretch.depth + 1
        for x, y, length in runs:
            if x > at and y > new_at:
                self._add(_Stretch(at, x, new_at, y, depth))
            self._runs.append((x, y, length))
            at, new_at = x + length, y + length
        if stretch.end > at and stretch.new_end > new_at:
            self._add(_Stretch(at, stretch.end, new_at, stretch.new_end, depth))

    def _search(self, stretch: _Stretch, common: set[str]) -> None:
        """No line says where it belongs: the shortest script, if that can be had."""
        places = [x for x in range(stretch.start, stretch.end) if self._old[x] in common]
        new_places = [
            y for y in range(stretch.new_start, stretch.new_end) if self._new[y] in common
        ]
        script = shortest_script(
            [self._old[x] for x in places],
            [self._new[y] for y in new_places],
            most=len(places) + len(new_places),
            effort=self._effort,
        )
        self._effort -= script.effort
        for x, y in common_pairs(script.runs or ()):
            self._runs.append((places[x], new_places[y], 1))


def _slid(found: list[Difference], old: Sequence[str], new: Sequence[str]) -> list[Difference]:
    """Lines that were only added, or only removed, often have several places where they can be
    said to be. The best starts where a paragraph starts, or else is the last."""
    result: list[Difference] = []
    for n, it in enumerate(found):
        if it.start < it.end and it.new_start < it.new_end:
            result.append(it)
            continue
        lowest = result[-1].end + 1 if result else 0
        highest = found[n + 1].start - 1 if n + 1 < len(found) else len(old)
        added = it.start == it.end
        lines, start, end = (new, it.new_start, it.new_end) if added else (old, it.start, it.end)
        up = min(it.start - lowest, _FURTHEST_SLIDE)
        down = min(highest - it.end, _FURTHEST_SLIDE)
        by = _best_slide(lines, start, end, up, down) if up > 0 or down > 0 else 0
        result.append(Difference(it.start + by, it.end + by, it.new_start + by, it.new_end + by))
    return result


def _best_slide(lines: Sequence[str], start: int, end: int, up: int, down: int) -> int:
    """By how many lines to move a block of lines that is equal to what it leaves behind."""
    first = last = 0
    while first > -up and lines[start + first - 1] == lines[end + first - 1]:
        first -= 1
    while last < down and lines[start + last] == lines[end + last]:
        last += 1
    return max(range(first, last + 1), key=lambda by: (_starts_well(lines, start + by), by))


def _starts_well(lines: Sequence[str], at: int) -> tuple[int, int]:
    """How much a line looks like the first of something."""
    line = lines[at]
    if not line.strip():
        return 0, 0
    after_blank = at == 0 or not lines[at - 1].strip()
    indent = len(line) - len(line.lstrip())
    return 1 + after_blank, -indent
