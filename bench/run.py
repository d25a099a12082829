"""Measures what agentls costs and prints one table; `make bench` runs this.

    python bench/run.py [--quick] [--only NAME]... [--strict]

The rows are also written to build/bench.json. References are measured in the same run and in turns
with ours, so that only ratios count and not the machine; a reference that differs by more than 30 %
from run to run marks its row as noisy.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    "startup",
    "streaming",
    "notifications",
    "long_session",
    "stuck_editor",
    "didchange",
    "decision",
    "many_sessions",
    "family",
    "long_life",
    "tools_start",
    "streamed_text",
    "terminal",
    "minimal_edits",
    "checkpoint",
    "stored_sessions",
    "neovim",
    "vscode",
)

if TYPE_CHECKING:
    from bench.rows import Row, Sizes


def measure(name: str, sizes: Sizes) -> list[Row]:
    """The rows of one module of this package."""
    from bench.rows import Row

    module = importlib.import_module(f"bench.{name}")
    if name != "didchange":
        rows: list[Row] = module.measure(sizes)
        return rows
    wanted = ("name", "value", "unit", "reference", "limit")
    return [Row(**{key: row[key] for key in wanted}) for row in module.measure()]


def table(rows: Sequence[Row]) -> str:
    """The rows for people."""
    width = max(len(row.name) for row in rows)
    head = f"{'name':{width}}  {'value':>9} unit {'reference':>9} {'ratio':>6} {'limit':>6}  ok"
    return "\n".join([head, *(_line(row, width) for row in rows)])


def _line(row: Row, width: int) -> str:
    reference = "" if row.reference is None else f"{row.reference:.2f}"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    limit = "" if row.limit is None else f"{row.limit:g}"
    verdict = "" if row.limit is None else "ok" if row.ok else "NOT OK"
    noise = f"noisy: the reference differed by {row.spread:.0%}" if row.noisy else ""
    notes = "; ".join(text for text in (noise, row.note) if text)
    return (
        f"{row.name:{width}}  {row.value:9.2f} {row.unit:4} {reference:>9} {ratio:>6} {limit:>6}"
        f"  {verdict:6}  {notes}"
    ).rstrip()


def _load() -> str:
    return " ".join(f"{number:.2f}" for number in os.getloadavg())


def main(argv: Sequence[str] | None = None) -> int:
    from bench.rows import FULL, QUICK

    parser = argparse.ArgumentParser("bench", description="Measure what agentls costs.")
    parser.add_argument("--quick", action="store_true", help="less of everything, in a minute")
    parser.add_argument("--only", action="append", choices=NAMES, help="may be given again")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a limit is not held")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "bench.json")
    wanted = parser.parse_args(argv)

    start = time.monotonic()
    print(f"load average before: {_load()}, {os.cpu_count()} cores", flush=True)
    rows: list[Row] = []
    for name in wanted.only or NAMES:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        rows += measure(name, QUICK if wanted.quick else FULL)
    print(table(rows))
    print(f"load average after: {_load()}; it took {time.monotonic() - start:.0f} s")
    if noisy := sum(row.noisy for row in rows):
        print(f"A NOISY RUN: {noisy} references differed too much; repeat it on a quiet machine.")
    wanted.json.parent.mkdir(parents=True, exist_ok=True)
    wanted.json.write_text(json.dumps([row.as_json() for row in rows], indent=2) + "\n")
    return 1 if wanted.strict and not all(row.ok for row in rows) else 0


if __name__ == "__main__":
    sys.path[0] = str(ROOT)  # instead of this folder: its modules belong to the package
    sys.exit(main())
