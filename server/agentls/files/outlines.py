"""The symbols of a text by its grammar alone, for when no language server can tell.

Invariant: as with labels, a text that cannot be read has no symbols; that is no error.
"""

from __future__ import annotations

from ..core.text import split_lines
from ..core.tools.desk import Spot
from .label_process import Labels
from .labels import JOINED

_MOST_LINES = 20_000


def outline(labels: Labels, path: str, text: str) -> list[Spot]:
    """Each function, class and so on, where its first line is. Blocking: run it in a thread."""
    count = len(split_lines(text))
    if count > _MOST_LINES:
        return []
    found: dict[str, Spot] = {}
    for line, label in enumerate(labels.of(path, text, [(n, n) for n in range(count)])):
        *outer, last = label.split(JOINED)
        if last and label not in found:
            kind, _, name = last.partition(" ")
            inside = JOINED.join(outer)
            found[label] = Spot(path=path, line=line + 1, name=name, kind=kind, inside=inside)
    return list(found.values())
