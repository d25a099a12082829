"""What is shown of a tool call, a plan or an ask, as styled lines: the same in every view.

Everything that comes from an agent passes `printable` here, so that it cannot pose as ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from agentls.core.markdown import unfenced
from agentls.core.model import Block, Diff, Location, PlanStep, TerminalRef, Usage
from agentls.core.output import Output
from agentls.core.printable import on_screen, one_line, printable
from agentls.core.transcript import ToolCall, Transcript, TurnEnd

from .diffs import change_counts, diff_lines

OUTPUT_LINES = 12
DIFF_LINES = 40
ASKED_DIFF_LINES = 200
_LIVE_LINES = 3
_OTHER_LINES = 4
_LONGEST_LINE = 400
_LONGEST_TITLE = 300
_TAIL = 64 * 1024
"""Characters of a command's output that are looked at to find its last lines."""
QUIET_KINDS = frozenset({"read"})
"""Their content is for the agent: a whole file is not what a person wants to see again."""


class Line(NamedTuple):
    """One line of text. Where it must be broken, the rest begins below its own beginning."""

    lead: str
    spans: tuple[tuple[str, str], ...]
    """Pieces of text, each with the name of its style."""
    style: str = "dim"
    """The style of the lead: an icon, a line number, a bar, or just space."""

    def __str__(self) -> str:
        return (self.lead + "".join(text for text, _ in self.spans)).rstrip()


_STATES = {
    "completed": ("✓", "good"),
    "failed": ("✗", "bad"),
    "pending": ("●", "busy"),
    "in_progress": ("●", "busy"),
}
_NOT_DONE = ("⊘", "wait")
_STEPS = {"completed": ("☑", "good"), "in_progress": ("◐", "busy"), "pending": ("☐", "dim")}


# -- tool calls


def call_line(call: ToolCall, cwd: str, icon: str = "") -> Line:
    """A tool call on one line: its state, kind, title, and where it is at work."""
    outcome = _outcome(call)
    mark, style = _NOT_DONE if outcome == "rejected" else _STATES.get(call.status, _NOT_DONE)
    title = one_line(call.title) or one_line(call.name) or "(no title)"
    spans = [
        (f"{one_line(call.kind)} ", "kind"),
        (_shortened(title, _LONGEST_TITLE), "title"),
    ]
    details = [*_places(call, title, cwd), *_counts(call), *_exits(call), outcome]
    if told := " · ".join(detail for detail in details if detail):
        spans.append((f"  {told}", "dim"))
    return Line(f"{icon or mark} ", tuple(spans), style)


def call_body(call: ToolCall, cwd: str, *, with_diffs: bool = True) -> list[Line]:
    """What a finished tool call has to show: its changes, the end of what it printed."""
    lines: list[Line] = []
    quiet = call.kind in QUIET_KINDS and call.status != "failed"
    limit = OUTPUT_LINES if call.kind == "execute" or call.status == "failed" else _OTHER_LINES
    diffs = [content for content in call.content if isinstance(content, Diff)]
    if with_diffs:
        for diff in diffs:
            lines += _diff(diff, cwd, DIFF_LINES, with_path=len(diffs) > 1)
    if not quiet:
        for text in _texts(call):
            lines += _bar(_last_lines(text, limit))
    return lines


def live_output(call: ToolCall) -> list[Line]:
    """The last lines of what an open tool call prints."""
    texts = [_tail(output) for output in call.terminals.values()]
    return _bar(_last_lines(texts[-1], _LIVE_LINES)[-_LIVE_LINES:]) if texts else []


def asked(call: ToolCall | None, cwd: str, *, whole: bool = False) -> tuple[list[Line], bool]:
    """What an agent wants to do, for the person who decides; and whether it was shortened."""
    if call is None:
        return [], False
    title = one_line(call.title)
    diffs = [content for content in call.content if isinstance(content, Diff)]
    limit = None if whole else ASKED_DIFF_LINES
    lines: list[Line] = []
    for diff in diffs:
        named = len(diffs) == 1 and _path(diff.path, cwd) in title.split()
        lines += _diff(diff, cwd, limit, with_path=not named)
    if command := _command(call.input):
        if command != [title.strip("`")]:
            lines += [Line("  $ ", ((text, "title"),)) for text in command]
    elif not diffs and call.input:
        lines += _bar(_bounded(_input(call.input), limit))
    shortened = not whole and any(len(diff_lines(diff, None)) > ASKED_DIFF_LINES for diff in diffs)
    return lines, shortened


def _diff(diff: Diff, cwd: str, limit: int | None, *, with_path: bool) -> list[Line]:
    lines = [Line("  ", ((_path(diff.path, cwd), "dim"),))] if with_path else []
    return lines + [Line(lead, ((text, style),)) for lead, text, style in diff_lines(diff, limit)]


def _outcome(call: ToolCall) -> str:
    if call.rejected and not call.is_open and call.status != "completed":
        return "rejected"
    return "" if call.status in _STATES else one_line(call.status)


