"""An editor that does not read for seconds while two agents stream at full speed."""

from __future__ import annotations

import json
import time
from pathlib import Path

from bench.editor import ALONE, PATIENCE, Editor, editor
from bench.machine import MEGABYTE, peak_resident, resident
from bench.metronome import Metronome
from bench.rows import Row, Sizes

PIECE = 20
RINGS = 12
"""Megabytes of raw frames that are kept for recordings: 4 for each of the three agents."""


def measure(sizes: Sizes) -> list[Row]:
    with editor() as front:
        floods = [front.open(ALONE) for _ in range(2)]
        for session in floods:
            front.turn(session, stream="text", count=sizes.chunks, bytes=PIECE)
        metronome = Metronome(front)
        before = resident(front.pid)
        logs = _flood(front, floods, sizes.stuck_seconds)
        stuck = time.monotonic_ns()
        updates = sum(_updates(path, sizes.stuck_seconds + PATIENCE) for path in logs)
        reads_again = time.monotonic_ns()
        held = resident(front.pid) - before
        front.finish(*floods)
        metronome.stop()
        peak = peak_resident(front.pid) - before
        _check(front, floods, updates * PIECE)
    text = updates * PIECE
    name = f"editor not reading for {sizes.stuck_seconds:g} s"
    return [
        Row(
            name=f"{name}: longest stall",
            value=metronome.longest(stuck, reads_again),
            unit="ms",
            limit=50,
            note="the slowest answer to a third agent, which asks every 5 ms",
        ),
        Row(
            name=f"{name}: longest stall when it reads again",
            value=metronome.longest(reads_again),
            unit="ms",
            limit=50,
            note=f"{text / MEGABYTE:.0f} MB of text are waiting for it then",
        ),
        Row(
            name=f"{name}: memory beyond the text",
            value=(held - text) / MEGABYTE,
            unit="MB",
            limit=RINGS + 8,
            note=f"{updates:,} updates; frames kept for recordings may take {RINGS} MB",
        ),
        Row(
            name=f"{name}: peak when it reads again",
            value=(peak - text) / MEGABYTE,
            unit="MB",
            note="beyond the text",
        ),
    ]


def _flood(front: Editor, sessions: list[str], seconds: float) -> list[Path]:
    """Where each agent says that it is done, and how much it has sent."""
    front.batches.clear()
    logs = [front.folder / f"flood-{session}" for session in sessions]
    for session, log in zip(sessions, logs, strict=True):
        front.prompt(session, stream="text", seconds=seconds, bytes=PIECE, log=str(log))
    return logs


def _updates(log: Path, patience: float) -> int:
    """Wait for an agent without reading from the server."""
    end = time.monotonic() + patience
    while not log.exists():
        if time.monotonic() > end:
            raise TimeoutError("an agent never finished its flood")
        time.sleep(0.01)
    return int(json.loads(log.read_text())["updates"])


def _check(front: Editor, floods: list[str], text: int) -> None:
    came = sum(len(batch.new_text()) for batch in front.batches if batch.session in floods)
    if came != text:
        raise RuntimeError(f"{came:,} of {text:,} characters came through")
