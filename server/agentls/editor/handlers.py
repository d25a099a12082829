"""One function per request of `protocol.REQUESTS`: read the params, call the core, convert.

A plain function changes state and runs in the order of the messages; a coroutine waits for an
agent and may finish late.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from ..core.errors import BadRequest
from ..core.markdown import transcript_markdown
from ..core.model import AgentSessionId, Block, Diff, Prompt, SessionId, TerminalId
from ..core.ports import AgentDirectory
from ..core.printable import on_screen
from ..core.session import Session
from ..core.sessions import Sessions
from ..core.settings import Settings
from ..core.transcript import Message, ToolCall
from . import convert
from . import protocol as p
from .publisher import Publisher


class Handlers:
    """Called by the dispatcher with checked params."""

    def __init__(
        self,
        sessions: Sessions,
        directory: AgentDirectory,
        *,
        publisher: Publisher,
        settings: Settings,
        state_folder: Path,
    ) -> None:
        self._sessions = sessions
        self._directory = directory
        self._publisher = publisher
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
        return _result(self._sessions.open(self._agent(params.agent), self.folder(params.cwd)))

    def session_load(self, params: p.SessionLoadParams) -> p.SessionResult:
        past = AgentSessionId(params.agent_session_id)
        return _result(self._sessions.load(params.agent, self.folder(params.cwd), past))

    def session_list(self, params: p.Nothing) -> p.SessionListResult:
        return p.SessionListResult(sessions=[convert.head(s) for s in self._sessions])

    def session_snapshot(self, params: p.SnapshotParams) -> p.SnapshotResult:
        return self._publisher.snapshot(self._session(params.session_id), params.last)

    def session_prompt(self, params: p.PromptParams) -> p.PromptResult:
        blocks = [Block(kind="text", text=params.text)] if params.text.strip() else []
        blocks += [convert.core_block(b) for b in params.blocks]
        if not blocks:
            raise BadRequest("The prompt is empty.", hint="Say what the agent should do.")
        if params.session_id:
            session = self._session(params.session_id)
        else:
            session = self._sessions.open(self._agent(params.agent), self.folder(params.cwd))
        turn = self._sessions.prompt(session.id, Prompt(tuple(blocks)))
        queued = bool(session.transcript.queue)
        return p.PromptResult(session_id=session.id, turn=turn, queued=queued)

    def session_cancel(self, params: p.SessionParams) -> p.CancelResult:
        returned = self._session(params.session_id).cancel()
        return p.CancelResult(returned=[prompt.text for prompt in returned])

    def session_restart(self, params: p.SessionParams) -> p.SessionResult:
        return _result(self._sessions.restart(SessionId(params.session_id)))

    def session_fork(self, params: p.SessionParams) -> p.SessionResult:
        return _result(self._sessions.fork(SessionId(params.session_id)))

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

    def session_body(self, params: p.BodyParams) -> p.BodyResult:
        session = self._session(params.session_id)
        entry = next((e for e in session.transcript.entries if e.id == params.entry_id), None)
        if isinstance(entry, Message):
            return p.BodyResult(text=str(entry.text))
        if not isinstance(entry, ToolCall):
            raise BadRequest(f"The entry {params.entry_id!r} has no long text.")
        return p.BodyResult(text=_body(entry, params.part, params.side))

    def session_export(self, params: p.SessionParams) -> p.ExportResult:
        session = self._session(params.session_id)
        return p.ExportResult(
            markdown=transcript_markdown(
                session.transcript,
                title=session.title,
                agent=session.agent_name,
                cwd=session.cwd,
            )
        )

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


def _body(call: ToolCall, part: int | str, side: str) -> str:
    if isinstance(part, str):
        output = call.terminals.get(TerminalId(part))
        if output is None:
            raise BadRequest(f"The tool call has no terminal {part!r}.")
        return on_screen(str(output.text))
    if not 0 <= part < len(call.content):
        raise BadRequest(f"The tool call has no part {part}.")
    content = call.content[part]
    if isinstance(content, Diff):
        return content.new if side == "new" else content.old or ""
    return content.text if isinstance(content, Block) else ""
