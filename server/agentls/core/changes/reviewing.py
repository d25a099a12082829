"""All that is needed to decide about changes, built with the first prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from .going_back import Restores
from .review import Files, Review
from .watch import Watch

Labels = Callable[[str, str, Sequence[tuple[int, int]]], Awaitable[list[str]]]
"""For parts of a text, by first and last line: the function or class that each is in."""


class Reviewing(Struct, frozen=True):
    """The changes of all sessions and what can be done about them."""

    review: Review
    watch: Watch
    restores: Restores
    files: Files
    labels: Labels
