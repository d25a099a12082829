"""The publisher: what the editor is told adds up, is never too much, and never late."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.model import (
    AskId,
    Decision,
    Level,
    Option,
    PlanStep,
    Role,
    SessionId,
    State,
    TerminalId,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.session import Session
from agentls.editor import convert, publisher
from agentls.editor import protocol as p
from agentls.editor.publisher import Publisher
from fakes.core import FakeClock, text
from fakes.editor import SessionMirror

ALLOW = Option("once", "Allow", "allow_once")


class Desk:
    """One session, a publisher, and an editor that may be slow to read."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.backlog = 0
        self.sent: list[tuple[float, p.DidChangeParams]] = []
        self.mirror = SessionMirror()
        self.publisher = Publisher(
            self._send, lambda: self.backlog, self.clock, lambda: self.clock.time
        )
        self.session = Session(
            SessionId("s"),
            "demo",
            "/project",
            clock=self.clock,
            asks=Asks(),
            observers=[self.publisher],
            cancel_grace=10,
        )

    def _send(self, params: p.DidChangeParams) -> None:
        self.sent.append((self.clock.time, params))
        self.mirror.apply(msgspec.to_builtins(params))

    def say(self, words: str, role: Role = Role.AGENT) -> None:
        self.session.deliver(ev.TextAdded(role, words))

    def truth(self) -> list[Any]:
        entries = [convert.entry(e) for e in self.session.transcript.entries]
        return [msgspec.to_builtins(e) for e in entries]


def tool(call: str, **fields: Any) -> ev.ToolCallChanged:
    return ev.ToolCallChanged(ToolCallPatch(id=ToolCallId(call), **fields))


def test_the_first_words_of_a_quiet_session_go_out_at_once() -> None:
    desk = Desk()
    desk.say("Hello")
    desk.clock.advance(0)
    assert desk.mirror.text() == "Hello"


def test_text_gathers_and_travels_joined() -> None:
    desk = Desk()
    for i in range(1000):
        desk.say(f"{i} ")
        desk.clock.advance(0.001)
    desk.clock.advance(1)
    assert desk.mirror.text() == "".join(f"{i} " for i in range(1000))
    assert len(desk.sent) <= 1.0 / publisher.TEXT_INTERVAL + 4


def test_no_kind_of_event_makes_more_than_sixty_batches_a_second() -> None:
    desk = Desk()
    for i in range(3000):
        desk.session.deliver(tool(f"c{i % 7}", title=f"step {i}", status="in_progress"))
        desk.clock.advance(0.001)
    times = [at for at, _ in desk.sent]
    for start in times:
        assert sum(start <= t < start + 1 for t in times) <= 60


def test_an_ask_does_not_wait_for_the_text_interval() -> None:
    desk = Desk()
    desk.say("I will")
    desk.clock.advance(0)
    before = desk.clock.time
    desk.say(" now")
    desk.session.deliver(ev.AskOpened(ask="a", tool_call="c", title="may I", options=(ALLOW,)))  # type: ignore[arg-type]
    desk.clock.advance(1)
    at = next(t for t, batch in desk.sent if any("ask" in str(c) for c in batch.changes))
    assert at - before <= publisher.OTHER_INTERVAL
    assert desk.mirror.text() == "I will now"


def test_a_lone_ask_goes_out_at_once_however_many_there_were_before() -> None:
    desk = Desk()
    for number in range(200):
        desk.say("next ")
        desk.clock.advance(0.001)
        ask = AskId(f"a{number}")
        desk.session.deliver(
            ev.AskOpened(ask=ask, tool_call=ToolCallId("c"), title="may I", options=(ALLOW,))
        )
        before = desk.clock.time
        desk.clock.advance(0)
        at, batch = desk.sent[-1]
        assert at == before
        assert any(f"a{number}" in str(change) for change in batch.changes)
        desk.session.deliver(ev.AskSettled(ask, Decision(option=ALLOW, by="you")))
    desk.say("the end")
    before = desk.clock.time
    desk.clock.advance(1)
    assert desk.sent[-1][0] - before <= publisher.TEXT_INTERVAL, "no debt is left"


def test_asks_beside_an_open_one_gather() -> None:
    desk = Desk()
    for number in range(1000):
        desk.session.deliver(
            ev.AskOpened(
                ask=AskId(f"a{number}"), tool_call=ToolCallId("c"), title="?", options=(ALLOW,)
            )
        )
        desk.clock.advance(0.001)
    assert len(desk.sent) <= 60


