"""What one session may do: its policy, its open asks, and what was allowed just now.

An agent may put an ask itself, or want something done by us: both end in one decision, made by the
rules, by what was already allowed in this turn, or by a person.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from posixpath import join
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from . import events as ev
from .asks import Asks, PendingAsk, automatic
from .grants import Change, Grant, same_wish, shown_for
from .model import (
    Always,
    AskId,
    Decision,
    Diff,
    Location,
    Option,
    SessionId,
    ToolCallId,
    ToolCallPatch,
)
from .policy.gate import Judgement, SessionPolicy
from .policy.rules import Mode
from .policy.verdicts import Ruling, Subject, Verdict
from .ports import AskRequest, Clock
from .transcript import ToolCall, Transcript

ALLOW = Option("allow", "Allow", "allow_once")
REJECT = Option("reject", "Reject", "reject_once")
"""What is offered when the agent wants something of us and has no options of its own."""


class Permit(Struct, frozen=True):
    """The answer to a wish."""

    decision: Decision
    call: ToolCallId | None = None
    """The tool call that it belongs to, if there is one."""
    text: str | None = None
    """What the person made of the text that would be written, if anything."""

    @property
    def given(self) -> bool:
        return self.decision.allows


class Permission:
    """Of one session, which it tells what happens."""

    def __init__(
        self,
        session: SessionId,
        transcript: Transcript,
        policy: SessionPolicy,
        *,
        asks: Asks,
        clock: Clock,
        timeout: float,
        happen: Callable[[ev.Event], None],
        ends: Callable[[], str],
        waits: Callable[[], None],
    ) -> None:
        self.policy = policy
        self._session = session
        self._transcript = transcript
        self._asks = asks
        self._clock = clock
        self._timeout = timeout
        self._happen = happen
        self._ends = ends
        """Why nothing is allowed any more; empty while something may be."""
        self._waits = waits
        """Shows that somebody has to answer, or not any more."""
        self._grants: list[Grant] = []
        self.lets_through: Callable[[ToolCall], str] = lambda _: ""
        """Why a call that the agent asks about needs nobody here: it is asked about later."""

    def ask(self, request: AskRequest) -> AskId:
        """The agent asks by itself."""
        earlier = self._transcript.call(request.patch.id)
        over = earlier is not None and not earlier.is_open
        # A copy: the entry itself is about to change.
        before = None if earlier is None or over else copy(earlier)
        # The card first: some agents ask before they ever mention the tool call.
        self._happen(ev.ToolCallChanged(request.patch))
        call = self._transcript.call(request.patch.id)
        assert call is not None, "it was just made"
        # What a call that is over was about says nothing about what is asked under its name now.
        judgement = self.policy.judge(_alone(request.patch) if over else call, before)
        if judgement.ruling.rule is None and not over and (why := self.lets_through(call)):
            # No subject: nothing that the agent then wants of us counts as allowed by this.
            ruling = Ruling(verdict=Verdict.ALLOW, why=why)
            judgement = Judgement(ruling=ruling, shown=judgement.shown)
        return self._open(request, call, judgement)

    def permit(
        self,
        subject: Subject,
        title: str,
        then: Callable[[Permit], None],
        change: Change | None = None,
        call: ToolCallId | None = None,
    ) -> Callable[[], None]:
        """The agent wants us to do something. `then` is called once; returned: how to call it
        off, which allows nothing. A person who is asked about a change sees that change, whatever
        the agent shows in its tool call. `call`: the tool call in which it is done, if known."""
        if ends := self._ends():
            then(Permit(Decision(option=None, by=ends)))
            return lambda: None
        judgement = self.policy.judge_subject(subject)
        ruling = judgement.ruling
        call = call or self._call_about(subject)
        if ruling.verdict is not Verdict.DENY and (grant := self._take(subject, change)):
            then(Permit(Decision(option=ALLOW, by=grant.by), grant.call))
            return lambda: None
        if ruling.verdict is Verdict.ALLOW and ruling.rule is None:
            # What anybody may do, such as reading in the workspace, is not worth an entry.
            then(Permit(Decision(option=ALLOW, by=ruling.why), call))
            return lambda: None
        unseen = change is not None and ruling.verdict is Verdict.ASK
        if call is None or unseen:
            patch = self._own_card(subject, title, change.diff if change else None)
        else:
            patch = ToolCallPatch(id=call)
        amended: list[str] = []
        request = AskRequest(
            patch,
            (ALLOW, REJECT),
            lambda decision: then(Permit(decision, patch.id, amended[-1] if amended else None)),
            amended.append if change else None,
        )
        self._happen(ev.ToolCallChanged(patch))
        card = self._transcript.call(patch.id)
        assert card is not None, "it was just made"
        ask = self._open(request, card, judgement)
        return lambda: self._asks.withdraw(ask, "agent took it back")

    def set_mode(self, mode: Mode) -> None:
        """How much the person lets this agent do; asks that are open stay open."""
        self.policy.mode = self.policy.person_mode = mode
        self._happen(ev.PolicyChanged(mode.value))

    def turn_over(self) -> None:
        """What was allowed in a turn is not allowed in the next."""
        self._grants.clear()

    def own_card(
        self,
        title: str,
        kind: str,
        diff: Diff | None = None,
        *,
        name: str | UnsetType = UNSET,
        input: Any = UNSET,
    ) -> ToolCallId:
        """A tool call for something that the agent has not shown as one."""
        patch = self._own_card(Subject(kind=kind), title, diff)
        self._happen(ev.ToolCallChanged(replace(patch, name=name, input=input)))
        return patch.id

    # -- asking

    def _open(self, request: AskRequest, call: ToolCall, judgement: Judgement) -> AskId:
        if ends := self._ends():
            decision: Decision | None = Decision(option=None, by=ends)
        else:
            decision = automatic(judgement.ruling, request.options)
        # By the number of its entry: a session that goes on in another server repeats none.
        ask = AskId(f"{self._session}.a{self._next_entry}")
        title = call.title or judgement.shown or "The agent asks for permission"
        if decision is None:
            self._wait_for_answer(ask, title, request, judgement, diffs_of(call))
        self._happen(
            ev.AskOpened(
                ask=ask,
                tool_call=call.call,
                title=title,
                options=request.options,
                shown=judgement.shown,
                why=judgement.ruling.why,
                always=tuple(Always(s.id, s.label) for s in judgement.suggestions),
                editable=_shows_all(judgement.subject, diffs_of(call)),
                decision=decision,
            )
        )
        if decision is not None:
            self._remember(request, judgement, decision, diffs_of(call))
            request.answer(decision)
        else:
            self._waits()
        return ask

    def _wait_for_answer(
        self,
        ask: AskId,
        title: str,
        request: AskRequest,
        judgement: Judgement,
        shown: tuple[Diff, ...],
    ) -> None:
        def settled(decision: Decision) -> None:
            call = self._transcript.call(request.patch.id)
            # An agent that shows another change while somebody decides: nobody knows which was
            # seen, so that a write would have to be as both.
            now = diffs_of(call) if call else ()
            all = shown if now == shown else (*shown, *now)
            self._remember(request, judgement, decision, all)
            self._happen(ev.AskSettled(ask, decision))
            self._waits()

        for earlier in self._asks.pending(self._session):
            if earlier.request.patch.id == request.patch.id and not _ours(request):
                self._asks.withdraw(earlier.id, "agent asked again")
        self._asks.add(
            PendingAsk(
                id=ask,
                session=self._session,
                title=title,
                since=self._clock.now(),
                request=request,
                judgement=judgement,
                settled=settled,
                timer=self._clock.later(self._timeout, lambda: self._asks.expire(ask)),
            )
        )

    # -- what was allowed just now

    def _remember(
        self,
        request: AskRequest,
        judgement: Judgement,
        decision: Decision,
        shown: tuple[Diff, ...],
    ) -> None:
        if decision.allows and not _ours(request):
            self._grants.append(Grant(judgement.subject, request.patch.id, decision.by, shown))

    def _take(self, subject: Subject, change: Change | None) -> Grant | None:
        for grant in self._grants:
            if same_wish(grant.subject, subject) and self._holds(grant, subject, change):
                if subject.command is not None:  # once is once
                    self._grants.remove(grant)
                return grant
        return None

    def _holds(self, grant: Grant, subject: Subject, change: Change | None) -> bool:
        """Whether what was allowed is the change that is wanted, as far as anybody could see."""
        if change is None:
            return True
        if shown := shown_for(grant, subject):
            return change.is_as(shown)
        call = self._transcript.call(grant.call)
        return call is not None and call.is_open

    # -- tool calls

    def _call_about(self, subject: Subject) -> ToolCallId | None:
        """The open tool call in which the agent does what it now wants of us."""
        from .policy.subjects import subject_of  # noqa: PLC0415 - loads with the first ask

        for call in reversed(self._transcript.open_calls()):
            if same_wish(subject_of(call, subject.agent, subject.cwd), subject):
                return call.call
        return None

    @property
    def _next_entry(self) -> int:
        return len(self._transcript.entries) + 1

    def _own_card(self, subject: Subject, title: str, diff: Diff | None) -> ToolCallPatch:
        return ToolCallPatch(
            id=ToolCallId(f"agentls:{self._next_entry}"),
            title=title,
            kind=subject.kind,
            status="pending",
            content=(diff,) if diff else UNSET,
            locations=(Location(diff.path),) if diff else UNSET,
        )


def diffs_of(call: ToolCall) -> tuple[Diff, ...]:
    """The changes that a tool call shows."""
    return tuple(content for content in call.content if isinstance(content, Diff))


def _shows_all(subject: Subject, shown: tuple[Diff, ...]) -> bool:
    """Whether what would be written is there to be seen, and nothing else is wanted."""
    wanted = {join(subject.cwd, use.path) for use in subject.paths if use.write}
    texts = {join(subject.cwd, diff.path) for diff in shown}
    return bool(texts) and wanted == texts and subject.command is None and not subject.also


def _ours(request: AskRequest) -> bool:
    return request.options == (ALLOW, REJECT)


def _alone(patch: ToolCallPatch) -> ToolCall:
    call = Transcript().apply(ev.ToolCallChanged(patch), 0.0)
    assert isinstance(call, ToolCall)
    return call
