"""Pending asks. An entry here owns the reply to the agent: it is answered exactly once.

Answering twice, late, or for an unknown id is harmless, and nothing but a clear "allow" allows.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .errors import BadRequest, UnknownAsk
from .model import AskId, Decision, Option, SessionId
from .policy.gate import Judgement
from .policy.verdicts import Ruling, Verdict
from .ports import AskRequest, Timer
from .replies import Replies


class PendingAsk(Struct, frozen=True):
    """An ask that nobody has answered yet."""

    id: AskId
    session: SessionId
    title: str
    since: float
    request: AskRequest
    settled: Callable[[Decision], None]
    """Tells the session, before the agent gets its answer."""
    judgement: Judgement = Judgement(ruling=Ruling(verdict=Verdict.ASK, why=""))
    timer: Timer | None = None
    """Rejects it when nobody answers in time."""

    @property
    def answer(self) -> Callable[[Decision], None]:
        return self.request.answer


class Asks(Replies[PendingAsk, Decision]):
    """All asks of all sessions that wait for an answer, oldest first."""

    def __init__(self) -> None:
        super().__init__(lambda by: Decision(option=None, by=by))

    def get(self, ask: AskId) -> PendingAsk:
        entry = self.find(ask)
        if entry is None:
            raise UnknownAsk(f"The ask {ask} is not open: it has been answered already.")
        return entry

    def decide(self, ask: AskId, option: str, by: str) -> Decision:
        """Answer with one of the agent's own options."""
        entry = self.get(ask)
        return self.settle(ask, Decision(option=_option(entry.request.options, option), by=by))

    def settle(self, ask: AskId, decision: Decision) -> Decision:
        self._settle(self.get(ask), decision)
        return decision

    def reject(self, ask: AskId, by: str) -> Decision:
        """Say no in the agent's own words; where it offers none, nothing is allowed either."""
        return self.settle(ask, rejection(self.get(ask).request.options, by))

    def expire(self, ask: AskId) -> None:
        """Nobody answered in time."""
        if self.find(ask) is not None:
            self.reject(ask, "time-out")


def automatic(ruling: Ruling, options: tuple[Option, ...]) -> Decision | None:
    """The answer that the rules give by themselves; None when a person must be asked."""
    if ruling.verdict is Verdict.DENY:
        return rejection(options, ruling.why)
    if ruling.verdict is Verdict.ALLOW:
        # Only ever once: what is remembered is our rule, not the agent's.
        option = of_kind(options, "allow_once")
        return Decision(option=option, by=ruling.why) if option else None
    return None


def rejection(options: tuple[Option, ...], by: str) -> Decision:
    return Decision(option=of_kind(options, "reject_once"), by=by)


def of_kind(options: tuple[Option, ...], kind: str) -> Option | None:
    return next((option for option in options if option.kind == kind), None)


def _option(options: tuple[Option, ...], wanted: str) -> Option:
    for option in options:
        if option.id == wanted:
            return option
    offered = ", ".join(repr(o.id) for o in options) or "none"
    raise BadRequest(f"The option {wanted!r} is not one of the offered ones: {offered}.")
