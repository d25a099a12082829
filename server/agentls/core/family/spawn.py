"""How a session came to be, where another agent started it: kept with the session for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ..model import SessionId
from ..policy.rules import Mode, Rule

if TYPE_CHECKING:
    from ..session import Session


class Ancestor(Struct, frozen=True, kw_only=True):
    """Whose rights the session must stay within, should that session itself not be here."""

    agent: str
    cwd: str
    read_only: bool = False


class Spawn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Of a session that a person started, nothing is said but whether it may direct others."""

    orchestrates: bool = False
    """It may start other agents without asking each time."""
    orchestrator: SessionId = SessionId("")
    """The session that started this one and directs it."""
    name: str = ""
    """What that session calls it."""
    by: str = ""
    """The name under which this one knows that session."""
    depth: int = 0
    """How many sessions are above it."""
    allow: tuple[Rule, ...] = ()
    """What was passed on to it."""
    deny: tuple[Rule, ...] = ()
    """What was forbidden to it, or to any above it."""
    ancestors: tuple[Ancestor, ...] = ()
    """All that are above it, from the one that a person started."""
    copy_of: str = ""
    """The folder that its own folder is a copy of."""


def ancestor(session: Session) -> Ancestor:
    mode = session.permission.policy.mode
    return Ancestor(agent=session.agent_name, cwd=session.cwd, read_only=mode is Mode.READ_ONLY)
