"""Sees the stalls of the server's event loop from outside, without reading what it sends.

An agent of its own sends a request that the server refuses at once, every few milliseconds, and
times the answers. That is never less than the stall, and includes what the machine takes to let
the two processes run.
"""

from __future__ import annotations

import json
from pathlib import Path

from bench.editor import ALONE, Editor

TICK = 0.005


class Metronome:
    """Ticks from when it is made until `stop`."""

    def __init__(self, front: Editor) -> None:
        self._front = front
        self._session = front.open(ALONE)
        self._log = Path(front.folder / f"ticks-{self._session}")
        self._ticks: list[tuple[int, int]] = []
        front.prompt(self._session, tick=TICK, log=str(self._log))

    def stop(self) -> None:
        self._front.cancel(self._session)
        self._ticks = json.loads(self._log.read_text())["ticks"]

    def longest(self, start: int = 0, end: int | None = None) -> float:
        """Milliseconds that the slowest answer took of those awaited between the two times."""
        last = self._ticks[-1][0] if end is None else end
        return max(took for at, took in self._ticks if at + took >= start and at <= last) / 1e6
