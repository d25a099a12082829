"""A day of life: sessions are opened, prompted and closed, and their agents restarted, for long.

Each agent process ends with its session, so that as many are started as there are sessions. What is
held after the first half of them is compared with what is held at the end.
"""

from __future__ import annotations

import time
from pathlib import Path

from bench.editor import Editor, editor
from bench.machine import MEGABYTE, resident
from bench.rows import Row, Sizes

EVENTS = 30
RESTARTED = 10
"""Each so manieth has its agent restarted before it is closed."""
PATIENCE = 10.0


def measure(sizes: Sizes) -> list[Row]:
    first = max(1, sizes.lives // 2)
    with editor() as front:
        began = time.monotonic()
        _live(front, first)
        before = _held(front.pid)
        _live(front, sizes.lives - first)
        memory, processes, files = (
            now - then for now, then in zip(_held(front.pid, before[1]), before, strict=True)
        )
        seconds = time.monotonic() - began
    since = f"{sizes.lives:,} sessions against {first}"
    took = f"each opened, prompted and closed, in {seconds:.0f} s"
    return [
        Row(
            name=f"memory after {since}",
            value=memory / MEGABYTE,
            unit="MB",
            limit=8,
            note=took,
        ),
        Row(name=f"processes after {since}, more by", value=processes, unit="n", limit=0.5),
        Row(name=f"descriptors after {since}, more by", value=files, unit="n", limit=0.5),
    ]


def _live(front: Editor, count: int) -> None:
    for number in range(count):
        session = front.open()
        front.turn(session, stream="mixed", count=EVENTS, bytes=20)
        if number % RESTARTED == 0:
            front.request("agentls/session/restart", {"sessionId": session})
        front.request("agentls/session/close", {"sessionId": session})


def _held(pid: int, processes: int = 1) -> tuple[int, int, int]:
    """Memory, processes and descriptors, when the agents that are being stopped are gone."""
    end = time.monotonic() + PATIENCE
    while len(_children(pid)) > processes and time.monotonic() < end:
        time.sleep(0.05)
    return resident(pid), len(_children(pid)), min(_files(pid) for _ in range(20))


def _files(pid: int) -> int:
    time.sleep(0.05)  # the database is opened now and then
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _children(pid: int) -> list[int]:
    found = [task.read_text().split() for task in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for children in found for child in children]