def _places(call: ToolCall, title: str, cwd: str) -> Iterator[str]:
    """The first place; only its line when the title names the file already."""
    for location in call.locations[:1]:
        path = _path(location.path, cwd)
        more = f" +{len(call.locations) - 1}" if len(call.locations) > 1 else ""
        if path in title.split():
            yield f"line {location.line}{more}" if location.line is not None else more.strip()
        else:
            yield place(location, cwd) + more


def place(location: Location, cwd: str) -> str:
    line = "" if location.line is None else f":{location.line}"
    return f"{_path(location.path, cwd)}{line}"


def _path(path: str, cwd: str) -> str:
    path = one_line(path)
    home = str(Path.home())
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def folder(cwd: str) -> str:
    """A folder as a person names it."""
    return "~" if cwd == str(Path.home()) else _path(cwd, "")


def _counts(call: ToolCall) -> Iterator[str]:
    diffs = [content for content in call.content if isinstance(content, Diff)]
    if diffs:
        added, removed = map(sum, zip(*map(change_counts, diffs), strict=True))
        yield f"+{added} -{removed}"


def _exits(call: ToolCall) -> Iterator[str]:
    for output in call.terminals.values():
        if output.signal:
            yield f"ended by {one_line(output.signal)}"
        elif output.exit_code:
            yield f"exit code {output.exit_code}"


def _texts(call: ToolCall) -> Iterator[str]:
    shown = set()
    for content in call.content:
        if isinstance(content, TerminalRef):
            shown.add(content.terminal)
            if content.terminal in call.terminals:
                yield _tail(call.terminals[content.terminal])
        elif isinstance(content, Block):
            yield unfenced(content.text)[0] if content.kind == "text" else block_words(content)
    for terminal, output in call.terminals.items():
        if terminal not in shown:
            yield _tail(output)
    if not call.content and not call.terminals and isinstance(call.output, str):
        yield call.output


def _tail(output: Output) -> str:
    return output.text.since(max(0, len(output.text) - _TAIL))


def _last_lines(text: str, limit: int) -> list[str]:
    lines = [line.rstrip() for line in on_screen(text).expandtabs(8).strip("\n").split("\n")]
    lines = [_shortened(line, _LONGEST_LINE) for line in lines]
    if len(lines) <= limit:
        return [] if lines == [""] else lines
    return [f"… {_counted(len(lines) - limit + 1, 'line')} above", *lines[1 - limit :]]


def _bounded(lines: list[str], limit: int | None) -> list[str]:
    if limit is None or len(lines) <= limit:
        return lines
    return [*lines[:limit], f"… {_counted(len(lines) - limit, 'more line')}"]


def _bar(lines: Sequence[str]) -> list[Line]:
    return [Line("  │ ", ((text, "dim"),)) for text in lines]


def _command(value: Any) -> list[str]:
    """The command line that a tool call would run, all of it: its title may say something else."""
    command = value.get("command") if isinstance(value, dict) else None
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        import shlex

        command = shlex.join(command)
    return printable(command).split("\n") if isinstance(command, str) else []


def _input(value: Any) -> list[str]:
    if isinstance(value, str):
        return printable(value).split("\n")
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    return printable(text).split("\n")


# -- the rest


def block_words(block: Block) -> str:
    """A part of a message that is not text, in words."""
    about = block.name or block.uri or block.mime
    return f"[{one_line(block.kind)}{': ' if about else ''}{one_line(about)}]"


def plan_lines(steps: Sequence[PlanStep], icon: str = "") -> list[Line]:
    """A plan as a list to tick off."""
    found = []
    for step in steps:
        mark, style = _STEPS.get(step.status, _NOT_DONE)
        busy = step.status == "in_progress"
        text = "dim" if step.status == "completed" else "title" if busy else ""
        lead = f"  {icon if icon and busy else mark} "
        found.append(Line(lead, ((one_line(step.text), text),), style))
    return found


def end_line(end: TurnEnd, transcript: Transcript) -> Line:
    """How a turn ended, how long it took and what it used."""
    mark, style = {"end_turn": ("✓", "good"), "failed": ("✗", "bad")}.get(end.reason, _NOT_DONE)
    words = {"end_turn": "done", "max_tokens": "stopped at the token limit"}
    reason = words.get(end.reason, one_line(end.reason).replace("_", " "))
    told = [reason, duration(end.seconds), *_used(end.usage), *_used(transcript.usage)]
    return Line(f"{mark} ", ((" · ".join(told), "dim"),), style)


def duration(seconds: float) -> str:
    """As short as it can be read; whole seconds when it is given whole seconds."""
    if seconds < 9.95 and isinstance(seconds, float):
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _used(usage: Usage | None) -> Iterator[str]:
    if usage is None:
        return
    if usage.input_tokens is not None or usage.output_tokens is not None:
        yield f"{usage.input_tokens or 0:,} tokens in, {usage.output_tokens or 0:,} out"
    elif usage.total_tokens is not None:
        yield f"{usage.total_tokens:,} tokens"
    if usage.context_size and (share := 100 * (usage.context_used or 0) / usage.context_size) >= 1:
        yield f"context {share:.0f}%"
    if usage.cost and usage.cost >= 0.005:
        yield f"{usage.cost:.2f} {usage.currency}".strip()


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
