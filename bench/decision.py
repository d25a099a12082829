"""What a decision about a shell command costs: reading it, the rules, and the ruling."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

from agentls.core.policy.decide import decide
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import Subject, Verdict
from bench.rows import Row, Sizes

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus" / "ordinary.jsonl"
ROUNDS = 5


def measure(sizes: Sizes) -> list[Row]:  # noqa: ARG001 - quick in any size
    lines = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    words = sorted({" ".join(w) if isinstance(w, list) else w for x in lines for w in x["rules"]})
    rules = [Rule(verdict=Verdict.ALLOW, command=command, scope="user") for command in words[:80]]
    best = [min(_microseconds(line["command"], rules) for _ in range(ROUNDS)) for line in lines]
    return [
        Row(
            name="rule decision for a shell command, median",
            value=statistics.median(best),
            unit="µs",
            reference=None,
            limit=200,
            note=f"{len(lines)} ordinary commands, {len(rules)} rules",
        )
    ]


def _microseconds(command: str, rules: list[Rule]) -> float:
    began = time.perf_counter()
    decide(
        Subject(kind="execute", command=command, cwd="/project"),
        rules,
        roots=("/project",),
        protected=(),
        mode=Mode.ASK,
    )
    return (time.perf_counter() - began) * 1e6
