"""One conversation with one agent: its turns, its queue of prompts, its asks, its state.

Everything that happens is taken in by `_happen`, in the order it happened, including the end of a
turn; what an agent says before, between and after turns is kept like the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from . import events as ev
from .asks import Asks
from .choices import with_option
from .doing import doing, first_line, first_title, status_at_end
from .errors import AgentError, AuthRequired, SessionNotReady
from .family.spawn import Spawn
from .model import (
    AgentOption,
    AgentSessionId,
    AskId,
    Block,
    Level,
    Prompt,
    Role,
    SessionId,
    SessionSetup,
    State,
    ToolCallPatch,
)
from .past import Past
from .permission import Permission
from .policy.gate import SessionPolicy
from .ports import Agent, AskRequest, Clock, Observer, Timer, ToolDoor, TurnOutcome, Workplace
from .questions import Inquiry, Questions
from .replay import Replay
from .transcript import Message, ToolCall, Transcript

log = logging.getLogger(__name__)

ASLEEP = "the agent sleeps; a prompt wakes it"
_READY = {State.IDLE, State.WAITING_FOR_YOU, State.WAITING_FOR_AGENT}
"""States in which a prompt can go to the agent, unless a turn is running."""


Prepare = Callable[["Session", Prompt, Callable[[], None]], None]
"""Gets ready for a turn, and then calls what it was given, once."""


class Session:
    """A conversation. Implements `ports.Sink`: the agent edge delivers here."""

    def __init__(
        self,
        id: SessionId,
        agent_name: str,
        cwd: str,
        *,
        clock: Clock,
        asks: Asks,
        observers: Sequence[Observer],
        cancel_grace: float,
        policy: SessionPolicy | None = None,
        ask_timeout: float = 1800.0,
        past: Past | None = None,
        parent: SessionId | None = None,
        questions: Questions | None = None,
        spawn: Spawn | None = None,
    ) -> None:
        past = past or Past(created=clock.now(), transcript=Transcript())
        self.id = id
        self.agent_name = agent_name
        self.cwd = cwd
        self.parent = parent
        """The session that this one was forked from."""
        self.created = past.created
        self.last_sign = clock.now()
        """When the agent last said anything."""
        self.transcript = past.transcript
        self.agent: Agent | None = None
        self.agent_session = past.agent_session
        self.agent_session_at = past.agent_session_at
        """When the agent made that session."""
        self.named = past.named
        """A person gave it its title: what the agent calls it does not matter."""
        self.archived = past.archived
        self.error: AgentError | None = None
        self.stuck = False
        """A turn runs, and the agent has not said anything for long."""
        self.attempt = 0
        """How often the agent was started anew: what an earlier start brings comes too late."""
        self._clock = clock
        self._now = clock.now
        self._asks = asks
        self._observers = observers
        self._cancel_grace = cancel_grace
        self.permission = Permission(
            id,
            self.transcript,
            policy or SessionPolicy.without_rules(agent_name, cwd),
            asks=asks,
            clock=clock,
            timeout=ask_timeout,
            happen=self._happen,
            ends=self._why_nothing_is_allowed,
            waits=self._show_state,
        )
        self.inquiry = Inquiry(
            id,
            self.transcript,
            questions or Questions(),
            clock=clock,
            happen=self._happen,
            ends=self._why_nothing_is_allowed,
            waits=self._show_state,
        )
        self.spawn = spawn or Spawn()
        self.waits_for: list[str] = []
        """The agents, by name, whose work the agent of this session waits for."""
        self.workplace: Workplace | None = None
        """What the agent can use here beside talking."""
        self.door: ToolDoor | None = None
        """The tools that it may call back."""
        self.prepare: Prepare | None = None
        """What has to be done before each prompt is sent."""
        self._preparing = False
        self._cancel_timer: Timer | None = None
        self._cancelling = False
        self._echo = ""
        self._unsent: Prompt | None = None
        """The prompt that the agent works on, or has refused for want of a login."""
        self._replay: Replay | None = None
        self._was_open = any(isinstance(e, Message | ToolCall) for e in self.transcript.entries)
        self._primer = ""
        """What the agent is told, with the next prompt, of a conversation it does not remember."""

    @property
    def state(self) -> State:
        return self.transcript.state

    @property
    def title(self) -> str:
        return self.transcript.title

    # -- what the agent says (ports.Sink)

    def deliver(self, event: ev.Event) -> None:
        """Take in what the agent says, but for what the transcript has already. A closed session
        stays as it was closed: another server may have taken it up by now."""
        if self.state is State.CLOSED:
            return
        if type(event) is ev.TextAdded and event.role is Role.USER and self._is_echo(event.text):
            return
        if self._replay is not None and self._replay.takes(event):
            return
        if self.named and type(event) is ev.TitleChanged:
            return
        self._happen(event)

    def seems_stuck(self) -> None:
        """Say so, once: it may still be at work."""
        if not self.stuck:
            self.stuck = True
            self._happen(ev.StateChanged(self.state, "no sign of life"), self.last_sign)

    def asleep(self) -> None:
        """Its agent is stopped for want of anything to do; the next prompt brings it back."""
        self.agent = None
        self._set_state(State.IDLE, ASLEEP)

    def _happen(self, event: ev.Event, at: float | None = None) -> None:
        """The only way a session ever changes. With a time it is no sign of life."""
        if at is None:
            at = self.last_sign = self._now()
            if self.stuck:
                self.stuck = False
                if self.state is State.RUNNING and type(event) is not ev.StateChanged:
                    self._happen(ev.StateChanged(State.RUNNING))
        entry = self.transcript.apply(event, at)
        for observer in self._observers:
            try:
                observer(self, event, entry)
            except Exception:  # who looks on must not stop what goes on
                log.exception("an observer of %s failed", self.id)

    def ask(self, request: AskRequest) -> AskId:
        return self.permission.ask(request)

    def withdraw(self, ask: AskId) -> None:
        self._asks.withdraw(ask, "agent took it back")

    def agent_gone(self, error: AgentError) -> None:
        """The process ended: what waits for it ends too, and what was said stays."""
        self.agent = None
        if self.state is not State.CLOSED:
            self._fail(error)

    # -- opening and closing

    def begin(self, detail: str = "") -> None:
        """Let everybody see that there is a session."""
        self._happen(ev.StateChanged(State.STARTING, detail))

    def restarting(self, detail: str = "restarting the agent") -> None:
        """The agent is started anew; nothing that the old one still says matters."""
        self._abandon("The agent was restarted.", "agent restarted")
        self.attempt += 1
        self.error = None
        self._set_state(State.STARTING, detail)

    def lost_memory(self, error: AgentError | None) -> None:
        """The new agent process could not take the old conversation up."""
        self._end_replay()
        self.transcript.forget_calls()
        why = f" ({error})" if error else ""
        self.prime(self.transcript, self.title)
        tells = " Your next prompt tells it what was said." if self._primer else ""
        self.notice(
            Level.WARNING, f"{self.agent_name} does not remember this conversation{why}.{tells}"
        )

    def prime(self, transcript: Transcript, title: str) -> None:
        """Have the agent told, with the next prompt, what was said in a conversation."""
        from .primer import primer_of  # noqa: PLC0415 - most sessions need none

        self._primer = primer_of(transcript, title)

    def notice(self, level: Level, text: str) -> None:
        self._happen(ev.NoticeShown(level, text))

    def rename(self, title: str) -> None:
        """The name that a person gives it; without one, it is called by its first prompt again."""
        self.named = bool(title)
        self._happen(ev.TitleChanged(title or first_title(self.transcript)))

    def opened(self, agent: Agent, setup: SessionSetup) -> None:
        """The agent is there. What it still tells of the past comes first, then new prompts."""
        self.agent = agent
        if setup.id != self.agent_session:
            self.agent_session_at = self._now()
        self.agent_session = setup.id
        self._was_open = True
        if self._replay is not None:
            self._replay.when_over(lambda: self._ready(setup))
        else:
            self._ready(setup)

    def _ready(self, setup: SessionSetup) -> None:
        if self.state is not State.STARTING:
            return  # it was closed, or has failed, meanwhile
        if setup.modes:
            self._happen(ev.ModesChanged(setup.modes, setup.mode))
        if setup.options:
            self._happen(ev.OptionsChanged(setup.options))
        # An ask may have come before the agent named the session.
        self._set_state(State.WAITING_FOR_YOU if self.transcript.open_asks() else State.IDLE)
        self._next_prompt()

    def expect_replay(self, *, asked: bool) -> None:
        """The agent may tell again what the transcript has already; `asked`: it should."""
        if self._was_open:
            self._replay = Replay(self.transcript, self._clock, expected=asked)

    def _end_replay(self) -> None:
        if self._replay is not None:
            self._replay.stop()
            self._replay = None

    def failed_to_open(self, error: AgentError) -> None:
        self._fail(error)

    def close(self) -> None:
        if self.state is State.CLOSED:
            return
        self._abandon("The session was closed.", "session closed")
        if unsent := self.transcript.unsent():
            self._happen(ev.QueueCleared())
            self.notice(Level.WARNING, unsent)
        self._set_state(State.CLOSED)

    def _abandon(self, why: str, by: str) -> None:
        """Whatever the agent still does here is in vain: it is told to stop, and nobody waits."""
        self._withdraw_all(by)
        if self.transcript.turn_running and not self._cancelling and not self._preparing:
            self._tell_to_stop()
        self._end_turn("cancelled", why)
        self._close_calls("cancelled")
        self._end_replay()
        self.agent = None

    def _withdraw_all(self, by: str) -> None:
        self._asks.withdraw_all(self.id, by)
        self.inquiry.withdraw(by)

    # -- what the person does

    def prompt(self, prompt: Prompt) -> int:
        """Send a prompt, or queue it while the agent is busy. The number of its turn."""
        if self.state is State.CLOSED:
            raise SessionNotReady("The session is closed.", hint="Start a new one.")
        self._happen(ev.PromptQueued(prompt))
        turn = self.transcript.turn + len(self.transcript.queue)
        self._next_prompt()
        return turn

    def cancel(self) -> list[Prompt]:
        """Stop the running turn. The prompts that were waiting, which are not sent any more."""
        returned = list(self.transcript.queue)
        if returned:
            self._happen(ev.QueueCleared())
        begins = self.transcript.turn_running and not self._cancelling
        self._cancelling = self.transcript.turn_running
        # The protocol wants every open ask answered `cancelled` before anything else.
        self._withdraw_all("turn cancelled")
        if begins and self._preparing:
            self._turn_over(self.transcript.turn, TurnOutcome("cancelled"))
        elif begins:
            self._tell_to_stop()
            if self.workplace is not None:
                self.workplace.stop()
            self._cancel_timer = self._clock.later(self._cancel_grace, self._cancel_unanswered)
        return returned

    def _tell_to_stop(self) -> None:
        if self.agent is not None and self.agent_session is not None:
            self.agent.cancel(self.agent_session)

    @property
    def sleeps(self) -> bool:
        """Its agent was stopped, and comes back with the next prompt."""
        return self.state is State.IDLE and self.agent is None

    async def set_mode(self, mode: str) -> None:
        """Of a session that sleeps it is remembered, and set when its agent is back."""
        if self.sleeps:
            self._happen(ev.ModeChanged(mode))
            return
        agent, id = self.ready()
        await agent.set_mode(id, mode)
        self._happen(ev.ModeChanged(mode))

    async def set_option(self, option: str, value: str | bool) -> tuple[AgentOption, ...]:
        if self.sleeps:
            chosen = with_option(self.transcript.options, option, value)
            self._happen(ev.OptionsChanged(chosen))
            return chosen
        agent, id = self.ready()
        options = await agent.set_option(id, option, value)
        if options:
            self._happen(ev.OptionsChanged(options))
        return options

    # -- turns

    def _next_prompt(self) -> None:
        queue = self.transcript.queue
        if self.agent is None or self.agent_session is None:
            return
        if not queue or self.transcript.turn_running or self.state not in _READY:
            return
        prompt = queue[0]
        turn = self.transcript.turn + 1
        self.error = None
        self._end_replay()
        self._happen(ev.TurnStarted(turn, prompt))
        if not self.title:
            self._happen(ev.TitleChanged(first_line(prompt.text)))
        self._show_state()
        if self.prepare is None:
            self._send(turn, prompt)
        else:
            self._preparing = True
            self.prepare(self, prompt, lambda: self._send(turn, prompt))

    def _send(self, turn: int, prompt: Prompt) -> None:
        if turn != self.transcript.turn or not self.transcript.turn_running:
            return  # it was over before it was sent
        self._preparing = False
        blocks = prompt.blocks
        if self._primer and not prompt.text.startswith("/"):  # a command must come first
            blocks = (Block(kind="text", text=self._primer), *blocks)
            self._primer = ""
        self._echo = Prompt(blocks).text
        self._unsent = prompt
        agent, id = self.ready()
        agent.prompt(id, blocks, lambda outcome: self._turn_over(turn, outcome))

    def _turn_over(self, turn: int, outcome: TurnOutcome) -> None:
        if turn != self.transcript.turn or not self.transcript.turn_running:
            log.info("late answer to turn %d of %s: %s", turn, self.id, outcome.reason)
            return
        error = str(outcome.error) if outcome.error else ""
        refused = isinstance(outcome.error, AuthRequired)
        if refused:
            self.error = outcome.error
        else:
            self._unsent = None
        self._end_turn(outcome.reason, error, outcome)
        if self.state is not State.FAILED:
            self._set_state(State.IDLE, error if refused else "")
            if not refused:  # the next one would be refused as well
                self._next_prompt()

    def queue_unsent(self) -> None:
        """What was refused for want of a login is sent again, before what came after it."""
        if self._unsent is None:
            return
        prompts, self._unsent = [self._unsent, *self.transcript.queue], None
        self._happen(ev.QueueCleared())
        for prompt in prompts:
            self._happen(ev.PromptQueued(prompt))
        self._next_prompt()

    def _end_turn(self, reason: str, error: str = "", outcome: TurnOutcome | None = None) -> None:
        if not self.transcript.turn_running:
            return
        if self._cancel_timer is not None:
            self._cancel_timer.cancel()
            self._cancel_timer = None
        self._cancelling = False
        self._preparing = False
        self._echo = ""
        self._withdraw_all("turn over")
        self.permission.turn_over()
        self._close_calls(reason)
        usage = outcome.usage if outcome else None
        self._happen(ev.TurnEnded(self.transcript.turn, reason, error, usage))

    def _close_calls(self, reason: str) -> None:
        for call in self.transcript.open_calls():
            status = status_at_end(call, reason)
            self._happen(ev.ToolCallChanged(ToolCallPatch(id=call.call, status=status)))

    def _cancel_unanswered(self) -> None:
        self._cancel_timer = None
        error = AgentError(
            f"{self.agent_name} did not stop within {self._cancel_grace:g} seconds.",
            hint="Send another prompt to restart it.",
        )
        self._end_turn("cancelled", str(error))
        self._fail(error)

    def _fail(self, error: AgentError) -> None:
        if self.state in {State.FAILED, State.CLOSED}:
            return
        self.error = error
        self._withdraw_all("agent gone")
        self._end_turn("failed", str(error))
        self._close_calls("failed")
        self._set_state(State.FAILED, str(error))
        self._happen(ev.NoticeShown(Level.ERROR, str(error)))

    # -- state

    @property
    def ending(self) -> bool:
        """Whether whatever the agent still wants comes too late."""
        return bool(self._why_nothing_is_allowed())

    def _why_nothing_is_allowed(self) -> str:
        if self._cancelling:
            return "turn cancelled"
        return "session over" if self.state in {State.FAILED, State.CLOSED} else ""

    def waits(self, name: str) -> Callable[[], None]:
        """The agent waits for another one. Returned: what to call when it does no more."""
        self.waits_for.append(name)
        self._show_state()

        def over() -> None:
            self.waits_for.remove(name)
            self._show_state()

        return over

    def _show_state(self) -> None:
        """Running or waiting, and for whom."""
        if self.state in _READY or self.state is State.RUNNING:
            self._set_state(*doing(self.transcript, self.waits_for))

    def _set_state(self, state: State, detail: str = "") -> None:
        if state is not self.state or detail != self.transcript.detail:
            self._happen(ev.StateChanged(state, detail))

    def _is_echo(self, text: str) -> bool:
        """Some agents repeat the prompt as a user message while they work on it."""
        if self._echo and text and self._echo.startswith(text):
            self._echo = self._echo[len(text) :]
            return True
        return False

    def ready(self) -> tuple[Agent, AgentSessionId]:
        """The agent and its name for this session, or an error that says why not."""
        if self.agent is None or self.agent_session is None:
            raise SessionNotReady(
                f"The session is {self.state.value}.", hint="Wait until it is ready, or restart it."
            )
        return self.agent, self.agent_session
