"""Logging in to agents: where a session that was refused leads, and back to its prompt.

Invariant: a program that an agent wants run is run only after a person has seen and confirmed it,
and what waited for the login goes on as soon as it is done.
"""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from .errors import AuthRequired, BadRequest
from .model import AuthMethod, Level, SessionId, State, TerminalId
from .ports import AgentHost
from .terminals import Exit, Terminals, TerminalSpec

if TYPE_CHECKING:
    from .session import Session
    from .sessions import Sessions


class LoginState(StrEnum):
    """How far a login is."""

    DONE = "done"
    CONFIRM = "confirm"
    """A program is to be run: a person must see it first."""
    RUNNING = "running"
    """It runs in a terminal, where a person goes on."""
    VARIABLES = "variables"
    """Environment variables are to be set, which nobody here can do."""


class Login(Struct, frozen=True, kw_only=True):
    """What came of an attempt."""

    state: LoginState
    text: str
    """A sentence for the person."""
    command: str = ""
    session: SessionId | None = None
    terminal: TerminalId | None = None


class Logins:
    """For all agents."""

    def __init__(self, agents: AgentHost, sessions: Sessions, terminals: Terminals) -> None:
        self._agents = agents
        self._sessions = sessions
        self._terminals = terminals

    async def login(
        self, agent: str, method: str, *, session: SessionId | None, cwd: str, confirmed: bool
    ) -> Login:
        """Log in by the method of that id, or by the only one. What waits for it goes on."""
        live = await self._agents.connect(agent, cwd)
        try:
            chosen = _chosen(live.info.auth_methods, method, live.info.title)
            if chosen.kind == "env_var":
                text = variable_words(live.info.title, chosen)
                return Login(state=LoginState.VARIABLES, text=text)
            if chosen.kind == "terminal":
                if not confirmed:
                    return _to_confirm(live.info.title, chosen)
                owner = self._owner(agent, session)
                return await self._in_terminal(owner, chosen, live.info.env, cwd)
            await live.authenticate(chosen.id)
            self._go_on(agent, fresh=False)
            return Login(state=LoginState.DONE, text=f"You are logged in to {live.info.title}.")
        finally:
            # Last: the sessions that go on use the process that has been logged in.
            self._agents.release(live)

    async def _in_terminal(
        self, owner: Session, method: AuthMethod, env: dict[str, str], cwd: str
    ) -> Login:
        shown = shown_command(method)
        spec = TerminalSpec(
            # One word alone would be taken for a line of the shell.
            command=method.command[0] if method.command[1:] else shlex.quote(method.command[0]),
            args=method.command[1:],
            cwd=cwd,
            env={**env, **method.env},
        )
        terminal = await self._terminals.create(owner.id, spec, turn=owner.transcript.turn)
        self._terminals.wait(terminal, lambda exit: self._ended(owner, exit))
        return Login(
            state=LoginState.RUNNING,
            text=f"Go on in the terminal that runs {shown}",
            command=shown,
            session=owner.id,
            terminal=terminal.id,
        )

    def _owner(self, agent: str, id: SessionId | None) -> Session:
        """The session that the terminal of a login belongs to."""
        if id is not None and (session := self._sessions.get(id)).agent_name == agent:
            return session
        for session in self._sessions:
            if session.agent_name == agent and _waits(session):
                return session
        raise BadRequest(
            f"No session waits for a login to {agent}.",
            hint=f"Start one, or type in a terminal: agentls login {agent}",
        )

    def _ended(self, owner: Session, exit: Exit) -> None:
        agent = owner.agent_name
        if exit.code == 0:
            self._go_on(agent, fresh=True)
        elif owner.state is not State.CLOSED:
            how = f"exit code {exit.code}" if exit.code is not None else exit.signal or "no result"
            owner.notice(Level.WARNING, f"The login to {agent} ended with {how}.")

    def _go_on(self, agent: str, *, fresh: bool) -> None:
        """Whatever was refused for want of a login is tried again; `fresh`: in a new process."""
        for session in self._sessions:
            if session.agent_name != agent or not _waits(session):
                continue
            if fresh:
                self._sessions.restart(session.id)
            elif session.state is State.FAILED:
                self._sessions.reopen(session.id)
            session.queue_unsent()


def _to_confirm(title: str, method: AuthMethod) -> Login:
    shown = shown_command(method)
    whose = "a program that it names itself" if method.foreign else "its own program"
    text = f"{title} logs you in with {whose}: {shown}"
    return Login(state=LoginState.CONFIRM, text=text, command=shown)


def _waits(session: Session) -> bool:
    return session.state is not State.CLOSED and isinstance(session.error, AuthRequired)


def _chosen(methods: tuple[AuthMethod, ...], id: str, title: str) -> AuthMethod:
    if not methods:
        raise BadRequest(f"{title} offers no way to log in.")
    if not id and len(methods) == 1:
        return methods[0]
    for method in methods:
        if method.id == id:
            return method
    known = ", ".join(method.id for method in methods)
    raise BadRequest(f"There is no way {id!r} to log in to {title}.", hint=f"Use one of {known}.")


def shown_command(method: AuthMethod) -> str:
    """The program that a login runs, with all that is set for it, as it would be typed."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in method.env.items()]
    return " ".join([*variables, shlex.join(method.command)])


def variable_words(title: str, method: AuthMethod) -> str:
    """What to do about a login by environment variables."""
    names = " and ".join(method.variables) or "the environment variables of its documentation"
    where = f"; get it at {method.link}" if method.link else ""
    return (
        f"{title} reads {names} from its environment{where}. Set it where your editor starts, or as"
        " env of the agent in agents.toml, and start the agent again."
    )
