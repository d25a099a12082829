"""Time, ids and tasks for the core: the real ones."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

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
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        assert self._group is not None
        group, self._group = self._group, None
        group.cancel_scope.cancel()
        return await group.__aexit__(kind, error, trace)

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        if self._group is None:
            work.close()
            return
        self._group.start_soon(self._guard, work, name, name=name)

    async def _guard(self, work: Coroutine[Any, Any, None], name: str) -> None:
        try:
            await work
        except Exception:
            log.exception("task failed: %s", name)


def new_id() -> str:
    """Short enough to type, long enough never to meet again."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(12))
