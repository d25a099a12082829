"""What streamed text takes in the server, in bytes for each of its own."""

from __future__ import annotations

from bench.editor import editor
from bench.machine import MEGABYTE, resident
from bench.rows import Row, Sizes

PIECE = 20


def measure(sizes: Sizes) -> list[Row]:
    streamed = int(sizes.text_megabytes * MEGABYTE)
    with editor() as front:
        session = front.open()
        # Fills the ring of raw frames, which is as big with any amount of text.
        front.turn(session, stream="text", count=sizes.chunks, bytes=PIECE)
        before = resident(front.pid)
        front.turn(session, stream="text", count=streamed // PIECE, bytes=PIECE)
        grown = resident(front.pid) - before
    return [
        Row(
            name=f"memory for {sizes.text_megabytes:g} MB of streamed text",
            value=grown / MEGABYTE,
            unit="MB",
            reference=sizes.text_megabytes,
            note=f"the text itself, in pieces of {PIECE} characters",
        )
    ]
