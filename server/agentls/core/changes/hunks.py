"""What an agent changed in one text, hunk by hunk, followed while the text goes on changing.

Invariant: undoing changes nothing but hunks that are exactly as the agent left them, so that no
text of anybody else is ever lost; and the pieces joined are always the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import count

from msgspec import Struct

from ..errors import BadRequest
from ..text import Encoding, Position, Range, locate, split_lines
from .diff import Difference, Lines, differences, lines_of
from .merge import Merge, merge
from .pieces import HunkState, Layout, Piece, pieces_of, starts_of
from .rewriting import rewritten


class Hunk(Struct, frozen=True, kw_only=True):
    """One place that an agent changed."""

    id: str
    state: HunkState
    altered: bool
    """Somebody else changed it since: it can only be undone by a merge."""
    before: str
    after: str
    """As the agent wrote it."""
    now: str
    lines: Lines
    """Where it is in the text as it is now."""
    before_lines: Lines
    """Where it would be if all hunks were undone."""


class Plan(Struct, frozen=True, kw_only=True):
    """What undoing some hunks, or doing them again, would make of the text."""

    text: str
    seen: str
    """The text that it is for, and for no other."""
    hunks: tuple[str, ...]
    """Those that it changes."""
    refused: tuple[str, ...]
    """Those it leaves alone, because they are not as the agent left them."""
    parts: tuple[list[str], ...]
    writes: int


class Hunks:
    """A text of which an agent wrote some parts."""

    def __init__(self, id: str, before: str, after: str) -> None:
        self.before = before
        """The text that the agent found first."""
        self.after = after
        """The text that it wrote last."""
        self._ids: Iterator[str] = (f"{id}.h{n}" for n in count(1))
        self._pieces = pieces_of(lines_of(before), lines_of(after), self._ids)
        self._text: str | None = after
        self._writes = 1
        """How often the agent wrote; which hunks there are is another matter each time."""

    # -- what there is

    @property
    def text(self) -> str:
        """As it is now."""
        if self._text is None:
            self._text = "".join(line for piece in self._pieces for line in piece.lines)
        return self._text

    def all(self) -> list[Hunk]:
        """From the first to the last of the text."""
        starts = starts_of(piece.lines for piece in self._pieces)
        befores = starts_of(p.before if p.id else p.lines for p in self._pieces)
        return [
            Hunk(
                id=piece.id,
                state=piece.state,
                altered=piece.altered,
                before="".join(piece.before),
                after="".join(piece.after),
                now="".join(piece.lines),
                lines=Lines(starts[n], starts[n + 1]),
                before_lines=Lines(befores[n], befores[n + 1]),
            )
            for n, piece in enumerate(self._pieces)
            if piece.id
        ]

    def ids(self, *states: HunkState) -> list[str]:
        return [p.id for p in self._pieces if p.id and (not states or p.state in states)]

    def conditions(self) -> list[tuple[str, HunkState, bool]]:
        """Of each hunk, its state and whether it is altered."""
        return [(p.id, p.state, p.altered) for p in self._pieces if p.id]

    def writer_of(self, line: int) -> str | None:
        """The hunk with which the agent wrote a line, if the line still is as it wrote it."""
        starts = starts_of(piece.lines for piece in self._pieces)
        for n, piece in enumerate(self._pieces):
            if piece.id and starts[n] <= line < starts[n + 1]:
                own = line - starts[n]
                changed = _is_new(piece.before, piece.lines, own)
                return piece.id if changed and not _is_new(piece.after, piece.lines, own) else None
        return None

    # -- the text changes

    def edit(self, range: Range, text: str, encoding: Encoding) -> None:
        """Somebody put `text` in the place of a part of the text, as LSP says it."""
        layout = self._layout()
        total = layout.starts[-1]
        # The line before, too: a "\n" may become the second half of its "\r\n".
        first = max(0, min(range.start.line, range.end.line, total) - 1)
        end = min(max(range.start.line, range.end.line, 0) + 1, total)
        old = self._lines(layout, first, end)
        new = lines_of(_edited("".join(old), range, first, text, encoding))
        self._splice(layout, _difference(old, new, first), new, first)

    def see(self, text: str) -> None:
        """The text is this now, by whatever way it got there."""
        if text == self.text:
            return
        new = lines_of(text)
        if any(piece.lines != piece.after for piece in self._pieces):
            self._compare(new)  # what was missing may be back
            return
        layout = self._layout()
        old = self._lines(layout, 0, layout.starts[-1])
        self._splice(layout, _difference(old, new, 0), new, 0)

    def write(self, text: str) -> None:
        """The agent made this of the text as it is now."""
        self.after = text
        if text != self.text:
            self._writes += 1
            self._pieces = rewritten(self._pieces, lines_of(text), self._ids)
            self._text = text

    # -- what a person decides

    def keep(self, ids: Collection[str]) -> None:
        """Also as somebody altered them; what has been undone stays so."""
        for piece in self._chosen(ids):
            if piece.state is HunkState.PENDING:
                piece.state = HunkState.KEPT

    def undoing(self, ids: Collection[str]) -> Plan:
        return self._plan({piece.id: piece.before for piece in self._chosen(ids)})

    def redoing(self, ids: Collection[str]) -> Plan:
        return self._plan({piece.id: piece.after for piece in self._chosen(ids)})

    def adopt(self, plan: Plan, now: str | None = None) -> None:
        """It was done; `now` is what the text is by now, if more has happened to it since."""
        if plan.writes == self._writes:
            for piece, lines in zip(self._pieces, plan.parts, strict=True):
                piece.lines = list(lines)
                piece.settle()
            self._text = plan.text
        self.see(plan.text if now is None else now)

    def merge_undo(self, ids: Collection[str]) -> Merge:
        """Undoing hunks that somebody altered: theirs is what was before, ours what is now."""
        return self._merge({piece.id: piece.before for piece in self._chosen(ids)})

    def merge_redo(self, ids: Collection[str]) -> Merge:
        return self._merge({piece.id: piece.after for piece in self._chosen(ids)})

    # -- how

    def _chosen(self, ids: Collection[str]) -> list[Piece]:
        chosen = [piece for piece in self._pieces if piece.id and piece.id in ids]
        if missing := set(ids) - {piece.id for piece in chosen}:
            raise BadRequest(
                f"There is no hunk {min(missing)!r} any more.", hint="Look at the changes again."
            )
        return chosen

    def _layout(self) -> Layout:
        return Layout(self._pieces, [piece.lines for piece in self._pieces])

    def _lines(self, layout: Layout, start: int, end: int) -> list[str]:
        return [
            line
            for n in layout.touched(start, end)
            for line in self._pieces[n].lines[layout.within(n, start, end)]
        ]

    def _splice(self, layout: Layout, it: Difference, new: Sequence[str], offset: int) -> None:
        """Lines of the text became other lines, which are in `new`, without the first `offset`."""
        added = list(new[it.new_start - offset : it.new_end - offset])
        if not added and it.start == it.end:
            return
        touched = layout.touched(it.start, it.end)
        if (it.start < it.end and len(touched) > 1) or self._may_be_back(layout, it, added):
            before = self._lines(layout, 0, it.start)
            self._compare([*before, *added, *self._lines(layout, it.end, layout.starts[-1])])
            return
        self._text = None
        n = layout.owner(touched, it.start, it.end, added)
        piece = self._pieces[n]
        if piece.lines is piece.after or piece.lines is piece.before:
            piece.lines = list(piece.lines)
        piece.lines[layout.within(n, it.start, it.end)] = added
        piece.settle()

    def _may_be_back(self, layout: Layout, it: Difference, added: list[str]) -> bool:
        """Whether lines may be those that a hunk had, although not just where it had them."""
        missing = {n for n, piece in enumerate(self._pieces) if piece.id and not piece.lines}
        if len(added) > 1:
            around = (*layout.touched(it.start, it.start), *layout.touched(it.end, it.end))
            if not missing.isdisjoint(around):
                return True
        lost = (self._pieces[n].before or self._pieces[n].after for n in missing)
        return any(len(them) == len(added) and sorted(them) == sorted(added) for them in lost)

    def _compare(self, new: list[str]) -> None:
        """Find the pieces again in a text that changed in more than one of them, or came back."""
        pieces = self._pieces
        known = (
            [piece.lines for piece in pieces],
            [piece.expected for piece in pieces],
            [piece.after for piece in pieces],
            [piece.before for piece in pieces],
        )
        found: list[list[list[str]]] = []
        for parts in known:
            old = [line for part in parts for line in part]
            found.append(Layout(pieces, parts).after(differences(old, new), new))
        scores = [self._recognised(parts) for parts in found]
        for piece, lines in zip(pieces, found[scores.index(max(scores))], strict=True):
            piece.lines = lines
            piece.settle()
        self._text = None

    def _recognised(self, parts: Sequence[list[str]]) -> int:
        """How many lines are in a piece that had them before or after the agent wrote."""
        score = 0
        for piece, lines in zip(self._pieces, parts, strict=True):
            if lines in (piece.before, piece.after):
                score += len(lines)
            else:
                score += (Counter(lines) & Counter(piece.expected)).total() - 1
        return score

    def _plan(self, wanted: dict[str, list[str]]) -> Plan:
        parts = [piece.lines for piece in self._pieces]
        done: list[str] = []
        refused: list[str] = []
        for n, piece in enumerate(self._pieces):
            lines = wanted.get(piece.id) if piece.id else None
            if lines is None or lines == piece.lines:
                continue
            if piece.altered or not _fits(parts, n, lines):
                refused.append(piece.id)
            else:
                parts[n] = lines
                done.append(piece.id)
        text = "".join(line for part in parts for line in part)
        return Plan(
            text=text,
            seen=self.text,
            hunks=tuple(done),
            refused=tuple(refused),
            parts=tuple(map(list, parts)),
            writes=self._writes,
        )

    def _merge(self, wanted: dict[str, list[str]]) -> Merge:
        base = [p.expected if p.id in wanted else p.lines for p in self._pieces]
        theirs = [wanted.get(p.id, p.lines) if p.id else p.lines for p in self._pieces]
        return merge(_joined(base), self.text, _joined(theirs))


def _is_new(old: list[str], new: list[str], line: int) -> bool:
    return any(it.new_start <= line < it.new_end for it in differences(old, new))


def _edited(old: str, range: Range, first: int, text: str, encoding: Encoding) -> str:
    """A part of a text that starts with line `first`, after an edit in it."""
    lines = split_lines(old)
    places = (Position(it.line - first, it.character) for it in (range.start, range.end))
    (start, head), (end, tail) = sorted(locate(lines, place, encoding) for place in places)
    return "".join(
        (*lines[:start], lines[start][:head], text, lines[end][tail:], *lines[end + 1 :])
    )


def _difference(old: Sequence[str], new: Sequence[str], first: int) -> Difference:
    """All that differs, as one; the texts start with line `first`."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    same = 0
    while same < shorter - start and old[-1 - same] == new[-1 - same]:
        same += 1
    return Difference(
        first + start, first + len(old) - same, first + start, first + len(new) - same
    )


def _fits(parts: Sequence[list[str]], n: int, lines: list[str]) -> bool:
    """Whether lines can be put there and stay the lines they are."""
    before = next((parts[m][-1:] for m in range(n - 1, -1, -1) if parts[m]), [])
    after = next((parts[m][:1] for m in range(n + 1, len(parts)) if parts[m]), [])
    borders = [[*before, *lines[:1]], [*lines[-1:], *after]] if lines else [[*before, *after]]
    return all(lines_of("".join(border)) == border for border in borders)


def _joined(parts: Sequence[Sequence[str]]) -> str:
    """The text, in which every line is one of its own."""
    lines = [line for part in parts for line in part]
    ended = [line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines[:-1]]
    return "".join((*ended, *lines[-1:]))
