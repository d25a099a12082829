"""Keeps sessions and terminals in step: each knows of the other what people will look for.

A command that we run is told to its session as the output of a tool call, now and then and at the
end. A command that an agent runs itself and reports in its tool calls is a mirrored terminal.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec import Struct

from . import events as ev
from .model import Level, SessionId, State, TerminalId, TerminalRef, ToolCallId, ToolCallPatch
from .ports import Clock, Timer
from .terminals import Exit, Source, Terminal, Terminals
from .transcript import Entry, ToolCall

if TYPE_CHECKING:
    from .session import Session
    from .sessions import Sessions

INTERVAL = 0.1
"""Seconds between reports of output: the terminal itself is the place to watch it live."""
_OVER = {"completed", "failed"}
"""How an agent says that a tool call, and the command in it, has ended."""


class _Followed(Struct, eq=False):
    """A command of ours, as its session knows it."""

    terminal: Terminal
    call: ToolCallId | None
    place: int = 0
    timer: Timer | None = None


class _Seen(Struct, eq=False):
    """How much of a command that the agent runs has been mirrored."""

    version: int = 0
    end: int = 0


class TerminalReports:
    """An observer of all sessions and of all terminals."""

    def __init__(self, sessions: Sessions, terminals: Terminals, clock: Clock) -> None:
        self._sessions = sessions
        self._terminals = terminals
        self._clock = clock
        self._followed: dict[tuple[SessionId, TerminalId], _Followed] = {}
        self._seen: dict[tuple[SessionId, TerminalId], _Seen] = {}

    def forget(self, session: SessionId) -> None:
        """It is not here any more."""
        for known in [key for key in self._seen if key[0] == session]:
            del self._seen[known]
        self._terminals.forget(session)

    # -- commands of ours, told to the session

    def follow(self, terminal: Terminal, call: ToolCallId | None) -> None:
        """Tell the session what comes of it, within the tool call if there is one."""
        followed = _Followed(terminal, call)
        self._followed[terminal.session, terminal.id] = followed
        if call is not None:
            self._attach(followed)
        if terminal.running:
            self._soon(followed)
        else:
            self._report(followed)

    def opened(self, terminal: Terminal) -> None:
        """Whoever created it says so by `follow`."""

    def grew(self, terminal: Terminal) -> None:
        followed = self._followed.get((terminal.session, terminal.id))
        if followed is not None and followed.timer is None:
            self._soon(followed)

    def exited(self, terminal: Terminal) -> None:
        if followed := self._followed.get((terminal.session, terminal.id)):
            self._report(followed)

    def _soon(self, followed: _Followed) -> None:
        followed.timer = self._clock.later(INTERVAL, lambda: self._report(followed))

    def _report(self, followed: _Followed) -> None:
        if followed.timer is not None:
            followed.timer.cancel()
            followed.timer = None
        terminal = followed.terminal
        session = self._sessions.find(terminal.session)
        if session is None:  # it was closed, and is stored as it was then
            self._followed.pop((terminal.session, terminal.id), None)
            return
        if followed.call is None:
            followed.call = session.permission.own_card(terminal.command, "execute")
            self._attach(followed)
        part = terminal.tail.since(followed.place)
        followed.place = part.end
        if part.text or part.lost:
            session.deliver(ev.OutputAdded(followed.call, terminal.id, part.text, whole=part.lost))
        if terminal.exit is not None:
            del self._followed[terminal.session, terminal.id]
            self._ended(session, followed.call, terminal, terminal.exit)

    def _attach(self, followed: _Followed) -> None:
        """Our own card shows the terminal; an agent's shows what the agent says."""
        session, call = self._sessions.get(followed.terminal.session), followed.call
        if call is not None and call.startswith("agentls:"):
            content = (TerminalRef(followed.terminal.id),)
            patch = ToolCallPatch(id=call, status="in_progress", content=content)
            session.deliver(ev.ToolCallChanged(patch))

    @staticmethod
    def _ended(session: Session, call: ToolCallId, terminal: Terminal, exit: Exit) -> None:
        session.deliver(ev.OutputEnded(call, terminal.id, exit.code, exit.signal))
        if call.startswith("agentls:"):
            status = "completed" if exit.code == 0 else "failed"
            session.deliver(ev.ToolCallChanged(ToolCallPatch(id=call, status=status)))

    # -- commands of the agent, mirrored from the session

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        kind = type(event)
        if kind is ev.TextAdded:
            return
        if isinstance(entry, ToolCall) and kind in (
            ev.ToolCallChanged,
            ev.OutputAdded,
            ev.OutputEnded,
        ):
            self._tool_call(session, entry, about=kind is ev.ToolCallChanged)
        elif isinstance(event, ev.TurnEnded):
            self._turn_over(session, event)
        elif isinstance(event, ev.StateChanged) and event.state in {State.FAILED, State.CLOSED}:
            self._terminals.end_session(session.id)

    def _tool_call(self, session: Session, call: ToolCall, *, about: bool) -> None:
        """`about`: what the call is about may have changed, and not only its output."""
        named = [c.terminal for c in call.content if isinstance(c, TerminalRef)]
        for id in dict.fromkeys((*named, *call.terminals)):
            followed = self._followed.get((session.id, id))
            if followed is not None:
                if id in named and followed.call is None:
                    followed.call = call.call  # the agent shows it there
            elif not self._terminals.knows(session.id, id) or self._is_mirrored(session.id, id):
                command = _command(session, call) if about else ("", "")
                self._mirror(session, call, id, *command)

    def _is_mirrored(self, session: SessionId, id: TerminalId) -> bool:
        return self._terminals.get(session, id).source is Source.MIRRORED

    def _mirror(
        self, session: Session, call: ToolCall, id: TerminalId, command: str, cwd: str
    ) -> None:
        output = call.terminals.get(id)
        data, whole, exit = "", False, None
        if output is not None:
            seen = self._seen.setdefault((session.id, id), _Seen())
            whole = seen.version != output.version
            start = output.dropped if whole else max(seen.end, output.dropped)
            data = output.text.since(start - output.dropped)
            seen.version, seen.end = output.version, output.end
            exit = Exit(output.exit_code, output.signal) if output.ended else None
        if exit is None and call.status in _OVER:
            exit = Exit()
        self._terminals.mirror(
            session.id,
            id,
            turn=session.transcript.turn,
            command=command,
            cwd=cwd,
            data=data,
            whole=whole,
            exit=exit,
        )

    def _turn_over(self, session: Session, event: ev.TurnEnded) -> None:
        if event.reason != "cancelled":
            return
        left = self._terminals.kill_turn(session.id, session.transcript.turn)
        for terminal in left:
            text = f"{session.agent_name} may still be running `{terminal.command}`"
            hint = "agentls did not start it and cannot stop it; restarting the agent does"
            session.deliver(ev.NoticeShown(Level.WARNING, f"{text}: {hint}."))


def _command(session: Session, call: ToolCall) -> tuple[str, str]:
    from .policy.subjects import subject_of  # noqa: PLC0415 - loads with the first command

    subject = subject_of(call, session.agent_name, session.cwd)
    if subject.command is None:
        return call.title, subject.cwd
    line = subject.command if isinstance(subject.command, str) else shlex.join(subject.command)
    return line, subject.cwd
