"""How far agents that work together may go before a person must say something.

Invariant: whatever one agent makes another do is counted, so that no two keep each other busy for
ever.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..errors import FamilyLimit
from ..model import SessionId
from ..session import Session


class Limits(Struct, frozen=True, kw_only=True):
    """0 means: no limit, but for depth and children, where it means none at all."""

    depth: int = 1
    children: int = 8
    turns: int = 100
    cost: float = 0.0


class Counted:
    """What the families of this server have used up, by the session on top of each."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turns: dict[SessionId, int] = {}

    def person_spoke(self, root: SessionId) -> None:
        """Whoever speaks to the session on top lets the family go on."""
        self._turns.pop(root, None)

    def forget(self, root: SessionId) -> None:
        self._turns.pop(root, None)

    def check_depth(self, parent: Session) -> None:
        if parent.spawn.depth >= self._limits.depth:
            raise FamilyLimit(
                f"An agent {parent.spawn.depth} below the first may start no other:"
                f" the limit is {self._limits.depth}.",
                hint="Do it yourself, or ask the agent that started you.",
            )

    def may_be_deeper(self, session: Session) -> bool:
        return session.spawn.depth < self._limits.depth

    def check_number(self, members: int) -> None:
        if members >= self._limits.children:
            raise FamilyLimit(
                f"There are {members} agents already, and the limit is {self._limits.children}.",
                hint="Use one that you have, or end one with kill_agent.",
            )

    def take_turn(self, root: SessionId, members: Iterable[Session]) -> None:
        """One agent makes another begin a turn."""
        if words := self.used_up(members):
            raise FamilyLimit(words, hint="Tell the person how far you are, and stop.")
        turns = self._turns.get(root, 0)
        if 0 < self._limits.turns <= turns:
            raise FamilyLimit(
                f"The agents have given each other {turns} turns since the person last spoke,"
                " which is the limit.",
                hint="Tell the person how far you are, and stop.",
            )
        self._turns[root] = turns + 1

    def spent(self, root: SessionId) -> bool:
        """Whether no agent can give another a turn any more."""
        return 0 < self._limits.turns <= self._turns.get(root, 0)

    def used_up(self, members: Iterable[Session]) -> str:
        """A sentence when the agents have cost as much as they may."""
        cost = sum(session.transcript.usage.cost or 0.0 for session in members)
        if 0 < self._limits.cost <= cost:
            return f"The agents have cost {cost:.2f} together; the limit is {self._limits.cost:g}."
        return ""
