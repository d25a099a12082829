"""Time of one decision on a shell line: reading it and holding it against the words of rules.

The lines are the corpora of the tests. Ordinary ones are judged with their own few rules and with
the rules of all of them together; hostile ones with theirs. The value is the median over the
lines, of the best of several rounds each.

    PYTHONPATH=server python bench/shell_decision.py
"""

from __future__ import annotations

import json
import shlex
import statistics
import time
from pathlib import Path
from typing import Any

from agentls.core.policy.shell import allowed

LIMIT = 200.0
ROUNDS = 7
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"

Case = tuple[str, list[list[str]]]


def measure() -> list[dict[str, Any]]:
    ordinary, hostile = _cases("ordinary"), _cases("hostile")
    every = [
        list(words) for words in {tuple(rule): None for _, rules in ordinary for rule in rules}
    ]
    crowded = [(line, every) for line, _ in ordinary]
    return [
        _row("shell decision, ordinary lines", ordinary),
        _row(f"shell decision, ordinary lines, {len(every)} rules", crowded),
        _row("shell decision, hostile lines", hostile),
    ]


def _cases(name: str) -> list[Case]:
    entries = map(json.loads, (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [(each["command"], [shlex.split(rule) for rule in each["rules"]]) for each in entries]


def _row(name: str, cases: list[Case]) -> dict[str, Any]:
    value = statistics.median(_best(line, rules) for line, rules in cases)
    return {
        "name": name,
        "value": value,
        "unit": "µs",
        "reference": None,
        "ratio": None,
        "limit": LIMIT,
        "ok": value <= LIMIT,
    }


def _best(line: str, rules: list[list[str]]) -> float:
    best = 1e9
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        allowed(line, rules)
        best = min(best, (time.perf_counter_ns() - start) / 1000)
    return best


def main() -> None:
    for row in measure():
        verdict = "ok" if row["ok"] else "TOO SLOW"
        print(f"{row['name']:48}{row['value']:9.1f} µs  limit {row['limit']:.0f}  {verdict}")


if __name__ == "__main__":
    main()
