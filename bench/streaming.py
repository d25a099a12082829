"""CPU time per streamed update, from the agent to the editor: ours and a bare reader's.

Ours is all the server process does from the prompt to the end of the turn in the editor. What the
editor got is checked: a server that loses text would be fast.
"""

from __future__ import annotations

import json
import subprocess
import sys

from bench.editor import AGENT, HERE, Editor, editor, environment
from bench.machine import cpu_seconds
from bench.rows import Row, Sizes, compared


def measure(sizes: Sizes) -> list[Row]:
    ours, bare = [], []
    with editor() as front:
        session = front.open()
        _ours(front, session, sizes.chunks)
        for _ in range(sizes.floods):
            session = front.open()
            ours.append(_ours(front, session, sizes.chunks))
            bare.append(_bare(front, sizes.chunks))
    name = f"CPU per streamed update, {sizes.chunks:,} chunks"
    return [compared(name, "µs", ours, bare, limit=2.0)]


def _ours(front: Editor, session: str, chunks: int) -> float:
    before = cpu_seconds(front.pid)
    batches = front.turn(session, stream="text", count=chunks, bytes=20)
    seconds = cpu_seconds(front.pid) - before
    came = sum(len(batch.new_text()) for batch in batches)
    if came != chunks * 20:
        raise RuntimeError(f"{came:,} of {chunks * 20:,} characters came through")
    return seconds / chunks * 1e6


def _bare(front: Editor, chunks: int) -> float:
    order = json.dumps({"stream": "text", "count": chunks, "bytes": 20})
    result = subprocess.run(
        [sys.executable, str(HERE / "bare_reader.py"), order, *AGENT],
        env=environment(front.folder),
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(result.stdout)
    if found["updates"] != chunks:
        raise RuntimeError(f"{found['updates']:,} of {chunks:,} updates came through")
    return float(found["seconds"]) / chunks * 1e6
