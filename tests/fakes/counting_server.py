"""The real server, which writes what it holds to a file whenever it gets SIGUSR1.

    counting_server.py FILE

What it holds: its tasks, threads, open files, and for each attribute of each of its objects that is
a container, how much is in all of those. What only grows there is forgotten by nobody.
"""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import threading
from collections import Counter, deque
from pathlib import Path
from typing import Any

from agentls.log import setup
from agentls.serving import serve

_CONTAINERS = (dict, list, set, deque)


def held() -> dict[str, int]:
    gc.collect()
    found: Counter[str] = Counter()
    for one in gc.get_objects():
        kind = type(one)
        if getattr(kind, "__module__", "").startswith("agentls") and not isinstance(one, type):
            found[kind.__qualname__] += 1
            for name, value in _attributes(one):
                if isinstance(value, _CONTAINERS):
                    found[f"{kind.__qualname__}.{name}"] += len(value)
    found["tasks"] = len(asyncio.all_tasks())
    found["threads"] = threading.active_count()
    found["files"] = len(list(Path("/proc/self/fd").iterdir()))
    return dict(found)


def _attributes(one: Any) -> list[tuple[str, Any]]:
    names = [*getattr(one, "__dict__", ()), *getattr(type(one), "__slots__", ())]
    return [(name, getattr(one, name, None)) for name in names]


async def main(file: Path) -> int:
    def write() -> None:
        fresh = file.with_suffix(".new")
        fresh.write_text(json.dumps(held()))
        fresh.rename(file)

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, write)
    return await serve()


if __name__ == "__main__":
    setup(0, to_file=False)
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
