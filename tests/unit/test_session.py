"""One conversation: its turns, its queue, its asks, its state."""

# mypy: disable-error-code="comparison-overlap, unreachable"
# A session changes its state between two looks at it.

from __future__ import annotations

import logging
from typing import Any

import pytest

from agentls.core import events as ev
from agentls.core.errors import AgentFailed, SessionNotReady, UnknownAsk
from agentls.core.model import (
    Block,
    Level,
    Mode,
    Option,
    Prompt,
    Role,
    State,
    TerminalId,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.ports import AskRequest
from agentls.core.session import Session
from agentls.core.transcript import Ask, Message, Notice, ToolCall, TurnEnd
from fakes.core import ALLOW, REJECT, START, Core, FakeAgent, text

C1 = ToolCallId("c1")


def agent_text(piece: str) -> ev.TextAdded:
    return ev.TextAdded(Role.AGENT, piece)


def user_text(piece: str) -> ev.TextAdded:
    return ev.TextAdded(Role.USER, piece)


def call(id: str = "c1", **patch: Any) -> ev.ToolCallChanged:
    return ev.ToolCallChanged(ToolCallPatch(id=ToolCallId(id), **patch))


def said(session: Session, role: Role = Role.AGENT) -> list[tuple[int, str]]:
    return [
        (e.turn, str(e.text))
        for e in session.transcript.entries
        if isinstance(e, Message) and e.role is role
    ]


def ends(session: Session) -> list[tuple[int, str, str]]:
    return [
        (e.turn, e.reason, e.error) for e in session.transcript.entries if isinstance(e, TurnEnd)
    ]


def states(core: Core) -> list[State]:
    return [e.state for e in core.events if isinstance(e, ev.StateChanged)]


def notices(session: Session) -> list[tuple[Level, str]]:
    return [(e.level, e.text) for e in session.transcript.entries if isinstance(e, Notice)]


async def running(core: Core, prompt: str = "Say hello.") -> Session:
    session = await core.opened()
    session.prompt(text(prompt))
    assert session.state is State.RUNNING
    return session


# -- turns and the queue


async def test_a_turn_from_the_prompt_to_its_end() -> None:
    core = Core()
    session = await core.opened()
    assert session.prompt(text("Say hello.")) == 1
    core.agent.say(agent_text("Hel"), agent_text("lo"))
    core.agent.prompts[0].answer()
    assert said(session) == [(1, "Hello")]
    assert said(session, Role.USER) == [(1, "Say hello.")]
    assert ends(session) == [(1, "end_turn", "")]
    assert states(core) == [State.STARTING, State.IDLE, State.RUNNING, State.IDLE]


async def test_a_prompt_sent_while_starting_waits_for_the_agent() -> None:
    core = Core()
    session = core.sessions.open("fake", "/project")
    assert session.prompt(text("a")) == 1
    assert session.prompt(text("b")) == 2
    assert session.transcript.queue == [text("a"), text("b")]
    await core.tasks.settle()
    assert [p.text for p in core.agent.prompts] == ["a"]
    assert session.transcript.queue == [text("b")]


async def test_prompts_sent_while_a_turn_runs_follow_in_order() -> None:
    core = Core()
    session = await running(core, "a")
    assert session.prompt(text("b")) == 2
    assert session.prompt(text("c")) == 3
    for number, prompt in enumerate("abc"):
        assert [p.text for p in core.agent.prompts] == list("abc"[: number + 1])
        core.agent.say(agent_text(prompt.upper()))
        core.agent.prompts[-1].answer()
    assert said(session) == [(1, "A"), (2, "B"), (3, "C")]
    assert session.state is State.IDLE


async def test_a_turn_that_fails_says_why_and_the_next_one_works() -> None:
    core = Core()
    session = await running(core)
    core.agent.prompts[0].answer("failed", AgentFailed("Fake: model overloaded", code=-32603))
    assert ends(session) == [(1, "failed", "Fake: model overloaded")]
    assert session.state is State.IDLE
    session.prompt(text("Again."))
    core.agent.prompts[1].answer()
    assert ends(session)[-1] == (2, "end_turn", "")


async def test_the_first_prompt_gives_the_session_its_title() -> None:
    core = Core()
    session = await running(core, "\n  Mend the tests  \nplease")
    assert session.title == "Mend the tests"
    core.agent.say(ev.TitleChanged("Tests"))
    core.agent.prompts[0].answer()
    session.prompt(text("and the docs"))
    assert session.title == "Tests"


async def test_a_long_title_is_cut() -> None:
    core = Core()
    session = await running(core, "x" * 200)
    assert len(session.title) == 80
    assert session.title.endswith("…")


async def test_a_stale_answer_of_an_earlier_turn_is_ignored() -> None:
    core = Core()
    session = await running(core, "a")
    first = core.agent.prompts[0]
    first.answer()
    session.prompt(text("b"))
    first.answer("refusal")
    assert session.state is State.RUNNING
    assert ends(session) == [(1, "end_turn", "")]
    core.agent.prompts[1].answer()
    core.agent.prompts[1].answer("refusal")
    assert ends(session) == [(1, "end_turn", ""), (2, "end_turn", "")]


async def test_what_the_agent_says_before_between_and_after_turns_is_kept() -> None:
    core = Core()
    session = await core.opened()
    core.agent.say(agent_text("before"))
    for turn in (1, 2):
        session.prompt(text(f"prompt {turn}"))
        core.agent.say(agent_text(f"during {turn}"))
        core.agent.prompts[-1].answer()
        core.agent.say(agent_text(f"after {turn}"))
    assert said(session) == [
        (0, "before"),
        (1, "during 1"),
        (1, "after 1"),
        (2, "during 2"),
        (2, "after 2"),
    ]


async def test_output_after_the_turn_reaches_the_call_of_that_turn() -> None:
    core = Core()
    session = await running(core)
    core.agent.say(call(status="in_progress"))
    core.agent.prompts[0].answer("cancelled")
    core.agent.say(
        ev.OutputAdded(C1, TerminalId("t"), "tick"), call(status="in_progress", title="late")
    )
    entry = session.transcript.call(C1)
    assert entry is not None
    assert (entry.status, entry.title, entry.turn) == ("cancelled", "late", 1)
    assert str(entry.terminals[TerminalId("t")].text) == "tick"


# -- the echo of the prompt


async def test_the_echo_of_the_prompt_is_dropped_whole_or_in_pieces() -> None:
    core = Core()
    session = await running(core, "Say hello.")
    core.agent.say(user_text("Say hello."), agent_text("Hello."))
    core.agent.prompts[0].answer()
    session.prompt(text("Say it again."))
    core.agent.say(user_text("Say it"), user_text(" again."), agent_text("Hello."))
    assert said(session, Role.USER) == [(1, "Say hello."), (2, "Say it again.")]


async def test_other_text_of_the_user_is_kept() -> None:
    core = Core()
    session = await running(core, "Say hello.")
    core.agent.say(agent_text("…"), user_text("<reminder>"), agent_text("…"))
    assert said(session, Role.USER) == [(1, "Say hello."), (1, "<reminder>")]


async def test_the_prompt_repeated_a_second_time_is_kept() -> None:
    core = Core()
    session = await running(core, "again")
    core.agent.say(user_text("again"), agent_text("…"), user_text("again"))
    assert said(session, Role.USER) == [(1, "again"), (1, "again")]


async def test_the_prompt_repeated_after_its_turn_is_kept() -> None:
    core = Core()
    session = await running(core, "again")
    core.agent.prompts[0].answer()
    core.agent.say(user_text("again"))
    assert said(session, Role.USER) == [(1, "again"), (1, "again")]


# -- asks


async def test_an_ask_waits_for_you_and_the_answer_lets_the_turn_go_on() -> None:
    core = Core()
    session = await running(core)
    ask = core.agent.ask()
    assert session.state is State.WAITING_FOR_YOU
    assert [(a.id, a.title) for a in core.asks.pending(session.id)] == [(ask.id, "run c1")]
    core.asks.decide(ask.id, "once", "you")
    assert ask.answer.option == ALLOW
    assert session.state is State.RUNNING


async def test_an_ask_may_come_before_its_tool_call() -> None:
    core = Core()
    session = await running(core)
    core.agent.ask("ghost")
    kinds = [type(e) for e in session.transcript.entries]
    assert kinds.index(ToolCall) < kinds.index(Ask)
    core.agent.say(call("ghost", title="Find a ghost"))
    assert sum(kind is ToolCall for kind in map(type, session.transcript.entries)) == 1


async def test_an_ask_without_a_title_has_one_all_the_same() -> None:
    core = Core()
    session = await running(core)
    core.agent.say(call("c1", title=""))
    core.agent.ask("c1")
    assert core.asks.pending()[0].title == "run c1"
    [sink] = core.agent.sinks.values()
    sink.ask(AskRequest(ToolCallPatch(id=ToolCallId("bare")), (), lambda _: None))
    assert core.asks.pending()[1].title
    assert session.state is State.WAITING_FOR_YOU


async def test_several_asks_wait_until_the_last_is_answered() -> None:
    core = Core()
    session = await running(core)
    first, second = core.agent.ask("c1"), core.agent.ask("c2")
    core.asks.decide(second.id, "no", "you")
    assert session.state is State.WAITING_FOR_YOU
    core.asks.decide(first.id, "once", "you")
    assert session.state is State.RUNNING
    assert core.agent.calls[-2:] == [("answer", "c2", "no"), ("answer", "c1", "once")]


async def test_the_agent_may_take_an_ask_back() -> None:
    core = Core()
    session = await running(core)
    ask = core.agent.ask()
    session.withdraw(ask.id)
    assert ask.answer.option is None
    assert session.state is State.RUNNING
    session.withdraw(ask.id)
    with pytest.raises(UnknownAsk):
        core.asks.decide(ask.id, "once", "you")
    assert len(ask.answers) == 1


async def test_the_end_of_a_turn_ends_its_asks() -> None:
    core = Core()
    session = await running(core)
    ask = core.agent.ask()
    core.agent.prompts[0].answer()
    assert ask.answer.option is None
    assert session.state is State.IDLE


async def test_an_ask_between_turns_waits_for_you_and_does_not_hold_up_prompts() -> None:
    core = Core()
    session = await core.opened()
    ask = core.agent.ask()
    assert session.state is State.WAITING_FOR_YOU
    session.prompt(text("go on"))
    assert [p.text for p in core.agent.prompts] == ["go on"]
    assert session.state is State.WAITING_FOR_YOU
    core.asks.decide(ask.id, "once", "you")
    assert session.state is State.RUNNING


async def test_an_ask_between_turns_leaves_the_session_idle_once_it_is_answered() -> None:
    core = Core()
    session = await core.opened()
    ask = core.agent.ask()
    core.asks.decide(ask.id, "no", "you")
    assert session.state is State.IDLE


async def test_an_ask_that_came_before_the_session_was_named_waits_for_you() -> None:
    core = Core()
    agent = FakeAgent()
    core.host.prepared.append(agent)
    session = core.sessions.load("fake", "/project", "past")  # type: ignore[arg-type]
    gate = agent.hold("load_session")
    await core.tasks.settle()
    ask = agent.ask()
    assert session.state is State.STARTING
    gate.set()
    await core.tasks.settle()
    assert session.state is State.WAITING_FOR_YOU
    core.asks.decide(ask.id, "once", "you")
    assert session.state is State.IDLE


# -- cancel


async def test_cancel_answers_every_ask_before_it_tells_the_agent() -> None:
    core = Core()
    session = await running(core)
    core.agent.ask("c1")
    core.agent.ask("c2")
    core.agent.calls.clear()
    session.cancel()
    assert core.agent.calls == [
        ("answer", "c1", None),
        ("answer", "c2", None),
        ("cancel", session.agent_session),
    ]
    assert session.state is State.RUNNING
    core.agent.prompts[0].answer("cancelled")
    assert session.state is State.IDLE
    assert core.clock.waiting() == 0


async def test_an_ask_that_arrives_after_cancel_is_answered_at_once() -> None:
    core = Core()
    session = await running(core)
    session.cancel()
    ask = core.agent.ask()
    assert ask.answer.option is None
    assert session.state is State.RUNNING
    core.agent.prompts[0].answer("cancelled")
    session.prompt(text("on"))
    later = core.agent.ask()
    assert later.answers == []
    assert session.state is State.WAITING_FOR_YOU


async def test_cancel_gives_back_the_prompts_that_wait() -> None:
    core = Core()
    session = await running(core, "a")
    session.prompt(text("b"))
    session.prompt(text("c"))
    assert session.cancel() == [text("b"), text("c")]
    core.agent.prompts[0].answer("cancelled")
    assert [p.text for p in core.agent.prompts] == ["a"]
    assert session.transcript.queue == []


async def test_cancel_twice_tells_the_agent_once() -> None:
    core = Core()
    session = await running(core)
    session.cancel()
    session.cancel()
    assert core.agent.methods().count("cancel") == 1
    assert core.clock.waiting() == 1


async def test_cancel_without_a_turn_ends_asks_and_tells_the_agent_nothing() -> None:
    core = Core()
    session = await core.opened()
    ask = core.agent.ask()
    assert session.cancel() == []
    assert ask.answer.option is None
    assert session.state is State.IDLE
    assert "cancel" not in core.agent.methods()
    assert core.clock.waiting() == 0


async def test_what_the_agent_says_while_it_stops_is_kept() -> None:
    core = Core()
    session = await running(core)
    session.cancel()
    core.agent.say(agent_text("stopping"))
    core.agent.prompts[0].answer("cancelled")
    assert said(session) == [(1, "stopping")]
    assert ends(session) == [(1, "cancelled", "")]


async def test_a_cancel_that_is_never_answered_fails_the_session_after_the_grace() -> None:
    core = Core(cancel_grace=7.0)
    session = await running(core)
    core.agent.say(call(status="in_progress"))
    session.cancel()
    core.clock.advance(6.9)
    assert session.state is State.RUNNING
    core.clock.advance(0.2)
    assert session.state is State.FAILED
    sentence = "fake did not stop within 7 seconds. Send another prompt to restart it."
    assert ends(session) == [(1, "cancelled", sentence)]
    assert notices(session) == [(Level.ERROR, sentence)]
    assert session.transcript.detail == sentence
    assert session.transcript.open_calls() == []
    core.agent.prompts[0].answer("cancelled")
    assert ends(session) == [(1, "cancelled", sentence)], "the late answer ended a turn again"


async def test_an_ask_in_a_session_that_failed_is_answered_at_once() -> None:
    core = Core(cancel_grace=1.0)
    session = await running(core)
    session.cancel()
    core.clock.advance(2.0)
    ask = core.agent.ask()
    assert ask.answer.option is None
    assert session.state is State.FAILED


# -- tool calls at the end of a turn


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("end_turn", "unfinished"),
        ("max_tokens", "unfinished"),
        ("refusal", "unfinished"),
        ("cancelled", "cancelled"),
        ("failed", "cancelled"),
    ],
)
async def test_calls_left_open_are_closed_at_the_end_of_the_turn(reason: str, status: str) -> None:
    core = Core()
    session = await running(core)
    core.agent.say(call("open", status="in_progress"), call("silent"))
    core.agent.say(call("done", status="completed"), call("broken", status="failed"))
    ask = core.agent.ask("refused")
    core.asks.decide(ask.id, "no", "you")
    core.agent.prompts[0].answer(reason)
    found = {e.call: e.status for e in session.transcript.entries if isinstance(e, ToolCall)}
    assert found == {
        "open": status,
        "silent": status,
        "done": "completed",
        "broken": "failed",
        "refused": "rejected",
    }
    assert session.transcript.open_calls() == []


