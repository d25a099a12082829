"""What happens between agents, in one line each, for whoever looks on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from ..model import SessionId
from ..ports import Clock
from ..session import Session

_KEPT = 500
_LONGEST = 2000


class What(StrEnum):
    """What an agent did, or what was done to it."""

    STARTED = "started"
    TOLD = "told"
    """The agent that directs it said something to it."""
    ASKED = "asked"
    ANSWERED = "answered"
    SAID = "said"
    """It said something to the agent that directs it."""
    FINISHED = "finished"
    FAILED = "failed"
    STOPPED = "stopped"
    ENDED = "ended"


class Activity(Struct, frozen=True, kw_only=True):
    """One line of the feed, about a session that another one started."""

    at: float
    session: SessionId
    orchestrator: SessionId
    name: str
    what: What
    text: str = ""


class Feed:
    """The newest lines, and who wants to hear of each."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: deque[Activity] = deque(maxlen=_KEPT)
        self.observers: list[Callable[[Activity], None]] = []

    def add(self, child: Session, what: What, text: str = "") -> None:
        line = Activity(
            at=self._clock.now(),
            session=child.id,
            orchestrator=child.spawn.orchestrator,
            name=child.spawn.name,
            what=what,
            text=text.strip()[:_LONGEST],
        )
        self._lines.append(line)
        for observer in self.observers:
            observer(line)

    def lines(self, among: Callable[[Activity], bool]) -> list[Activity]:
        """Oldest first."""
        return [line for line in self._lines if among(line)]
