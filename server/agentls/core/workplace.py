"""What an agent can use in a session beside talking: terminals and files, behind the policy.

Whatever it wants is decided first, and it gets one answer, also when the session ends meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .errors import AgentlsError, TerminalRefused
from .file_work import FileWork
from .model import TerminalId, ToolCallId
from .permission import Permit
from .policy.verdicts import Subject
from .ports import Tasks
from .terminals import Exit, Snapshot, Terminal, Terminals, TerminalSpec

if TYPE_CHECKING:
    from .session import Session
    from .terminal_reports import TerminalReports

Created = Callable[[Terminal | AgentlsError], None]


class Workplace:
    """Implements `ports.Workplace` for one session."""

    def __init__(
        self,
        session: Session,
        terminals: Terminals,
        reports: TerminalReports,
        tasks: Tasks,
        files: FileWork,
    ) -> None:
        self.read = files.read
        self.write = files.write
        self.write_for_person = files.write_for_person
        self._session = session
        self._terminals = terminals
        self._reports = reports
        self._tasks = tasks

    # -- terminals

    def run(
        self, spec: TerminalSpec, limit: int, then: Created, call: ToolCallId | None = None
    ) -> Callable[[], None]:
        """Run a command if that is allowed, in a tool call if it is known in which. Returned: how
        to call it off."""
        called_off = False

        def decided(permit: Permit) -> None:
            if permit.given and not called_off:
                work = self._create(spec, limit, permit, then, lambda: called_off)
                self._tasks.start(work, f"run a command for {self._session.id}")
            else:
                then(TerminalRefused(f"{spec.shown!r} was not allowed ({permit.decision.by})."))

        withdraw = self._session.permission.permit(
            _subject(spec, self._session.agent_name), spec.shown, decided, call=call
        )

        def call_off() -> None:
            nonlocal called_off
            called_off = True
            withdraw()

        return call_off

    async def _create(
        self,
        spec: TerminalSpec,
        limit: int,
        permit: Permit,
        then: Created,
        called_off: Callable[[], bool],
    ) -> None:
        if self._session.ending:
            then(TerminalRefused(f"{spec.shown!r} was not run: it was cancelled."))
            return
        try:
            terminal = await self._terminals.create(
                self._session.id, spec, limit=limit, turn=self._session.transcript.turn
            )
        except AgentlsError as error:
            then(error)
            return
        self._reports.follow(terminal, permit.call)
        if called_off():  # nobody knows its name, so nobody would ever end it
            self._terminals.release(terminal)
        then(terminal)

    def stop(self) -> None:
        """The turn is cancelled: what it has begun is ended, also if the agent does not."""
        self._terminals.kill_turn(self._session.id, self._session.transcript.turn)

    def output(self, id: TerminalId) -> Snapshot:
        return self._terminals.output(self._own(id))

    def wait(self, id: TerminalId, then: Callable[[Exit], None]) -> Callable[[], None]:
        return self._terminals.wait(self._own(id), then)

    def kill(self, id: TerminalId) -> None:
        self._terminals.kill(self._own(id))

    def release(self, id: TerminalId) -> None:
        terminal = self._terminals.get(self._session.id, id)
        if not terminal.released:
            self._terminals.release(self._terminals.of_agent(self._session.id, id))

    def _own(self, id: TerminalId) -> Terminal:
        return self._terminals.of_agent(self._session.id, id)


def _subject(spec: TerminalSpec, agent: str) -> Subject:
    from .policy.wrappers import harmless_variable  # noqa: PLC0415 - loads with the first ask

    risky = [name for name, value in spec.env.items() if not harmless_variable(name, value)]
    return Subject(
        agent=agent,
        kind="execute",
        command=(spec.command, *spec.args) if spec.args else spec.command,
        cwd=spec.cwd,
        also=f"the environment variable {', '.join(sorted(risky))}" if risky else "",
    )
