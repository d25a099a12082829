"""What agents do together, for the editor: the feed, as it grows and as it is asked for."""

from __future__ import annotations

from collections.abc import Callable

from ..core.family.activity import Activity
from ..core.family.family import Family
from ..core.model import SessionId
from ..core.sessions import Sessions
from . import convert
from . import protocol as p


class FamilyHandlers:
    """Called by the dispatcher with checked params, and by the feed."""

    def __init__(
        self, sessions: Sessions, family: Family, send: Callable[[p.FamilyDidActParams], None]
    ) -> None:
        self._sessions = sessions
        self._family = family
        self._send = send
        family.feed.observers.append(self._acted)

    def family_activity(self, params: p.FamilyActivityParams) -> p.FamilyActivityResult:
        found = self._family.feed.lines(self._among(params.session_id))
        return p.FamilyActivityResult(lines=[convert.activity(line) for line in found])

    def _among(self, id: str) -> Callable[[Activity], bool]:
        if not id:
            return lambda _: True
        session = self._sessions.get(SessionId(id))
        tops = {self._family.top(session).id}
        known = {member.id for member in self._family.members(session)} | tops
        return lambda line: line.session in known or line.orchestrator in known

    def _acted(self, line: Activity) -> None:
        self._send(p.FamilyDidActParams(line=convert.activity(line)))
