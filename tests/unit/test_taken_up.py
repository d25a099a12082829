"""A stored session that goes on: what its agent tells again, what it is told, what is restored."""

from __future__ import annotations

import pytest

from agentls.agent.updates import mode_in_words
from agentls.core import events as ev
from agentls.core import replay
from agentls.core.model import (
    Abilities,
    AgentOption,
    AgentSessionId,
    Block,
    Mode,
    Prompt,
    Role,
    SessionId,
    State,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.session import Session
from agentls.core.store import Head, Stored
from agentls.core.transcript import Ask, Message, Notice, Transcript
from fakes.core import EVERYTHING, Core, FakeAgent, text

LOADS = Abilities(load=True)
HISTORY: list[ev.Event] = [
    ev.TextAdded(Role.USER, "<context>hidden</context>"),
    ev.TextAdded(Role.USER, "Say hello."),
    ev.ToolCallChanged(ToolCallPatch(id=ToolCallId("old"), status="completed")),
    ev.TextAdded(Role.AGENT, "Hello."),
]


def stored(policy: str = "ask", mode: str = "", options: tuple[AgentOption, ...] = ()) -> Stored:
    transcript = Transcript()
    events: list[ev.Event] = [
        ev.TurnStarted(1, Prompt((Block(kind="text", text="Say hello."),))),
        ev.TextAdded(Role.AGENT, "Hello."),
        ev.TurnEnded(1, "end_turn"),
        ev.StateChanged(State.CLOSED),
    ]
    for event in events:
        transcript.apply(event, 500.0)
    transcript.policy, transcript.mode, transcript.options = policy, mode, options
    head = Head(
        id=SessionId("kept"),
        agent="fake",
        cwd="/project",
        created=500.0,
        active=500.0,
        agent_session=AgentSessionId("theirs"),
        agent_session_at=500.0,
        state=State.CLOSED,
        policy=policy,
        mode=mode,
        options=options,
        turn=1,
    )
    return Stored(head=head, transcript=transcript)


def said(session: Session) -> list[str]:
    return [str(e.text) for e in session.transcript.entries if isinstance(e, Message)]


def notices(session: Session) -> list[str]:
    return [e.text for e in session.transcript.entries if isinstance(e, Notice)]


async def test_a_session_is_resumed_where_the_agent_can_and_keeps_what_it_was() -> None:
    core = Core(FakeAgent(EVERYTHING))
    session = core.sessions.adopt(stored(), named=False)
    assert session.state is State.STARTING
    turn = core.sessions.prompt(session.id, text("More."))
    await core.tasks.settle()
    assert core.agent.calls[0] == ("resume_session", "theirs", "/project")
    assert (turn, session.id, session.created) == (2, "kept", 500.0)
    assert [p.text for p in core.agent.prompts] == ["More."]
    assert said(session) == ["Say hello.", "Hello.", "More."]
    assert notices(session) == []


@pytest.mark.parametrize("late", [0, 1, 2, 3, 4])
async def test_a_history_that_is_told_after_the_answer_is_not_stored_twice(late: int) -> None:
    agent = FakeAgent(LOADS)
    agent.history = HISTORY[: len(HISTORY) - late]
    core = Core(agent)
    session = core.sessions.adopt(stored(), named=False)
    core.sessions.prompt(session.id, text("More."))
    await core.tasks.settle()
    for event in HISTORY[len(HISTORY) - late :]:
        assert agent.prompts == [], "the prompt went out before all was told"
        agent.say(event)
        core.clock.advance(replay.SOON / 2)
    core.clock.advance(replay.QUIET)
    assert [p.text for p in agent.prompts] == ["More."]
    agent.say(ev.TextAdded(Role.AGENT, "Going on."))
    assert said(session) == ["Say hello.", "Hello.", "More.", "Going on."]


async def test_an_agent_that_never_stops_telling_does_not_hold_up_the_prompt_for_ever() -> None:
    agent = FakeAgent(LOADS)
    core = Core(agent)
    session = core.sessions.adopt(stored(), named=False)
    core.sessions.prompt(session.id, text("More."))
    await core.tasks.settle()
    for _ in range(200):
        if agent.prompts:
            break
        agent.say(ev.TextAdded(Role.AGENT, "and so on "))
        core.clock.advance(replay.QUIET / 2)
    assert [p.text for p in agent.prompts] == ["More."]


async def test_an_agent_without_memory_is_told_what_was_said_and_the_person_knows() -> None:
    core = Core(FakeAgent(Abilities()))
    session = core.sessions.adopt(stored(), named=False)
    await core.tasks.settle()
    assert notices(session) == [
        "fake does not remember this conversation. Your next prompt tells it what was said."
    ]
    for words in ("/help", "More.", "And more."):
        session.prompt(text(words))
        core.agent.prompts[-1].answer()
    command, first, second = core.agent.prompts
    assert command.text == "/help", "a command must stand at the beginning"
    assert "Hello." in first.text
    assert first.text.endswith("More.")
    assert second.text == "And more."
    assert said(session) == ["Say hello.", "Hello.", "/help", "More.", "And more."]


async def test_the_mode_and_the_options_are_as_they_were() -> None:
    agent = FakeAgent(EVERYTHING)
    agent.modes = (Mode("ask", "Ask"), Mode("plan", "Plan"))
    core = Core(agent)
    session = core.sessions.adopt(stored(mode="plan"), named=False)
    await core.tasks.settle()
    assert ("set_mode", "theirs", "plan") in agent.calls
    assert session.transcript.mode == "plan"


async def test_trust_is_not_restored_and_what_is_stricter_is() -> None:
    core = Core(FakeAgent(), FakeAgent())
    session = core.sessions.adopt(stored(policy="trust"), named=False)
    await core.tasks.settle()
    assert session.transcript.policy == "ask"
    assert session.permission.policy.mode.value == "ask"
    assert "was trusted" in notices(session)[0]
    other = Core().sessions.adopt(stored(policy="read_only"), named=False)
    assert other.permission.policy.mode.value == "read_only"
    await core.tasks.settle()


async def test_a_name_that_a_person_gave_stays() -> None:
    core = Core(FakeAgent(EVERYTHING))
    session = core.sessions.adopt(stored(), named=False)
    await core.tasks.settle()
    session.rename("Mine")
    core.agent.say(ev.TitleChanged("Theirs"))
    assert session.title == "Mine"
    session.rename("")
    assert session.title == "Say hello."
    core.agent.say(ev.TitleChanged("Theirs"))
    assert session.title == "Theirs"


async def test_asks_of_a_session_that_goes_on_have_names_of_their_own() -> None:
    core = Core()
    session = await core.opened()
    core.agent.ask("c1")
    past = [e.ask for e in session.transcript.entries if isinstance(e, Ask)]
    core.agent.die()
    head = Head(id=session.id, agent="fake", cwd="/project", created=1.0, active=1.0)
    again = Core()
    kept = again.sessions.adopt(Stored(head=head, transcript=session.transcript), named=False)
    await again.tasks.settle()
    again.agent.ask("c2")
    asks = [e.ask for e in kept.transcript.entries if isinstance(e, Ask)]
    assert len(set(asks)) == len(asks) == len(past) + 1


async def test_a_session_goes_on_with_another_agent() -> None:
    core = Core(FakeAgent(name="other"))
    origin = stored()
    session = core.sessions.duplicate(origin.head, origin.transcript, "other")
    await core.tasks.settle()
    session.prompt(text("Go on."))
    said_before = [str(e.text) for e in origin.transcript.entries if isinstance(e, Message)]
    assert core.agent.calls[0] == ("new_session", "/project")
    assert "Hello." in core.agent.prompts[0].text
    assert said(session) == ["Say hello.", "Hello.", "Go on."]
    assert said_before == ["Say hello.", "Hello."], "the origin stays as it is"


def test_a_mode_that_is_said_in_words_is_a_mode() -> None:
    words = ev.TextAdded(Role.AGENT, "[MODE_UPDATE] yolo")
    assert mode_in_words(words) == ev.ModeChanged("yolo")
    other = ev.TextAdded(Role.AGENT, "I would say [MODE_UPDATE] yolo")
    assert mode_in_words(other) is other
