"""What offering tools adds to the start of a session: with them and without, in turns.

The first session of a server is one of an agent that does not wait for its tools. In a later one
the agent has its tools before it answers.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median

from bench.editor import HERE, SERVER, Editor, workplace
from bench.rows import Row, Sizes

LIMIT = 50.0
AGENT = [sys.executable, str(HERE / "tools_agent.py")]


def measure(sizes: Sizes) -> list[Row]:
    first: dict[bool, list[float]] = {True: [], False: []}
    later: dict[bool, list[float]] = {True: [], False: []}
    with workplace() as folder:
        agents = folder / "config" / "agentls" / "agents.toml"
        agents.write_text(
            f"[agents.plain]\ncommand = {json.dumps(AGENT)}\n\n"
            f"[agents.lists]\ncommand = {json.dumps([*AGENT, '--list'])}\n"
        )
        for _ in range(sizes.starts):
            for on in (True, False):
                one, other = _start(folder, on)
                first[on].append(one)
                later[on].append(other)
    return [
        _row("what tools add to the first session of a server", first),
        _row("what tools add to a later session, listed first", later),
    ]


def _row(name: str, times: dict[bool, list[float]]) -> Row:
    added = max(median(times[True]) - median(times[False]), 0.0)
    return Row(name=name, value=added, unit="ms", limit=LIMIT)


def _start(folder: Path, on: bool) -> tuple[float, float]:
    """Milliseconds to the first session, and to one of a process that has sessions already."""
    with Editor(folder, SERVER) as editor:
        editor.initialize(editorTools=on)
        editor.initialized()
        first = _open(editor, "plain")
        _open(editor, "lists")
        return first, _open(editor, "lists")


def _open(editor: Editor, agent: str) -> float:
    before = time.monotonic()
    editor.open(agent)
    return (time.monotonic() - before) * 1000