async def test_an_option_of_an_unknown_kind_does_not_count_as_allowed() -> None:
    core = Core()
    session = await running(core)
    ask = core.agent.ask("c1", [Option("go", "Go ahead", "proceed")])
    core.asks.decide(ask.id, "go", "you")
    core.agent.prompts[0].answer()
    entry = session.transcript.call(C1)
    assert entry is not None
    assert entry.status == "rejected"
    assert not ask.answer.allows


# -- agent gone, closed


async def test_death_in_a_turn_ends_everything_that_waits_and_keeps_what_was_said() -> None:
    core = Core()
    session = await running(core)
    session.prompt(text("next"))
    core.agent.say(agent_text("Working"))
    ask = core.agent.ask()
    error = core.agent.die()
    assert ask.answer.option is None
    assert ask.answer.by == "agent gone"
    assert session.state is State.FAILED
    assert session.error is error
    assert said(session) == [(1, "Working")]
    assert ends(session) == [(1, "failed", str(error))]
    assert notices(session) == [(Level.ERROR, str(error))]
    assert session.transcript.open_calls() == []
    assert session.transcript.queue == [text("next")], "a prompt was sent to a dead agent"


async def test_death_between_turns_is_told_once_and_closes_what_is_open() -> None:
    core = Core()
    session = await core.opened()
    core.agent.say(call("late", status="in_progress"))
    core.agent.die()
    assert session.state is State.FAILED
    assert ends(session) == []
    assert len(notices(session)) == 1
    assert session.transcript.open_calls() == []


