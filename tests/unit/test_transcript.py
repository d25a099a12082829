"""The reducer: what a session looks like after any events, and what it costs to get there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import events as ev
from agentls.core.model import (
    AgentOption,
    AskId,
    Block,
    Decision,
    Diff,
    Level,
    Location,
    Mode,
    PlanStep,
    Prompt,
    QuestionId,
    Reply,
    Role,
    SlashCommand,
    State,
    TerminalId,
    ToolCallId,
    ToolCallPatch,
    Usage,
)
from agentls.core.transcript import (
    Attachment,
    Entry,
    Message,
    Other,
    Plan,
    ToolCall,
    Transcript,
    TurnEnd,
)
from fakes.core import ALLOW, REJECT, text

C1, T1 = ToolCallId("c1"), TerminalId("t1")
CORE = str(Path(ev.__file__).parent)


def folded(*events: ev.Event) -> Transcript:
    transcript = Transcript()
    for number, event in enumerate(events):
        transcript.apply(event, float(number))
    return transcript


def said(role: Role, piece: str, message: str = "") -> ev.TextAdded:
    return ev.TextAdded(role, piece, message)


def agent(piece: str, message: str = "") -> ev.TextAdded:
    return said(Role.AGENT, piece, message)


def call(**patch: Any) -> ev.ToolCallChanged:
    return ev.ToolCallChanged(ToolCallPatch(id=patch.pop("id", C1), **patch))


def messages(transcript: Transcript) -> list[tuple[str, str, int]]:
    return [
        (e.role.value, str(e.text), e.turn) for e in transcript.entries if isinstance(e, Message)
    ]


def the_call(transcript: Transcript) -> ToolCall:
    [entry] = [e for e in transcript.entries if isinstance(e, ToolCall)]
    return entry


# -- what was said


def test_pieces_of_one_message_are_joined() -> None:
    assert messages(folded(agent("Hel"), agent("lo"))) == [("agent", "Hello", 0)]


def test_another_role_another_message_id_another_turn_begins_a_new_message() -> None:
    transcript = folded(
        said(Role.THOUGHT, "hm"),
        agent("a"),
        agent("b", "m1"),
        agent("c", "m2"),
        agent("d"),
        ev.TurnStarted(1, text("e")),
        agent("f"),
    )
    assert messages(transcript) == [
        ("thought", "hm", 0),
        ("agent", "a", 0),
        ("agent", "b", 0),
        ("agent", "c", 0),
        ("agent", "d", 0),
        ("user", "e", 1),
        ("agent", "f", 1),
    ]


@pytest.mark.parametrize(
    "between",
    [
        call(title="x"),
        ev.BlockAdded(Role.AGENT, Block(kind="image")),
        ev.NoticeShown(Level.INFO, "n"),
        ev.OtherUpdate("k", {}),
        ev.PlanChanged((PlanStep("p"),)),
        ev.AskOpened(AskId("a"), C1, "t", (ALLOW,)),
    ],
)
def test_what_comes_between_two_pieces_stays_between_them(between: ev.Event) -> None:
    transcript = folded(agent("a"), between, agent("b"))
    assert [type(e) is Message for e in transcript.entries] == [True, False, True]


def test_what_adds_no_entry_does_not_split_a_message() -> None:
    transcript = folded(
        agent("a"),
        ev.UsageChanged(Usage(context_used=1)),
        ev.ModeChanged("plan"),
        ev.StateChanged(State.RUNNING),
        agent("b"),
    )
    assert messages(transcript) == [("agent", "ab", 0)]


def test_an_empty_piece_opens_no_message_and_splits_none() -> None:
    assert folded(agent("")).entries == []
    transcript = folded(agent("a"), agent(""), said(Role.THOUGHT, ""), agent("b"))
    assert messages(transcript) == [("agent", "ab", 0)]


roles = st.sampled_from(list(Role))
pieces = st.lists(st.tuples(roles, st.sampled_from(["", "m1", "m2"]), st.text(max_size=3)))


def joined(stream: list[tuple[Role, str, str]]) -> Iterator[tuple[Role, str, str]]:
    held: tuple[Role, str, str] | None = None
    for role, message, piece in stream:
        if held is not None and held[:2] == (role, message):
            held = (role, message, held[2] + piece)
        else:
            if held is not None:
                yield held
            held = (role, message, piece)
    if held is not None:
        yield held


@settings(deadline=None)
@given(pieces)
def test_pieces_one_by_one_give_the_same_as_joined_beforehand(
    stream: list[tuple[Role, str, str]],
) -> None:
    one_by_one = folded(*(said(role, piece, id) for role, id, piece in stream))
    beforehand = folded(*(said(role, piece, id) for role, id, piece in joined(stream)))
    assert messages(one_by_one) == messages(beforehand)


@settings(deadline=None)
@given(pieces)
def test_no_text_is_ever_lost(stream: list[tuple[Role, str, str]]) -> None:
    transcript = folded(*(said(role, piece, id) for role, id, piece in stream))
    for role in Role:
        expected = "".join(piece for r, _, piece in stream if r is role)
        assert "".join(t for r, t, _ in messages(transcript) if r == role.value) == expected
    assert all(t for _, t, _ in messages(transcript)), "a message is empty"


def test_a_prompt_is_the_users_message_followed_by_its_attachments() -> None:
    image = Block(kind="image", data="AA==", mime="image/png")
    prompt = Prompt((Block(kind="text", text="a"), image, Block(kind="text", text="b")))
    transcript = folded(ev.TurnStarted(1, prompt))
    message, attachment = transcript.entries
    assert messages(transcript) == [("user", "a\nb", 1)]
    assert isinstance(attachment, Attachment)
    assert (attachment.block, attachment.role) == (image, Role.USER)
    assert message.turn == attachment.turn == 1


def test_a_prompt_of_attachments_alone_makes_no_empty_message() -> None:
    prompt = Prompt((Block(kind="link", uri="file:///x"),))
    assert [type(e) for e in folded(ev.TurnStarted(1, prompt)).entries] == [Attachment]


# -- tool calls


def test_an_update_before_the_announcement_makes_the_call() -> None:
    transcript = folded(call(status="in_progress"), call(title="Run", kind="execute"))
    entry = the_call(transcript)
    assert (entry.title, entry.kind, entry.status) == ("Run", "execute", "in_progress")
    assert transcript.open_calls() == [entry]


def test_an_announcement_repeated_changes_the_same_call() -> None:
    transcript = folded(
        call(title="Run", status="pending"), agent("…"), call(title="Run it", status="pending")
    )
    assert the_call(transcript).title == "Run it"
    assert len(transcript.entries) == 2


def test_what_is_over_stays_over_but_may_end_otherwise() -> None:
    transcript = folded(call(status="cancelled"), call(status="in_progress"), call(title="late"))
    entry = the_call(transcript)
    assert (entry.status, entry.title) == ("cancelled", "late")
    assert transcript.open_calls() == []
    transcript.apply(call(status="failed"), 9.0)
    assert entry.status == "failed"


def test_a_status_nobody_knows_is_kept_and_ends_the_call() -> None:
    transcript = folded(call(status="evaporated"))
    assert the_call(transcript).status == "evaporated"
    assert transcript.open_calls() == []


FIELDS: dict[str, Any] = {
    "title": "Run",
    "kind": "execute",
    "status": "in_progress",
    "name": "Bash",
    "content": (Diff("/f", None, "x"), Block(kind="text", text="t")),
    "locations": (Location("/f", 3),),
    "input": {"command": "ls"},
    "output": [1],
}


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(sorted(FIELDS)), st.integers(0, 2))))
def test_fields_that_are_not_mentioned_are_kept(patches: list[dict[str, int]]) -> None:
    values: dict[str, list[Any]] = {
        name: ["pending", "in_progress", "in_progress"] if name == "status" else [value, value, 0]
        for name, value in FIELDS.items()
    }
    expected: dict[str, Any] = {}
    transcript = folded(call())
    for patch in patches:
        chosen = {name: values[name][which] for name, which in patch.items()}
        expected |= chosen
        transcript.apply(call(**chosen), 0.0)
    entry = the_call(transcript)
    assert {name: getattr(entry, name) for name in expected} == expected
    untouched = ToolCall(id=entry.id, at=entry.at, turn=0, call=C1)
    for name in FIELDS.keys() - expected.keys():
        assert getattr(entry, name) == getattr(untouched, name)


events_of_calls = st.lists(
    st.builds(
        lambda id, status: call(id=ToolCallId(id), **({"status": status} if status else {})),
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(["", "pending", "in_progress", "completed", "failed"]),
    )
)


@settings(deadline=None)
@given(events_of_calls)
def test_the_open_calls_are_those_whose_status_is_open(stream: list[ev.Event]) -> None:
    transcript = folded(*stream)
    calls = [e for e in transcript.entries if isinstance(e, ToolCall)]
    assert {c.call for c in transcript.open_calls()} == {c.call for c in calls if c.is_open}
    assert len({c.call for c in calls}) == len(calls), "one call has two entries"


def test_output_of_a_command_grows_and_ends() -> None:
    transcript = folded(
        ev.OutputAdded(C1, T1, ""),
        ev.OutputAdded(C1, T1, "one\n"),
        ev.OutputAdded(C1, T1, "two\n"),
        ev.OutputEnded(C1, T1, 3),
    )
    output = the_call(transcript).terminals[T1]
    assert str(output.text) == "one\ntwo\n"
    assert (output.ended, output.exit_code, output.signal) == (True, 3, "")


def test_output_that_is_whole_replaces_what_was_there() -> None:
    transcript = folded(
        ev.OutputAdded(C1, T1, "one"), ev.OutputAdded(C1, T1, "one two", whole=True)
    )
    assert str(the_call(transcript).terminals[T1].text) == "one two"


def test_output_after_the_end_of_the_call_is_kept() -> None:
    transcript = folded(call(status="cancelled"), ev.OutputAdded(C1, T1, "still here"))
    assert str(the_call(transcript).terminals[T1].text) == "still here"
    assert the_call(transcript).status == "cancelled"


def test_two_terminals_of_one_call_are_kept_apart() -> None:
    transcript = folded(ev.OutputAdded(C1, T1, "a"), ev.OutputAdded(C1, TerminalId("t2"), "b"))
    terminals = the_call(transcript).terminals
    assert {id: str(output.text) for id, output in terminals.items()} == {"t1": "a", "t2": "b"}


# -- plans


def plans(transcript: Transcript) -> list[tuple[int, str, list[str]]]:
    return [
        (e.turn, e.plan, [s.text for s in e.steps])
        for e in transcript.entries
        if isinstance(e, Plan)
    ]


def test_a_plan_is_replaced_within_a_turn_and_new_in_the_next() -> None:
    transcript = folded(
        ev.TurnStarted(1, text("go")),
        ev.PlanChanged((PlanStep("a"),)),
        agent("…"),
        ev.PlanChanged((PlanStep("a"), PlanStep("b"))),
        ev.TurnEnded(1, "end_turn"),
        ev.TurnStarted(2, text("on")),
        ev.PlanChanged((PlanStep("c"),)),
    )
    assert plans(transcript) == [(1, "", ["a", "b"]), (2, "", ["c"])]


def test_plans_of_different_names_live_side_by_side() -> None:
    transcript = folded(
        ev.PlanChanged((PlanStep("a"),), "p1"),
        ev.PlanChanged((PlanStep("b"),), "p2"),
        ev.PlanChanged((PlanStep("c"),), "p1"),
    )
    assert plans(transcript) == [(0, "p1", ["c"]), (0, "p2", ["b"])]


# -- asks


def test_an_ask_is_open_until_it_is_settled() -> None:
    transcript = folded(call(title="Run"), ev.AskOpened(AskId("a"), C1, "Run", (ALLOW, REJECT)))
    [entry] = transcript.open_asks()
    decision = Decision(option=ALLOW, by="you")
    assert transcript.apply(ev.AskSettled(AskId("a"), decision), 5.0) is entry
    assert transcript.open_asks() == []
    assert entry.decision == decision
    assert not the_call(transcript).rejected


def test_a_rejected_ask_marks_its_call_and_a_later_yes_unmarks_it() -> None:
    transcript = folded(
        call(),
        ev.AskOpened(AskId("a"), C1, "Run", (ALLOW, REJECT)),
        ev.AskSettled(AskId("a"), Decision(option=REJECT, by="you")),
    )
    assert the_call(transcript).rejected
    transcript.apply(ev.AskOpened(AskId("b"), C1, "Run", (ALLOW,)), 5.0)
    transcript.apply(ev.AskSettled(AskId("b"), Decision(option=ALLOW, by="you")), 5.0)
    assert not the_call(transcript).rejected


def test_an_ask_that_was_withdrawn_says_nothing_about_its_call() -> None:
    transcript = folded(
        call(),
        ev.AskOpened(AskId("a"), C1, "Run", (REJECT,)),
        ev.AskSettled(AskId("a"), Decision(option=None, by="turn over")),
    )
    assert not the_call(transcript).rejected


def test_settling_an_ask_that_is_not_open_changes_nothing() -> None:
    transcript = folded(call())
    settled = ev.AskSettled(AskId("a"), Decision(option=REJECT, by="you"))
    assert transcript.apply(settled, 5.0) is None
    assert not the_call(transcript).rejected


# -- turns, and the session as a whole


def test_the_end_of_a_turn_tells_how_long_it_took() -> None:
    transcript = Transcript()
    transcript.apply(ev.TurnStarted(1, text("go")), 100.0)
    usage = Usage(total_tokens=5)
    entry = transcript.apply(ev.TurnEnded(1, "refusal", "why", usage), 102.5)
    assert isinstance(entry, TurnEnd)
    assert (entry.seconds, entry.reason, entry.error, entry.usage, entry.turn) == (
        2.5,
        "refusal",
        "why",
        usage,
        1,
    )
    assert not transcript.turn_running


def test_a_clock_that_jumps_back_makes_no_negative_time() -> None:
    transcript = Transcript()
    transcript.apply(ev.TurnStarted(1, text("go")), 100.0)
    entry = transcript.apply(ev.TurnEnded(1, "end_turn"), 50.0)
    assert isinstance(entry, TurnEnd)
    assert entry.seconds == 0.0


def test_queued_prompts_leave_the_queue_when_their_turn_starts() -> None:
    transcript = folded(ev.PromptQueued(text("a")), ev.PromptQueued(text("b")))
    transcript.apply(ev.TurnStarted(1, text("a")), 3.0)
    assert transcript.queue == [text("b")]
    transcript.apply(ev.QueueCleared(), 4.0)
    assert transcript.queue == []


def test_the_settings_of_the_session_are_the_latest() -> None:
    mode, option = Mode("plan", "Plan"), AgentOption(id="m", name="M", kind="select", value="x")
    transcript = folded(
        ev.StateChanged(State.FAILED, "why"),
        ev.TitleChanged("A title"),
        ev.ModesChanged((mode,), "plan"),
        ev.ModeChanged("ask"),
        ev.OptionsChanged((option,)),
        ev.CommandsChanged((SlashCommand("help"),)),
        ev.UsageChanged(Usage(context_used=3)),
    )
    assert transcript.entries == []
    assert (transcript.state, transcript.detail) == (State.FAILED, "why")
    assert (transcript.title, transcript.modes, transcript.mode) == ("A title", (mode,), "ask")
    assert transcript.options == (option,)
    assert transcript.commands == (SlashCommand("help"),)
    assert transcript.usage == Usage(context_used=3)


def test_an_update_of_an_unknown_kind_is_kept_whole() -> None:
    raw = {"sessionUpdate": "weather", "sky": ["blue"]}
    [entry] = folded(ev.OtherUpdate("weather", raw)).entries
    assert isinstance(entry, Other)
    assert (entry.kind, entry.raw) == ("weather", raw)


SAMPLES: dict[type, ev.Event] = {
    ev.TextAdded: agent("a"),
    ev.BlockAdded: ev.BlockAdded(Role.AGENT, Block(kind="hologram", raw={"type": "hologram"})),
    ev.ToolCallChanged: call(title="t", status="in_progress"),
    ev.OutputAdded: ev.OutputAdded(C1, T1, "x"),
    ev.OutputEnded: ev.OutputEnded(C1, T1, 0),
    ev.PlanChanged: ev.PlanChanged((PlanStep("p"),)),
    ev.AskOpened: ev.AskOpened(AskId("a"), C1, "t", (ALLOW,)),
    ev.AskSettled: ev.AskSettled(AskId("a"), Decision(option=ALLOW, by="you")),
    ev.QuestionAsked: ev.QuestionAsked(QuestionId("q"), "which?", ("a", "b")),
    ev.QuestionSettled: ev.QuestionSettled(QuestionId("q"), Reply(text="a", by="you")),
    ev.TurnStarted: ev.TurnStarted(1, text("go")),
    ev.TurnEnded: ev.TurnEnded(1, "end_turn"),
    ev.PromptQueued: ev.PromptQueued(text("q")),
    ev.QueueCleared: ev.QueueCleared(),
    ev.PolicyChanged: ev.PolicyChanged("trust"),
    ev.StateChanged: ev.StateChanged(State.IDLE),
    ev.TitleChanged: ev.TitleChanged("t"),
    ev.ModesChanged: ev.ModesChanged((), ""),
    ev.ModeChanged: ev.ModeChanged("m"),
    ev.OptionsChanged: ev.OptionsChanged(()),
    ev.CommandsChanged: ev.CommandsChanged(()),
    ev.UsageChanged: ev.UsageChanged(Usage()),
    ev.NoticeShown: ev.NoticeShown(Level.INFO, "n"),
    ev.OtherUpdate: ev.OtherUpdate("k", {}),
}


def test_every_kind_of_event_can_be_applied() -> None:
    assert set(SAMPLES) == set(get_args(ev.Event))
    for event in SAMPLES.values():
        folded(event)


@settings(deadline=None)
@given(st.lists(st.sampled_from(list(SAMPLES.values()))))
def test_any_events_in_any_order_keep_the_entries_numbered_and_reported(
    stream: list[ev.Event],
) -> None:
    transcript = Transcript()
    for event in stream:
        before = len(transcript.entries)
        entry = transcript.apply(event, 0.0)
        if len(transcript.entries) > before:
            assert entry is transcript.entries[-1], "a new entry was not reported"
    assert [e.id for e in transcript.entries] == [
        f"e{number + 1}" for number in range(len(transcript.entries))
    ]


# -- what it costs


class Unwalkable(list[Entry]):
    """Entries that can be added and looked up, but neither walked nor searched."""

    def __iter__(self) -> Iterator[Entry]:
        raise AssertionError("all entries were walked")

    def __contains__(self, _: object) -> bool:
        raise AssertionError("all entries were searched")


def big(make: Callable[[int], ev.Event], count: int) -> Transcript:
    transcript = folded(*SAMPLES.values())
    for number in range(count):
        transcript.apply(make(number), 0.0)
    transcript.entries = Unwalkable(transcript.entries)
    return transcript


def lines_run(transcript: Transcript, event: ev.Event) -> int:
    """How many lines of Python it takes to apply an event."""
    count = 0

    def trace(frame: FrameType, what: str, arg: object) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(CORE):
            return None  # somebody's reaction to a garbage collection
        count += what == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        transcript.apply(event, 0.0)
    finally:
        sys.settrace(before)
    return count


def settled_ask(number: int) -> ev.Event:
    id = AskId(f"x{number // 2}")
    if number % 2:
        return ev.AskSettled(id, Decision(option=ALLOW, by="you"))
    return ev.AskOpened(id, C1, "t", (ALLOW,))


FILLINGS: dict[str, Callable[[int], ev.Event]] = {
    "notices": lambda number: ev.NoticeShown(Level.INFO, "n"),
    "calls": lambda number: call(id=ToolCallId(f"x{number}"), status="completed"),
    "asks": settled_ask,
    "messages": lambda number: agent("x", str(number)),
}


@pytest.mark.parametrize("filling", FILLINGS)
def test_applying_any_event_costs_the_same_after_a_hundred_thousand_entries(filling: str) -> None:
    make = FILLINGS[filling]
    small, large = big(make, 10), big(make, 100_000)
    assert len(large.entries) >= 50_000
    for event in SAMPLES.values():
        assert lines_run(large, event) == lines_run(small, event), event
