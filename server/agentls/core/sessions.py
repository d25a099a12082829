"""All sessions of this server, over all agents: opened, restarted, closed here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from .asks import Asks
from .choices import with_choices
from .errors import AgentError, AgentExited, AuthRequired, UnknownSession, UnsupportedByAgent
from .family.spawn import Spawn
from .history import history_of
from .model import (
    AgentSessionId,
    Level,
    Prompt,
    SessionId,
    SessionSetup,
    State,
)
from .past import Past
from .policy.gate import SessionPolicy
from .policy.rules import Mode
from .ports import Agent, AgentHost, Clock, Observer, Tasks, ToolDoor, Workplace
from .questions import Questions
from .session import Prepare, Session
from .transcript import Transcript

if TYPE_CHECKING:
    from .store import Head, SessionMemory, Stored


Furnish = Callable[[Agent, SessionSetup], Awaitable[SessionSetup]]
"""Sets up a session that an agent has just opened."""


class Sessions:
    """The registry. Every session in it is alive, failed, or closed but not stored yet."""

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
        memory: SessionMemory | None = None,
        questions: Questions | None = None,
        admit: Callable[[Session], ToolDoor | None] = lambda _: None,
    ) -> None:
        self._agents = agents
        self._memory = memory
        self._asks = asks
        self._questions = questions or Questions()
        self._clock = clock
        self._tasks = tasks
        self._new_id = new_id
        self._cancel_grace = cancel_grace
        self._ask_timeout = ask_timeout
        self._policy = policy
        self._workplace = workplace
        self._admit = admit
        """Lets the agent of a session in to the tools that it may call back."""
        self._sessions: dict[SessionId, Session] = {}
        self.observers: list[Observer] = []
        self.prepare: Prepare | None = None
        """What is done before each prompt, in sessions that begin from now on."""
        self.born: Callable[[Session], None] = lambda _: None
        """Told of each session before anything happens in it."""
        self.forgotten: list[Callable[[SessionId], None]] = []
        """Who wants to know when a session is not here any more."""

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def find(self, id: SessionId) -> Session | None:
        return self._sessions.get(id)

    def get(self, id: SessionId) -> Session:
        session = self._sessions.get(id)
        if session is None:
            raise UnknownSession(
                f"There is no session {id!r}.", hint="List the sessions to see which there are."
            )
        return session

    def open(
        self, agent: str, cwd: str, *, spawn: Spawn | None = None, then: Furnish | None = None
    ) -> Session:
        """Begin a new session. It is `starting` at first; prompts sent meanwhile are queued.
        `then` does what is left to do when the agent has opened it."""
        session = self._add(agent, cwd, spawn=spawn)

        async def begin(live: Agent) -> SessionSetup:
            setup = await live.new_session(cwd, session)
            return await then(live, setup) if then else setup

        self._start(session, begin)
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
        known = self._from(origin.transcript, same_agent=True)
        session = self._add(origin.agent_name, origin.cwd, parent=id, past=known)
        session.expect_replay(asked=False)
        self._start(session, lambda live: live.fork_session(past, origin.cwd, session))
        return session

    def duplicate(self, head: Head, transcript: Transcript, agent: str) -> Session:
        """A new session, with any agent, that is told what was said in another one."""
        known = self._from(transcript, same_agent=agent == head.agent)
        session = self._add(agent, head.cwd, parent=head.id, past=known)
        session.prime(transcript, head.title)
        name = head.title or head.id
        session.notice(
            Level.INFO,
            f"This session goes on from “{name}” with {head.agent}."
            f" Your first prompt tells {agent} what was said there.",
        )
        self._start(session, lambda live: live.new_session(head.cwd, session))
        return session

    def adopt(self, stored: Stored, *, named: bool, archived: bool = False) -> Session:
        """Go on with a stored session: same id, same transcript, and its agent if it can."""
        head = stored.head
        session = self._add(
            head.agent,
            head.cwd,
            stored=head,
            past=Past(
                created=head.created,
                transcript=stored.transcript,
                agent_session=head.agent_session,
                agent_session_at=head.agent_session_at,
                named=named,
                archived=archived,
            ),
        )
        _restore_policy(session, head.policy)
        self._start(session, lambda live: self._continue(live, session, head.agent_session))
        return session

    def reopen(self, id: SessionId) -> Session:
        """Go on with a session that sleeps, or was closed here and could not be stored."""
        session = self.get(id)
        past = session.agent_session
        session.restarting("taking the session up again")
        self._start(session, lambda live: self._continue(live, session, past))
        return session

    def forget(self, id: SessionId) -> None:
        """A closed session is stored: whoever wants to read it finds it there."""
        session = self._sessions.get(id)
        if session is not None and session.state is State.CLOSED:
            del self._sessions[id]
            for forgotten in self.forgotten:
                forgotten(id)

    def prompt(self, id: SessionId, prompt: Prompt) -> int:
        """Send a prompt; a session whose agent is gone is restarted for it."""
        session = self.get(id)
        turn = session.prompt(prompt)
        if session.state is State.FAILED:
            self.restart(id)
        elif session.state is State.IDLE and session.agent is None:
            self.reopen(id)  # it was asleep
        return turn

    def put_to_sleep(self, id: SessionId) -> None:
        """Let the agent of an idle session go; the next prompt brings it back."""
        session = self.get(id)
        agent, past = session.agent, session.agent_session
        if agent is not None:
            session.asleep()
            self._tasks.start(self._leave(agent, past), f"let the agent of {id} go")

    def restart(self, id: SessionId) -> Session:
        """Start the agent anew, in place: same session, same transcript."""
        session = self.get(id)
        old, past = session.agent, session.agent_session
        session.restarting()
        if old is not None:
            if past is not None:
                old.forget(past)
            # Beside the new start, not before it: an agent that hangs would hold it up.
            self._tasks.start(self._leave(old, past), f"leave the old agent of {id}")
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

    def _from(self, transcript: Transcript, *, same_agent: bool) -> Past:
        known = history_of(transcript, same_agent=same_agent)
        return Past(created=self._clock.now(), transcript=known)

    def _add(
        self,
        agent: str,
        cwd: str,
        *,
        parent: SessionId | None = None,
        spawn: Spawn | None = None,
        stored: Head | None = None,
        past: Past | None = None,
    ) -> Session:
        session = Session(
            stored.id if stored else SessionId(self._new_id()),
            agent,
            cwd,
            clock=self._clock,
            asks=self._asks,
            observers=self.observers,
            cancel_grace=self._cancel_grace,
            ask_timeout=self._ask_timeout,
            policy=self._policy(agent, cwd),
            past=past,
            parent=stored.parent if stored else parent,
            questions=self._questions,
            spawn=stored.spawn if stored else spawn,
        )
        self.born(session)
        if self._workplace is not None:
            session.workplace = self._workplace(session)
        session.prepare = self.prepare
        self._sessions[session.id] = session
        if self._memory is not None and stored is not None:
            self._memory.recorder.adopt(session)
        session.begin("taking the session up again" if stored else "")
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
        mode, options = session.transcript.mode, session.transcript.options
        session.door = self._admit(session)
        try:
            agent = await self._agents.connect(session.agent_name, session.cwd, fresh=fresh)
            setup = await begin(agent)
            if mode or options:
                setup = await with_choices(agent, session, setup, mode, options)
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
            session.expect_replay(asked=not abilities.resume)
            try:
                if abilities.resume:
                    return await agent.resume_session(past, session.cwd, session)
                made = session.agent_session_at
                return await agent.load_session(past, session.cwd, session, made=made)
            except (AgentExited, AuthRequired):
                raise  # nobody is left to ask for a new session, or it would not open one either
            except AgentError as error:
                session.lost_memory(error)
        elif past is not None:
            session.lost_memory(None)
        return await agent.new_session(session.cwd, session)

    async def _leave(self, agent: Agent, past: AgentSessionId | None) -> None:
        if past is not None:
            # First: by the time it has answered, the session may have been taken up again there.
            agent.forget(past)
            if agent.info.abilities.close:
                with suppress(AgentError):  # it goes either way, with or without a goodbye
                    await agent.close_session(past)
        self._agents.release(agent)


def _restore_policy(session: Session, policy: str) -> None:
    """As it was, but for trust: who trusted an agent then need not be there now."""
    known = policy in list(Mode)
    if known and Mode(policy) is not Mode.TRUST:
        session.permission.policy.mode = Mode(policy)
        return
    session.permission.set_mode(Mode.ASK)
    if known:
        session.notice(Level.INFO, "The agent asks again before it does anything; it was trusted.")
