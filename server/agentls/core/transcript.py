"""The reducer: folds events into what a session looks like, one entry at a time.

Deterministic, no IO, no clock of its own: the same events at the same times give the same
transcript. Applying an event costs the same whether the transcript has ten entries or a million.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec import UNSET, Struct, field

from . import events as ev
from .growing import GrowingText
from .model import (
    OPEN_STATUSES,
    AgentOption,
    Always,
    AskId,
    Block,
    Decision,
    EntryId,
    Level,
    Location,
    Mode,
    Option,
    PlanStep,
    Prompt,
    QuestionId,
    Reply,
    Role,
    SlashCommand,
    State,
    TerminalId,
    ToolCallId,
    ToolContent,
    Usage,
)
from .output import Output
from .spending import of_turn, told, with_tokens


class _Entry(Struct, kw_only=True):
    id: EntryId
    at: float
    """Seconds since the epoch, when the entry began."""
    turn: int
    """The turn it belongs to; 0 before the first."""


class Message(_Entry):
    """What somebody said, or thought."""

    role: Role
    message: str
    text: GrowingText
    sender: str = ""
    """The agent that said it to this one."""


class Attachment(_Entry):
    """An image, a link, or another part of a message that is not text."""

    role: Role
    block: Block


class ToolCall(_Entry):
    """Something the agent does: read, edit, run, search…"""

    call: ToolCallId
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    name: str = ""
    content: tuple[ToolContent, ...] = ()
    locations: tuple[Location, ...] = ()
    input: Any = None
    output: Any = None
    terminals: dict[TerminalId, Output] = field(default_factory=dict)
    rejected: bool = False
    """A person, or a rule, said no to it."""

    @property
    def is_open(self) -> bool:
        return self.status in OPEN_STATUSES


class Plan(_Entry):
    """The agent's plan, as it is now."""

    plan: str
    steps: tuple[PlanStep, ...]


class Ask(_Entry):
    """A question "may I?", and its answer once there is one."""

    ask: AskId
    call: ToolCallId
    title: str
    options: tuple[Option, ...]
    shown: str = ""
    why: str = ""
    always: tuple[Always, ...] = ()
    editable: bool = False
    decision: Decision | None = None


class Question(_Entry):
    """A question for words, and the answer once there is one."""

    question: QuestionId
    text: str
    options: tuple[str, ...] = ()
    to: str = ""
    """The agent that is asked; empty for the person."""
    reply: Reply | None = None


class TurnEnd(_Entry):
    """How a turn ended."""

    reason: str
    error: str
    usage: Usage | None
    seconds: float


class Notice(_Entry):
    """Something the person should know."""

    level: Level
    text: str


class Other(_Entry):
    """An update of a kind that we do not know, as it came."""

    kind: str
    raw: dict[str, Any]


Entry: TypeAlias = (
    Message | Attachment | ToolCall | Plan | Ask | Question | TurnEnd | Notice | Other
)


