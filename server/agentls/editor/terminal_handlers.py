"""Requests about terminals: watched, typed into, resized, ended."""

from __future__ import annotations

from ..core.model import SessionId, TerminalId
from ..core.sessions import Sessions
from ..core.terminals import Terminal, Terminals
from . import protocol as p
from .terminal_views import TerminalViews, item


class TerminalHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(self, sessions: Sessions, terminals: Terminals, views: TerminalViews) -> None:
        self._sessions = sessions
        self._terminals = terminals
        self._views = views

    def terminal_list(self, params: p.TerminalListParams) -> p.TerminalListResult:
        return self._list(params.session_id, running=params.running)

    def terminal_attach(self, params: p.TerminalAttachParams) -> p.TerminalAttachResult:
        terminal = self._terminal(params)
        if params.columns is not None and params.rows is not None:
            self._terminals.resize(terminal, params.columns, params.rows)
        return self._views.attach(terminal)

    def terminal_detach(self, params: p.TerminalParams) -> p.Nothing:
        self._views.detach(self._terminal(params))
        return p.Nothing()

    def terminal_input(self, params: p.TerminalInputParams) -> p.Nothing:
        self._terminals.write(self._terminal(params), params.text)
        return p.Nothing()

    def terminal_resize(self, params: p.TerminalResizeParams) -> p.Nothing:
        self._terminals.resize(self._terminal(params), params.columns, params.rows)
        return p.Nothing()

    def terminal_kill(self, params: p.TerminalParams) -> p.TerminalListResult:
        self._terminals.kill(self._terminal(params))
        return self._list(params.session_id, running=True)

    def terminal_kill_all(self, params: p.SessionParams) -> p.TerminalKillAllResult:
        session = self._sessions.get(SessionId(params.session_id))
        return p.TerminalKillAllResult(left=[item(t) for t in self._terminals.kill_all(session.id)])

    def _list(self, session_id: str, *, running: bool) -> p.TerminalListResult:
        all = (session.id for session in self._sessions)
        ids = [SessionId(session_id)] if session_id else all
        found = [terminal for id in ids for terminal in self._terminals.of(id)]
        found.sort(key=lambda terminal: terminal.created)
        return p.TerminalListResult(terminals=[item(t) for t in found if t.running or not running])

    def _terminal(
        self,
        params: p.TerminalParams
        | p.TerminalAttachParams
        | p.TerminalInputParams
        | p.TerminalResizeParams,
    ) -> Terminal:
        return self._terminals.get(SessionId(params.session_id), TerminalId(params.terminal_id))
