"""The agent side of the protocol: the sessions of this process and the turns they are taking.

Sessions live in memory only; each takes one turn at a time, and all of them at the same time.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from acp import PROTOCOL_VERSION, Client, RequestError, update_user_message_text
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    EmbeddedResourceContentBlock,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResourceContentBlock,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    TextContentBlock,
)

from agentls import __version__
from agentls.demo.commands import Crash, answer, ignores_cancel, offered_commands
from agentls.demo.session import Session
from agentls.demo.settings import PACE, as_mode, as_pace, delay_factor, modes, options
from agentls.demo.tools import Tools
from agentls.demo.turn import Abilities, Turn

_CRASH_CODE = 3
_INVALID_REQUEST = -32600
_INVALID_PARAMS = -32602
_NOT_FOUND = -32002


class Conversations:
    """Answers the client's requests. Its methods are called by the connection, by name."""

    def __init__(self, *, delay: float, leave: Callable[[], object]) -> None:
        self.exit_code = 0
        self._delay = delay
        self._leave = leave
        self._client: Client | None = None
        self._abilities = Abilities()
        self._sessions: dict[str, Session] = {}
        self._announcements: set[asyncio.Task[None]] = set()

    def on_connect(self, conn: Client) -> None:
        """Remember the client; the connection calls this before the first request."""
        self._client = conn

    async def initialize(
        self, client_capabilities: ClientCapabilities | None = None, **_: Any
    ) -> InitializeResponse:
        """Exchange abilities."""
        self._abilities = Abilities.offered(client_capabilities)
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=Implementation(name="agentls-demo", title="Demo", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                mcp_capabilities=McpCapabilities(http=True),
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[object] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Start a session."""
        session = Session(id=f"demo-{secrets.token_hex(8)}", cwd=_folder(cwd))
        session.tools = Tools.among(mcp_servers or ())
        self._sessions[session.id] = session
        self._announce_commands(session)
        return NewSessionResponse(
            session_id=session.id, modes=modes(session), config_options=options(session)
        )

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Open a session of this process again and show all that happened in it."""
        session = self._reopen(session_id, cwd)
        for update in list(session.history):
            await self._connected.session_update(session.id, update)
        self._announce_commands(session)
        return LoadSessionResponse(modes=modes(session), config_options=options(session))

    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> ResumeSessionResponse:
        """Open a session of this process again without showing what happened in it."""
        session = self._reopen(session_id, cwd)
        self._announce_commands(session)
        return ResumeSessionResponse(modes=modes(session), config_options=options(session))

    async def close_session(self, session_id: str, **_: Any) -> None:
        """End what the session is doing; it can be loaded or resumed later."""
        session = self._session(session_id)
        session.closed = True
        _cancel_turn(session)

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> ListSessionsResponse:
        """List the sessions of this process."""
        return ListSessionsResponse(
            sessions=[
                SessionInfo(session_id=session.id, cwd=str(session.cwd), title=session.title)
                for session in self._sessions.values()
                if cwd is None or session.cwd == Path(cwd)
            ]
        )

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        """Choose whether the session asks."""
        mode = as_mode(mode_id)
        if mode is None:
            raise RequestError(_INVALID_PARAMS, f"There is no mode {mode_id}; use ask or auto.")
        self._session(session_id).mode = mode

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **_: Any
    ) -> SetSessionConfigOptionResponse:
        """Choose how fast the session talks."""
        pace = as_pace(value)
        if config_id != PACE or pace is None:
            raise RequestError(_INVALID_PARAMS, "The only option is pace: brisk or calm.")
        session = self._session(session_id)
        session.pace = pace
        return SetSessionConfigOptionResponse(config_options=options(session))

    async def prompt(self, session_id: str, prompt: Sequence[object], **_: Any) -> PromptResponse:
        """Take one turn."""
        session = self._session(session_id)
        if session.closed:
            raise RequestError(_INVALID_REQUEST, "The session is closed; load or resume it first.")
        if session.turn is not None:
            raise RequestError(_INVALID_REQUEST, "The session is busy; wait, or cancel the turn.")
        text, attached = _read_prompt(prompt)
        session.turns += 1
        session.ignores_cancel = ignores_cancel(text)
        session.history.add(update_user_message_text(text))
        delay = self._delay * delay_factor(session)
        turn = Turn(session, self._connected, self._abilities, delay=delay)
        # A task of its own, so that cancelling a turn does not cancel the answer to its prompt.
        session.turn = task = asyncio.create_task(answer(turn, text, attached))
        try:
            await asyncio.wait({task})
        finally:
            _cancel_turn(session)
            session.turn = None
        return await self._outcome(task)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop the turn of a session."""
        session = self._sessions.get(session_id)
        if session is not None and not session.ignores_cancel:
            _cancel_turn(session)

    async def _outcome(self, turn: asyncio.Task[None]) -> PromptResponse:
        if turn.cancelled():
            return PromptResponse(stop_reason="cancelled")
        if isinstance(turn.exception(), Crash):
            self.exit_code = _CRASH_CODE
            self._leave()
            await asyncio.Event().wait()
        turn.result()
        return PromptResponse(stop_reason="end_turn")

    @property
    def _connected(self) -> Client:
        assert self._client is not None
        return self._client

    def _session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError(
                _NOT_FOUND,
                f"There is no session {session_id}; the demo agent forgets its sessions when it "
                "exits, so start a new one.",
            )
        return session

    def _reopen(self, session_id: str, cwd: str) -> Session:
        session = self._session(session_id)
        session.cwd = _folder(cwd)
        session.closed = False
        return session

    def _announce_commands(self, session: Session) -> None:
        # In a task, because a client can place the update only when it knows the session's id:
        # the response to the request that is being answered goes out first.
        task = asyncio.create_task(self._connected.session_update(session.id, offered_commands()))
        self._announcements.add(task)
        task.add_done_callback(self._announcements.discard)


def _cancel_turn(session: Session) -> None:
    # Once only: a second cancellation would interrupt the cleaning up after the first.
    if session.turn is not None and not session.turn.cancelling():
        session.turn.cancel()


def _folder(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute() or not folder.is_dir():
        raise RequestError(_INVALID_PARAMS, f"{cwd} is not an absolute path of a folder.")
    return folder


def _read_prompt(blocks: Sequence[object]) -> tuple[str, list[str]]:
    """Return the words of a prompt, and the names of what is attached to it."""
    words = [block.text for block in blocks if isinstance(block, TextContentBlock)]
    attached = [block.name for block in blocks if isinstance(block, ResourceContentBlock)] + [
        PurePosixPath(block.resource.uri).name
        for block in blocks
        if isinstance(block, EmbeddedResourceContentBlock)
    ]
    return "\n".join(words), attached
