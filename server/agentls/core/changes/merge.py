"""Two sets of changes to one text, merged by lines.

Invariant: every line is as one of the sides has it, or is part of a conflict that holds what all
three texts say there. Changes without a line between them are a conflict, unless they are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from .diff import Difference, Lines, differences, lines_of

_LINE_END = re.compile(r"\r\n|\n|\r")
_SHORTEST_MARKER = 7


class Conflict(Struct, frozen=True, kw_only=True):
    """A place where both sides changed the base, and differently."""

    base: str
    ours: str
    theirs: str
    base_lines: Lines
    ours_lines: Lines
    theirs_lines: Lines


class Merge(Struct, frozen=True):
    """Merged text and conflicts, in the order of the text."""

    parts: tuple[str | Conflict, ...]

    @property
    def text(self) -> str | None:
        """None where somebody has to decide first."""
        return None if self.conflicts else "".join(p for p in self.parts if isinstance(p, str))

    @property
    def conflicts(self) -> list[Conflict]:
        return [part for part in self.parts if isinstance(part, Conflict)]

    def resolved(self, choose: Callable[[Conflict], str]) -> str:
        """The text with something chosen for each conflict, e.g. `lambda it: it.ours`."""
        return "".join(p if isinstance(p, str) else choose(p) for p in self.parts)

    def with_markers(self, *, ours: str, base: str, theirs: str) -> str:
        """For merging by hand: each conflict with all three texts, under these names."""
        length = self._marker_length()
        return self.resolved(lambda it: _marked(it, length, ours, base, theirs))

    def _marker_length(self) -> int:
        """Longer than anything in the texts that looks like a marker."""
        text = self.resolved(lambda it: f"{it.ours}\n{it.base}\n{it.theirs}")
        found = re.finditer(r"^([<|=>])\1{6,}", text, re.MULTILINE)
        return max((len(it[0]) + 1 for it in found), default=_SHORTEST_MARKER)


def merge(base: str, ours: str, theirs: str) -> Merge:
    """What both sides did to the base."""
    if ours in (base, theirs):
        return Merge((theirs,))
    if theirs == base:
        return Merge((ours,))
    return _Merging(lines_of(base), lines_of(ours), lines_of(theirs)).run()


def carried_over(base: str, seen: str, now: str) -> str | None:
    """The base with the edit that made `now` out of `seen`; None if it cannot be told where.

    So that what a person edits while an agent works is not taken for the agent's.
    """
    return merge(seen, base, now).text


class _Side:
    """One of the two changed texts, followed along the base."""

    def __init__(self, lines: list[str], found: list[Difference]) -> None:
        self.lines = lines
        self._found = found
        self._next = 0
        self._shift = 0

    def next_start(self) -> int | None:
        return self._found[self._next].start if self._next < len(self._found) else None

    def take_up_to(self, upto: int) -> int | None:
        """The end of the next difference, if that starts there or before; it counts as taken."""
        if self._next == len(self._found) or self._found[self._next].start > upto:
            return None
        self._next += 1
        return self._found[self._next - 1].end

    def place(self, base: Lines) -> Lines:
        """Where lines of the base are now, after the differences within them have been taken."""
        start = base.start + self._shift
        if self._next:
            last = self._found[self._next - 1]
            self._shift = last.new_end - last.end
        return Lines(start, base.end + self._shift)


class _Merging:
    def __init__(self, base: list[str], ours: list[str], theirs: list[str]) -> None:
        self._base = base
        self._ours = _Side(ours, differences(base, ours))
        self._theirs = _Side(theirs, differences(base, theirs))

    def run(self) -> Merge:
        parts: list[str | Conflict] = []
        text: list[str] = []
        at = 0
        for lines, changed in self._groups():
            text += self._base[at : lines.start]
            at = lines.end
            part = self._merged(lines, changed)
            if isinstance(part, Conflict):
                parts += ("".join(text), part)
                text = []
            else:
                text += part
        parts.append("".join((*text, *self._base[at:])))
        return Merge(tuple(part for part in parts if part))

    def _groups(self) -> Iterator[tuple[Lines, list[_Side]]]:
        """Lines of the base in which something changed, and the sides that changed it."""
        sides = (self._ours, self._theirs)
        while starts := [n for side in sides if (n := side.next_start()) is not None]:
            start = end = min(starts)
            changed: list[_Side] = []
            grew = True
            while grew:
                grew = False
                for side in sides:
                    if (reached := side.take_up_to(end)) is not None:
                        end, grew = max(end, reached), True
                        if side not in changed:
                            changed.append(side)
            yield Lines(start, end), changed

    def _merged(self, lines: Lines, changed: list[_Side]) -> list[str] | Conflict:
        ours_at, theirs_at = self._ours.place(lines), self._theirs.place(lines)
        ours = self._ours.lines[ours_at.start : ours_at.end]
        theirs = self._theirs.lines[theirs_at.start : theirs_at.end]
        if changed == [self._ours] or ours == theirs:
            return ours
        if changed == [self._theirs]:
            return theirs
        return Conflict(
            base="".join(self._base[lines.start : lines.end]),
            ours="".join(ours),
            theirs="".join(theirs),
            base_lines=lines,
            ours_lines=ours_at,
            theirs_lines=theirs_at,
        )


def _marked(it: Conflict, length: int, ours: str, base: str, theirs: str) -> str:
    found = _LINE_END.search(it.ours + it.base + it.theirs)
    end = found[0] if found else "\n"
    pieces = (("<", ours, it.ours), ("|", base, it.base), ("=", "", it.theirs), (">", theirs, ""))
    marked: list[str] = []
    for sign, name, text in pieces:
        marked += (f"{sign * length} {name}".rstrip(), end, text)
        if text and not text.endswith(("\n", "\r")):
            marked.append(end)
    return "".join(marked)
