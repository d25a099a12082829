"""Waits for what is answered by a call, and for no longer than it should.

Invariant: whoever stops waiting, by time or because nobody wants the answer, calls off what it
waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..ports import Clock, Signal

_T = TypeVar("_T")
Begin = Callable[[Callable[[_T], None]], Callable[[], None]]
"""Starts something that answers once, by a call of what it is given. Returned: how to call it
off."""


class Waiting:
    def __init__(self, new_signal: Callable[[], Signal], clock: Clock) -> None:
        self._new_signal = new_signal
        self._clock = clock

    async def answer(self, begin: Begin[_T]) -> _T:
        found = await self._wait(begin, None)
        assert found, "nothing but the answer ends the wait"
        return found[0]

    async def for_a_while(self, begin: Begin[_T], seconds: float) -> _T | None:
        """None when there is no answer by then."""
        found = await self._wait(begin, seconds)
        return found[0] if found else None

    async def _wait(self, begin: Begin[_T], seconds: float | None) -> list[_T]:
        found: list[_T] = []
        signal = self._new_signal()

        def answered(value: _T) -> None:
            found.append(value)
            signal.set()

        call_off = begin(answered)
        timer = None if seconds is None else self._clock.later(seconds, signal.set)
        try:
            await signal.wait()
        finally:
            if timer is not None:
                timer.cancel()
            if not found:
                call_off()
        return found
