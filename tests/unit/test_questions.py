"""Questions, of the person or of another agent: each is answered exactly once."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from agentls.core.errors import AgentlsError, BadRequest, UnknownQuestion
from agentls.core.model import Reply, SessionId, State
from agentls.core.questions import Questions
from agentls.core.session import Session
from agentls.core.transcript import Question
from fakes.core import Core, text

LIVES = 2_000
BUNDLES = 10


class Talk:
    """Two sessions: the one asks the person and the other, which directs it."""

    def __init__(self) -> None:
        self.core = Core(cancel_grace=5.0)
        self.questions: Questions = self.core.sessions._questions

    async def begin(self) -> Talk:
        self.asker = await self.core.opened()
        self.asked = await self.core.opened()
        self.asker.prompt(text("go"))
        return self

    def ask(self, *, to_agent: bool = False, words: str = "which?") -> Asked:
        asked = Asked()
        of = self.asked if to_agent else None
        asked.call_off = self.asker.inquiry.ask(
            words,
            asked.replies.append,
            timeout=60.0,
            to=of.id if of else None,
            name="lead" if of else "",
        )
        if not asked.replies:
            asked.id = self.questions.pending()[-1].id
        return asked


class Asked:
    """A question, and all the answers that it got."""

    def __init__(self) -> None:
        self.id = ""
        self.replies: list[Reply] = []
        self.call_off: Callable[[], None] = lambda: None


def entries(session: Session) -> list[Question]:
    return [e for e in session.transcript.entries if isinstance(e, Question)]


async def test_an_answer_reaches_the_agent_and_stands_in_the_transcript() -> None:
    talk = await Talk().begin()
    asked = talk.ask()
    assert talk.asker.state is State.WAITING_FOR_YOU
    talk.questions.reply(asked.id, "the second", "you")
    assert asked.replies == [Reply(text="the second", by="you")]
    assert entries(talk.asker)[0].reply == asked.replies[0]
    assert talk.asker.state is State.RUNNING


async def test_a_question_to_an_agent_shows_for_whom_the_session_waits() -> None:
    talk = await Talk().begin()
    asked = talk.ask(to_agent=True)
    assert (talk.asker.state, talk.asker.transcript.detail) == (
        State.WAITING_FOR_AGENT,
        "waits for lead",
    )
    assert [q.id for q in talk.questions.asked_of(talk.asked.id)] == [asked.id]
    talk.questions.reply(asked.id, "yes", "lead")
    assert talk.asker.state is State.RUNNING


async def test_a_late_answer_is_refused_and_changes_nothing() -> None:
    talk = await Talk().begin()
    asked = talk.ask()
    talk.core.clock.advance(61.0)
    assert asked.replies == [Reply(text=None, by="time-out")]
    with pytest.raises(UnknownQuestion):
        talk.questions.reply(asked.id, "too late", "you")
    assert len(asked.replies) == 1


async def test_an_empty_answer_is_none() -> None:
    talk = await Talk().begin()
    asked = talk.ask()
    with pytest.raises(BadRequest, match="empty"):
        talk.questions.reply(asked.id, "  \n", "you")
    assert asked.replies == []


async def test_nothing_is_asked_once_the_turn_is_cancelled() -> None:
    talk = await Talk().begin()
    talk.asker.cancel()
    assert talk.ask().replies == [Reply(text=None, by="turn cancelled")]
    assert entries(talk.asker) == []


class Life:
    """Everybody does anything, in any order."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.sent: list[Asked] = []

    async def live(self) -> None:
        self.talk = await Talk().begin()
        steps = [
            self.ask,
            self.ask,
            self.answer,
            self.answer,
            self.call_off,
            self.wait,
            self.cancel,
            self.turn_ends,
            self.prompt,
            self.die,
            self.asked_goes,
        ]
        for _ in range(self.chance.randint(3, 20)):
            self.chance.choice(steps)()
            self.check()
        self.talk.asker.close()
        assert self.talk.questions.pending() == []
        for asked in self.sent:
            assert len(asked.replies) == 1, "not answered exactly once"
        await self.talk.core.tasks.close()

    def ask(self) -> None:
        self.sent.append(self.talk.ask(to_agent=self.chance.random() < 0.5))

    def answer(self) -> None:
        if self.sent:
            try:
                self.talk.questions.reply(self.chance.choice(self.sent).id, "words", "you")
            except AgentlsError:
                return

    def call_off(self) -> None:
        if self.sent:
            self.chance.choice(self.sent).call_off()

    def wait(self) -> None:
        self.talk.core.clock.advance(self.chance.choice([0.1, 6.0, 50.0, 100.0]))

    def cancel(self) -> None:
        self.talk.asker.cancel()

    def turn_ends(self) -> None:
        for prompt in self.talk.core.agent.prompts:
            if not prompt.answered:
                prompt.answer("end_turn")

    def prompt(self) -> None:
        if self.talk.asker.state is not State.FAILED:
            self.talk.asker.prompt(text("more"))

    def die(self) -> None:
        if self.chance.random() < 0.2:
            self.talk.core.agent.die()

    def asked_goes(self) -> None:
        """The session that was asked ends: nobody there answers any more."""
        if self.chance.random() < 0.3:
            for question in self.talk.questions.asked_of(SessionId(self.talk.asked.id)):
                self.talk.questions.withdraw(question.id, "lead ended")

    def check(self) -> None:
        shown = {e.question for e in self.talk.asker.transcript.open_questions()}
        assert shown == {q.id for q in self.talk.questions.pending()}
        for asked in self.sent:
            assert len(asked.replies) <= 1, "answered twice"
        session = self.talk.asker
        if session.state not in {State.FAILED, State.CLOSED, State.STARTING}:
            waits = session.state in {State.WAITING_FOR_YOU, State.WAITING_FOR_AGENT}
            assert waits == bool(shown)


@pytest.mark.parametrize("bundle", range(BUNDLES))
async def test_every_question_is_answered_exactly_once_in_two_thousand_lives(bundle: int) -> None:
    size = LIVES // BUNDLES
    for seed in range(bundle * size, (bundle + 1) * size):
        try:
            await Life(seed).live()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
