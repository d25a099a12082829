"""CPU time per update in a session with a long past, and in one that has just begun.

The two are in different servers, so that what a long past costs the whole process counts too.
"""

from __future__ import annotations

import statistics

from bench.editor import Editor, editor
from bench.machine import cpu_seconds
from bench.metronome import Metronome
from bench.rows import Row, Sizes, compared


def measure(sizes: Sizes) -> list[Row]:
    with editor() as grown, editor() as fresh:
        session = grown.open()
        stall = _grow(grown, session, sizes.old_events)
        rows = [_against(grown, session, fresh, kind, sizes) for kind in ("text", "mixed")]
    return [*rows, stall]


def _grow(front: Editor, session: str, events: int) -> Row:
    metronome = Metronome(front)
    front.turn(session, stream="mixed", count=events, bytes=20)
    metronome.stop()
    return Row(
        name=f"longest stall while {events:,} mixed events come",
        value=metronome.longest(),
        unit="ms",
        note="the slowest answer to another agent, which asks every 5 ms",
    )


def _against(grown: Editor, session: str, fresh: Editor, kind: str, sizes: Sizes) -> Row:
    old, young = [], []
    _sample(fresh, fresh.open(), kind, sizes.sample_chunks)
    for _ in range(sizes.samples):
        old.append(_sample(grown, session, kind, sizes.sample_chunks))
        young.append(_sample(fresh, fresh.open(), kind, sizes.sample_chunks))
    means = statistics.mean(old) / statistics.mean(young)
    return compared(
        f"{kind} update after {sizes.old_events:,} events, against the first",
        "µs",
        old,
        young,
        limit=1.2,
        note=f"the means, with rare garbage collections in them: {means:.2f}",
    )


def _sample(front: Editor, session: str, kind: str, count: int) -> float:
    before = cpu_seconds(front.pid)
    front.turn(session, stream=kind, count=count, bytes=20)
    return (cpu_seconds(front.pid) - before) / count * 1e6