async def test_a_closed_session_takes_no_prompts_and_allows_nothing() -> None:
    core = Core()
    session = await running(core)
    ask = core.agent.ask()
    agent = core.agent
    session.close()
    assert session.state is State.CLOSED
    assert (ask.answer.option, ask.answer.by) == (None, "session closed")
    assert ends(session) == [(1, "cancelled", "The session was closed.")]
    assert agent.methods()[-2:] == ["answer", "cancel"], "the agent was not told to stop"
    with pytest.raises(SessionNotReady, match="closed"):
        session.prompt(text("more"))
    assert agent.ask("late").answer.option is None
    agent.die()
    agent.prompts[0].answer()
    session.close()
    assert states(core)[-1] is State.CLOSED
    assert len(ends(session)) == 1


async def test_a_closed_session_stays_as_it_was_closed() -> None:
    core = Core()
    session = await running(core)
    session.close()
    entries, seen = list(session.transcript.entries), len(core.events)
    core.agent.say(ev.TextAdded(Role.AGENT, "late"), ev.TitleChanged("late"))
    assert (session.transcript.entries, len(core.events)) == (entries, seen)


async def test_closing_after_cancel_does_not_tell_the_agent_twice() -> None:
    core = Core()
    session = await running(core)
    session.cancel()
    session.close()
    assert core.agent.methods().count("cancel") == 1
    assert core.clock.waiting() == 0


