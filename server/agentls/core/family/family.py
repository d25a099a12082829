"""Sessions that other sessions started: begun, spoken to, waited for, stopped.

Invariants: a session directs only those that it started itself; none outlives the one that directs
it; what they ask permission for goes to the person or to the rules, never to another agent; what
one has to say to another arrives once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .. import events as ev
from ..errors import AgentlsError, BadRequest, SessionNotReady
from ..model import Block, Level, Prompt, Reply, Role, SessionId, State
from ..policy.gate import SessionPolicy
from ..policy.rules import Mode
from ..ports import Clock, Tasks
from ..questions import Questions
from ..session import Session
from ..sessions import Sessions
from ..transcript import Message
from .activity import Feed, What
from .limits import Counted, Limits
from .news import Inbox, News, Waited, Waits, short, together

_PASSES_ON = {Mode.TRUST: Mode.ACCEPT_EDITS, Mode.ACCEPT_EDITS: Mode.ACCEPT_EDITS}
"""With which mode a session begins that one in another mode has started; any other asks."""


class Family:
    """An observer of all sessions."""

    def __init__(
        self,
        sessions: Sessions,
        questions: Questions,
        clock: Clock,
        tasks: Tasks,
        *,
        limits: Limits,
        policy: Callable[[str, str], SessionPolicy],
    ) -> None:
        self._sessions = sessions
        self._questions = questions
        self._clock = clock
        self._tasks = tasks
        self._policy = policy
        self.counted = Counted(limits)
        self.feed = Feed(clock)
        self._waits = Waits(clock)
        self._inboxes: dict[SessionId, Inbox] = {}
        self._stopped: set[SessionId] = set()
        """Children that were told to stop by the one that directs them: it knows."""
        self._killed: set[SessionId] = set()
        """Children that were ended by the one that directs them, or with it."""
        self._failed: set[SessionId] = set()
        """Children of which it was told that they failed."""
        self._warned: set[SessionId] = set()
        self._handles: dict[type, Callable[[Session, ev.Event], None]] = {
            ev.PromptQueued: self._prompted,
            ev.TurnEnded: self._turn_ended,
            ev.StateChanged: self._state_changed,
            ev.UsageChanged: self._usage_changed,
        }

    def __call__(self, session: Session, event: ev.Event, entry: object) -> None:  # noqa: ARG002
        handle = self._handles.get(type(event))
        if handle is not None:
            handle(session, event)

    # -- who belongs to whom

    def children(self, id: SessionId) -> list[Session]:
        """Those that it started itself and that are still open."""
        return [
            session
            for session in self._sessions
            if session.spawn.orchestrator == id and session.state is not State.CLOSED
        ]

    def below(self, id: SessionId) -> Iterator[Session]:
        """Its children, and theirs."""
        for child in self.children(id):
            yield child
            yield from self.below(child.id)

    def child(self, parent: Session, name: str) -> Session:
        found = [c for c in self.children(parent.id) if name in {c.spawn.name, c.id}]
        if not found:
            known = ", ".join(c.spawn.name for c in self.children(parent.id)) or "none"
            raise BadRequest(f"You have no agent {name!r}.", hint=f"You have: {known}.")
        return found[0]

    def top(self, session: Session) -> Session:
        """The session that a person started."""
        above = self._sessions.find(session.spawn.orchestrator)
        return session if above is None else self.top(above)

    def members(self, session: Session) -> list[Session]:
        top = self.top(session)
        return [top, *self.below(top.id)]

    # -- the beginning

    def born(self, session: Session) -> None:
        """A session begins, or goes on: it stays within what the one above it may do."""
        spawn = session.spawn
        if not spawn.orchestrator:
            return
        above = self._sessions.find(spawn.orchestrator)
        limit = above.permission.policy if above else self._remembered_limit(session)
        session.permission.policy.stay_within(
            limit,
            allow=spawn.allow,
            deny=spawn.deny,
            moved=(session.cwd, spawn.copy_of) if spawn.copy_of else None,
        )

    def _remembered_limit(self, session: Session) -> SessionPolicy:
        """What those above it might do, who are not here any more: no more than the rules say."""
        limit: SessionPolicy | None = None
        for ancestor in session.spawn.ancestors:
            policy = self._policy(ancestor.agent, ancestor.cwd)
            policy.mode = Mode.READ_ONLY if ancestor.read_only else Mode.ASK
            if limit is not None:
                policy.stay_within(limit)
            limit = policy
        return limit or SessionPolicy.without_rules(session.agent_name, session.cwd)

    def started(self, parent: Session, child: Session, prompt: str) -> None:
        """A child was opened: what it begins with."""
        mode = _PASSES_ON.get(parent.permission.policy.mode)
        if mode is not None and self.top(parent).spawn.orchestrates:
            child.permission.policy.mode = mode
            child.deliver(ev.PolicyChanged(mode.value))
        self.feed.add(child, What.STARTED, prompt)
        self._sessions.prompt(child.id, Prompt(_task(child, prompt), child.spawn.by))

    # -- talk between the one that directs and the others

    def send(self, parent: Session, child: Session, text: str) -> str:
        """Say something to a child: the answer to its question, if it has asked one."""
        if not text.strip():
            raise BadRequest("There is nothing to say.", hint="Say what the agent should do.")
        name = child.spawn.name
        asked = [q for q in self._questions.pending(child.id) if q.to == parent.id]
        if asked:
            self._questions.reply(asked[0].id, text, child.spawn.by)
            return f"{name} has your answer."
        self.counted.take_turn(self.top(parent).id, self.members(parent))
        self._stopped.discard(child.id)
        self.feed.add(child, What.TOLD, text)
        busy = child.transcript.turn_running
        self._sessions.prompt(child.id, Prompt((Block(kind="text", text=text),), child.spawn.by))
        return f"{name} gets it when its turn is over." if busy else f"{name} begins a turn."

    def ask(
        self, child: Session, text: str, seconds: float, then: Callable[[Reply], None]
    ) -> Callable[[], None]:
        """A child asks the one that directs it. `then` is called once; returned: how to call it
        off."""
        parent = self._above(child)

        def answered(reply: Reply) -> None:
            self.feed.add(child, What.ANSWERED, reply.text or f"nobody did ({reply.by})")
            then(reply)

        call_off = child.inquiry.ask(
            text, answered, timeout=seconds, to=parent.id, name=child.spawn.by
        )
        if any(q.session == child.id for q in self._questions.asked_of(parent.id)):
            self.feed.add(child, What.ASKED, text)
            words = f"{child.spawn.name} asks, and waits for send_to_agent:\n\n{short(text)}"
            self._tell(parent, News(child=child.id, text=words))
        return call_off

    def notify(self, child: Session, text: str) -> None:
        parent = self._above(child)
        self.feed.add(child, What.SAID, text)
        self._tell(parent, News(child=child.id, text=f"{child.spawn.name} says:\n\n{short(text)}"))

    def wait(
        self,
        parent: Session,
        children: Sequence[Session],
        seconds: float,
        then: Callable[[Waited], None],
    ) -> Callable[[], None]:
        """Until one of them has something to tell. `then` is called once; returned: how to call it
        off."""
        ids = [child.id for child in children]
        if known := self._inbox(parent.id).take(ids):
            then(Waited(news=known))
            return lambda: None
        if not any(_busy(child) for child in children):
            then(Waited(by="none of them is doing anything"))
            return lambda: None
        over = parent.waits(", ".join(child.spawn.name for child in children))
        return self._waits.begin(parent.id, ids, seconds, over, then)

    def interrupt(self, child: Session) -> None:
        """End the turn of a child, and what it has started; it can be spoken to again."""
        self._stop(child, f"{child.spawn.by} stopped this.")

    def kill(self, child: Session) -> None:
        """End a child and all below it."""
        self._killed.add(child.id)
        child.notice(Level.INFO, f"{child.spawn.by} ended this session.")
        self._close(child.id)

    def works(self, session: Session) -> bool:
        """Whether any below it is at work, or it has not heard yet what they have to tell."""
        if self.counted.spent(session.id):
            return False
        return bool(self._inboxes.get(session.id)) or any(map(_busy, self.below(session.id)))

    # -- what happens

    def _prompted(self, session: Session, event: ev.Event) -> None:
        assert isinstance(event, ev.PromptQueued)
        if not event.prompt.sender and not session.spawn.orchestrator:
            self.counted.person_spoke(session.id)
            self._warned.discard(session.id)

    def _turn_ended(self, session: Session, event: ev.Event) -> None:
        assert isinstance(event, ev.TurnEnded)
        self._waits.withdraw_all(session.id, "turn over")
        if event.reason == "cancelled":
            self._stop_below(session)
        if not session.spawn.orchestrator:
            return
        known = session.id in self._stopped | self._killed
        self._stopped.discard(session.id)
        if event.reason == "failed":
            self._failed.add(session.id)
        if known:
            return
        if event.reason == "cancelled":
            # Later: maybe the whole session ends, and that says it all.
            self._clock.later(0.0, lambda: self._stopped_by_person(session))
        else:
            self._report(session, event)

    def _report(self, child: Session, event: ev.TurnEnded) -> None:
        """Tell the one that directs it how its turn ended."""
        name = child.spawn.name
        if event.reason == "failed":
            self.feed.add(child, What.FAILED, event.error)
            words = f"{name} failed: {event.error or 'it did not say why'}"
        else:
            said = short(_last_words(child))
            self.feed.add(child, What.FINISHED, said)
            how = "" if event.reason == "end_turn" else f" ({event.reason})"
            words = f"{name} has finished{how}:\n\n{said or '(it said nothing)'}"
        self._tell_above(child, words)

    def _stopped_by_person(self, child: Session) -> None:
        if child.state is not State.CLOSED:
            self.feed.add(child, What.STOPPED)
            self._tell_above(child, f"{child.spawn.name} was stopped by the person.")

    def _state_changed(self, session: Session, event: ev.Event) -> None:
        assert isinstance(event, ev.StateChanged)
        if event.state is State.IDLE:
            self._failed.discard(session.id)
            if self._inboxes.get(session.id):
                # Not now: whoever else looks on has not heard yet that it is idle.
                self._clock.later(0.0, lambda: self._deliver(session.id))
        elif event.state is State.FAILED:
            self._stop_below(session)
            if session.spawn.orchestrator and session.id not in self._failed:
                self.feed.add(session, What.FAILED, event.detail)
                self._tell_above(session, f"{session.spawn.name} failed: {event.detail}")
        elif event.state is State.CLOSED:
            self._ended(session)

    def _ended(self, session: Session) -> None:
        id = session.id
        self._inboxes.pop(id, None)
        self._waits.withdraw_all(id, "session closed")
        for question in self._questions.asked_of(id):
            self._questions.withdraw(question.id, "the agent that was asked has ended")
        for child in self.children(id):
            child.notice(Level.INFO, f"This session ends with {child.spawn.by}, which started it.")
            self._killed.add(child.id)
            self._close(child.id)
        self.counted.forget(id)
        self._failed.discard(id)
        self._warned.discard(id)
        if session.spawn.orchestrator:
            self.feed.add(session, What.ENDED)
            if id not in self._killed:
                self._tell_above(session, f"{session.spawn.name} was ended by the person.")
            self._waits.child_gone(id)
            self._killed.discard(id)

    def _usage_changed(self, session: Session, _: ev.Event) -> None:
        members = self.members(session)
        if len(members) > 1 and (words := self.counted.used_up(members)):
            top = members[0]
            self._warn(top, words)
            self._stop_below(top)

    # -- telling

    def _above(self, child: Session) -> Session:
        parent = self._sessions.find(child.spawn.orchestrator)
        if parent is None or parent.state is State.CLOSED:
            raise SessionNotReady("The agent that started you is not there any more.")
        return parent

    def _tell_above(self, child: Session, words: str) -> None:
        parent = self._sessions.find(child.spawn.orchestrator)
        if parent is not None and parent.state is not State.CLOSED:
            self._tell(parent, News(child=child.id, text=words))

    def _tell(self, parent: Session, news: News) -> None:
        if not self._waits.tell(parent.id, news):
            self._inbox(parent.id).add(news)
            self._clock.later(0.0, lambda: self._deliver(parent.id))

    def _inbox(self, id: SessionId) -> Inbox:
        return self._inboxes.setdefault(id, Inbox())

    def _deliver(self, id: SessionId) -> None:
        """What a session that does nothing has not heard yet becomes its next prompt."""
        session, inbox = self._sessions.find(id), self._inboxes.get(id)
        if session is None or not inbox:
            return
        if session.state is not State.IDLE or session.transcript.queue:
            return
        try:
            self.counted.take_turn(self.top(session).id, self.members(session))
        except AgentlsError as error:
            self._warn(session, error.message)
            return
        news = inbox.take_all()
        names = list(dict.fromkeys(self._name(each.child) for each in news))
        text = Block(kind="text", text=together(news))
        self._sessions.prompt(id, Prompt((text,), ", ".join(names)))

    def _name(self, child: SessionId) -> str:
        session = self._sessions.find(child)
        return session.spawn.name if session else "agent"

    def _warn(self, session: Session, words: str) -> None:
        if session.id not in self._warned:
            self._warned.add(session.id)
            session.notice(Level.WARNING, f"{words} Say something to let them go on.")

    # -- stopping

    def _stop_below(self, session: Session) -> None:
        """Nobody works on for a session that was stopped, and it hears nothing more of before."""
        self._inboxes.pop(session.id, None)
        for child in self.children(session.id):
            self._stop(child, f"{child.spawn.by} was stopped, and so was this.")

    def _stop(self, child: Session, words: str) -> None:
        if child.transcript.turn_running or child.transcript.queue:
            child.notice(Level.INFO, words)
            self.feed.add(child, What.STOPPED)
        if child.transcript.turn_running:
            self._stopped.add(child.id)
        child.cancel()
        self._stop_below(child)

    def _close(self, id: SessionId) -> None:
        async def close() -> None:
            session = self._sessions.find(id)
            if session is not None and session.state is not State.CLOSED:
                await self._sessions.close(id)

        self._tasks.start(close(), f"close {id}")


def _busy(session: Session) -> bool:
    return (
        session.state is State.STARTING
        or session.transcript.turn_running
        or bool(session.transcript.queue)
    )


def _last_words(session: Session) -> str:
    """What the agent said last in this turn."""
    for entry in reversed(session.transcript.entries):
        if entry.turn != session.transcript.turn:
            break
        if isinstance(entry, Message) and entry.role is Role.AGENT:
            return str(entry.text)
    return ""


def _task(child: Session, prompt: str) -> tuple[Block, ...]:
    spawn = child.spawn
    about = (
        f"(You are “{spawn.name}”, started by the agent “{spawn.by}”. What you say last is your"
        " answer to it. The tool ask_orchestrator asks it something and waits; notify tells it"
        " something while you go on.)"
    )
    return Block(kind="text", text=prompt), Block(kind="text", text=about)
