"""Pending asks. An entry here owns the reply to the agent: it is answered exactly once.

Answering twice, late, or for an unknown id is harmless, and nothing but a clear "allow" allows.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .errors import BadRequest, UnknownAsk
from .model import AskId, Decision, Option, SessionId
from .ports import AskRequest


class PendingAsk(Struct, frozen=True):
    """An ask that nobody has answered yet."""

    id: AskId
    session: SessionId
    title: str
    since: float
    request: AskRequest
    settled: Callable[[Decision], None]
    """Tells the session, before the agent gets its answer."""


class Asks:
    """All asks of all sessions that wait for an answer, oldest first."""

    def __init__(self) -> None:
        self._pending: dict[AskId, PendingAsk] = {}
        self._count = 0

    def next_id(self, session: SessionId) -> AskId:
        self._count += 1
        return AskId(f"{session}.a{self._count}")

    def add(self, ask: PendingAsk) -> None:
        self._pending[ask.id] = ask

    def pending(self, session: SessionId | None = None) -> list[PendingAsk]:
        return [a for a in self._pending.values() if session is None or a.session == session]

    def decide(self, ask: AskId, option: str, by: str) -> Decision:
        """Answer with one of the agent's own options."""
        entry = self._pending.get(ask)
        if entry is None:
            raise UnknownAsk(f"The ask {ask} is not open: it has been answered already.")
        chosen = _option(entry.request.options, option)
        decision = Decision(option=chosen, by=by)
        self._settle(entry, decision)
        return decision

    def withdraw(self, ask: AskId, by: str) -> None:
        """End an ask without allowing anything. Harmless when it is not open."""
        entry = self._pending.get(ask)
        if entry is not None:
            self._settle(entry, Decision(option=None, by=by))

    def withdraw_all(self, session: SessionId, by: str) -> None:
        for entry in self.pending(session):
            self.withdraw(entry.id, by)

    def _settle(self, entry: PendingAsk, decision: Decision) -> None:
        del self._pending[entry.id]
        try:
            entry.settled(decision)
        finally:
            entry.request.answer(decision)


def _option(options: tuple[Option, ...], wanted: str) -> Option:
    for option in options:
        if option.id == wanted:
            return option
    offered = ", ".join(repr(o.id) for o in options) or "none"
    raise BadRequest(f"The option {wanted!r} is not one of the offered ones: {offered}.")
