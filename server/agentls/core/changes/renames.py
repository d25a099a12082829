"""Which of the files that are gone became which of those that are new.

Invariant: only where that is clear: the same content, or most of its lines, and no other file for
which that could be said as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .looking import Found
from .record import Blob, FileState

_MOST = 100
"""Files that are gone, and new, beyond which nobody looks for pairs."""
_ALIKE = 0.6
"""Of the lines of the longer one, so many are in both."""


def renamed(found: Sequence[Found]) -> dict[str, Found]:
    """By the new path, what is gone in its place."""
    gone = [it for it in found if it.after.content is None and it.before.content]
    made = [it for it in found if it.before.content is None and it.after.content]
    if not gone or not made or len(gone) > _MOST or len(made) > _MOST:
        return {}
    pairs = [(likeness(old.before, new.after), old, new) for old in gone for new in made]
    best: dict[str, Found] = {}
    for share, old, new in pairs:
        rivals = [other for other, a, b in pairs if (a is old) != (b is new)]
        if share >= _ALIKE and all(share > other for other in rivals):
            best[new.path] = old
    return best


def likeness(old: FileState, new: FileState) -> float:
    """From 0, nothing in common, to 1, the same."""
    if old.content == new.content:
        return 1.0
    if isinstance(old.content, Blob) or isinstance(new.content, Blob):
        return 0.0
    one, other = Counter((old.content or "").split("\n")), Counter((new.content or "").split("\n"))
    return (one & other).total() / max(one.total(), other.total())
