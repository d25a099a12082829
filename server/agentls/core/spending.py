"""Tokens and money: of a turn, of a session, of a day.

Agents tell what a session has cost so far, and begin anew with a new process; they tell the tokens
of each turn. Invariant: what a session has cost never goes down, and is the sum of its turns and of
what was told since the last of them ended.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from .model import Usage

_TOKENS = ("input_tokens", "output_tokens", "total_tokens")


class DayUsage(Struct, frozen=True, kw_only=True):
    """What one agent used on one day."""

    day: str
    """As in 2026-11-18, where the person is."""
    agent: str
    turns: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost: float
    currency: str


def told(before: Usage, now: Usage) -> Usage:
    """The usage of a session when its agent tells what it has used."""
    tokens = {name: getattr(before, name) for name in _TOKENS}
    if now.cost is None:
        kept = {"cost": before.cost, "currency": before.currency, "earlier": before.earlier}
        return replace(now, **tokens, **kept)
    earlier = before.earlier
    if before.cost is not None and now.cost < before.cost - earlier:
        earlier = before.cost  # it has begun to count anew
    return replace(now, **tokens, cost=earlier + now.cost, earlier=earlier)


def of_turn(turn: Usage | None, session: Usage, attributed: float) -> Usage | None:
    """The usage of a turn that is over, with its part of what the session has cost."""
    cost = (session.cost or 0.0) - attributed
    if turn is None and cost <= 0:
        return None
    if cost <= 0:
        return turn
    return replace(turn or Usage(), cost=cost, currency=session.currency)


def with_tokens(session: Usage, turn: Usage | None) -> Usage:
    """The usage of a session with the tokens of one more turn."""
    if turn is None:
        return session
    sums = {}
    for name in _TOKENS:
        known = [getattr(usage, name) for usage in (session, turn)]
        sums[name] = sum(n for n in known if n is not None) if any(known) else known[0]
    return replace(session, **sums)
