"""The two searches behind a comparison: the longest increasing chain, and the shortest script.

Invariant: both say only what is so; the second gives up rather than take longer than it may.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

Run = tuple[int, int, int]
"""Where equal items are in either sequence, and how many."""
_NOWHERE = -1_000_000_000
_CHUNK = 64


class Script(Struct, frozen=True):
    """What stays the same from one sequence to the other; None if that was not found out."""

    runs: list[Run] | None
    effort: int
    """Steps it took."""


def increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of pairs, of which the first members increase, with increasing second."""
    seconds = [second for _, second in pairs]
    if seconds == sorted(seconds):
        return list(pairs)
    tops: list[int] = []
    """The least second member with which a chain of each length can end."""
    ends: list[int] = []
    before: list[int] = []
    for n, second in enumerate(seconds):
        length = bisect_left(tops, second)
        before.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [second]
        ends[length : length + 1] = [n]
    chain: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    chain.reverse()
    return chain


def common_pairs(runs: Iterable[Run]) -> Iterator[tuple[int, int]]:
    for x, y, length in runs:
        for n in range(length):
            yield x + n, y + n


def shortest_script(old: list[str], new: list[str], *, most: int, effort: int) -> Script:
    """With the fewest items removed and added (Myers, 1986), unless that are more than `most` or
    the steps more than `effort`."""
    if not old or not new:
        return Script([], 0)
    width, height = len(old), len(new)
    most = min(most, width + height)
    furthest = [_NOWHERE] * 3
    """How far into `old` one can be on each diagonal; a negative index is a diagonal, too."""
    furthest[1] = 0
    history: list[list[int]] = []
    steps = 0
    for cost in range(most + 1):
        history.append(furthest)
        if steps > effort:
            return Script(None, steps)
        row, furthest = furthest, [_NOWHERE] * (2 * cost + 5)
        steps += cost // 4
        lowest, highest = max(0, cost - height) * 2 - cost, cost - max(0, cost - width) * 2
        for diagonal in range(lowest, highest + 1, 2):
            x = _stepped(row, diagonal, width, height)
            if x < 0:
                continue
            reached = x + _equal(old, new, x, x - diagonal)
            furthest[diagonal] = reached
            steps += 2 + (reached - x) // 8
            if reached == width and reached - diagonal == height:
                return Script(_retraced(history, width, height), steps)
    return Script(None, steps)


def _stepped(row: list[int], diagonal: int, width: int, height: int) -> int:
    """Where one is on a diagonal after one more item is added or removed; negative: nowhere."""
    x = row[diagonal + 1]
    if x - diagonal > height:
        x = _NOWHERE
    right = row[diagonal - 1] + 1
    return right if x < right <= width else x


def _equal(old: list[str], new: list[str], x: int, y: int) -> int:
    """How many items are equal from there on."""
    start, width, height = x, len(old), len(new)
    if x >= width or y >= height or old[x] != new[y]:
        return 0
    # Lists are compared much faster than items one by one.
    while x + _CHUNK <= width and old[x : x + _CHUNK] == new[y : y + _CHUNK]:
        x += _CHUNK
        y += _CHUNK
    while x < width and y < height and old[x] == new[y]:
        x += 1
        y += 1
    return x - start


def _retraced(history: list[list[int]], width: int, height: int) -> list[Run]:
    runs: list[Run] = []
    x, y = width, height
    for cost in range(len(history) - 1, -1, -1):
        row, diagonal = history[cost], x - y
        began = _stepped(row, diagonal, width, height)
        if x > began:
            runs.append((began, began - diagonal, x - began))
        x, y = began, began - diagonal
        if x == row[diagonal + 1] and cost:
            y -= 1
        elif cost:
            x -= 1
    runs.reverse()
    return runs
