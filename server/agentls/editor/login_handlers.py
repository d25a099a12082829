"""The request to log in to an agent."""

from __future__ import annotations

from collections.abc import Callable

from ..core.logins import Logins
from ..core.model import SessionId
from . import protocol as p


class LoginHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(self, logins: Logins, folder: Callable[[str], str]) -> None:
        self._logins = logins
        self._folder = folder

    async def agent_login(self, params: p.LoginParams) -> p.LoginResult:
        found = await self._logins.login(
            params.agent,
            params.method,
            session=SessionId(params.session_id) if params.session_id else None,
            cwd=self._folder(""),
            confirmed=params.confirmed,
        )
        return p.LoginResult(
            state=p.LoginState(found.state.value),
            text=found.text,
            command=found.command,
            session_id=found.session or "",
            terminal_id=found.terminal or "",
        )
