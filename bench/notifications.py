"""How often the editor is told while an agent floods, and how soon it hears the first words."""

from __future__ import annotations

import statistics
from collections import Counter

from bench.editor import Batch, Editor, editor
from bench.rows import Row, Sizes

SECOND = 1_000_000_000
QUIET = 0.1
"""Seconds without a word before a first chunk; past any interval between notifications."""


def measure(sizes: Sizes) -> list[Row]:
    with editor() as front:
        rows = [_rate(front, kind, sizes.flood_seconds) for kind in ("text", "tool", "mixed")]
        rows.append(_first_chunk(front, sizes.first_chunks))
    return rows


def _rate(front: Editor, kind: str, seconds: float) -> Row:
    batches = front.turn(front.open(), stream=kind, seconds=seconds, bytes=20)
    return Row(
        name=f"notifications in a second, flood of {kind} updates",
        value=_busiest_second(batches),
        unit="1/s",
        limit=60,
        note=f"the busiest of {seconds:g} seconds",
    )


def _busiest_second(batches: list[Batch]) -> int:
    start = batches[0].at
    return max(Counter((batch.at - start) // SECOND for batch in batches).values())


def _first_chunk(front: Editor, times: int) -> Row:
    """From the agent's write to the editor's read; the chunk says when it was written."""
    session = front.open()
    found = []
    for _ in range(times):
        batches = front.turn(session, stream="text", count=0, pause=QUIET, stamp=True)
        at, written = next((batch.at, text) for batch in batches if (text := batch.new_text()))
        found.append((at - int(written)) / 1e6)
    return Row(
        name="first chunk on its way",
        value=statistics.median(found),
        unit="ms",
        limit=5,
        note=f"median of {times}, the longest took {max(found):.2f} ms",
    )
