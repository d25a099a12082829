"""A use of a program, as far as it goes beyond the rule that is to cover it.

Invariant: nothing is judged here.
"""

from __future__ import annotations

from typing import NamedTuple


class Use(NamedTuple):
    """A command, and from which word on it goes beyond the rule."""

    name: str
    words: tuple[str, ...]
    globs: tuple[int, ...]
    start: int

    @property
    def further(self) -> tuple[str, ...]:
        return self.words[self.start :]


def risk(word: str, name: str) -> str:
    """The sentence about an option that is not covered."""
    return f"{word} can make {name} write a file or run a program"
