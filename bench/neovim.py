"""Streaming in a real Neovim with a screen attached: our plugin, and a bare append of each chunk.

What came out is counted: a plugin that loses text would be fast. Times are those of one process on
one screen; runs with keys are separate, because a key lets Neovim draw.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.neovim import programs
from tests.neovim.nvim import Nvim

from bench.editor import HERE, SERVER, environment
from bench.machine import cpu_seconds
from bench.rows import Row, Sizes, compared

AGENT = [sys.executable, "-S", "-E", str(HERE / "neovim_agent.py")]
PLUGIN = HERE.parent / "neovim"
PATIENCE = 120.0
KEYS_EACH = 0.1
LINES = 35_000


class Run(NamedTuple):
    """One turn."""

    seconds: float
    cpu: float
    undrawn: float
    """The longest time without a redraw, in milliseconds."""
    keys: list[float]
    """How long each key took, in milliseconds."""


class Watched(Nvim):
    """Notes when Neovim has drawn, and when it answered a key."""

    drawn: list[float]
    answered_keys: list[float]
    over: float

    def _take(self, message: list[Any]) -> None:
        now = time.monotonic()
        match message:
            case [2, "redraw", events]:
                if any(event[0] == "flush" for event in events):
                    self.drawn.append(now)
            case [2, "key", _]:
                self.answered_keys.append(now)
            case [2, "done", _]:
                self.over = now
            case _:
                super()._take(message)

    def turn(self, order: dict[str, Any], *, keys: bool = False) -> Run:
        self.drawn, self.answered_keys, self.over = [], [], 0.0
        before = cpu_seconds(self.process.pid)
        self.lua("BenchProbe.begin(...)", json.dumps(order))
        start = time.monotonic()
        pressed: list[float] = []
        while not self.over:
            now = time.monotonic()
            if now - start > PATIENCE:
                raise RuntimeError(f"{order} was not over in {PATIENCE} s")
            if keys and now >= start + len(pressed) * KEYS_EACH:
                pressed.append(now)
                self.post("nvim_input", "<F12>")
            self.read(0.005)
        cpu = cpu_seconds(self.process.pid) - before
        self.until(lambda: len(self.answered_keys) >= len(pressed), "the answers to all keys")
        times = [start, *(t for t in self.drawn if t < self.over), self.over]
        undrawn = max(b - a for a, b in itertools.pairwise(times))
        waited = [(b - a) * 1e3 for a, b in zip(pressed, self.answered_keys, strict=True)]
        return Run(self.over - start, cpu, undrawn * 1e3, waited)

    def text(self) -> str:
        lines = self.lua("return vim.api.nvim_buf_get_lines(Bench.buffer(), 0, -1, false)")
        return "\n".join(lines)


@contextmanager
def neovim(kind: str) -> Iterator[Watched]:
    """A fresh one, ready for a prompt; `kind` is ours or bare."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        config = folder / "config" / "agentls"
        config.mkdir(parents=True)
        words = ", ".join(json.dumps(word) for word in AGENT)
        (config / "agents.toml").write_text(f"[agents.bench]\ncommand = [{words}]\n")
        own = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
        command = [str(programs.NEW.launcher), "-n", "--clean", "--cmd", f"set rtp^={PLUGIN}"]
        with Watched(command, cwd=folder, env={**environment(folder), **own}) as nvim:
            nvim.drawn, nvim.answered_keys, nvim.over = [], [], 0.0
            nvim.request("nvim_ui_attach", 120, 40, {"rgb": True, "ext_linegrid": True})
            nvim.lua("vim.g.agentls = { cmd = ... }; vim.o.more = false", list(SERVER))
            nvim.lua((HERE / f"neovim_{kind}.lua").read_text())
            nvim.lua((HERE / "neovim_probe.lua").read_text(), nvim.request("nvim_get_api_info")[0])
            nvim.lua("Bench.open(...)", AGENT)
            nvim.until_lua("Bench.ready()")
            yield nvim


def one(kind: str, order: dict[str, Any], *, keys: bool = False) -> Run:
    with neovim(kind) as nvim:
        run = nvim.turn(order, keys=keys)
        text = nvim.text()
        missing = [n for n in range(1, order["chunks"] + 1, 97) if f"c{n} " not in text]
        if missing:
            raise RuntimeError(f"{kind} lost chunk {missing[0]}")
        return run


