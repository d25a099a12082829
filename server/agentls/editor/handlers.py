"""One function per request of `protocol.REQUESTS`: read the params, call the core, convert.

A plain function changes state and runs in the order of the messages; a coroutine waits for an
agent and may finish late.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable
from pathlib import Path

from ..core.errors import BadRequest
from ..core.family.spawn import Spawn
from ..core.lasting import Lasting
from ..core.model import AgentSessionId, Block, Prompt, SessionId
from ..core.ports import AgentDirectory
from ..core.session import Session
from ..core.sessions import Sessions
from ..core.settings import Settings
from . import convert
from . import protocol as p


class Handlers:
    """Called by the dispatcher with checked params."""

    def __init__(
        self,
        sessions: Sessions,
        lasting: Lasting,
        directory: AgentDirectory,
        *,
        settings: Settings,
        state_folder: Path,
    ) -> None:
        self._sessions = sessions
        self._lasting = lasting
        self._directory = directory
        self._settings = settings
        self._state_folder = state_folder
        self.workspace = ""
        """The folder for sessions that name none."""

    # -- agents

    def agents(self, params: p.Nothing) -> p.AgentsResult:
        return p.AgentsResult(
            agents=[convert.agent(a) for a in self._directory.known()],
            default=self._directory.default(self._settings.agent),
            problems=self._directory.problems(),
        )

    # -- sessions

    def session_new(self, params: p.SessionNewParams) -> p.SessionResult:
        spawn = Spawn(orchestrates=True) if params.orchestrate else None
        folder = self.folder(params.cwd)
        return _result(self._sessions.open(self._agent(params.agent), folder, spawn=spawn))

    async def session_load(self, params: p.SessionLoadParams) -> p.SessionResult:
        past = AgentSessionId(params.agent_session_id)
        return _result(await self._lasting.load(params.agent, self.folder(params.cwd), past))

    def session_prompt(self, params: p.PromptParams) -> p.PromptResult | Awaitable[p.PromptResult]:
        blocks = [Block(kind="text", text=params.text)] if params.text.strip() else []
        blocks += [convert.core_block(b) for b in params.blocks]
        if not blocks:
            raise BadRequest("The prompt is empty.", hint="Say what the agent should do.")
        prompt = Prompt(tuple(blocks))
        id = SessionId(params.session_id)
        if not id:
            id = self._sessions.open(self._agent(params.agent), self.folder(params.cwd)).id
        elif self._lasting.live(id) is None:
            return self._prompt_past(id, prompt)
        return _prompted(self._sessions.get(id), self._sessions.prompt(id, prompt))

    async def _prompt_past(self, id: SessionId, prompt: Prompt) -> p.PromptResult:
        return _prompted(*await self._lasting.prompt(id, prompt))

    def session_cancel(self, params: p.SessionParams) -> p.CancelResult:
        returned = self._session(params.session_id).cancel()
        return p.CancelResult(returned=[prompt.text for prompt in returned])

    def session_restart(
        self, params: p.SessionParams
    ) -> p.SessionResult | Awaitable[p.SessionResult]:
        id = SessionId(params.session_id)
        if self._lasting.live(id) is None:
            return self._resume(id)
        return _result(self._sessions.restart(id))

    async def _resume(self, id: SessionId) -> p.SessionResult:
        return _result(await self._lasting.resume(id))

    async def session_close(self, params: p.SessionParams) -> p.SessionResult:
        session = self._session(params.session_id)
        await self._sessions.close(session.id)
        return _result(session)

    async def session_set_mode(self, params: p.SetModeParams) -> p.SessionResult:
        session = self._session(params.session_id)
        known = [m.id for m in session.transcript.modes]
        if known and params.mode not in known:
            raise BadRequest(f"There is no mode {params.mode!r}.", hint=f"Use one of {known}.")
        await session.set_mode(params.mode)
        return _result(session)

    async def session_set_option(self, params: p.SetOptionParams) -> p.SessionResult:
        session = self._session(params.session_id)
        await session.set_option(params.option, params.value)
        return _result(session)

    # -- recordings

    def recording_save(self, params: p.RecordingParams) -> p.RecordingResult:
        name = time.strftime("%Y%m%d-%H%M%S")
        path = Path(params.path) if params.path else self._state_folder / f"recording-{name}.jsonl"
        return p.RecordingResult(path=self._directory.save_recording(params.agent, str(path)))

    # -- what the params leave open

    def _session(self, id: str) -> Session:
        return self._sessions.get(SessionId(id))

    def _agent(self, name: str) -> str:
        return name or self._directory.default(self._settings.agent)

    def folder(self, cwd: str) -> str:
        """The folder a request means."""
        folder = Path(cwd or self.workspace or Path.cwd())
        if not folder.is_absolute() or not folder.is_dir():
            raise BadRequest(
                f"{folder} is not a folder.", hint="Name an absolute folder that exists."
            )
        return os.path.normpath(folder)


def _result(session: Session) -> p.SessionResult:
    return p.SessionResult(session=convert.head(session))


def _prompted(session: Session, turn: int) -> p.PromptResult:
    queued = bool(session.transcript.queue)
    return p.PromptResult(session_id=session.id, turn=turn, queued=queued)
