"""All sessions: opened, loaded, forked, restarted, closed; and what holds whatever happens."""

# mypy: disable-error-code="comparison-overlap, unreachable"
# A session changes its state between two looks at it.

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentls.core import events as ev
from agentls.core.errors import (
    AgentExited,
    AgentFailed,
    AgentStartFailed,
    BadRequest,
    SessionNotReady,
    UnknownAsk,
    UnknownSession,
    UnsupportedByAgent,
)
from agentls.core.model import (
    Abilities,
    AgentSessionId,
    Level,
    Role,
    SessionId,
    State,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.session import Session
from agentls.core.transcript import Message, Notice
from fakes.core import EVERYTHING, Core, FakeAgent, SentAsk, text

PAST = AgentSessionId("past")
HISTORY: list[ev.Event] = [
    ev.TextAdded(Role.USER, "Say hello."),
    ev.TextAdded(Role.AGENT, "Hello."),
    ev.ToolCallChanged(ToolCallPatch(id=ToolCallId("old"), title="Run", status="completed")),
]


def said(session: Session) -> list[tuple[str, str]]:
    return [
        (e.role.value, str(e.text)) for e in session.transcript.entries if isinstance(e, Message)
    ]


def notices(session: Session) -> list[tuple[Level, str]]:
    return [(e.level, e.text) for e in session.transcript.entries if isinstance(e, Notice)]


async def with_one_turn(core: Core) -> Session:
    session = await core.opened()
    session.prompt(text("Say hello."))
    core.agent.say(ev.TextAdded(Role.AGENT, "Hello."))
    core.agent.prompts[0].answer()
    return session


ONE_TURN = [("user", "Say hello."), ("agent", "Hello.")]


# -- opening


async def test_sessions_are_listed_and_found_by_id() -> None:
    core = Core()
    one, two = await core.opened(), await core.opened()
    assert list(core.sessions) == [one, two]
    assert core.sessions.get(two.id) is two
    with pytest.raises(UnknownSession, match="'nope'"):
        core.sessions.get(SessionId("nope"))


async def test_two_sessions_share_an_agent_and_are_kept_apart() -> None:
    core = Core()
    one, two = await core.opened(), await core.opened()
    assert one.agent is two.agent is core.agent
    one.prompt(text("a"))
    two.prompt(text("b"))
    core.agent.sinks[AgentSessionId("s1")].deliver(ev.TextAdded(Role.AGENT, "A"))
    core.agent.sinks[AgentSessionId("s2")].deliver(ev.TextAdded(Role.AGENT, "B"))
    assert said(one) == [("user", "a"), ("agent", "A")]
    assert said(two) == [("user", "b"), ("agent", "B")]
    core.agent.die()
    assert one.state is two.state is State.FAILED


async def test_an_agent_that_cannot_start_fails_the_session_with_its_sentence() -> None:
    core = Core()
    core.host.error = AgentStartFailed("Fake is not installed.", hint="Install it.")
    session = core.sessions.open("fake", "/project")
    session.prompt(text("hello"))
    await core.tasks.settle()
    assert session.state is State.FAILED
    assert notices(session) == [(Level.ERROR, "Fake is not installed. Install it.")]
    assert session.transcript.queue == [text("hello")], "the prompt is lost"


async def test_an_agent_that_opens_no_session_is_released() -> None:
    agent = FakeAgent()
    agent.failures["new_session"] = AgentFailed("Fake: no")
    core = Core(agent)
    session = await core.opened()
    assert session.state is State.FAILED
    assert core.host.released == [agent]


async def test_a_later_prompt_starts_a_failed_session_again_and_is_sent() -> None:
    core = Core()
    core.host.error = AgentStartFailed("Fake is not installed.")
    session = await core.opened()
    core.host.error = None
    assert core.sessions.prompt(session.id, text("hello")) == 1
    assert session.state is State.STARTING
    assert session.error is None
    await core.tasks.settle()
    assert [p.text for p in core.agent.prompts] == ["hello"]
    assert notices(session)[1:] == [], "a new session was said to have lost its memory"


async def test_loading_a_past_session_tells_its_history() -> None:
    agent = FakeAgent()
    agent.history = HISTORY
    core = Core(agent)
    session = core.sessions.load("fake", "/project", PAST)
    await core.tasks.settle()
    assert session.state is State.IDLE
    assert session.agent_session == PAST
    assert said(session) == ONE_TURN
    assert agent.calls == [("load_session", PAST, "/project")]


async def test_a_load_that_failed_can_be_tried_again_and_then_tells_the_history() -> None:
    first, second = FakeAgent(), FakeAgent(Abilities(load=True))
    first.failures["load_session"] = AgentFailed("Fake: log in first")
    second.history = HISTORY
    core = Core(first, second)
    session = core.sessions.load("fake", "/project", PAST)
    await core.tasks.settle()
    assert session.state is State.FAILED
    core.sessions.restart(session.id)
    await core.tasks.settle()
    assert session.state is State.IDLE
    assert said(session) == ONE_TURN


# -- forking


async def test_a_fork_begins_where_the_session_is() -> None:
    core = Core()
    session = await with_one_turn(core)
    core.agent.history = HISTORY
    fork = core.sessions.fork(session.id)
    await core.tasks.settle()
    assert fork.state is State.IDLE
    assert fork.id != session.id
    assert (fork.agent_name, fork.cwd) == (session.agent_name, session.cwd)
    assert fork.agent_session == "s1-fork"
    assert said(fork) == ONE_TURN
    assert said(session) == ONE_TURN
    assert ("fork_session", "s1", "/project") in core.agent.calls


async def test_an_agent_that_cannot_fork_is_not_asked_to() -> None:
    core = Core(FakeAgent(Abilities()))
    session = await core.opened()
    with pytest.raises(UnsupportedByAgent, match="cannot fork"):
        core.sessions.fork(session.id)
    assert list(core.sessions) == [session]


async def test_a_session_that_is_not_open_cannot_be_forked() -> None:
    core = Core()
    session = core.sessions.open("fake", "/project")
    with pytest.raises(SessionNotReady):
        core.sessions.fork(session.id)
    await core.tasks.settle()


# -- closing


async def test_closing_says_goodbye_where_the_agent_can_and_releases_it() -> None:
    core = Core()
    session = await core.opened()
    await core.sessions.close(session.id)
    assert core.agent.methods()[-2:] == ["forget", "close_session"]
    assert core.host.released == [core.agent]
    await core.sessions.close(session.id)
    assert len(core.host.released) == 1
    assert list(core.sessions) == [session], "a closed session cannot be read any more"


async def test_closing_without_a_goodbye_forgets_and_releases() -> None:
    core = Core(FakeAgent(Abilities()))
    session = await core.opened()
    await core.sessions.close(session.id)
    assert core.agent.methods()[-1] == "forget"
    assert "close_session" not in core.agent.methods()
    assert core.host.released == [core.agent]


async def test_a_goodbye_that_fails_does_not_matter() -> None:
    core = Core()
    session = await core.opened()
    core.agent.failures["close_session"] = AgentFailed("Fake: no")
    await core.sessions.close(session.id)
    assert session.state is State.CLOSED
    assert core.host.released == [core.agent]


async def test_closing_while_the_agent_starts_leaves_the_session_it_opens() -> None:
    agent = FakeAgent()
    gate = agent.hold("new_session")
    core = Core(agent)
    session = await core.opened()
    await core.sessions.close(session.id)
    assert session.state is State.CLOSED
    gate.set()
    await core.tasks.settle()
    assert session.state is State.CLOSED
    assert agent.methods() == ["new_session", "forget", "close_session"]
    assert core.host.released == [agent]


async def test_closing_while_the_agent_fails_to_start_stays_closed() -> None:
    agent = FakeAgent()
    gate = agent.hold("new_session")
    agent.failures["new_session"] = AgentFailed("Fake: no")
    core = Core(agent)
    session = await core.opened()
    await core.sessions.close(session.id)
    gate.set()
    await core.tasks.settle()
    assert session.state is State.CLOSED
    assert notices(session) == []
    assert core.host.released == [agent]


async def test_closing_all_answers_everything() -> None:
    core = Core()
    one, two = await core.opened(), await core.opened()
    one.prompt(text("a"))
    ask = core.agent.ask()
    core.sessions.close_all()
    assert one.state is two.state is State.CLOSED
    assert ask.answer.option is None
    assert core.asks.pending() == []


# -- restarting


async def test_a_restart_resumes_the_conversation_in_place() -> None:
    old, new = FakeAgent(), FakeAgent()
    core = Core(old, new)
    session = await with_one_turn(core)
    assert core.sessions.restart(session.id) is session
    assert session.state is State.STARTING
    await core.tasks.settle()
    assert session.state is State.IDLE
    assert session.agent is new
    assert new.calls == [("resume_session", "s1", "/project")]
    assert old.methods()[-2:] == ["forget", "close_session"]
    assert core.host.released == [old]
    assert core.host.asked_for[-1] == ("fake", "/project", True)
    assert notices(session) == []


@pytest.mark.parametrize("abilities", [Abilities(load=True), EVERYTHING])
async def test_what_is_told_again_after_a_restart_is_not_stored_twice(
    abilities: Abilities,
) -> None:
    new = FakeAgent(abilities)
    new.history = [*HISTORY, ev.TitleChanged("Greeting")]
    core = Core(FakeAgent(), new)
    session = await with_one_turn(core)
    before = list(session.transcript.entries)
    core.sessions.restart(session.id)
    await core.tasks.settle()
    new.say(*HISTORY)  # one agent goes on telling after it has answered
    assert session.transcript.entries == before
    assert session.title == "Greeting"
    session.prompt(text("Go on."))
    new.say(ev.TextAdded(Role.AGENT, "Going."))
    assert said(session) == [*ONE_TURN, ("user", "Go on."), ("agent", "Going.")]


async def test_an_ask_right_after_a_restart_is_shown_with_its_call() -> None:
    core = Core()
    session = await with_one_turn(core)
    core.sessions.restart(session.id)
    await core.tasks.settle()
    ask = core.agent.ask("c9")
    assert session.state is State.WAITING_FOR_YOU
    assert session.transcript.call(ToolCallId("c9")) is not None
    assert core.asks.pending()[0].title == "run c9"
    core.asks.decide(ask.id, "once", "you")


async def test_an_agent_without_memory_says_so_and_gets_a_new_session() -> None:
    new = FakeAgent(Abilities())
    core = Core(FakeAgent(), new)
    session = await with_one_turn(core)
    core.sessions.restart(session.id)
    await core.tasks.settle()
    assert new.methods() == ["new_session"]
    assert session.state is State.IDLE
    assert notices(session) == [
        (
            Level.WARNING,
            "fake does not remember this conversation. Your next prompt tells it what was said.",
        )
    ]


async def test_an_agent_that_fails_to_resume_says_why_and_gets_a_new_session() -> None:
    new = FakeAgent()
    new.failures["resume_session"] = AgentFailed("Fake: unknown session", code=-32603)
    core = Core(FakeAgent(), new)
    session = await with_one_turn(core)
    core.sessions.restart(session.id)
    await core.tasks.settle()
    assert new.methods() == ["resume_session", "new_session"]
    assert session.state is State.IDLE
    [(level, sentence)] = notices(session)
    assert level is Level.WARNING
    assert "Fake: unknown session" in sentence
    session.prompt(text("Hello?"))
    new.say(ev.TextAdded(Role.AGENT, "New here."))
    assert said(session)[-1] == ("agent", "New here.")


async def test_an_agent_that_dies_while_it_resumes_fails_the_session_with_one_sentence() -> None:
    new = FakeAgent()
    new.failures["resume_session"] = AgentExited("Fake ended with exit code 1.")
    core = Core(FakeAgent(), new)
    session = await with_one_turn(core)
    core.sessions.restart(session.id)
    await core.tasks.settle()
    assert session.state is State.FAILED
    assert new.methods() == ["resume_session"]
    assert notices(session) == [(Level.ERROR, "Fake ended with exit code 1.")]
    assert core.host.released[-1] is new


async def test_a_restart_in_a_turn_stops_the_old_agent_and_ends_the_turn() -> None:
    old = FakeAgent()
    core = Core(old)
    session = await core.opened()
    session.prompt(text("a"))
    session.prompt(text("b"))
    ask = old.ask()
    core.sessions.restart(session.id)
    assert (ask.answer.option, ask.answer.by) == (None, "agent restarted")
    assert old.methods()[-3:] == ["answer", "cancel", "forget"]
    assert not session.transcript.turn_running
    old.prompts[0].answer()
    await core.tasks.settle()
    assert [p.text for p in core.agent.prompts] == ["b"]
    assert session.transcript.turn == 2


async def test_after_an_unanswered_cancel_a_prompt_restarts_the_agent() -> None:
    old, new = FakeAgent(), FakeAgent()
    core = Core(old, new, cancel_grace=5.0)
    session = await core.opened()
    core.sessions.prompt(session.id, text("a"))
    session.cancel()
    core.clock.advance(5.0)
    assert session.state is State.FAILED
    assert core.sessions.prompt(session.id, text("b")) == 2
    await core.tasks.settle()
    assert core.host.released == [old]
    assert [p.text for p in new.prompts] == ["b"]
    assert session.state is State.RUNNING
    old.prompts[0].answer("cancelled")
    assert session.transcript.turn_running, "the old agent's answer ended the new turn"


async def test_death_in_a_turn_then_a_prompt_goes_on_with_a_new_agent() -> None:
    old, new = FakeAgent(), FakeAgent()
    core = Core(old, new)
    session = await core.opened()
    core.sessions.prompt(session.id, text("a"))
    core.sessions.prompt(session.id, text("b"))
    old.die()
    assert session.state is State.FAILED
    core.sessions.prompt(session.id, text("c"))
    await core.tasks.settle()
    new.prompts[0].answer()
    assert [p.text for p in new.prompts] == ["b", "c"]


async def test_a_restart_while_starting_takes_the_later_agent_and_leaves_the_earlier() -> None:
    slow, quick = FakeAgent(), FakeAgent()
    gate = slow.hold("new_session")
    core = Core(slow, quick)
    session = await core.opened()
    core.sessions.restart(session.id)
    await core.tasks.settle()
    assert session.agent is quick
    session.prompt(text("hello"))
    gate.set()
    await core.tasks.settle()
    assert session.agent is quick
    assert slow.methods() == ["new_session", "forget", "close_session"]
    assert core.host.released == [slow]
    assert [p.text for p in quick.prompts] == ["hello"]


async def test_an_earlier_start_that_fails_late_does_not_fail_the_session() -> None:
    slow, quick = FakeAgent(), FakeAgent()
    gate = slow.hold("new_session")
    slow.failures["new_session"] = AgentFailed("Fake: too slow")
    core = Core(slow, quick)
    session = await core.opened()
    core.sessions.restart(session.id)
    await core.tasks.settle()
    gate.set()
    await core.tasks.settle()
    assert session.state is State.IDLE
    assert notices(session) == []
    assert core.host.released == [slow]


# -- whatever happens


class Play:
    """One session under random events; `check` says what must hold after each."""

    def __init__(self, clever: bool) -> None:
        agents = [FakeAgent(EVERYTHING if clever else Abilities()) for _ in range(45)]
        for agent in agents[2::3]:
            agent.failures["resume_session"] = AgentFailed("Fake: what session?")
        for agent in agents[4::5]:
            agent.failures["new_session"] = AgentFailed("Fake: no")
        self.core = Core(*agents, cancel_grace=5.0)
        self.asks: list[SentAsk] = []
        self.turns: list[ev.TurnStarted | ev.TurnEnded] = []
        self.core.sessions.observers.append(self._saw)
        self.session = self.core.sessions.open("fake", "/project")

    def _saw(self, session: Session, event: ev.Event, entry: object) -> None:
        if isinstance(event, ev.TurnStarted | ev.TurnEnded):
            self.turns.append(event)
        ended = isinstance(event, ev.TurnEnded) or (
            isinstance(event, ev.StateChanged) and event.state in {State.FAILED, State.CLOSED}
        )
        if ended and session.transcript.open_calls():
            self.core.tasks.failures.append(AssertionError(f"open calls at {event}"))

    async def step(self, action: str, number: int) -> None:
        await getattr(self, action)(number)
        self.check()

    @property
    def agent(self) -> FakeAgent:
        """The latest; one that nobody uses when there is none yet."""
        return self.core.host.agents[-1] if self.core.host.agents else FakeAgent()

    async def prompt(self, number: int) -> None:
        if self.session.state is not State.CLOSED:
            self.core.sessions.prompt(self.session.id, text(f"prompt {number}"))

    async def cancel(self, number: int) -> None:
        self.session.cancel()

    async def answer(self, number: int) -> None:
        reason = ("end_turn", "cancelled", "failed", "sunset")[number % 4]
        error = AgentFailed("Fake: no") if reason == "failed" else None
        for prompt in self.agent.prompts[-1:] if number % 3 else self.agent.prompts[:1]:
            prompt.answer(reason, error)

    async def ask(self, number: int) -> None:
        if self.agent.sinks:
            self.asks.append(self.agent.ask(f"c{number % 3}"))

    async def decide(self, number: int) -> None:
        option = ("once", "no", "bogus")[number % 3]
        with suppress(UnknownAsk, BadRequest):
            for ask in self.asks[number % 5 :]:
                self.core.asks.decide(ask.id, option, "you")

    async def withdraw(self, number: int) -> None:
        for ask in self.asks[number % 5 :][:1]:
            self.session.withdraw(ask.id)

    async def die(self, number: int) -> None:
        if self.agent.alive:
            self.agent.die()

    async def restart(self, number: int) -> None:
        self.core.sessions.restart(self.session.id)

    async def close(self, number: int) -> None:
        await self.core.sessions.close(self.session.id)

    async def update(self, number: int) -> None:
        status = ("pending", "in_progress", "completed", "failed")[number % 4]
        patch = ToolCallPatch(id=ToolCallId(f"c{number % 5}"), status=status)
        if self.agent.sinks:
            self.agent.say(ev.TextAdded(Role.AGENT, "…"), ev.ToolCallChanged(patch))

    async def time(self, number: int) -> None:
        self.core.clock.advance(number)

    async def settle(self, number: int) -> None:
        await self.core.tasks.settle()

    def check(self) -> None:
        session, transcript = self.session, self.session.transcript
        pending = {a.id for a in self.core.asks.pending(session.id)}
        assert pending == {a.ask for a in transcript.open_asks()}
        assert all(len(a.answers) == (a.id not in pending) for a in self.asks)
        state = session.state
        if state in {State.FAILED, State.CLOSED}:
            assert not pending
            assert not transcript.turn_running
        elif state is not State.STARTING:
            assert (state is State.WAITING_FOR_YOU) == bool(pending)
        if state is State.RUNNING:
            assert transcript.turn_running
        if state in {State.IDLE, State.STARTING}:
            assert not transcript.turn_running
        if state is State.IDLE:
            assert not transcript.queue, "a prompt waits for nothing"
            assert session.agent is not None
        assert self.core.clock.waiting() <= transcript.turn_running + len(pending)
        for number, event in enumerate(self.turns):
            assert isinstance(event, ev.TurnEnded if number % 2 else ev.TurnStarted)
            assert event.turn == number // 2 + 1
        assert transcript.turn_running == len(self.turns) % 2

    async def end(self) -> None:
        await self.core.tasks.settle()
        self.check()
        await self.core.sessions.close(self.session.id)
        await self.core.tasks.settle()
        self.check()
        assert all(len(a.answers) == 1 for a in self.asks)
        host = self.core.host
        for agent in set(host.agents):
            if agent.alive:
                assert host.released.count(agent) == host.agents.count(agent), "agent not released"


ACTIONS = (
    *("prompt", "prompt", "settle", "settle", "answer", "answer", "ask", "ask", "decide", "update"),
    *("withdraw", "cancel", "die", "restart", "close", "time"),
)
steps = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 11)), max_size=40)


@settings(max_examples=300, deadline=None)
@given(steps, st.booleans())
@example([("settle", 0), ("ask", 0), ("prompt", 0), ("decide", 0), ("answer", 1)], True)
@example([("settle", 0), ("prompt", 0), ("cancel", 0), ("time", 6), ("ask", 0)], True)
@example([("settle", 0), ("prompt", 0), ("prompt", 0), ("ask", 0), ("die", 0)], False)
@example([("restart", 0), ("close", 0), ("restart", 0), ("settle", 0)], True)
def test_whatever_happens_the_state_is_right_and_every_ask_is_answered_once(
    actions: list[tuple[str, int]], clever: bool
) -> None:
    async def play() -> None:
        play = Play(clever)
        try:
            for action, number in actions:
                await play.step(action, number)
            await play.end()
        finally:
            await play.core.tasks.close()

    asyncio.run(play())
