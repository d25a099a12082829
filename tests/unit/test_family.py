"""Agents that direct others: each hears once what concerns it, and nobody outlives its family."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from agentls.core import events as ev
from agentls.core.errors import AgentExited, AgentlsError, BadRequest, FamilyLimit
from agentls.core.family.activity import What
from agentls.core.family.family import Family
from agentls.core.family.limits import Limits
from agentls.core.family.news import Waited
from agentls.core.family.spawn import Spawn
from agentls.core.family.starting import RuleWish, Starting, Wish
from agentls.core.model import Reply, Role, State, Usage
from agentls.core.policy.gate import SessionPolicy
from agentls.core.session import Session
from agentls.core.transcript import Message, Notice
from fakes.core import Core, SentPrompt, text


class Home:
    """A session that directs, and those it starts, on an agent that does as the test says."""

    def __init__(self, **limits: Any) -> None:
        self.core = Core()
        sessions = self.core.sessions
        self.family = Family(
            sessions,
            sessions._questions,
            self.core.clock,
            self.core.tasks,
            limits=Limits(**limits),
            policy=SessionPolicy.without_rules,
        )
        sessions.born = self.family.born
        sessions.observers.append(self.family)
        self.starting = Starting(
            self.family,
            sessions,
            agents=lambda: ["fake", "other"],
            resolve=lambda path, _: path,
            is_folder=lambda path: not path.endswith("missing"),
        )

    async def begin(self) -> Home:
        self.parent = self.core.sessions.open("fake", "/project", spawn=Spawn(orchestrates=True))
        await self.settle()
        self.parent.prompt(text("direct them"))
        return self

    async def settle(self) -> None:
        await self.core.tasks.settle()
        self.core.clock.advance(0.0)
        await self.core.tasks.settle()

    async def child(self, name: str = "tester", parent: Session | None = None) -> Session:
        above = parent or self.parent
        wish = Wish(agent="", name=name, prompt=f"work, {name}")
        spawn = self.starting.check(above, wish)
        child = self.starting.start(above, wish, spawn, self.starting.folder(above, ""))
        await self.settle()
        return child

    def turn_of(self, session: Session) -> SentPrompt:
        """The prompt that its agent works on."""
        return next(
            sent
            for sent in self.core.agent.prompts
            if sent.id == session.agent_session and not sent.answered
        )

    async def finish(self, session: Session, words: str, reason: str = "end_turn") -> None:
        session.deliver(ev.TextAdded(Role.AGENT, words))
        self.turn_of(session).answer(reason)
        await self.settle()

    def wait(self, *children: Session, seconds: float = 60.0) -> list[Waited]:
        heard: list[Waited] = []
        self.family.wait(self.parent, children, seconds, heard.append)
        return heard


def prompts(session: Session) -> list[tuple[str, str]]:
    """Who said what to its agent."""
    return [
        (entry.sender, str(entry.text))
        for entry in session.transcript.entries
        if isinstance(entry, Message) and entry.role is Role.USER
    ]


async def test_a_child_gets_its_task_from_its_parent_and_its_answer_ends_the_wait() -> None:
    home = await Home().begin()
    child = await home.child()
    ((sender, task),) = prompts(child)
    assert (sender, task.splitlines()[0]) == ("orchestrator", "work, tester")
    heard = home.wait(child)
    assert (home.parent.state, home.parent.transcript.detail) == (
        State.WAITING_FOR_AGENT,
        "waits for tester",
    )
    await home.finish(child, "all green")
    (waited,) = heard
    assert waited.news[0].text == "tester has finished:\n\nall green"
    assert home.parent.state is State.RUNNING


async def test_what_nobody_waited_for_comes_as_the_next_prompt_once_and_together() -> None:
    home = await Home().begin()
    one, two = await home.child("one"), await home.child("two")
    await home.finish(one, "done 1")
    home.family.notify(two, "half way")
    assert len(prompts(home.parent)) == 1, "the parent is busy"
    await home.finish(home.parent, "I wait")
    assert prompts(home.parent)[1:] == [
        ("one, two", "one has finished:\n\ndone 1\n\ntwo says:\n\nhalf way")
    ]
    await home.finish(home.parent, "I know")
    assert len(prompts(home.parent)) == 2, "nothing is told twice"


async def test_news_that_came_before_the_wait_is_its_answer_and_no_prompt() -> None:
    home = await Home().begin()
    child = await home.child()
    await home.finish(child, "quick")
    (waited,) = home.wait(child)
    assert "quick" in waited.news[0].text
    await home.finish(home.parent, "fine")
    assert len(prompts(home.parent)) == 1


async def test_a_question_reaches_the_parent_and_its_message_is_the_answer() -> None:
    home = await Home().begin()
    child = await home.child()
    heard = home.wait(child)
    replies: list[Reply] = []
    home.family.ask(child, "which python?", 60.0, replies.append)
    assert child.state is State.WAITING_FOR_AGENT
    assert "tester asks" in heard[0].news[0].text
    assert home.family.send(home.parent, child, "3.12") == "tester has your answer."
    assert replies == [Reply(text="3.12", by="orchestrator")]
    assert len(prompts(child)) == 1, "an answer is no prompt"
    home.family.send(home.parent, child, "and then the docs")
    assert child.transcript.queue[0].text == "and then the docs"


async def test_a_parent_that_ends_takes_its_children_and_their_questions_with_it() -> None:
    home = await Home(depth=2).begin()
    child = await home.child()
    grandchild = await home.child("deep", child)
    replies: list[Reply] = []
    home.family.ask(child, "which?", 60.0, replies.append)
    await home.core.sessions.close(home.parent.id)
    await home.settle()
    assert [reply.text for reply in replies] == [None]
    for session in (child, grandchild):
        assert session.state is State.CLOSED
        assert any(
            isinstance(entry, Notice) and "which started it" in entry.text
            for entry in session.transcript.entries
        )
    assert home.core.sessions._questions.pending() == []


async def test_a_parent_that_is_cancelled_stops_its_children_and_hears_nothing_of_it() -> None:
    home = await Home().begin()
    child = await home.child()
    home.parent.cancel()
    home.turn_of(home.parent).answer("cancelled")
    await home.settle()
    assert ("cancel", child.agent_session) in home.core.agent.calls
    home.turn_of(child).answer("cancelled")
    await home.settle()
    assert (child.state, home.parent.state) == (State.IDLE, State.IDLE)
    assert len(prompts(home.parent)) == 1
    assert home.family.feed.lines(lambda _: True)[-1].what is What.STOPPED


async def test_a_child_that_a_person_ends_is_missed_by_its_parent() -> None:
    home = await Home().begin()
    child = await home.child()
    heard = home.wait(child)
    await home.core.sessions.close(child.id)
    await home.settle()
    assert [waited.news[0].text for waited in heard] == ["tester was ended by the person."]
    await home.finish(home.parent, "a pity")
    assert len(prompts(home.parent)) == 1


async def test_a_killed_child_is_closed_and_the_parent_is_not_told_what_it_did_itself() -> None:
    home = await Home().begin()
    child = await home.child()
    home.family.kill(child)
    await home.settle()
    assert child.state is State.CLOSED
    await home.finish(home.parent, "done")
    assert len(prompts(home.parent)) == 1


async def test_a_wait_ends_by_time_and_by_the_end_of_the_turn() -> None:
    home = await Home().begin()
    child = await home.child()
    first = home.wait(child, seconds=5.0)
    home.core.clock.advance(6.0)
    assert first == [Waited(by="time-out")]
    second = home.wait(child)
    await home.finish(home.parent, "enough")
    assert second == [Waited(by="turn over")]
    assert home.parent.state is State.IDLE


async def test_nobody_directs_the_children_of_another() -> None:
    home = await Home().begin()
    child = await home.child()
    stranger = home.core.sessions.open("fake", "/project", spawn=Spawn(orchestrates=True))
    for name in ("tester", child.id):
        with pytest.raises(BadRequest, match="You have no agent"):
            home.family.child(stranger, name)
    with pytest.raises(BadRequest):
        home.family.child(child, "tester")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"cwd": "/elsewhere"}, "outside your own folder"),
        ({"cwd": "../other"}, "outside your own folder"),
        ({"cwd": "/project-not"}, "outside your own folder"),
        ({"cwd": "missing"}, "not a folder"),
        ({"name": "a/b"}, "no name"),
        ({"name": ""}, "no name"),
        ({"agent": "unknown"}, "no agent 'unknown'"),
        ({"prompt": " "}, "no prompt"),
        ({"allow": [RuleWish()]}, "says nothing"),
        ({"allow": [RuleWish(command="a && b")]}, "can never match"),
    ],
)
async def test_a_wish_that_makes_no_sense_starts_nothing(wish: dict[str, Any], why: str) -> None:
    home = await Home().begin()
    whole = Wish(**{"agent": "", "name": "tester", "prompt": "go", **wish})

    def start() -> None:
        spawn = home.starting.check(home.parent, whole)
        cwd = home.starting.folder(home.parent, whole.cwd)
        home.starting.start(home.parent, whole, spawn, cwd)

    with pytest.raises(BadRequest, match=why):
        start()
    assert home.family.children(home.parent.id) == []


async def test_there_are_limits_of_depth_number_and_name() -> None:
    home = await Home(depth=1, children=2).begin()
    child = await home.child("one")
    with pytest.raises(FamilyLimit, match="may start no other"):
        await home.child("deep", child)
    with pytest.raises(BadRequest, match="already"):
        await home.child("one")
    await home.child("two")
    with pytest.raises(FamilyLimit, match="the limit is 2"):
        await home.child("three")


async def test_agents_cannot_keep_each_other_busy_for_ever() -> None:
    home = await Home(turns=3).begin()
    child = await home.child()
    for _ in range(10):
        if home.parent.state is State.RUNNING:
            with suppress(FamilyLimit):
                home.family.send(home.parent, child, "again")
            await home.finish(home.parent, "sent")
        if child.transcript.turn_running:
            await home.finish(child, "and again")
    assert home.parent.transcript.turn + child.transcript.turn <= 3 + 1
    warnings = [e for e in home.parent.transcript.entries if isinstance(e, Notice)]
    assert len(warnings) == 1
    assert "which is the limit" in warnings[0].text
    home.parent.prompt(text("go on"))
    await home.finish(home.parent, "I do")
    assert home.parent.transcript.turn_running, "what was left is told now"


async def test_agents_that_have_cost_enough_are_stopped() -> None:
    home = await Home(cost=1.0).begin()
    child = await home.child()
    child.deliver(ev.UsageChanged(Usage(cost=0.6)))
    assert ("cancel", child.agent_session) not in home.core.agent.calls
    home.parent.deliver(ev.UsageChanged(Usage(cost=0.5)))
    assert ("cancel", child.agent_session) in home.core.agent.calls
    with pytest.raises(AgentlsError, match=r"cost 1\.10 together"):
        await home.child("another")


async def test_a_child_whose_agent_dies_is_reported_once() -> None:
    home = await Home().begin()
    child = await home.child()
    heard = home.wait(child)
    child.agent_gone(AgentExited("The fake agent ended."))
    await home.settle()
    assert len(heard) == 1
    lines = home.family.feed.lines(lambda line: line.what is What.FAILED)
    assert len(lines) == 1
