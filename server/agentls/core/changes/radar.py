"""Who is in which file at the same time, while turns run.

Invariant: each company in a file is told of once, when somebody joins it.
"""

from __future__ import annotations

from msgspec import Struct

from ..model import SessionId


class Meeting(Struct, frozen=True):
    """Several at work in one file."""

    path: str
    sessions: tuple[SessionId, ...]
    user: bool
    """Whether the person is one of them."""


class Radar:
    """Remembers who changed which file since the turns began that run now."""

    def __init__(self) -> None:
        self._running: set[SessionId] = set()
        self._there: dict[str, dict[SessionId | None, None]] = {}
        """In the order they came; None is the person."""

    def begin(self, session: SessionId) -> None:
        """A turn of it starts."""
        self._leave(session)
        self._running.add(session)

    def end(self, session: SessionId) -> None:
        self._running.discard(session)
        self._leave(session)
        if not self._running:
            self._there.clear()

    def enter(self, path: str, who: SessionId | None) -> Meeting | None:
        """Somebody changes a file; a meeting if others do and have not been told of this one."""
        if not self._running or (who is not None and who not in self._running):
            return None
        there = self._there.setdefault(path, {})
        if who in there:
            return None
        there[who] = None
        sessions = tuple(it for it in there if it is not None)
        return Meeting(path, sessions, None in there) if len(there) > 1 else None

    def only_agents(self, path: str) -> bool:
        """Whether somebody is there, but not the person."""
        there = self._there.get(path)
        return bool(there) and None not in (there or ())

    def _leave(self, session: SessionId) -> None:
        for there in self._there.values():
            there.pop(session, None)
