"""A flood of output through a hosted terminal, and the same pseudo-terminal read in a bare loop.

Each is read in a process of its own, which this file is too:

    python terminal.py ours|bare BYTES

Ours has a view attached that takes what is new thirty times a second. What came is counted: a
terminal that loses output would be fast.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.rows import Row, Sizes

ROOT = Path(__file__).resolve().parent.parent
MEGABYTES = 100
"""In a full run; in others as much less as there is less streamed text."""
WRITTEN = 3 / 2
"""Bytes that come for each: a terminal ends lines with two."""
LIMIT = 1 << 20
VIEW = 1 / 30
TICK = 0.001


def measure(sizes: Sizes) -> list[Row]:
    from bench.machine import MEGABYTE
    from bench.rows import FULL, Row, compared

    megabytes = MEGABYTES * sizes.text_megabytes / FULL.text_megabytes
    size = int(megabytes * MEGABYTE) // 2 * 2
    ours, bare = (_run(which, size) for which in ("ours", "bare"))
    for found in (ours, bare):
        if found["bytes"] != size * WRITTEN:
            raise RuntimeError(f"{found['bytes']:,} of {size * WRITTEN:,.0f} bytes came through")
    name = f"{megabytes:.0f} MB through a hosted terminal"
    return [
        compared(name, "s", [ours["seconds"]], [bare["seconds"]], limit=2.0),
        Row(
            name=f"{name}: memory",
            value=ours["grown"] / MEGABYTE,
            unit="MB",
            limit=LIMIT / MEGABYTE + 8,
            note=f"{LIMIT // MEGABYTE} MB of it is the output that is kept",
        ),
        Row(
            name=f"{name}: longest stall",
            value=ours["stall"] * 1000,
            unit="ms",
            limit=50,
            note="of the event loop",
        ),
    ]


def _run(which: str, size: int) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, __file__, which, str(size)], stdout=subprocess.PIPE, check=True
    )
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def line(size: int) -> str:
    return f"yes | head -c {size}"


class Metronome:
    """How late the event loop is at most for something that it should do every millisecond."""

    def __init__(self) -> None:
        self.latest = 0.0
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time()
        self._tick()

    def _tick(self) -> None:
        now = self._loop.time()
        self.latest = max(self.latest, now - self._due)
        self._due = now + TICK
        self._loop.call_at(self._due, self._tick)


async def ours(size: int) -> dict[str, Any]:
    from agentls.core.model import SessionId
    from agentls.core.terminals import Exit, Terminal, Terminals, TerminalSpec
    from agentls.runtime import LoopClock, new_id
    from agentls.terminal.hosted import HostedTerminals
    from agentls.warden import Warden
    from bench.machine import peak_resident, resident

    warden = Warden()
    backend = HostedTerminals(warden, os.environ)
    terminals = Terminals(backend, LoopClock(), new_id)
    loop = asyncio.get_running_loop()

    async def run(size: int) -> tuple[float, int]:
        place = shown = 0

        def view(terminal: Terminal) -> None:
            nonlocal place, shown
            part = terminal.tail.since(place)
            place, shown = part.end, shown + len(part.text)
            if terminal.running:
                loop.call_later(VIEW, view, terminal)

        start = time.perf_counter()
        ended: asyncio.Future[Exit] = loop.create_future()
        spec = TerminalSpec(command=line(size), cwd="/")
        terminal = await terminals.create(SessionId("bench"), spec, limit=LIMIT)
        terminals.wait(terminal, ended.set_result)
        view(terminal)
        await ended
        return time.perf_counter() - start, terminal.tail.end

    # What every command costs once, and two full buffers, before memory is looked at.
    await run(2 * LIMIT)
    metronome = Metronome()
    before = resident(os.getpid())
    seconds, came = await run(size)
    grown = peak_resident(os.getpid()) - before
    await backend.close()
    warden.close()
    return {"seconds": seconds, "bytes": came, "grown": grown, "stall": metronome.latest}


def bare(size: int) -> dict[str, Any]:
    start = time.perf_counter()
    master, slave = os.openpty()
    command = ["/bin/sh", "-c", line(size)]
    program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    came = 0
    while True:
        try:
            came += len(os.read(master, 1 << 16))
        except OSError:
            break
    program.wait()
    return {"seconds": time.perf_counter() - start, "bytes": came}


if __name__ == "__main__":
    sys.path[:1] = [str(ROOT), str(ROOT / "server")]
    which, size = sys.argv[1], int(sys.argv[2])
    print(json.dumps(asyncio.run(ours(size)) if which == "ours" else bare(size)))