class Transcript:
    """All entries of one session, in order, and the session's present settings and state."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.turn = 0
        self.turn_running = False
        self.state = State.STARTING
        self.detail = ""
        self.title = ""
        self.policy = "ask"
        self.mode = ""
        self.modes: tuple[Mode, ...] = ()
        self.options: tuple[AgentOption, ...] = ()
        self.commands: tuple[SlashCommand, ...] = ()
        self.usage = Usage()
        self.queue: list[Prompt] = []
        self._calls: dict[ToolCallId, ToolCall] = {}
        self._asks: dict[AskId, Ask] = {}
        self._questions: dict[QuestionId, Question] = {}
        self._plans: dict[str, Plan] = {}
        self._turn_began = 0.0
        self._attributed = 0.0
        """What of the cost belongs to turns that are over."""
        self._open_calls: dict[ToolCallId, ToolCall] = {}
        self._apply: dict[type, Callable[[Any, float], Entry | None]] = {
            ev.TextAdded: self._text,
            ev.BlockAdded: self._block,
            ev.ToolCallChanged: self._tool_call,
            ev.OutputAdded: self._output,
            ev.OutputEnded: self._output_ended,
            ev.PlanChanged: self._plan,
            ev.AskOpened: self._ask,
            ev.AskSettled: self._ask_settled,
            ev.QuestionAsked: self._question,
            ev.QuestionSettled: self._question_settled,
            ev.TurnStarted: self._turn_started,
            ev.TurnEnded: self._turn_ended,
            ev.PromptQueued: self._queued,
            ev.QueueCleared: self._queue_cleared,
            ev.StateChanged: self._state,
            ev.PolicyChanged: self._policy,
            ev.TitleChanged: self._title,
            ev.ModesChanged: self._modes,
            ev.ModeChanged: self._mode,
            ev.OptionsChanged: self._options,
            ev.CommandsChanged: self._commands,
            ev.UsageChanged: self._usage,
            ev.NoticeShown: self._notice,
            ev.OtherUpdate: self._other,
        }

    def apply(self, event: ev.Event, at: float) -> Entry | None:
        """Take in one event. The entry it began or changed, or None when it changed none."""
        return self._apply[type(event)](event, at)

    def call(self, call: ToolCallId) -> ToolCall | None:
        return self._calls.get(call)

    def unsent(self) -> str:
        """What to say of prompts that wait when a session ends; nobody sends them later unasked."""
        prompts = "; ".join(prompt.text for prompt in self.queue)
        return f"These prompts were not sent any more: {prompts}" if prompts else ""

    def forget_calls(self) -> None:
        """The agent begins anew: what it names as before is something else. Entries stay."""
        self._calls = dict(self._open_calls)

    def open_calls(self) -> list[ToolCall]:
        return list(self._open_calls.values())

    def open_asks(self) -> list[Ask]:
        return [ask for ask in self._asks.values() if ask.decision is None]

    def open_questions(self) -> list[Question]:
        return list(self._questions.values())

    # -- what was said

    def _next_id(self) -> EntryId:
        return EntryId(f"e{len(self.entries) + 1}")

    def _text(self, event: ev.TextAdded, at: float) -> Entry | None:
        if self.entries:
            last = self.entries[-1]
            if (
                type(last) is Message
                and last.role is event.role
                and last.message == event.message
                and last.turn == self.turn
            ):
                last.text.append(event.text)
                return last
        if not event.text:
            return None  # some agents open every answer with an empty piece: no empty bubble
        return self._add(
            Message(
                id=self._next_id(),
                at=at,
                turn=self.turn,
                role=event.role,
                message=event.message,
                text=GrowingText(event.text),
            )
        )

    def _block(self, event: ev.BlockAdded, at: float) -> Entry:
        return self._add(
            Attachment(
                id=self._next_id(), at=at, turn=self.turn, role=event.role, block=event.block
            )
        )

    # -- what was done

    def _tool_call(self, event: ev.ToolCallChanged, at: float) -> Entry:
        patch = event.patch
        entry = self._calls.get(patch.id) or self._new_call(patch.id, at)
        if patch.title is not UNSET:
            entry.title = patch.title
        if patch.kind is not UNSET:
            entry.kind = patch.kind
        if patch.name is not UNSET:
            entry.name = patch.name
        if patch.content is not UNSET:
            entry.content = patch.content
        if patch.locations is not UNSET:
            entry.locations = patch.locations
        if patch.input is not UNSET:
            entry.input = patch.input
        if patch.output is not UNSET:
            entry.output = patch.output
        if patch.status is not UNSET:
            self._set_status(entry, patch.status)
        return entry

    def _new_call(self, call: ToolCallId, at: float) -> ToolCall:
        entry = ToolCall(id=self._next_id(), at=at, turn=self.turn, call=call)
        self._calls[call] = entry
        self._open_calls[call] = entry
        self._add(entry)
        return entry

    def _set_status(self, entry: ToolCall, status: str) -> None:
        if not entry.is_open and status in OPEN_STATUSES:
            return  # what is over stays over: agents go on reporting cancelled commands
        entry.status = status
        if not entry.is_open:
            self._open_calls.pop(entry.call, None)

    def _output_of(
        self, call: ToolCallId, terminal: TerminalId, at: float
    ) -> tuple[ToolCall, Output]:
        entry = self._calls.get(call) or self._new_call(call, at)
        output = entry.terminals.get(terminal)
        if output is None:
            output = entry.terminals[terminal] = Output()
        return entry, output

    def _output(self, event: ev.OutputAdded, at: float) -> Entry:
        entry, output = self._output_of(event.tool_call, event.terminal, at)
        output.add(event.data, whole=event.whole, retold=event.retold)
        return entry

    def _output_ended(self, event: ev.OutputEnded, at: float) -> Entry:
        entry, output = self._output_of(event.tool_call, event.terminal, at)
        output.ended = True
        output.exit_code = event.exit_code
        output.signal = event.signal
        return entry

    def _plan(self, event: ev.PlanChanged, at: float) -> Entry:
        entry = self._plans.get(event.plan)
        if entry is not None and entry.turn == self.turn:
            entry.steps = event.steps
            return entry
        entry = Plan(id=self._next_id(), at=at, turn=self.turn, plan=event.plan, steps=event.steps)
        self._plans[event.plan] = entry
        return self._add(entry)

    # -- asks

    def _ask(self, event: ev.AskOpened, at: float) -> Entry:
        entry = Ask(
            id=self._next_id(),
            at=at,
            turn=self.turn,
            ask=event.ask,
            call=event.tool_call,
            title=event.title,
            options=event.options,
            shown=event.shown,
            why=event.why,
            always=event.always,
            editable=event.editable,
        )
        self._asks[event.ask] = entry
        self._add(entry)
        if event.decision is not None:
            self._settle(event.ask, event.decision)
        return entry

    def _ask_settled(self, event: ev.AskSettled, at: float) -> Entry | None:
        return self._settle(event.ask, event.decision)

    def _settle(self, ask: AskId, decision: Decision) -> Entry | None:
        entry = self._asks.pop(ask, None)
        if entry is None:
            return None
        entry.decision = decision
        call = self._calls.get(entry.call)
        if call is not None and decision.option is not None:
            call.rejected = not decision.allows
        return entry

    # -- questions

    def _question(self, event: ev.QuestionAsked, at: float) -> Entry:
        entry = self._questions[event.question] = Question(
            id=self._next_id(),
            at=at,
            turn=self.turn,
            question=event.question,
            text=event.text,
            options=event.options,
            to=event.to,
        )
        return self._add(entry)

    def _question_settled(self, event: ev.QuestionSettled, at: float) -> Entry | None:
        entry = self._questions.pop(event.question, None)
        if entry is not None:
            entry.reply = event.reply
        return entry

    # -- turns

    def _turn_started(self, event: ev.TurnStarted, at: float) -> Entry | None:
        self.turn = event.turn
        self.turn_running = True
        self._turn_began = at
        if self.queue and self.queue[0] == event.prompt:
            self.queue.pop(0)
        text = event.prompt.text
        entry: Entry | None = None
        if text:
            entry = self._text(ev.TextAdded(role=Role.USER, text=text), at)
            if isinstance(entry, Message):
                entry.sender = event.prompt.sender
        for block in event.prompt.blocks:
            if block.kind != "text":
                entry = self._block(ev.BlockAdded(role=Role.USER, block=block), at)
        return entry

    def _turn_ended(self, event: ev.TurnEnded, at: float) -> Entry:
        self.turn_running = False
        usage = of_turn(event.usage, self.usage, self._attributed)
        self.usage = with_tokens(self.usage, event.usage)
        self._attributed += (usage and usage.cost) or 0.0
        return self._add(
            TurnEnd(
                id=self._next_id(),
                at=at,
                turn=event.turn,
                reason=event.reason,
                error=event.error,
                usage=usage,
                seconds=max(0.0, at - self._turn_began),
            )
        )

    def _queued(self, event: ev.PromptQueued, at: float) -> None:
        self.queue.append(event.prompt)

    def _queue_cleared(self, event: ev.QueueCleared, at: float) -> None:
        self.queue.clear()

    # -- the session as a whole

    def _state(self, event: ev.StateChanged, at: float) -> None:
        self.state = event.state
        self.detail = event.detail

    def _policy(self, event: ev.PolicyChanged, at: float) -> None:
        self.policy = event.policy

    def _title(self, event: ev.TitleChanged, at: float) -> None:
        self.title = event.title

    def _modes(self, event: ev.ModesChanged, at: float) -> None:
        self.modes = event.modes
        self.mode = event.mode

    def _mode(self, event: ev.ModeChanged, at: float) -> None:
        self.mode = event.mode

    def _options(self, event: ev.OptionsChanged, at: float) -> None:
        self.options = event.options

    def _commands(self, event: ev.CommandsChanged, at: float) -> None:
        self.commands = event.commands

    def _usage(self, event: ev.UsageChanged, at: float) -> None:
        self.usage = told(self.usage, event.usage)

    def _notice(self, event: ev.NoticeShown, at: float) -> Entry:
        return self._add(
            Notice(id=self._next_id(), at=at, turn=self.turn, level=event.level, text=event.text)
        )

    def _other(self, event: ev.OtherUpdate, at: float) -> Entry:
        return self._add(
            Other(id=self._next_id(), at=at, turn=self.turn, kind=event.kind, raw=event.raw)
        )

    def _add(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        return entry
