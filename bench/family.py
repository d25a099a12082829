"""Many agents at once under one that directs them: what each takes in the server, and no stall."""

from __future__ import annotations

import json
import time

from bench.editor import FLOOD, Editor, workplace
from bench.machine import MEGABYTE, resident
from bench.metronome import Metronome
from bench.rows import Row, Sizes

EVENTS = 50
MOST = 50


def measure(sizes: Sizes) -> list[Row]:
    count = min(MOST, sizes.sessions)
    with workplace() as folder, Editor(folder) as front:
        front.initialize(familyChildren=count, familyTurns=0)
        front.initialized()
        # One beforehand: what all of them share is loaded, and not theirs.
        _direct(front, _orchestrator(front), 1)
        top = _orchestrator(front)
        metronome = Metronome(front)
        before, began = resident(front.pid), time.monotonic_ns()
        _direct(front, top, count)
        grown, ended = resident(front.pid) - before, time.monotonic_ns()
        metronome.stop()
    name = f"{count} agents under one"
    return [
        Row(
            name=f"{name}: memory for each in the server",
            value=grown / count / MEGABYTE,
            unit="MB",
            limit=1.0,
            note=f"one agent process, {EVENTS} events in each",
        ),
        Row(
            name=f"{name}: longest stall",
            value=metronome.longest(began, ended),
            unit="ms",
            note="the slowest answer to another agent, which asks every 5 ms, meanwhile",
        ),
        Row(
            name=f"{name}: until all are done",
            value=(ended - began) / 1e9,
            unit="s",
            note="an agent that shows no call of its own waits 0.2 s for each of them",
        ),
    ]


def _orchestrator(front: Editor) -> str:
    # Not in the folder that has the store: what is written there is no work of the agents.
    folder = front.folder / "work"
    folder.mkdir(exist_ok=True)
    params = {"agent": FLOOD, "orchestrate": True, "cwd": str(folder)}
    id: str = front.request("agentls/session/new", params)["session"]["id"]
    return id


def _direct(front: Editor, top: str, count: int) -> None:
    """Have it start so many, and wait until each has had its turn."""
    done: set[str] = set()
    order = {"stream": "mixed", "count": EVENTS, "bytes": 20}
    front.batches.clear()
    front.prompt(top, spawn=count, agent=FLOOD, order=json.dumps(order))

    def all_done() -> bool:
        for batch in front.batches:
            ends = [c for c in batch.changes if c.get("entry", {}).get("kind") == "turn_end"]
            if ends and batch.session in started:
                done.add(batch.session)
            started.update(
                batch.session
                for change in batch.changes
                if change["type"] == "session" and change["session"].get("orchestrator") == top
            )
        return len(done) >= count

    started: set[str] = set()
    front.until(all_done, f"the end of {count} agents")
