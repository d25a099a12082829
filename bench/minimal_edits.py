"""What it costs to turn one large text into another by minimal edits, and to follow its hunks."""

from __future__ import annotations

import time
from collections.abc import Callable

from agentls.core.changes.edits import edits
from agentls.core.changes.hunks import Hunks
from agentls.core.text import Encoding, Position, Range
from bench.rows import Row, Sizes

LINES = 50_000
ROUNDS = 5
LIMIT = 50
"""Milliseconds, for a few changed lines."""
COARSE_LIMIT = 1000
"""Milliseconds, for texts that have nothing to do with each other."""
KEYSTROKES = 50


def measure(sizes: Sizes) -> list[Row]:  # noqa: ARG001 - quick in any size
    old = _program("value")
    return [
        _row("3 changed lines", old, _changed(old, 3), LIMIT),
        _row("2,000 changed lines", old, _changed(old, 2000), None),
        _row("all names changed", old, _program("other"), COARSE_LIMIT),
        _row("lines in reverse", old, old[::-1], COARSE_LIMIT),
        Row(
            name=f"a keystroke followed by 500 hunks of {LINES:,} lines",
            value=min(_keystroke(old, _changed(old, 500)) for _ in range(ROUNDS)),
            unit="ms",
        ),
    ]


def _program(name: str) -> list[str]:
    """Functions in which most lines come up again and again."""
    return [
        line
        for n in range(LINES // 5)
        for line in (
            f"def {name}_{n}(x):\n",
            f"    {name} = x + {n}\n",
            f"    if {name}:\n",
            "        return x\n",
            "\n",
        )
    ]


def _changed(lines: list[str], count: int) -> list[str]:
    places = {n * (len(lines) - 1) // (count - 1) for n in range(count)}
    return [f"changed {n}\n" if n in places else line for n, line in enumerate(lines)]


def _row(name: str, old: list[str], new: list[str], limit: float | None) -> Row:
    before, after = "".join(old), "".join(new)
    return Row(
        name=f"minimal edits, {LINES:,} lines, {name}",
        value=min(
            _milliseconds(lambda: edits(before, after, Encoding.UTF_16)) for _ in range(ROUNDS)
        ),
        unit="ms",
        limit=limit,
    )


def _keystroke(old: list[str], new: list[str]) -> float:
    hunks = Hunks("bench", "".join(old), "".join(new))

    def type_a_word() -> None:
        for column in range(KEYSTROKES):
            place = Position(LINES // 2 + 1, column)
            hunks.edit(Range(place, place), "x", Encoding.UTF_16)

    return _milliseconds(type_a_word) / KEYSTROKES


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3
