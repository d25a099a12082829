"""The lines of the result, and how much work is done to get them.

Invariant: a limit is one on the ratio where a row has a reference, and on the value where it has
none.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NOISY = 0.3
"""A reference that differs by more than this part of it from run to run says little."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measured thing."""

    name: str
    value: float
    unit: str
    reference: float | None = None
    limit: float | None = None
    """None where there is nothing to hold: the row informs."""
    spread: float = 0.0
    """How far apart the middle half of the reference's runs is, as a part of their median."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.reference is None else self.value / self.reference

    @property
    def ok(self) -> bool:
        held = self.value if self.ratio is None else self.ratio
        return self.limit is None or held <= self.limit

    @property
    def noisy(self) -> bool:
        return self.spread > NOISY

    def as_json(self) -> dict[str, Any]:
        names = ("name", "value", "unit", "reference", "ratio", "limit", "ok")
        return {name: getattr(self, name) for name in names}


def compared(
    name: str,
    unit: str,
    ours: Sequence[float],
    bare: Sequence[float],
    *,
    limit: float,
    note: str = "",
) -> Row:
    """The medians of samples that were taken in turns."""
    middle = statistics.median(bare)
    # Not all of them: one that the machine got in the way of moves no median.
    first, _, third = (
        statistics.quantiles(bare, n=4, method="inclusive") if len(bare) > 1 else (middle,) * 3
    )
    return Row(
        name=name,
        value=statistics.median(ours),
        unit=unit,
        reference=middle,
        limit=limit,
        spread=(third - first) / middle,
        note=note,
    )


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much of everything; `measure` of each row takes one."""

    starts: int
    """How often each server is started."""
    floods: int
    """How often the flood of updates is measured, ours and bare."""
    chunks: int
    """Updates in that flood."""
    flood_seconds: float
    """How long agents flood where notifications are counted."""
    first_chunks: int
    """How often the way of a first chunk is timed."""
    old_events: int
    """Events that make a session an old one."""
    samples: int
    """How often an old and a young session are compared."""
    sample_chunks: int
    """Updates in one such sample."""
    stuck_seconds: float
    """How long the editor does not read."""
    sessions: int
    """Live sessions in one server."""
    lives: int
    """Sessions that are opened, prompted and closed, one after the other."""
    text_megabytes: float
    """Text streamed to see what memory it takes."""


FULL = Sizes(
    starts=15,
    floods=11,
    chunks=50_000,
    flood_seconds=5.0,
    first_chunks=30,
    old_events=100_000,
    samples=15,
    sample_chunks=5_000,
    stuck_seconds=10.0,
    sessions=100,
    lives=1_000,
    text_megabytes=32.0,
)
QUICK = Sizes(
    starts=5,
    floods=5,
    chunks=20_000,
    flood_seconds=2.0,
    first_chunks=15,
    old_events=100_000,
    samples=7,
    sample_chunks=5_000,
    stuck_seconds=3.0,
    sessions=100,
    lives=200,
    text_megabytes=16.0,
)
TINY = Sizes(
    starts=1,
    floods=1,
    chunks=200,
    flood_seconds=0.2,
    first_chunks=2,
    old_events=500,
    samples=1,
    sample_chunks=100,
    stuck_seconds=0.3,
    sessions=3,
    lives=4,
    text_megabytes=0.5,
)
"""To see that everything runs; the numbers mean nothing."""
