"""What a session was before it goes on here."""

from __future__ import annotations

from msgspec import Struct

from .model import AgentSessionId
from .transcript import Transcript


class Past(Struct, frozen=True, kw_only=True):
    """Of a stored session, all that its agent does not tell again."""

    created: float
    transcript: Transcript
    agent_session: AgentSessionId | None = None
    agent_session_at: float = 0.0
    named: bool = False
    archived: bool = False
