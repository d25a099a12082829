"""All sessions of this server, over all agents: opened, restarted, closed here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

from .asks import Asks
from .errors import AgentError, AgentExited, UnknownSession, UnsupportedByAgent
from .model import AgentSessionId, Prompt, SessionId, SessionSetup, State
from .policy.gate import SessionPolicy
from .ports import Agent, AgentHost, Clock, Observer, Tasks, Workplace
from .session import Session


class Sessions:
    """The registry. Every session in it is alive, failed, or closed but still readable."""

    def __init__(
        self,
        agents: AgentHost,
        asks: Asks,
        clock: Clock,
        tasks: Tasks,
        new_id: Callable[[], str],
        *,
        cancel_grace: float = 10.0,
        ask_timeout: float = 1800.0,
        policy: Callable[[str, str], SessionPolicy] = SessionPolicy.without_rules,
        workplace: Callable[[Session], Workplace] | None = None,
    ) -> None:
        self._agents = agents
        self._asks = asks
        self._clock = clock
        self._tasks = tasks
        self._new_id = new_id
        self._cancel_grace = cancel_grace
        self._ask_timeout = ask_timeout
        self._policy = policy
        self._workplace = workplace
        self._sessions: dict[SessionId, Session] = {}
        self.observers: list[Observer] = []

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def get(self, id: SessionId) -> Session:
        session = self._sessions.get(id)
        if session is None:
            raise UnknownSession(
                f"There is no session {id!r}.", hint="List the sessions to see which there are."
            )
        return session

    def open(self, agent: str, cwd: str) -> Session:
        """Begin a new session. It is `starting` at first; prompts sent meanwhile are queued."""
        session = self._add(agent, cwd)
        self._start(session, lambda live: live.new_session(cwd, session))
        return session

    def load(self, agent: str, cwd: str, past: AgentSessionId) -> Session:
        """Open a session that the agent remembers; it tells its history again."""
        session = self._add(agent, cwd)
        session.agent_session = past
        self._start(session, lambda live: live.load_session(past, cwd, session))
        return session

    def fork(self, id: SessionId) -> Session:
        """A second session that begins where this one is now."""
        origin = self.get(id)
        live, past = origin.ready()
        if not live.info.abilities.fork:
            raise UnsupportedByAgent(f"{live.info.title} cannot fork a session.")
        session = self._add(origin.agent_name, origin.cwd)
        self._start(session, lambda live: live.fork_session(past, origin.cwd, session))
        return session

    def prompt(self, id: SessionId, prompt: Prompt) -> int:
        """Send a prompt; a session whose agent is gone is restarted for it."""
        session = self.get(id)
        turn = session.prompt(prompt)
        if session.state is State.FAILED:
            self.restart(id)
        return turn

    def restart(self, id: SessionId) -> Session:
        """Start the agent anew, in place: same session, same transcript."""
        session = self.get(id)
        old, past = session.agent, session.agent_session
        session.restarting()
        if old is not None:
            if past is not None:
                old.forget(past)
            self._agents.release(old)
        self._start(session, lambda live: self._continue(live, session, past), fresh=True)
        return session

    async def close(self, id: SessionId) -> None:
        session = self.get(id)
        agent, past = session.agent, session.agent_session
        session.close()
        if agent is not None:
            await self._leave(agent, past)

    def close_all(self) -> None:
        """The server goes: nothing waits any more. Agents are stopped by their host."""
        for session in self:
            session.close()

    # -- opening

    def _add(self, agent: str, cwd: str) -> Session:
        session = Session(
            SessionId(self._new_id()),
            agent,
            cwd,
            clock=self._clock,
            asks=self._asks,
            observers=self.observers,
            cancel_grace=self._cancel_grace,
            ask_timeout=self._ask_timeout,
            policy=self._policy(agent, cwd),
        )
        if self._workplace is not None:
            session.workplace = self._workplace(session)
        self._sessions[session.id] = session
        session.begin()
        return session

    def _start(
        self,
        session: Session,
        begin: Callable[[Agent], Awaitable[SessionSetup]],
        *,
        fresh: bool = False,
    ) -> None:
        self._tasks.start(self._open(session, session.attempt, begin, fresh), f"open {session.id}")

    async def _open(
        self,
        session: Session,
        attempt: int,
        begin: Callable[[Agent], Awaitable[SessionSetup]],
        fresh: bool,
    ) -> None:
        agent: Agent | None = None
        try:
            agent = await self._agents.connect(session.agent_name, session.cwd, fresh=fresh)
            setup = await begin(agent)
        except AgentError as error:
            if session.attempt == attempt:
                session.failed_to_open(error)
            if agent is not None:
                self._agents.release(agent)
            return
        if session.state is State.CLOSED or session.attempt != attempt:
            await self._leave(agent, setup.id)
        else:
            session.opened(agent, setup)

    async def _continue(
        self, agent: Agent, session: Session, past: AgentSessionId | None
    ) -> SessionSetup:
        """The same conversation if the agent can, a new one that says so if it cannot."""
        abilities = agent.info.abilities
        if past is not None and (abilities.resume or abilities.load):
            session.expect_replay()
            try:
                if abilities.resume:
                    return await agent.resume_session(past, session.cwd, session)
                return await agent.load_session(past, session.cwd, session)
            except AgentExited:
                raise  # there is nobody left to ask for a new session
            except AgentError as error:
                session.lost_memory(error)
        elif past is not None:
            session.lost_memory(None)
        return await agent.new_session(session.cwd, session)

    async def _leave(self, agent: Agent, past: AgentSessionId | None) -> None:
        if past is not None:
            if agent.info.abilities.close:
                with suppress(AgentError):  # it goes either way, with or without a goodbye
                    await agent.close_session(past)
            agent.forget(past)
        self._agents.release(agent)