def measure(sizes: Sizes) -> list[Row]:
    times = max(1, min(5, sizes.samples // 3))
    chunks = min(20_000, sizes.sample_chunks * 4)
    seconds = min(10.0, sizes.stuck_seconds)
    flood, paced = {"chunks": chunks}, {"chunks": int(150 * seconds), "rate": 150}
    return [
        *_flood_rows(flood, times),
        *_paced_rows(paced),
        *_key_rows(flood, paced),
        _growth_row(sizes),
        _output_row(LINES if chunks == 20_000 else 500),
        *_ask_rows(200 if chunks == 20_000 else 5),
    ]


def _flood_rows(order: dict[str, Any], times: int) -> list[Row]:
    ours, bare = [], []
    for _ in range(times):
        ours.append(one("ours", order))
        bare.append(one("bare", order))
    name = f"Neovim: {order['chunks']:,} chunks"
    return [
        compared(f"{name}, CPU", "s", [r.cpu for r in ours], [r.cpu for r in bare], limit=2.0),
        compared(
            f"{name}, time", "s", [r.seconds for r in ours], [r.seconds for r in bare], limit=2.0
        ),
        Row(
            name=f"{name}, longest without a redraw",
            value=statistics.median(r.undrawn for r in ours),
            unit="ms",
            limit=100.0,
            note=f"bare: {statistics.median(r.undrawn for r in bare):.0f}",
        ),
    ]


def _paced_rows(order: dict[str, Any]) -> list[Row]:
    ours, bare = one("ours", order), one("bare", order)
    name = f"Neovim: {order['chunks']:,} chunks, 150 a second"
    return [
        compared(f"{name}, CPU", "s", [ours.cpu], [bare.cpu], limit=2.0),
        Row(name=f"{name}, longest without a redraw", value=ours.undrawn, unit="ms", limit=100.0),
    ]


def _key_rows(*orders: dict[str, Any]) -> list[Row]:
    keys = [key for order in orders for key in one("ours", order, keys=True).keys]
    note = f"median {statistics.median(keys):.1f}"
    name = "Neovim: a key in another window, the slowest"
    return [Row(name=name, value=max(keys), unit="ms", limit=20.0, note=note)]


def _growth_row(sizes: Sizes) -> Row:
    """The same flood in a new chat and in one of 100,000 lines."""
    order = {"chunks": sizes.sample_chunks}
    young, old = [], []
    lines = sizes.old_events
    with neovim("ours") as nvim:
        nvim.turn(order)
        young = [nvim.turn(order).cpu for _ in range(3)]
        nvim.turn({"chunks": 16 * lines})
        old = [nvim.turn(order).cpu for _ in range(3)]
    return compared(f"Neovim: CPU in a chat of {lines:,} lines", "s", old, young, limit=1.2)


def _output_row(lines: int) -> Row:
    with neovim("ours") as nvim:
        nvim.turn({"lines": lines})
        nvim.lua("BenchProbe.gap(); Bench.show()")
        nvim.until_lua("vim.b.agentls_complete")
        gap = nvim.lua("return BenchProbe.gap()")
        shown = nvim.lua("return vim.api.nvim_buf_line_count(0)")
    if shown < lines:
        raise RuntimeError(f"{shown:,} of {lines:,} lines were shown")
    return Row(
        name=f"Neovim: {lines:,} lines opened, longest gap", value=gap, unit="ms", limit=50.0
    )


def _ask_rows(count: int) -> list[Row]:
    with neovim("ours") as nvim, TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "asks"
        nvim.turn({"asks": count, "log": str(log)})
        whole = json.loads(log.read_text())["ms"]
        inside = nvim.lua("return Bench.answers")
    return [
        Row(
            name=f"Neovim: {count} asks, from the event to the answer",
            value=statistics.median(inside),
            unit="ms",
            limit=3.0,
        ),
        Row(
            name=f"Neovim: {count} asks, from the agent and back",
            value=statistics.median(whole),
            unit="ms",
            limit=3.0,
        ),
    ]