# -- modes and options


async def test_modes_and_options_are_set_at_the_agent_and_shown() -> None:
    agent = FakeAgent()
    agent.modes = (Mode("ask", "Ask"), Mode("plan", "Plan"))
    core = Core(agent)
    session = await core.opened()
    assert (session.transcript.mode, session.transcript.modes) == ("ask", agent.modes)
    await session.set_mode("plan")
    assert session.transcript.mode == "plan"
    options = await session.set_option("model", "large")
    assert session.transcript.options == options
    assert agent.calls[-2:] == [
        ("set_mode", "s1", "plan"),
        ("set_option", "s1", "model", "large"),
    ]


async def test_a_mode_that_the_agent_refuses_is_not_shown() -> None:
    core = Core()
    session = await core.opened()
    core.agent.failures["set_mode"] = AgentFailed("Fake: no such mode")
    with pytest.raises(AgentFailed):
        await session.set_mode("bogus")
    assert session.transcript.mode == ""


async def test_a_session_that_is_not_ready_says_so() -> None:
    core = Core()
    session = core.sessions.open("fake", "/project")
    with pytest.raises(SessionNotReady, match="starting"):
        await session.set_mode("plan")
    await core.tasks.settle()


# -- who looks on


async def test_observers_see_every_event_with_its_entry_and_time() -> None:
    core = Core()
    session = await running(core)
    seen: list[tuple[Any, Any]] = []
    core.sessions.observers.append(lambda s, event, entry: seen.append((event, entry)))
    core.clock.advance(5.0)
    core.agent.say(agent_text("Hello"), ev.ModeChanged("plan"))
    assert seen == [
        (agent_text("Hello"), session.transcript.entries[-1]),
        (ev.ModeChanged("plan"), None),
    ]
    assert session.transcript.entries[-1].at == START + 5.0
    assert session.last_sign == START + 5.0


