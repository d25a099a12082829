"""What every view does with what happens, and what is the same in those for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from agentls.core import events as ev
from agentls.core.model import Decision, Level, Option, Role, ToolCallId
from agentls.core.printable import one_line
from agentls.core.session import Session
from agentls.core.transcript import Ask, Entry, Plan, Question, ToolCall, TurnEnd

from ..answers import Key
from .pieces import Line, asked, block_words, call_body, call_line, end_line


class View(Protocol):
    """Where a conversation is shown."""

    pace: float
    """Seconds to gather events between two refreshes."""
    tick: float | None
    """Seconds after which to refresh although nothing happened."""

    def show(self, session: Session, event: ev.Event, entry: Entry | None, at: float) -> None: ...

    def refresh(self) -> None:
        """Bring what was shown so far before the eyes of the reader."""
        ...

    def cancelling(self, why: str) -> None:
        """The agent was told to stop, and has not yet."""
        ...

    def end_turn(self) -> None:
        """Nothing more comes of this turn."""
        ...

    def note(self, text: str) -> None: ...

    def error(self, text: str) -> None: ...

    def close(self) -> None: ...


class PeopleView(ABC):
    """Decides what of a conversation is shown to people; its heirs decide how."""

    pace = 0.0
    tick: float | None = None

    def __init__(self) -> None:
        self.session: Session | None = None
        self._last = ""
        """The sort of thing that was shown last: another sort begins after a blank line."""
        self._shown: set[ToolCallId] = set()
        self._asked: dict[ToolCallId, Any] = {}
        self._end: TurnEnd | None = None
        self._shows: dict[type, Callable[[Any, Any], None]] = {
            ev.TextAdded: self._text_added,
            ev.BlockAdded: self._block_added,
            ev.ToolCallChanged: self._call_changed,
            ev.OutputAdded: self._call_changed,
            ev.OutputEnded: self._call_changed,
            ev.PlanChanged: lambda _, entry: self._plan(entry),
            ev.AskOpened: self._ask_opened,
            ev.AskSettled: self._ask_settled,
            ev.QuestionAsked: self._question_asked,
            ev.QuestionSettled: self._question_settled,
            ev.TurnEnded: self._turn_ended,
            ev.NoticeShown: self._notice,
            ev.OtherUpdate: self._other,
        }

    @property
    def cwd(self) -> str:
        return self.session.cwd if self.session else ""

    def show(self, session: Session, event: ev.Event, entry: Entry | None, at: float) -> None:  # noqa: ARG002
        self.session = session
        show = self._shows.get(type(event))
        if show is not None:
            show(event, entry)

    def cancelling(self, why: str) -> None:
        self.note(why)

    def end_turn(self) -> None:
        end, self._end = self._end, None
        self._end_text()
        if end is not None and self.session is not None:
            self._put("end", [end_line(end, self.session.transcript)])
        self._last = ""

    # -- how it is shown

    @abstractmethod
    def _text(self, role: Role, text: str) -> None:
        """More of what the agent says or thinks."""

    @abstractmethod
    def _end_text(self) -> None:
        """What comes next is not more of the same text."""

    @abstractmethod
    def _put(self, sort: str, lines: Sequence[Line]) -> None:
        """Lines that stay."""

    @abstractmethod
    def _plan(self, plan: Plan) -> None: ...

    @abstractmethod
    def _call_goes_on(self, call: ToolCall) -> None:
        """A tool call that is not over yet began or changed."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Something that we say, and not the agent."""

    @abstractmethod
    def error(self, text: str) -> None: ...

    @abstractmethod
    def refresh(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    # -- asks

    @abstractmethod
    def question(self, ask: Ask, offered: Sequence[Key], *, whole: bool = False) -> bool:
        """Put an ask to a person; whether there is more to see than was shown."""

    @abstractmethod
    def answered(self, option: Option | None, hint: str = "") -> None:
        """What was typed means this option, or nothing, and then `hint` says what to type."""

    @abstractmethod
    def unanswered(self) -> None:
        """Nothing will be typed any more: leave the line where it would have been."""

    @abstractmethod
    def prompt(self) -> None:
        """Invite a person to type the next prompt."""

    # -- what is shown

    def _text_added(self, event: ev.TextAdded, _: Any) -> None:
        if event.role is not Role.USER and event.text:
            self._text(event.role, event.text)

    def _block_added(self, event: ev.BlockAdded, _: Any) -> None:
        if event.role is not Role.USER:
            self._put("text", [Line("", ((block_words(event.block), "dim"),))])

    def _turn_ended(self, _: Any, entry: TurnEnd) -> None:
        self._end = entry

    def _call_changed(self, _: Any, call: ToolCall) -> None:
        if call.call in self._shown:
            return
        if call.is_open:
            self._call_goes_on(call)
            return
        self._shown.add(call.call)
        with_diffs = self._asked.pop(call.call, None) != call.content
        body = call_body(call, self.cwd, with_diffs=with_diffs)
        self._put("call" if not body else "call with body", [call_line(call, self.cwd), *body])

    def _ask_opened(self, event: ev.AskOpened, entry: Ask) -> None:
        if event.decision is not None:
            self._decision(entry, event.decision)

    def _ask_settled(self, event: ev.AskSettled, entry: Ask | None) -> None:
        if entry is not None and event.decision.by != "you":
            self._decision(entry, event.decision)

    def _decision(self, entry: Ask, decision: Decision) -> None:
        """Who or what decided, when it was not the person here."""
        name = one_line(decision.option.name) if decision.option else "not allowed"
        title = one_line(entry.title)
        line = Line("? ", ((title, "title"), (f"  {name} · {decision.by}", "dim")), "wait")
        self._put("call", [line])

    def _question_asked(self, event: ev.QuestionAsked, _: Any) -> None:
        to = f"  to {one_line(event.to)}" if event.to else ""
        self._put("call", [Line("? ", ((one_line(event.text), "title"), (to, "dim")), "wait")])

    def _question_settled(self, event: ev.QuestionSettled, entry: Question | None) -> None:
        reply = event.reply
        words = "not answered" if reply.text is None else one_line(reply.text)
        if entry is not None:
            self._put("call", [Line("  ", ((words, ""), (f"  · {reply.by}", "dim")))])

    def _notice(self, event: ev.NoticeShown, _: Any) -> None:
        # What ended the conversation is said by whoever holds it, with what to do about it.
        if event.level is Level.INFO:
            self._put("notice", [Line("• ", ((one_line(event.text), "dim"),))])
        elif event.level is Level.WARNING:
            self.note(one_line(event.text))

    def _other(self, event: ev.OtherUpdate, _: Any) -> None:
        self._put("notice", [Line("", ((f"[{one_line(event.kind)}]", "dim"),))])

    def _gap(self, sort: str) -> bool:
        """Whether a blank line comes before this sort of thing."""
        last, self._last = self._last, sort
        return bool(last) and (last != sort or sort in {"text", "plan", "call with body"})

    def _question(self, ask: Ask, offered: Sequence[Key], whole: bool) -> tuple[list[Line], bool]:
        call = self.session.transcript.call(ask.call) if self.session else None
        if call is not None:
            self._asked[call.call] = call.content
        body, shortened = asked(call, self.cwd, whole=whole)
        lines = [Line("? ", ((one_line(ask.title), "title"),), "wait"), *body]
        if ask.why:
            lines.append(Line("  ", ((one_line(ask.why), "dim"),)))
        if body:
            lines.append(Line("", ()))
        width = max((len(one_line(key.option.name)) for key in offered), default=0)
        lines += [_choice(key, width) for key in offered]
        if shortened:
            lines.append(Line("    v    ", (("see all of it", "dim"),), "key"))
        return lines, shortened


def _choice(key: Key, width: int) -> Line:
    """An option by its name, and by its kind, which is what counts."""
    kind = one_line(key.option.kind).replace("_", " ") or "of no kind"
    style = {"allow": "good", "reject": "bad"}.get(kind.split(" ")[0], "wait")
    name = one_line(key.option.name)
    return Line(
        f"    {key.letter or ' '} {key.number}  ",
        ((f"{name:<{width}}", style), (f"   {kind}", "dim")),
        "key",
    )
