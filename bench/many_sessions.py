"""What a live session takes in the server: many of them, each with a short turn behind it."""

from __future__ import annotations

from bench.editor import editor
from bench.machine import MEGABYTE, resident
from bench.rows import Row, Sizes

EVENTS = 50


def measure(sizes: Sizes) -> list[Row]:
    with editor() as front:
        front.turn(front.open(), stream="mixed", count=EVENTS, bytes=20)
        before = resident(front.pid)
        for _ in range(sizes.sessions):
            front.turn(front.open(), stream="mixed", count=EVENTS, bytes=20)
        grown = resident(front.pid) - before
    return [
        Row(
            name=f"memory for each of {sizes.sessions} live sessions",
            value=grown / sizes.sessions / MEGABYTE,
            unit="MB",
            limit=0.5,
            note=f"one agent process, {EVENTS} events in each",
        )
    ]
