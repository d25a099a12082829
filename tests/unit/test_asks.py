"""Pending asks: each is answered exactly once, and only a clear "allow" allows."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.asks import Asks, PendingAsk
from agentls.core.errors import BadRequest, UnknownAsk
from agentls.core.model import AskId, Decision, Option, SessionId, ToolCallId, ToolCallPatch
from agentls.core.ports import AskRequest
from fakes.core import ALLOW, REJECT

ONE, TWO = SessionId("one"), SessionId("two")


class Book:
    """Asks, and a log of who was told what, in order."""

    def __init__(self) -> None:
        self.asks = Asks()
        self.log: list[tuple[str, AskId, Decision]] = []
        self._count = 0

    def open(self, session: SessionId = ONE, *options: Option) -> AskId:
        self._count += 1
        id = AskId(f"{session}.a{self._count}")
        patch = ToolCallPatch(id=ToolCallId("c"))
        request = AskRequest(
            patch, options or (ALLOW, REJECT), lambda d: self.log.append(("agent", id, d))
        )
        self.asks.add(
            PendingAsk(id, session, "title", 0.0, request, lambda d: self._settled(id, d))
        )
        return id

    def _settled(self, id: AskId, decision: Decision) -> None:
        self.log.append(("session", id, decision))

    def answers(self, id: AskId) -> list[Decision]:
        return [decision for who, ask, decision in self.log if (who, ask) == ("agent", id)]


def test_the_session_hears_the_decision_before_the_agent() -> None:
    book = Book()
    ask = book.open()
    decision = book.asks.decide(ask, "once", "you")
    assert decision == Decision(option=ALLOW, by="you")
    assert book.log == [("session", ask, decision), ("agent", ask, decision)]
    assert book.asks.pending() == []


def test_a_second_answer_is_refused_and_changes_nothing() -> None:
    book = Book()
    ask = book.open()
    book.asks.decide(ask, "no", "you")
    with pytest.raises(UnknownAsk, match="answered already"):
        book.asks.decide(ask, "once", "somebody else")
    book.asks.withdraw(ask, "late")
    assert book.answers(ask) == [Decision(option=REJECT, by="you")]


def test_an_answer_to_an_ask_that_never_was_is_refused() -> None:
    book = Book()
    with pytest.raises(UnknownAsk):
        book.asks.decide(AskId("one.a7"), "once", "you")
    book.asks.withdraw(AskId("one.a7"), "whoever")
    assert book.log == []


def test_an_option_that_was_not_offered_leaves_the_ask_open() -> None:
    book = Book()
    ask = book.open()
    with pytest.raises(BadRequest, match="'once', 'no'"):
        book.asks.decide(ask, "allow", "you")
    assert [a.id for a in book.asks.pending()] == [ask]
    assert book.log == []


def test_an_ask_without_options_can_only_be_withdrawn() -> None:
    book = Book()
    ask = AskId("one.a1")
    request = AskRequest(
        ToolCallPatch(id=ToolCallId("c")), (), lambda d: book.log.append(("agent", ask, d))
    )
    book.asks.add(PendingAsk(ask, ONE, "", 0.0, request, lambda _: None))
    with pytest.raises(BadRequest, match="none"):
        book.asks.decide(ask, "once", "you")
    book.asks.withdraw(ask, "turn over")
    assert book.answers(ask) == [Decision(option=None, by="turn over")]


def test_asks_of_one_session_are_withdrawn_without_those_of_another() -> None:
    book = Book()
    first, other, second = book.open(ONE), book.open(TWO), book.open(ONE)
    assert [a.id for a in book.asks.pending(ONE)] == [first, second]
    book.asks.withdraw_all(ONE, "turn cancelled")
    assert [a.id for a in book.asks.pending()] == [other]
    assert [ask for who, ask, _ in book.log if who == "agent"] == [first, second]


def test_the_agent_gets_its_answer_even_when_the_session_fails() -> None:
    asks = Asks()
    answers: list[Decision] = []

    def fails(_: Decision) -> None:
        raise RuntimeError("session")

    request = AskRequest(ToolCallPatch(id=ToolCallId("c")), (ALLOW,), answers.append)
    asks.add(PendingAsk(AskId("a"), ONE, "", 0.0, request, fails))
    with pytest.raises(RuntimeError, match="session"):
        asks.decide(AskId("a"), "once", "you")
    assert len(answers) == 1
    assert asks.pending() == []


def test_who_answers_from_within_the_answer_cannot_answer_again() -> None:
    asks = Asks()
    answers: list[Decision] = []

    def again(decision: Decision) -> None:
        answers.append(decision)
        asks.withdraw_all(ONE, "again")

    request = AskRequest(ToolCallPatch(id=ToolCallId("c")), (ALLOW,), again)
    asks.add(PendingAsk(AskId("a"), ONE, "", 0.0, request, again))
    asks.decide(AskId("a"), "once", "you")
    assert answers == [Decision(option=ALLOW, by="you")] * 2  # the session's and the agent's


@pytest.mark.parametrize(
    ("kind", "allows"),
    [
        ("allow_once", True),
        ("allow_always", True),
        ("reject_once", False),
        ("reject_always", False),
        ("allow", False),
        ("ALLOW_ONCE", False),
        ("", False),
        ("proceed", False),
    ],
)
def test_only_a_known_kind_of_allow_allows(kind: str, allows: bool) -> None:
    assert Decision(option=Option("x", "Allow everything", kind), by="you").allows is allows


def test_no_option_allows_nothing() -> None:
    assert not Decision(option=None, by="you").allows


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["open", "decide", "withdraw", "withdraw_all"]),
            st.integers(0, 5),
            st.sampled_from(["once", "no", "bogus"]),
        )
    )
)
def test_whatever_happens_every_ask_is_answered_exactly_once(
    steps: list[tuple[str, int, str]],
) -> None:
    book = Book()
    opened: list[AskId] = []
    for what, which, option in steps:
        ask = opened[which] if which < len(opened) else AskId("none")
        if what == "open":
            opened.append(book.open(ONE if which % 2 else TWO))
        elif what == "decide":
            with suppress(UnknownAsk, BadRequest):
                book.asks.decide(ask, option, "you")
        elif what == "withdraw":
            book.asks.withdraw(ask, "agent")
        else:
            book.asks.withdraw_all(ONE, "turn")
        pending = {a.id for a in book.asks.pending()}
        assert all(len(book.answers(a)) == (a not in pending) for a in opened)
    for session in (ONE, TWO):
        book.asks.withdraw_all(session, "end")
    assert all(len(book.answers(a)) == 1 for a in opened)
    assert len(set(opened)) == len(opened)
