"""The view for logs, pipes and simple terminals: text as it comes, no colours, nothing redrawn.

Errors, warnings and questions go to stderr, all else to stdout. No escape code is ever written.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agentls.core.model import Option, Role
from agentls.core.printable import one_line, printable
from agentls.core.transcript import Ask, Plan, ToolCall

from ..answers import Key
from .base import PeopleView
from .pieces import Line, call_line, plan_lines

_THOUGHT = "  ┊ "


class PlainView(PeopleView):
    """Writes what happens, once, in the order it happens."""

    def __init__(self) -> None:
        super().__init__()
        self._out = sys.stdout
        self._at_line_start = True
        self._line_ends = ""
        self._started: set[str] = set()
        self._steps: list[str] = []
        self._plan_shown: list[str] = []

    def _text(self, role: Role, text: str) -> None:
        text = printable(text)
        if self._last != role.value:
            self._end_text()
            text = text.lstrip("\n")
            if not text:
                return
            if self._gap(role.value):
                self._out.write("\n")
        # The ends of lines wait for more text: what follows another sort of thing is its affair.
        text = self._line_ends + text
        body = text.rstrip("\n")
        self._line_ends = text[len(body) :]
        if role is Role.THOUGHT:
            body = body.replace("\n", f"\n{_THOUGHT}")
            body = _THOUGHT + body if body and self._at_line_start else body
        self._out.write(body)
        self._at_line_start = self._at_line_start and not body

    def _end_text(self) -> None:
        self._line_ends = ""
        if not self._at_line_start:
            self._out.write("\n")
            self._at_line_start = True

    def _put(self, sort: str, lines: Sequence[Line]) -> None:
        self._end_text()
        if self._gap(sort):
            self._out.write("\n")
        for line in lines:
            self._out.write(f"{line}\n")

    def _plan(self, plan: Plan) -> None:
        """All of it when it is new, and what changed when it goes on."""
        lines = plan_lines(plan.steps)
        steps = [step.text for step in plan.steps]
        before, self._plan_shown = self._plan_shown, list(map(str, lines))
        if steps == self._steps:
            lines = [line for line, old in zip(lines, before, strict=True) if str(line) != old]
        self._steps = steps
        if lines:
            self._put("plan", lines)

    def _call_goes_on(self, call: ToolCall) -> None:
        # A command may take long: whoever watches a log should see what it is waiting for.
        if (
            call.kind == "execute"
            and call.status == "in_progress"
            and call.call not in self._started
        ):
            self._started.add(call.call)
            self._put("call", [call_line(call, self.cwd)])

    def refresh(self) -> None:
        self._out.flush()

    def note(self, text: str) -> None:
        self._say(one_line(text))

    def error(self, text: str) -> None:
        self._say(one_line(text))

    def close(self) -> None:
        self._end_text()
        self._out.flush()

    def question(self, ask: Ask, offered: Sequence[Key], *, whole: bool = False) -> bool:
        lines, shortened = self._question(ask, offered, whole)
        self._end_text()
        self.refresh()
        sys.stderr.write("".join(f"{line}\n" for line in lines) + "  > ")
        sys.stderr.flush()
        return shortened

    def answered(self, option: Option | None, hint: str = "") -> None:
        word = one_line(option.name) if option else hint
        sys.stderr.write(f"  {word}\n" if option else f"  {word}\n  > ")
        sys.stderr.flush()

    def unanswered(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()

    def prompt(self) -> None:
        sys.stderr.write("\n> ")
        sys.stderr.flush()

    def _say(self, text: str) -> None:
        self._end_text()
        self.refresh()
        print(f"agentls: {text}", file=sys.stderr, flush=True)