def test_while_the_editor_does_not_read_nothing_is_sent_and_nothing_is_kept_twice() -> None:
    desk = Desk()
    desk.say("start")
    desk.clock.advance(1)
    desk.backlog = publisher.BACKLOG_LIMIT + 1
    sent = len(desk.sent)
    for i in range(5000):
        desk.say("x")
        desk.session.deliver(tool("c", title=f"{i}"))
        desk.clock.advance(0.002)
    assert len(desk.sent) == sent
    assert desk.clock.waiting() == 1, "one timer, not one per event"
    desk.backlog = 0
    desk.clock.advance(1)
    assert len(desk.sent) <= sent + 2
    assert list(desk.mirror.entries.values()) == desk.truth()


def test_what_has_gathered_goes_out_in_bounded_batches() -> None:
    desk = Desk()
    desk.say("start ")
    desk.clock.advance(1)
    desk.backlog = publisher.BACKLOG_LIMIT + 1
    for _ in range(100):
        desk.say("x" * 20_000)
    desk.session.deliver(tool("c", title="between"))
    desk.say("y" * 1_000_000)
    desk.backlog = 0
    desk.clock.advance(60)
    assert max(len(msgspec.json.encode(b)) for _, b in desk.sent) < 2 * publisher.BATCH_LIMIT
    assert list(desk.mirror.entries.values()) == desk.truth()


@given(st.lists(st.sampled_from(["say", "tool", "look", "wait"]), max_size=30))
def test_two_views_of_a_session_both_see_all_of_it(steps: list[str]) -> None:
    """One follows the batches, the other reads a snapshot now and then and goes on from there."""
    desk = Desk()
    other = SessionMirror()
    for number, step in enumerate(steps):
        if step == "say":
            desk.say(f"{number} ")
        elif step == "tool":
            desk.session.deliver(tool(f"c{number % 3}", title=str(number)))
        elif step == "wait":
            desk.clock.advance(0.01)
        else:
            snapshot = desk.publisher.snapshot(desk.session, None)
            other = SessionMirror.of(msgspec.to_builtins(snapshot))
    start = other.seq
    desk.clock.advance(5)
    for _, batch in desk.sent:
        if batch.seq > start:
            other.apply(msgspec.to_builtins(batch))
    assert list(desk.mirror.entries.values()) == desk.truth()
    assert list(other.entries.values()) == desk.truth()


def test_after_a_snapshot_only_what_is_newer_is_told() -> None:
    desk = Desk()
    desk.say("one ")
    snapshot = desk.publisher.snapshot(desk.session, None)
    told = len(desk.sent)
    desk.clock.advance(1)
    assert len(desk.sent) == told, "the snapshot has told it already"
    assert desk.mirror.seq == snapshot.seq
    desk.say("two")
    desk.clock.advance(1)
    assert desk.mirror.text() == "one two"


def test_a_snapshot_pages_backwards() -> None:
    desk = Desk()
    for number in range(10):
        desk.session.deliver(ev.NoticeShown(Level.INFO, str(number)))
    page = desk.publisher.snapshot(desk.session, 3, before=5)
    assert [e.id for e in page.entries] == ["e2", "e3", "e4"]
    assert page.total == 10
    assert desk.publisher.snapshot(desk.session, 3, before=1).entries == []


def test_a_rejected_ask_tells_of_its_tool_call_too() -> None:
    desk = Desk()
    desk.session.deliver(tool("c", title="rm"))
    opened = ev.AskOpened(ask="a", tool_call="c", title="rm", options=(ALLOW,))  # type: ignore[arg-type]
    desk.session.deliver(opened)
    desk.clock.advance(1)
    no = Option("no", "Reject", "reject_once")
    desk.session.deliver(ev.AskSettled("a", Decision(option=no, by="you")))  # type: ignore[arg-type]
    desk.clock.advance(1)
    assert desk.mirror.of_kind("tool_call")[0]["rejected"] is True


