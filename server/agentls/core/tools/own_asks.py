"""Asks of agents about our own tools: let through, because the tool itself asks.

Many agents ask before they call any MCP tool, and the tool then asks the policy for what it does:
a person would be asked twice for one thing. So the agent's ask is let through, but

- only if it names a tool that the session is offered, and holds nothing but what that tool takes;
- only after this very agent has fetched the list of tools at our door, with its secret: an
  agent knows one server by one name, so that name is then ours;
- never against a rule: whoever wants to be asked about a tool, or denies it, is obeyed;
- without granting anything: what the tool then does is judged as if nobody had asked;
- and only as long as names are true. An ask that was let through is followed by a call at our own
  door. When the agent says that it is done and nothing has come, the name was that of somebody
  else's tool: from then on asks of this session are like all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import events as ev
from ..errors import AgentlsError
from ..model import Block, Level, SessionId, State, ToolCallId
from ..transcript import ToolCall
from .names import arguments_in, tool_called
from .tool import Toolbox, given

if TYPE_CHECKING:
    from ..session import Session

_ANOTHER_AGENT = {State.STARTING, State.FAILED, State.CLOSED}
"""What comes after these is another process."""
WHY = "allowed: a tool of agentls, which asks by itself"


class OwnAsks:
    """An observer of all sessions."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._expected: dict[tuple[SessionId, ToolCallId], str] = {}
        """Calls that were let through and have not come, with the name of their tool."""
        self._listed: set[SessionId] = set()
        """Sessions whose agent has come for the list of tools."""
        self._deceived: set[SessionId] = set()

    def lets_through(self, session: Session, call: ToolCall) -> str:
        """Why an ask needs nobody; empty if it is one like others."""
        name = tool_called(call)
        known = session.id in self._listed and session.id not in self._deceived
        if not name or not known or not self._is_plain(session, name, call):
            return ""
        self._expected[session.id, call.call] = name
        return WHY

    def listed(self, session: Session) -> None:
        """Its agent has fetched the list."""
        self._listed.add(session.id)

    def came(self, session: Session, name: str) -> None:
        """A tool was really called."""
        for key, expected in self._expected.items():
            if key[0] == session.id and expected == name:
                del self._expected[key]
                return

    def __call__(self, session: Session, event: ev.Event, entry: Any) -> None:
        if type(event) is ev.ToolCallChanged and isinstance(entry, ToolCall) and not entry.is_open:
            name = self._expected.pop((session.id, entry.call), None)
            if name is not None and entry.status == "completed":
                self._deceived.add(session.id)
                session.deliver(ev.NoticeShown(Level.WARNING, _deceived(session, name)))
        elif type(event) is ev.StateChanged and event.state in _ANOTHER_AGENT:
            self._listed.discard(session.id)
            if event.state is State.CLOSED:
                self._deceived.discard(session.id)
        elif type(event) is ev.TurnEnded:
            for key in [key for key in self._expected if key[0] == session.id]:
                del self._expected[key]

    def _is_plain(self, session: Session, name: str, call: ToolCall) -> bool:
        try:
            tool = self._toolbox.find(session, name)
            if (arguments := arguments_in(call)) is not None:
                given(tool, arguments)
        except AgentlsError:
            return False
        text_only = all(isinstance(part, Block) and part.kind == "text" for part in call.content)
        return text_only and not call.locations and not call.terminals


def _deceived(session: Session, name: str) -> str:
    return (
        f"{session.agent_name} called something named {name} that is not the tool of agentls."
        " You are asked about such calls from now on; look which MCP servers the project brings."
    )
