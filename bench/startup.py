"""From spawn to the answer to `initialize`, and the memory held then: ours and a bare server."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.editor import HERE, SERVER, Editor, workplace
from bench.machine import MEGABYTE, resident
from bench.rows import Row, Sizes, compared

BARE = (sys.executable, str(HERE / "bare_pygls.py"))


def measure(sizes: Sizes) -> list[Row]:
    ours, bare = [], []
    with workplace() as folder:
        # The first start of each writes its bytecode.
        _start(SERVER, folder)
        _start(BARE, folder)
        for _ in range(sizes.starts):
            ours.append(_start(SERVER, folder))
            bare.append(_start(BARE, folder))
    times, bare_times = [time for time, _ in ours], [time for time, _ in bare]
    memory, bare_memory = [held for _, held in ours], [held for _, held in bare]
    return [
        compared("spawn to initialize answered", "ms", times, bare_times, limit=1.1),
        compared("memory after initialize", "MB", memory, bare_memory, limit=1.3),
    ]


def _start(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """Milliseconds and megabytes."""
    before = time.monotonic()
    with Editor(folder, command) as editor:
        editor.initialize()
        milliseconds = (time.monotonic() - before) * 1000
        editor.initialized()
        return milliseconds, resident(editor.pid) / MEGABYTE
