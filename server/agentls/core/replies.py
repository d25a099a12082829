"""Requests that wait for an answer. An entry owns its reply: it is given exactly once.

Whoever answers twice, late, or for an unknown id changes nothing; what nobody will answer any more
is withdrawn, which is an answer too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from .model import SessionId
from .ports import Timer

_Answer = TypeVar("_Answer")
_Told_contra = TypeVar("_Told_contra", contravariant=True)


class Owing(Protocol[_Told_contra]):
    """Somebody in a session waits for an answer."""

    @property
    def id(self) -> str: ...

    @property
    def session(self) -> SessionId: ...

    @property
    def timer(self) -> Timer | None:
        """Ends it when nobody answers in time."""
        ...

    @property
    def settled(self) -> Callable[[_Told_contra], None]:
        """Tells the session, before whoever asked gets the answer."""
        ...

    @property
    def answer(self) -> Callable[[_Told_contra], None]: ...


_Entry = TypeVar("_Entry", bound=Owing)  # type: ignore[type-arg] # of the answer that goes with it


class Replies(Generic[_Entry, _Answer]):
    """All that wait, of all sessions, oldest first."""

    def __init__(self, nothing: Callable[[str], _Answer]) -> None:
        """`nothing`: the answer to what is withdrawn, and by whom or what it was."""
        self._nothing = nothing
        self._waiting: dict[str, _Entry] = {}

    def add(self, entry: _Entry) -> None:
        self._waiting[entry.id] = entry

    def find(self, id: str) -> _Entry | None:
        return self._waiting.get(id)

    def pending(self, session: SessionId | None = None) -> list[_Entry]:
        return [e for e in self._waiting.values() if session is None or e.session == session]

    def withdraw(self, id: str, by: str) -> None:
        """Nobody will answer it. Harmless when it is not open."""
        entry = self._waiting.get(id)
        if entry is not None:
            self._settle(entry, self._nothing(by))

    def withdraw_all(self, session: SessionId, by: str) -> None:
        for entry in self.pending(session):
            self.withdraw(entry.id, by)

    def _settle(self, entry: _Entry, answer: _Answer) -> None:
        del self._waiting[entry.id]
        if entry.timer is not None:
            entry.timer.cancel()
        try:
            entry.settled(answer)
        finally:
            entry.answer(answer)
