"""Quiet sessions and refused prompts, by a clock that the test moves."""

# mypy: disable-error-code="comparison-overlap, unreachable"
# A session changes between two looks at it.

from __future__ import annotations

import pytest

from agentls.core import events as ev
from agentls.core.errors import AuthRequired
from agentls.core.model import Abilities, Role, State
from agentls.core.session import Session
from agentls.core.vigil import Vigil
from fakes.core import EVERYTHING, Core, FakeAgent, text


def watched(core: Core, *, stuck: float = 0, idle: float = 0, busy: bool = False) -> Vigil:
    vigil = Vigil(
        core.sessions, core.clock, stuck_after=stuck, idle_after=idle, busy=lambda _: busy
    )
    vigil.begin()
    return vigil


async def test_a_turn_is_stuck_after_its_time_until_the_agent_speaks() -> None:
    core = Core()
    session = await core.opened()
    watched(core, stuck=60)
    session.prompt(text("Go."))
    sign = session.last_sign
    core.clock.advance(59)
    assert not session.stuck
    core.clock.advance(20)
    assert (session.stuck, session.last_sign, session.state) == (True, sign, State.RUNNING)
    told = len(core.events)
    core.clock.advance(600)
    assert len(core.events) == told, "it is said once"
    core.agent.say(ev.TextAdded(Role.AGENT, "Here."))
    assert (session.stuck, session.transcript.detail) == (False, "")
    assert session.last_sign > sign


async def test_an_idle_session_is_never_stuck_and_0_means_never() -> None:
    core = Core()
    session = await core.opened()
    watched(core, stuck=60)
    core.clock.advance(1000)
    assert not session.stuck
    other = Core()
    watched(other)
    assert other.clock.waiting() == 0


async def test_an_idle_agent_sleeps_and_a_prompt_brings_its_conversation_back() -> None:
    core = Core(FakeAgent(), FakeAgent())
    session = await core.opened()
    first = core.agent
    past = session.agent_session
    watched(core, idle=600)
    core.clock.advance(599)
    assert session.agent is first
    core.clock.advance(60)
    await core.tasks.settle()
    assert (session.agent, session.state, core.host.released) == (None, State.IDLE, [first])
    core.sessions.prompt(session.id, text("Are you there?"))
    await core.tasks.settle()
    assert session.agent_session == past
    assert core.agent.prompts[-1].text == "Are you there?"


@pytest.mark.parametrize("why", ["busy", "cannot come back", "running", "waiting"])
async def test_no_agent_is_stopped_that_does_something_or_could_not_come_back(why: str) -> None:
    core = Core(FakeAgent(Abilities() if why == "cannot come back" else Abilities(load=True)))
    session = await core.opened()
    watched(core, idle=600, busy=why == "busy")
    if why in {"running", "waiting"}:
        session.prompt(text("Go."))
    if why == "waiting":
        core.agent.ask()
    core.clock.advance(1200)
    await core.tasks.settle()
    assert session.agent is core.agent
    assert core.host.released == []


async def test_a_prompt_right_after_falling_asleep_is_answered_though_the_goodbye_is_late() -> None:
    core = Core(FakeAgent(EVERYTHING))
    session = await core.opened()
    agent = core.agent
    goodbye = agent.hold("close_session")
    core.sessions.put_to_sleep(session.id)
    core.sessions.prompt(session.id, text("Are you there?"))
    await core.tasks.settle()
    goodbye.set()
    await core.tasks.settle()
    assert core.agent is agent, "the same process"
    agent.say(ev.TextAdded(Role.AGENT, "Yes."))
    assert str(session.transcript.entries[-1].text) == "Yes."  # type: ignore[union-attr]


async def test_the_end_of_the_vigil_leaves_no_timer() -> None:
    core = Core()
    vigil = watched(core, stuck=60, idle=600)
    core.clock.advance(100)
    vigil.end()
    assert core.clock.waiting() == 0


def sent(core: Core) -> list[str]:
    return [prompt.text for prompt in core.agent.prompts]


async def refused(core: Core) -> Session:
    """The first of two prompts is refused for want of a login."""
    session = await core.opened()
    session.prompt(text("one"))
    session.prompt(text("two"))
    core.agent.prompts[0].answer("failed", AuthRequired("Log in."))
    return session


async def test_after_a_refused_prompt_nothing_is_sent_until_it_is_sent_again_in_order() -> None:
    core = Core()
    session = await refused(core)
    assert sent(core) == ["one"]
    assert isinstance(session.error, AuthRequired)
    assert session.state is State.IDLE
    session.queue_unsent()
    assert session.error is None
    core.agent.prompts[1].answer()
    core.agent.prompts[2].answer()
    assert sent(core) == ["one", "one", "two"]
    session.queue_unsent()
    assert sent(core) == ["one", "one", "two"], "what was answered is not sent again"
