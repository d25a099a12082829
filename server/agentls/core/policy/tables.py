"""Tables of names written as text, so that long lists stay readable.

Invariant: these only split text; what a name means is up to the table.
"""

from __future__ import annotations

from collections.abc import Iterator


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def sequences(text: str) -> frozenset[tuple[str, ...]]:
    """The sequences of words in a text, with a comma or the end of a line between them."""
    parts = text.strip().replace("\n", ",").split(",")
    return frozenset(tuple(part.split()) for part in parts)


def entries(table: str) -> Iterator[tuple[str, str]]:
    """The names of a table and what it says of them; a line with a margin goes on the last one."""
    for line in table.strip().replace("\n  ", " ").splitlines():
        heads, _, text = line.partition(": ")
        for head in heads.split():
            yield head, text
