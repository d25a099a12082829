"""The view for a person at a terminal: finished things stay, unfinished ones live at the bottom.

Only the unfinished end of a text is ever drawn again, so that a long answer costs no more per word
than a short one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from agentls.core import events as ev
from agentls.core.model import Option, PlanStep, Role, ToolCallId
from agentls.core.printable import one_line, printable
from agentls.core.transcript import Ask, Plan, ToolCall

from ..answers import Key
from .base import PeopleView
from .blocks import Blocks
from .pieces import Line, call_line, duration, folder, live_output, plan_lines
from .rendering import THEME, AgentMarkdown, Lines
from .screen import Screen

_INVITATION = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_CANCELS = "Ctrl-C cancels"
_FRAMES_PER_SECOND = 10
_LIVE_CALLS = 6
_CLEAR_LINE = "\r\x1b[K"
_UP_AND_CLEAR = f"\x1b[A{_CLEAR_LINE}"


class TerminalView(PeopleView):
    """Draws with rich; see `Screen` for how."""

    pace = 0.04
    tick: float | None = 1 / _FRAMES_PER_SECOND

    def __init__(self) -> None:
        super().__init__()
        console = Console(theme=THEME, highlight=False, markup=False, emoji=False)
        self._screen = Screen(console)
        self._blocks = Blocks()
        self._open: dict[ToolCallId, ToolCall] = {}
        self._role = Role.AGENT
        self._steps: tuple[PlanStep, ...] = ()
        self._status, self._keys = "Starting", _CANCELS
        self._since: float | None = time.monotonic()
        self._headed = False
        self._shows[ev.TurnStarted] = self._turn_started

    # -- text

    def _text(self, role: Role, text: str) -> None:
        if role is not self._role:
            self._end_text()
            self._role = role
        for block in self._blocks.feed(printable(text)):
            self._keep_text(block)

    def _end_text(self) -> None:
        for block in self._blocks.finish():
            self._keep_text(block)

    def _keep_text(self, block: str) -> None:
        if self._gap("text"):
            self._screen.blank()
        self._screen.keep(self._markdown(block))

    def _markdown(self, text: str) -> AgentMarkdown:
        return AgentMarkdown(text, "thought" if self._role is Role.THOUGHT else "")

    # -- lines

    def _put(self, sort: str, lines: Sequence[Line]) -> None:
        self._end_text()
        if self._gap(sort):
            self._screen.blank()
        self._screen.keep(Lines(lines))

    def _plan(self, plan: Plan) -> None:
        self._steps = plan.steps
        if all(step.status == "completed" for step in plan.steps):
            self._keep_plan()

    def _keep_plan(self) -> None:
        if self._steps:
            self._put("plan", plan_lines(self._steps))
            self._steps = ()

    def _call_goes_on(self, call: ToolCall) -> None:
        if call.call not in self._open:
            self._end_text()
        self._open[call.call] = call

    def _call_changed(self, event: Any, call: ToolCall) -> None:
        if not call.is_open:
            self._open.pop(call.call, None)
        super()._call_changed(event, call)

    def _turn_started(self, _: Any, __: Any) -> None:
        self._status, self._keys, self._since = "Working", _CANCELS, time.monotonic()
        if not self._headed and self.session is not None and self.session.agent is not None:
            self._headed = True
            info = self.session.agent.info
            words = f"{one_line(info.title)} {one_line(info.version)}".rstrip()
            self._put("head", [Line("", ((f"{words} · {folder(self.cwd)}", "dim"),))])

    def cancelling(self, why: str) -> None:
        self._status, self._keys = "Cancelling", "Ctrl-C stops the agent at once"
        super().cancelling(why)

    def end_turn(self) -> None:
        self._end_text()
        self._keep_plan()
        self._open.clear()
        super().end_turn()
        self._since = None
        self.refresh()

    # -- the lower end of the screen

    def refresh(self) -> None:
        self._screen.draw(*self._live())

    def _live(self) -> list[RenderableType]:
        if self._since is None:
            return []
        icon = _SPINNER[int(time.monotonic() * _FRAMES_PER_SECOND) % len(_SPINNER)]
        size = self._screen.console.size
        parts: list[RenderableType] = [
            Lines([call_line(call, self.cwd, icon), *live_output(call)])
            for call in list(self._open.values())[-_LIVE_CALLS:]
        ]
        if tail := self._blocks.tail(size.height, size.width).strip("\n"):
            parts.append(self._markdown(tail))
        if self._steps:
            parts.append(Lines(plan_lines(self._steps, icon)))
        waited = duration(round(time.monotonic() - self._since))
        status = f"{self._status} {waited} · {self._keys}"
        parts.append(Lines([Line(f"{icon} ", ((status, "dim"),), "busy")]))
        spaced = [each for part in parts for each in (Text(), part)]
        return spaced if self._last else spaced[1:]

    def _rest(self) -> None:
        """Leave the screen to somebody else: nothing is drawn below what stays."""
        self._end_text()
        self._screen.draw()

    def note(self, text: str) -> None:
        self._put("note", [Line("! ", ((one_line(text), ""),), "wait")])
        self.refresh()

    def error(self, text: str) -> None:
        self._rest()
        console = Console(theme=THEME, stderr=True, highlight=False, markup=False)
        console.print(Lines([Line("✗ ", ((one_line(text), ""),), "bad")]))

    def close(self) -> None:
        self._since = None
        self._rest()

    # -- asks

    def question(self, ask: Ask, offered: Sequence[Key], *, whole: bool = False) -> bool:
        lines, shortened = self._question(ask, offered, whole)
        self._put("ask", lines)
        self._rest()
        self._invite()
        return shortened

    def answered(self, option: Option | None, hint: str = "") -> None:
        if option is None:
            self._write(f"{_UP_AND_CLEAR}", Text(f"    {hint}", "dim"))
            self._invite()
        else:
            allows = option.kind.startswith("allow")
            mark, style = ("✓", "good") if allows else ("⊘", "wait")
            line = Line(f"    {mark} ", ((one_line(option.name), ""),), style)
            self._write(_UP_AND_CLEAR, Lines([line]))

    def unanswered(self) -> None:
        sys.stdout.write(_CLEAR_LINE)
        sys.stdout.flush()

    def prompt(self) -> None:
        self._rest()
        self._last = "prompt"
        self._write("\n", Text(f"{_INVITATION} ", "bold cyan"), end="")

    def _invite(self) -> None:
        self._write("", Text(f"  {_INVITATION} ", "bold yellow"), end="")

    def _write(self, codes: str, renderable: RenderableType, end: str = "\n") -> None:
        sys.stdout.write(codes)
        self._screen.console.print(renderable, end=end)
        sys.stdout.flush()
