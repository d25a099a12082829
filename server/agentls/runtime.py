"""Time, ids and tasks for the core: the real ones."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Coroutine
from typing import Any, Self

log = logging.getLogger(__name__)

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


class LoopClock:
    """Implements `core.ports.Clock` with the running event loop."""

    now = staticmethod(time.time)

    def later(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(seconds, call)


class TaskOwner:
    """Implements `core.ports.Tasks`: every task ends with it, and none of them ends the others."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] | None = None

    async def __aenter__(self) -> Self:
        self._tasks = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks, self._tasks = self._tasks or set(), None
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if self._tasks is None:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(self._guard(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guard(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("task failed: %s", name)


def new_id() -> str:
    """Short enough to type, long enough never to meet again."""
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(12))
