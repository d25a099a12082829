"""What a person can decide about asks: once, always, no, no because…, and many at a time."""

from __future__ import annotations

from .asks import Asks, automatic, of_kind
from .errors import BadRequest
from .model import AskId, Block, Decision, Prompt, SessionId
from .policy.rules import Scope
from .sessions import Sessions


class Decisions:
    """Everything here ends in `Asks.settle`, once per ask."""

    def __init__(self, sessions: Sessions, asks: Asks) -> None:
        self._sessions = sessions
        self._asks = asks

    def choose(self, ask: AskId, option: str, by: str) -> Decision:
        """One of the agent's own options. Its "always" becomes our rule, so that it holds."""
        entry = self._asks.get(ask)
        chosen = next((o for o in entry.request.options if o.id == option), None)
        offered = entry.judgement.suggestions
        if chosen is None or chosen.kind != "allow_always" or not offered:
            return self._asks.decide(ask, option, by)
        self._sessions.get(entry.session).permission.policy.remember(offered[0], "project")
        decision = Decision(option=chosen, by=by, remembered=offered[0].label)
        self._asks.settle(ask, decision)
        self.reconsider()
        return decision

    def allow(self, ask: AskId, by: str) -> Decision:
        option = of_kind(self._asks.get(ask).request.options, "allow_once")
        if option is None:
            raise BadRequest(
                "The agent does not offer to allow this once.", hint="Choose one of its options."
            )
        return self._asks.decide(ask, option.id, by)

    def always(self, ask: AskId, suggestion: str, scope: Scope, by: str) -> Decision:
        """Allow it now, and remember the rule that allows it from now on."""
        entry = self._asks.get(ask)
        offered = {s.id: s for s in entry.judgement.suggestions}
        chosen = offered.get(suggestion)
        option = of_kind(entry.request.options, "allow_once")
        if chosen is None or option is None:
            raise BadRequest(
                f"There is no rule {suggestion!r} to remember for this ask.",
                hint=f"Choose one of {sorted(offered)}." if offered else "Allow it once.",
            )
        self._sessions.get(entry.session).permission.policy.remember(chosen, scope)
        decision = Decision(option=option, by=by, remembered=chosen.label)
        self._asks.settle(ask, decision)
        self.reconsider()
        return decision

    def reject(self, ask: AskId, by: str, reason: str = "") -> Decision:
        """Say no. With a reason, the agent hears it as the next prompt of the session."""
        session = self._asks.get(ask).session
        decision = self._asks.reject(ask, by)
        if reason.strip():
            self._sessions.prompt(session, Prompt((Block(kind="text", text=reason.strip()),)))
        return decision

    def all(self, allow: bool, by: str, session: SessionId | None = None) -> int:
        """Answer every open ask alike; how many that were."""
        count = 0
        for entry in self._asks.pending(session):
            if not allow:
                self._asks.reject(entry.id, by)
                count += 1
            elif of_kind(entry.request.options, "allow_once") is not None:
                self.allow(entry.id, by)
                count += 1
        return count

    def reconsider(self) -> None:
        """Rules have changed: asks that they now decide need nobody any more."""
        for entry in self._asks.pending():
            policy = self._sessions.get(entry.session).permission.policy
            ruling = policy.judge_subject(entry.judgement.subject).ruling
            decision = automatic(ruling, entry.request.options)
            if decision is not None:
                self._asks.settle(entry.id, decision)
