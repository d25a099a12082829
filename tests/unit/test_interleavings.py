"""Ten thousand random lives of asks: whatever happens in whatever order, each is answered once.

An ask is the agent's own, or ours for something that the agent wants of us.

The lives are made from numbered seeds, so that a failure names the one to look at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest

from agentls.core import events as ev
from agentls.core.decisions import Decisions
from agentls.core.errors import AgentlsError
from agentls.core.model import AskId, Option, State, ToolCallId, ToolCallPatch
from agentls.core.permission import Permit
from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import Mode, Rule, Scope
from agentls.core.policy.verdicts import Subject, Verdict
from agentls.core.session import Session
from fakes.core import Core, SentAsk, text

LIVES = 10_000
BUNDLES = 20
OPTIONS = (
    Option("once", "Allow", "allow_once"),
    Option("always", "Always", "allow_always"),
    Option("no", "Reject", "reject_once"),
    Option("never", "Never", "reject_always"),
    Option("odd", "Do something", "some_new_kind"),
)


class Book:
    """Rules that change while asks are open."""

    def __init__(self) -> None:
        self.all: list[Rule] = []

    def rules(self) -> Sequence[Rule]:
        return self.all

    def problems(self) -> Sequence[str]:
        return ()

    def add(self, rule: Rule, scope: Scope) -> Rule:
        self.all.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        self.all.remove(rule)


class Life:
    """One session with a turn running, asks coming, and everybody doing something about them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.core = Core(cancel_grace=5.0)
        self.book = Book()
        self.core.sessions._policy = self._policy
        self.decisions = Decisions(self.core.sessions, self.core.asks)
        self.sent: list[SentAsk] = []
        self.wishes: list[tuple[SentAsk, list[Permit], Callable[[], None]]] = []
        self.allowed: set[AskId] = set()
        """Asks that somebody or some rule clearly allowed."""

        self.too_late: set[AskId] = set()
        """Asks that came when the turn was cancelled already."""

    def _policy(self, agent: str, root: str) -> SessionPolicy:
        return SessionPolicy(agent, root, book=self.book, resolve=lambda path, _: path)

    async def live(self) -> None:
        self.session = await self.core.opened()
        self.session.prompt(text("go"))
        steps: list[Callable[[], object]] = [
            self.ask,
            self.ask,
            self.ask,
            self.wish,
            self.wish,
            self.call_off,
            self.choose,
            self.choose,
            self.allow,
            self.reject,
            self.always,
            self.withdraw,
            self.update,
            self.cancel,
            self.wait,
            self.answer_all,
            self.turn_ends,
            self.new_rule,
            self.mode,
            self.die,
        ]
        for _ in range(self.chance.randint(3, 25)):
            self.chance.choice(steps)()
            self.check_state()
        self.finish()
        await self.core.tasks.close()

    # -- what can happen

    def ask(self) -> None:
        if not self.core.agent.sinks:
            return
        options = self.chance.sample(OPTIONS, self.chance.randint(0, len(OPTIONS)))
        call = f"c{self.chance.randint(1, 3)}"
        self.session.deliver(
            ev.ToolCallChanged(
                ToolCallPatch(
                    id=ToolCallId(call), kind="execute", input={"command": f"echo {call}"}
                )
            )
        )
        too_late = self.session._cancelling or self.session.state is State.FAILED
        self.sent.append(self.core.agent.ask(call, options))
        if too_late:
            self.too_late.add(self.sent[-1].id)

    def wish(self) -> None:
        """The agent wants us to run something, perhaps what was just allowed."""
        if not self.core.agent.sinks:
            return
        call = f"c{self.chance.randint(1, 3)}"
        command = f"echo {call}"
        answers: list[Permit] = []
        just_allowed = {ask.answer.by for ask in self.sent if ask.answers and ask.answer.allows}
        too_late = self.session.ending
        subject = Subject(agent="fake", kind="execute", command=command, cwd=self.session.cwd)
        before = {a.id for a in self.core.asks.pending()}
        call_off = self.session.permission.permit(subject, command, answers.append)
        new = {a.id for a in self.core.asks.pending()} - before
        sent = SentAsk()
        if new:
            (sent.id,) = new
        self.wishes.append((sent, answers, call_off))
        self.sent.append(sent)
        if answers and answers[0].given:
            assert not too_late, "allowed after cancel"
            by = answers[0].decision.by
            assert by in just_allowed or "rule" in by or "allowed:" in by or "trusted" in by, by

    def call_off(self) -> None:
        if self.wishes:
            self.chance.choice(self.wishes)[2]()

    def choose(self) -> None:
        """Any option of any ask, open or not, known or not."""
        if self.sent:
            ask, option = self.chance.choice(self.sent), self.chance.choice(OPTIONS)
            chosen = self._try(lambda: self.decisions.choose(ask.id, option.id, "you"))
            if chosen and option.kind.startswith("allow"):
                self.allowed.add(ask.id)

    def allow(self) -> None:
        if self.sent:
            ask = self.chance.choice(self.sent)
            if self._try(lambda: self.decisions.allow(ask.id, "you")):
                self.allowed.add(ask.id)

    def reject(self) -> None:
        if self.sent:
            ask = self.chance.choice(self.sent)
            reason = self.chance.choice(["", "because"])
            self._try(lambda: self.decisions.reject(ask.id, "you", reason))

    def always(self) -> None:
        if self.sent:
            ask = self.chance.choice(self.sent)
            if self._try(lambda: self.decisions.always(ask.id, "command", "project", "you")):
                self.allowed.add(ask.id)

    def answer_all(self) -> None:
        yes = self.chance.random() < 0.5
        before = {a.id for a in self.core.asks.pending()}
        self.decisions.all(yes, "you")
        if yes:
            self.allowed |= before - {a.id for a in self.core.asks.pending()}

    def withdraw(self) -> None:
        if self.sent:
            self.session.withdraw(self.chance.choice(self.sent).id)

    def update(self) -> None:
        status = self.chance.choice(["pending", "in_progress", "completed", "failed"])
        patch = ToolCallPatch(id=ToolCallId(f"c{self.chance.randint(1, 4)}"), status=status)
        self.session.deliver(ev.ToolCallChanged(patch))

    def cancel(self) -> None:
        self.session.cancel()

    def wait(self) -> None:
        self.core.clock.advance(self.chance.choice([0.1, 6.0, 1000.0, 2000.0]))

    def turn_ends(self) -> None:
        for prompt in self.core.agent.prompts:
            if not prompt.answered:
                prompt.answer(self.chance.choice(["end_turn", "cancelled", "refusal"]))

    def new_rule(self) -> None:
        verdict = self.chance.choice([Verdict.ALLOW, Verdict.DENY, Verdict.ASK])
        words = self.chance.choice(["echo", "echo c1", "ls"])
        self.book.add(Rule(verdict=verdict, command=words), "user")
        self.decisions.reconsider()

    def mode(self) -> None:
        self.session.permission.set_mode(self.chance.choice(list(Mode)))
        self.decisions.reconsider()

    def die(self) -> None:
        if self.chance.random() < 0.3:
            self.core.agent.die()

    # -- what must hold

    def _try(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except AgentlsError:
            return False
        return True

    def check_state(self) -> None:
        session: Session = self.session
        open_asks = session.transcript.open_asks()
        assert {a.ask for a in open_asks} == {a.id for a in self.core.asks.pending()}
        if session.state not in {State.FAILED, State.CLOSED, State.STARTING}:
            assert (session.state is State.WAITING_FOR_YOU) == bool(open_asks)
        for sent, permits, _ in self.wishes:
            sent.answers = [permit.decision for permit in permits]
        for sent in self.sent:
            assert len(sent.answers) <= 1, "answered twice"

    def finish(self) -> None:
        self.session.close()
        assert self.core.asks.pending() == []
        self.check_state()
        for sent in self.sent:
            (answer,) = sent.answers
            assert not (answer.allows and sent.id in self.too_late), "allowed after cancel"
            if answer.allows:
                by_rule = "rule" in answer.by or "trusted" in answer.by or "allowed:" in answer.by
                granted = not sent.id and answer.by == "you"  # what an ask had allowed before
                assert sent.id in self.allowed or by_rule or granted, f"nobody allowed: {answer}"
            assert (
                answer.option is None
                or answer.option.kind != "some_new_kind"
                or (answer.by == "you")
            ), "an unknown kind was picked by itself"


@pytest.mark.parametrize("bundle", range(BUNDLES))
async def test_every_ask_is_answered_exactly_once_in_ten_thousand_lives(bundle: int) -> None:
    size = LIVES // BUNDLES
    for seed in range(bundle * size, (bundle + 1) * size):
        try:
            await Life(seed).live()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
