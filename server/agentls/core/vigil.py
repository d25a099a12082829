"""Looks after sessions in which nothing happens: those that seem stuck, and those nobody uses.

Invariant: nothing that goes on is stopped, and no agent that could not take its session up again.
"""

from __future__ import annotations

from collections.abc import Callable

from .model import State
from .ports import Clock, Timer
from .session import Session
from .sessions import Sessions

_OFTEN = 4
"""How many times we look within the shortest of the times."""
_LONGEST = 30.0


class Vigil:
    """Looks now and then, as long as it is kept."""

    def __init__(
        self,
        sessions: Sessions,
        clock: Clock,
        *,
        stuck_after: float,
        idle_after: float,
        busy: Callable[[Session], bool],
    ) -> None:
        """A time of 0 means never. `busy`: whether something of an idle session still runs."""
        self._sessions = sessions
        self._clock = clock
        self._stuck_after = stuck_after
        self._idle_after = idle_after
        self._busy = busy
        self._timer: Timer | None = None

    def begin(self) -> None:
        times = [t for t in (self._stuck_after, self._idle_after) if t > 0]
        if times:
            self._pause = min(_LONGEST, min(times) / _OFTEN)
            self._timer = self._clock.later(self._pause, self._look)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = self._clock.now()
        for session in self._sessions:
            quiet = now - session.last_sign
            if session.state is State.RUNNING and 0 < self._stuck_after <= quiet:
                session.seems_stuck()
            elif 0 < self._idle_after <= quiet and _can_sleep(session) and not self._busy(session):
                self._sessions.put_to_sleep(session.id)
        self._timer = self._clock.later(self._pause, self._look)


def _can_sleep(session: Session) -> bool:
    if session.state is not State.IDLE or session.agent is None or session.transcript.queue:
        return False
    abilities = session.agent.info.abilities
    return abilities.resume or abilities.load
