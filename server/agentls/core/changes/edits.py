"""The least that has to be edited to turn one text into another, as LSP counts positions.

Invariant: applying the edits gives the other text. They are in order, do not touch each other,
refer to the text before all of them, and never begin or end within what a person sees as one
character.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from msgspec import Struct

from ..text import Encoding, Position, Range, locate, split_lines, to_character
from .diff import differences, lines_of

_MOST_LINES = 500
"""Differences of more lines are not narrowed line by line: editors take one edit faster."""
_JOINER = "\u200d"


class Edit(Struct, frozen=True, gc=False):
    """A part of a text and what to put in its place."""

    range: Range
    text: str


def edits(old: str, new: str, encoding: Encoding) -> list[Edit]:
    """From `old` to `new`; none if they are equal."""
    if old == new:
        return []
    lines, new_lines = lines_of(old), lines_of(new)
    found: list[Edit] = []
    for it in differences(lines, new_lines):
        removed, added = lines[it.start : it.end], new_lines[it.new_start : it.new_end]
        if _line_by_line(removed, added):
            for n, (before, after) in enumerate(zip(removed, added, strict=True), it.start):
                if before != after:
                    found.append(_narrowed([before], n, after, encoding))
        else:
            found.append(_narrowed(removed, it.start, "".join(added), encoding))
    return found


def applied(text: str, edits: Sequence[Edit], encoding: Encoding) -> str:
    """The text after edits such as the above."""
    lines = split_lines(text)
    parts: list[str] = []
    line = index = 0
    for edit in edits:
        upto, at = locate(lines, edit.range.start, encoding)
        parts += (_between(lines, line, index, upto, at), edit.text)
        line, index = locate(lines, edit.range.end, encoding)
    parts.append(_between(lines, line, index, len(lines) - 1, len(lines[-1])))
    return "".join(parts)


def _between(lines: Sequence[str], line: int, index: int, upto: int, at: int) -> str:
    if line == upto:
        return lines[line][index:at]
    return "".join((lines[line][index:], *lines[line + 1 : upto], lines[upto][:at]))


def _line_by_line(removed: Sequence[str], added: Sequence[str]) -> bool:
    return 1 < len(removed) == len(added) <= _MOST_LINES and all(
        _end(before) == _end(after) for before, after in zip(removed, added, strict=True)
    )


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _narrowed(removed: Sequence[str], first: int, after: str, encoding: Encoding) -> Edit:
    """An edit of whole lines, without what stays the same at both ends of it."""
    before = "".join(removed)
    start = _common_start(before, after)
    while start and (_within(before, start) or _within(after, start)):
        start -= 1
    end = _common_end(before, after, min(len(before), len(after)) - start)
    while end and (_within(before, len(before) - end) or _within(after, len(after) - end)):
        end -= 1
    return Edit(
        Range(
            _position(removed, first, start, encoding),
            _position(removed, first, len(before) - end, encoding),
        ),
        after[start : len(after) - end],
    )


def _position(lines: Sequence[str], first: int, index: int, encoding: Encoding) -> Position:
    """Where an index into the joined lines is."""
    number = first
    for line in lines:
        if index < len(line) or _end(line) == "":
            return Position(number, to_character(line, index, encoding))
        index -= len(line)
        number += 1
    return Position(number, 0)


def _common_start(one: str, other: str) -> int:
    """How many characters are the same; by halves, since strings are compared at once."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _within(text: str, index: int) -> bool:
    """Whether a place is inside of what a person takes for one character, or of a line end."""
    if not 0 < index < len(text):
        return False
    before, after = text[index - 1], text[index]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return before == _JOINER or _continues(before, after)


def _continues(before: str, after: str) -> bool:
    """A mark on the character before, or the second of characters that are shown as one. Rather
    too often than too seldom: the edit is only a little larger then."""
    return (
        after == _JOINER
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or all("\U0001f1e6" <= char <= "\U0001f1ff" for char in (before, after))  # flags
        or all("\u1100" <= char <= "\u11ff" for char in (before, after))  # Hangul by parts
        or ("\U000e0020" <= after <= "\U000e007f")  # tags, of flags of regions
    )