def test_a_session_that_was_forgotten_goes_on_with_its_numbers() -> None:
    desk = Desk()
    desk.say("one")
    desk.publisher.forget(desk.session.id)
    assert desk.publisher.seq(desk.session.id) == desk.mirror.seq
    desk.session.deliver(ev.StateChanged(State.STARTING))
    desk.say("two", Role.THOUGHT)
    desk.clock.advance(1)
    assert (desk.mirror.text(), desk.mirror.text("thought")) == ("one", "two")


def test_the_numbers_of_a_session_that_is_too_long_ago_leap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(publisher, "_REMEMBERED", 2)
    desk = Desk()
    desk.say("one")
    desk.publisher.forget(desk.session.id)
    told = desk.mirror.seq
    for other in ("a", "b", "c"):
        assert desk.publisher.seq(SessionId(other)) <= told
    assert desk.publisher.seq(SessionId("d")) == told, "nobody takes it for one that was told"
    desk.mirror.seq = desk.publisher.seq(desk.session.id)
    desk.session.deliver(ev.StateChanged(State.STARTING))
    desk.clock.advance(1)
    assert desk.mirror.seq == told + 1


def test_a_snapshot_of_the_last_entries_says_how_many_there_are() -> None:
    desk = Desk()
    for i in range(10):
        desk.session.deliver(ev.NoticeShown(Level.INFO, str(i)))
    snapshot = desk.publisher.snapshot(desk.session, 3)
    assert [e.text for e in snapshot.entries if isinstance(e, p.NoticeEntry)] == ["7", "8", "9"]
    assert snapshot.total == 10


def test_long_texts_of_tool_calls_travel_cut() -> None:
    desk = Desk()
    desk.session.deliver(ev.OutputAdded(ToolCallId("c"), TerminalId("t"), "x" * 100_000 + "end"))
    desk.clock.advance(1)
    (entry,) = desk.mirror.of_kind("tool_call")
    output = entry["terminals"][0]["output"]
    assert output["cut"] is True
    assert output["size"] == 100_003
    assert output["text"].endswith("end")
    assert len(output["text"]) == convert.BODY_LIMIT


WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
CALLS = st.sampled_from(["c1", "c2", "c3"])
EVENTS = st.one_of(
    st.builds(ev.TextAdded, st.sampled_from(Role), WORDS, st.sampled_from(["", "m1", "m2"])),
    st.builds(lambda c, t: tool(c, title=t), CALLS, WORDS),
    st.builds(lambda c, s: tool(c, status=s), CALLS, st.sampled_from(["pending", "completed"])),
    st.builds(
        lambda c, d: ev.OutputAdded(ToolCallId(c), TerminalId(c), d),
        CALLS,
        WORDS,
    ),
    st.builds(lambda t: ev.PlanChanged((PlanStep(t),)), WORDS),
    st.builds(ev.NoticeShown, st.sampled_from(Level), WORDS),
    st.builds(ev.StateChanged, st.sampled_from(State)),
    st.builds(lambda n, t: ev.TurnStarted(n, text(t)), st.integers(1, 3), WORDS),
    st.builds(lambda n: ev.TurnEnded(n, "end_turn"), st.integers(1, 3)),
    st.builds(lambda a: ev.AskOpened(a, ToolCallId("c1"), "?", (ALLOW,)), st.sampled_from("ab")),
    st.builds(lambda a: ev.AskSettled(a, Decision(option=ALLOW, by="you")), st.sampled_from("ab")),
    st.builds(ev.TitleChanged, WORDS),
)
STEPS = st.lists(
    st.one_of(
        EVENTS,
        st.sampled_from([0.0, 0.005, 0.02, 0.1]),  # time passes
        st.sampled_from(["slow", "fast"]),  # the editor stops and goes on reading
    ),
    max_size=60,
)


@given(STEPS)
@settings(max_examples=300, deadline=None)
def test_whatever_happens_the_editor_ends_up_with_the_transcript(steps: list[Any]) -> None:
    desk = Desk()
    for step in steps:
        if isinstance(step, float):
            desk.clock.advance(step)
        elif isinstance(step, str):
            desk.backlog = publisher.BACKLOG_LIMIT + 1 if step == "slow" else 0
        else:
            desk.session.deliver(step)
    desk.backlog = 0
    desk.clock.advance(5)
    assert list(desk.mirror.entries.values()) == desk.truth()
    if desk.sent:
        assert desk.mirror.head == msgspec.to_builtins(convert.head(desk.session)) | {
            "lastSign": desk.mirror.head["lastSign"]
        }