async def test_an_observer_that_fails_stops_neither_the_session_nor_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    core = Core()

    def fails(session: Session, event: ev.Event, entry: Any) -> None:
        raise RuntimeError("observer")

    core.sessions.observers.insert(0, fails)
    with caplog.at_level(logging.CRITICAL):
        session = await running(core)
        ask = core.agent.ask()
        core.asks.decide(ask.id, "no", "you")
        core.agent.prompts[0].answer()
    assert session.state is State.IDLE
    assert ask.answer.option == REJECT
    assert states(core)[-1] is State.IDLE


async def test_an_observer_may_answer_an_ask_while_it_is_being_told() -> None:
    core = Core()

    def decides(session: Session, event: ev.Event, entry: Any) -> None:
        if isinstance(event, ev.AskOpened):
            core.asks.decide(event.ask, "no", "a rule")

    core.sessions.observers.append(decides)
    session = await running(core)
    ask = core.agent.ask()
    assert (ask.answer.option, ask.answer.by) == (REJECT, "a rule")
    assert session.state is State.RUNNING
    assert session.transcript.open_asks() == []


async def test_a_prompt_with_attachments_goes_to_the_agent_as_it_is() -> None:
    core = Core()
    session = await core.opened()
    blocks = (Block(kind="text", text="Look"), Block(kind="image", data="AA==", mime="image/png"))
    session.prompt(Prompt(blocks))
    assert core.agent.prompts[0].blocks == blocks
