"""The chat in a real VS Code: how a flood, a steady stream and a long session feel there.

The page is measured by vscode-extension/test/bench/measure.ts, in a headless browser that draws
without a graphics card: a real window is faster.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.rows import Row, Sizes

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "vscode-extension"
AGENT = Path(__file__).with_name("vscode_agent.py")


def measure(sizes: Sizes) -> list[Row]:
    chunks = min(20_000, sizes.chunks)
    entries = min(10_000, sizes.old_events)
    stream = 1_500 if chunks == 20_000 else 60
    found = _measured(chunks, stream, entries)
    vsix = (ROOT / "build" / "agentls.vsix").stat().st_size / 2**20
    return [
        _row(f"VS Code: {chunks} chunks on screen", found["flood"] / 1000, "s", 3),
        _row("VS Code: longest gap in that flood", found["floodGap"], "ms", 100),
        _row("VS Code: 150 chunks a second, until seen (p99)", found["latency"], "ms", 100),
        _row(f"VS Code: longest gap, {entries} entries arrive", found["entriesGap"], "ms", 100),
        _row(f"VS Code: longest gap, scrolling {entries} entries", found["scrollGap"], "ms", 100),
        _row("VS Code: longest gap, reopening that session", found["reopenGap"], "ms", 100),
        _row("VS Code: elements in the page then", found["nodes"], "", None),
        _row("VS Code: activation", found["activation"], "ms", 200),
        _row("VS Code: size of the extension", vsix, "MB", 2),
    ]


def _row(name: str, value: float, unit: str, limit: float | None) -> Row:
    return Row(name=name, value=value, unit=unit or "no.", limit=limit)


def _measured(chunks: int, stream: int, entries: int) -> dict[str, float]:
    _build()
    agent = [sys.executable, "-S", "-E", str(AGENT)]
    order = {"agent": agent, "chunks": chunks, "stream": stream, "entries": entries}
    done = subprocess.run(
        ["node", "build/bench/measure.js", json.dumps(order)],
        cwd=EXTENSION,
        env={**os.environ, "AGENTLS_UI": json.dumps(_place())},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-4000:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _place() -> dict[str, Any]:
    place: dict[str, Any] = json.loads(_tests("setup").place_json())
    return place


def _build() -> None:
    _tests("setup").build()


def _tests(name: str) -> ModuleType:
    """A module of tests/vscode, which is no package."""
    path = ROOT / "tests" / "vscode" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"vscode_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
