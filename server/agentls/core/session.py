"""One conversation with one agent: its turns, its queue of prompts, its asks, its state.

Everything that happens is taken in by `_happen`, in the order it happened, including the end of a
turn; what an agent says before, between and after turns is kept like the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from . import events as ev
from .asks import Asks
from .errors import AgentError, SessionNotReady
from .model import (
    AgentOption,
    AgentSessionId,
    AskId,
    Level,
    Prompt,
    Role,
    SessionId,
    SessionSetup,
    State,
    ToolCallPatch,
)
from .permission import Permission
from .policy.gate import SessionPolicy
from .ports import Agent, AskRequest, Clock, Observer, Timer, TurnOutcome, Workplace
from .transcript import ToolCall, Transcript

log = logging.getLogger(__name__)

_TITLE_LENGTH = 80
_READY = {State.IDLE, State.WAITING_FOR_YOU}
"""States in which a prompt can go to the agent, unless a turn is running."""
_REPLAYED = (
    ev.TextAdded,
    ev.BlockAdded,
    ev.ToolCallChanged,
    ev.OutputAdded,
    ev.OutputEnded,
    ev.PlanChanged,
)


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
    ) -> None:
        self.id = id
        self.agent_name = agent_name
        self.cwd = cwd
        self.created = clock.now()
        self.last_sign = self.created
        """When the agent last said anything."""
        self.transcript = Transcript()
        self.agent: Agent | None = None
        self.agent_session: AgentSessionId | None = None
        self.error: AgentError | None = None
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
        self.workplace: Workplace | None = None
        """What the agent can use here beside talking."""
        self._cancel_timer: Timer | None = None
        self._cancelling = False
        self._echo = ""
        self._replaying = False
        self._was_open = False

    @property
    def state(self) -> State:
        return self.transcript.state

    @property
    def title(self) -> str:
        return self.transcript.title

    # -- what the agent says (ports.Sink)

    def deliver(self, event: ev.Event) -> None:
        """Take in what the agent says, but for what the transcript has already."""
        if type(event) is ev.TextAdded and event.role is Role.USER and self._is_echo(event.text):
            return
        if self._replaying and isinstance(event, _REPLAYED):
            return
        self._happen(event)

    def _happen(self, event: ev.Event) -> None:
        """The only way a session ever changes."""
        at = self.last_sign = self._now()
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

    def begin(self) -> None:
        """Let everybody see that there is a new session."""
        self._happen(ev.StateChanged(State.STARTING))

    def restarting(self) -> None:
        """The agent is started anew; nothing that the old one still says matters."""
        self._abandon("The agent was restarted.", "agent restarted")
        self.attempt += 1
        self.error = None
        self._set_state(State.STARTING, "restarting the agent")

    def lost_memory(self, error: AgentError | None) -> None:
        """The new agent process could not take the old conversation up."""
        self._replaying = False
        why = f" ({error})" if error else ""
        self._happen(
            ev.NoticeShown(
                Level.WARNING,
                f"{self.agent_name} was restarted and does not remember this conversation{why}.",
            )
        )

    def opened(self, agent: Agent, setup: SessionSetup) -> None:
        self.agent = agent
        self.agent_session = setup.id
        self._was_open = True
        if setup.modes:
            self._happen(ev.ModesChanged(setup.modes, setup.mode))
        if setup.options:
            self._happen(ev.OptionsChanged(setup.options))
        # An ask may have come before the agent named the session.
        self._set_state(State.WAITING_FOR_YOU if self.transcript.open_asks() else State.IDLE)
        self._next_prompt()

    def expect_replay(self) -> None:
        """The agent is about to tell again what the transcript has already, if it has."""
        self._replaying = self._was_open

    def failed_to_open(self, error: AgentError) -> None:
        self._fail(error)

    def close(self) -> None:
        if self.state is State.CLOSED:
            return
        self._abandon("The session was closed.", "session closed")
        self._set_state(State.CLOSED)

    def _abandon(self, why: str, by: str) -> None:
        """Whatever the agent still does here is in vain: it is told to stop, and nobody waits."""
        self._asks.withdraw_all(self.id, by)
        if self.transcript.turn_running and not self._cancelling:
            self._tell_to_stop()
        self._end_turn("cancelled", why)
        self._close_calls("cancelled")
        self.agent = None

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
        self._asks.withdraw_all(self.id, "turn cancelled")
        if begins:
            self._tell_to_stop()
            if self.workplace is not None:
                self.workplace.stop()
            self._cancel_timer = self._clock.later(self._cancel_grace, self._cancel_unanswered)
        return returned

    def _tell_to_stop(self) -> None:
        if self.agent is not None and self.agent_session is not None:
            self.agent.cancel(self.agent_session)

    async def set_mode(self, mode: str) -> None:
        agent, id = self.ready()
        await agent.set_mode(id, mode)
        self._happen(ev.ModeChanged(mode))

    async def set_option(self, option: str, value: str | bool) -> tuple[AgentOption, ...]:
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
        self._replaying = False
        self._happen(ev.TurnStarted(turn, prompt))
        self._echo = prompt.text
        if not self.title:
            self._happen(ev.TitleChanged(_title(prompt.text)))
        self._show_state()
        self.agent.prompt(
            self.agent_session, prompt.blocks, lambda outcome: self._turn_over(turn, outcome)
        )

    def _turn_over(self, turn: int, outcome: TurnOutcome) -> None:
        if turn != self.transcript.turn or not self.transcript.turn_running:
            log.info("late answer to turn %d of %s: %s", turn, self.id, outcome.reason)
            return
        error = str(outcome.error) if outcome.error else ""
        self._end_turn(outcome.reason, error, outcome)
        if self.state is not State.FAILED:
            self._set_state(State.IDLE)
            self._next_prompt()

    def _end_turn(self, reason: str, error: str = "", outcome: TurnOutcome | None = None) -> None:
        if not self.transcript.turn_running:
            return
        if self._cancel_timer is not None:
            self._cancel_timer.cancel()
            self._cancel_timer = None
        self._cancelling = False
        self._echo = ""
        self._asks.withdraw_all(self.id, "turn over")
        self.permission.turn_over()
        self._close_calls(reason)
        usage = outcome.usage if outcome else None
        self._happen(ev.TurnEnded(self.transcript.turn, reason, error, usage))

    def _close_calls(self, reason: str) -> None:
        for call in self.transcript.open_calls():
            status = _status_at_end(call, reason)
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
        self._asks.withdraw_all(self.id, "agent gone")
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

    def _show_state(self) -> None:
        """Running or waiting, by whether any ask is open."""
        if self.state in _READY or self.state is State.RUNNING:
            if self.transcript.open_asks():
                self._set_state(State.WAITING_FOR_YOU)
            else:
                self._set_state(State.RUNNING if self.transcript.turn_running else State.IDLE)

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


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"


def _status_at_end(call: ToolCall, reason: str) -> str:
    """Agents leave tool calls open when a turn is cancelled or an ask is rejected."""
    if call.rejected:
        return "rejected"
    return "cancelled" if reason in {"cancelled", "failed"} else "unfinished"
