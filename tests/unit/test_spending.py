"""Tokens and money of turns, sessions and days."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.cli import main
from agentls.core import events as ev
from agentls.core.history import history_of
from agentls.core.model import Block, Prompt, State, Usage
from agentls.core.store import Filter
from agentls.core.transcript import Transcript, TurnEnd
from fakes.stored import Desk, desk

costs = st.integers(0, 1000).map(lambda cents: cents / 100)


def turn(transcript: Transcript, number: int, *told: float, tokens: int = 0) -> None:
    transcript.apply(ev.TurnStarted(number, Prompt((Block(kind="text", text="go"),))), 1.0)
    for cost in told:
        transcript.apply(ev.UsageChanged(Usage(cost=cost, currency="USD", context_used=5)), 1.0)
    usage = Usage(input_tokens=tokens, total_tokens=tokens) if tokens else None
    transcript.apply(ev.TurnEnded(number, "end_turn", usage=usage), 2.0)


def spent(transcript: Transcript) -> list[float | None]:
    ends = [entry for entry in transcript.entries if isinstance(entry, TurnEnd)]
    return [end.usage.cost if end.usage else None for end in ends]


def test_a_turn_has_its_part_of_what_the_session_cost() -> None:
    transcript = Transcript()
    turn(transcript, 1, 0.25, 0.5, tokens=10)
    turn(transcript, 2, tokens=5)
    turn(transcript, 3, 0.75)
    assert spent(transcript) == [0.5, None, 0.25]
    assert (transcript.usage.cost, transcript.usage.currency) == (0.75, "USD")
    assert (transcript.usage.input_tokens, transcript.usage.context_used) == (15, 5)


def test_an_agent_that_begins_to_count_anew_makes_a_session_no_cheaper() -> None:
    transcript = Transcript()
    turn(transcript, 1, 1.0)
    turn(transcript, 2, 0.25, 0.5)
    turn(transcript, 3, 0.75)
    assert spent(transcript) == [1.0, 0.5, 0.25]
    assert transcript.usage.cost == 1.75


@given(st.lists(st.lists(costs, max_size=4), max_size=6))
def test_a_session_costs_what_its_turns_cost_and_never_less_than_before(
    told: list[list[float]],
) -> None:
    transcript = Transcript()
    before = 0.0
    for number, some in enumerate(told, 1):
        turn(transcript, number, *some)
        now = transcript.usage.cost or 0.0
        assert now >= before
        assert sum(cost or 0.0 for cost in spent(transcript)) == pytest.approx(now)
        before = now


def test_a_fork_has_spent_nothing() -> None:
    transcript = Transcript()
    turn(transcript, 1, 1.0, tokens=10)
    fork = history_of(transcript, same_agent=True)
    assert (fork.usage, spent(fork)) == (Usage(), [None])
    assert spent(transcript) == [1.0]


def fill(one: Desk) -> None:
    for id, agent, start in (("a", "claude", 0.0), ("b", "claude", 50.0), ("c", "codex", 86_400.0)):
        one.clock.time = 1_700_000_000.0 + start
        session = one.session(id, agent, f"/projects/{id}")
        turn_events = (
            ev.TurnStarted(1, Prompt((Block(kind="text", text="go"),))),
            ev.UsageChanged(Usage(cost=0.5, currency="USD")),
            ev.TurnEnded(1, "end_turn", usage=Usage(input_tokens=10, output_tokens=2)),
            ev.StateChanged(State.CLOSED),
        )
        for event in turn_events:
            session.deliver(event)
    one.flush()


def test_what_agents_used_is_told_by_day_and_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "state" / "agentls" / "agentls.db"
    with desk(path) as one:
        fill(one)
        usage = one.store.sessions.usage
        days = [(d.agent, d.turns, d.input_tokens, d.cost, d.currency) for d in usage()]
        assert days == [("codex", 1, 10, 0.5, "USD"), ("claude", 2, 20, 1.0, "USD")]
        assert [d.turns for d in usage(Filter(project="/projects/a"))] == [1]
        assert [d.agent for d in usage(Filter(since=1_700_050_000.0))] == ["codex"]
        assert [d.agent for d in usage(Filter(until=1_700_050_000.0))] == ["claude"]
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert main(["sessions", "usage"]) == 0
    shown = capsys.readouterr().out
    assert "1.00 USD" in shown
    assert "codex" in shown
    assert main(["sessions", "usage", "--agent", "nobody"]) == 0
    assert "No turn has ended" in capsys.readouterr().out
