"""A transcript as Markdown: what people read after an export, and what our golden files hold.

Deterministic: no times, no ids of ours. Nothing is shortened, and no code block swallows what comes
after it: a fence is longer than every run of backticks in it, and one left open is closed.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .model import Block, Diff, Location, Role, TerminalRef, ToolContent, Usage
from .output import Output
from .printable import on_screen, one_line
from .transcript import (
    Ask,
    Attachment,
    Entry,
    Message,
    Notice,
    Other,
    Plan,
    Question,
    ToolCall,
    Transcript,
    TurnEnd,
)


def transcript_markdown(
    transcript: Transcript, *, title: str = "", agent: str = "", cwd: str = ""
) -> str:
    """The whole conversation; `title`, `agent` and `cwd` make its head."""
    parts = [f"# {one_line(title or transcript.title) or 'Session'}"]
    facts = (("Agent", agent), ("Folder", cwd))
    if about := "\n".join(f"- {name}: {one_line(value)}" for name, value in facts if value):
        parts.append(about)
    turn = -1
    for entry in transcript.entries:
        if entry.turn != turn:
            turn = entry.turn
            parts.append(f"## Turn {turn}" if turn else "## Before the first turn")
        parts += (part for part in _entry(entry) if part)
    return "\n\n".join(parts) + "\n"


def unified_diff(diff: Diff, context: int = 3) -> list[str]:
    """The lines of a unified diff, without line ends; empty when nothing changed."""
    old, new = _lines(diff.old or ""), _lines(diff.new)
    before = "/dev/null" if diff.old is None else diff.path
    found: list[str] = []
    for line in difflib.unified_diff(old, new, before, diff.path, n=context, lineterm="\n"):
        found.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            found.append("\\ No newline at end of file")
    return found or ([f"--- {before}", f"+++ {diff.path}"] if diff.old is None else [])


def fenced(body: str, info: str = "") -> str:
    """A code block that ends where it should, whatever is in it."""
    longest = max(map(len, re.findall("`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{body.removesuffix(chr(10))}\n{fence}"


def unfenced(text: str) -> tuple[str, str]:
    """The body and the language of a text that is one code block; else the text and ""."""
    first, *rest = text.strip("\n").split("\n")
    fence = Fence()
    fence.feed(first)
    if not fence.marker or first != first.lstrip():
        return text, ""
    marker = fence.marker
    for number, line in enumerate(rest):
        fence.feed(line)
        if not fence.marker:
            is_all = number == len(rest) - 1
            return ("\n".join(rest[:-1]), first[len(marker) :].strip()) if is_all else (text, "")
    return text, ""


class Fence:
    """Follows, line by line, whether a Markdown text is inside a fenced code block.

    A block in a list item or in a quote ends with it, whether it was closed or not.
    """

    _QUOTE = re.compile(r" {0,3}> ?")
    _ITEM = re.compile(r" *([-*+]|\d{1,9}[.)])(?: {1,4}(?! )|$)")
    _BEGINNING = re.compile(r" *(?:[-*+](?: |$)|\d{1,9}[.)](?: |$)|`{3}|~{3}|#)")
    _OPENING = re.compile(r" *(`{3,}(?=[^`]*$)|~{3,})")
    _CLOSING = re.compile(r" *(`{3,}|~{3,})\s*$")

    def __init__(self) -> None:
        self.marker = ""
        """What opened the block that we are in; empty outside of one."""
        self._quoted = self._in_paragraph = False
        self._columns: list[int] = []
        """Where the content of each list item begins that we are in."""

    @property
    def closing(self) -> str:
        """The line that closes the block that we are in."""
        return "> " * self._quoted + " " * self._column + self.marker

    @property
    def _column(self) -> int:
        return self._columns[-1] if self._columns else 0

    def feed(self, line: str) -> None:
        line = line.expandtabs(4)
        in_code = self.marker and not self._quoted
        quote = None if in_code else self._QUOTE.match(line)
        if bool(quote) != self._quoted:
            self._quoted = bool(quote)
            self.marker = ""
            self._in_paragraph = False
            self._columns.clear()
        if quote:
            line = line[quote.end() :]
        if not line.strip():
            self._in_paragraph = False
            return
        indent = len(line) - len(line.lstrip())
        if self.marker and indent >= self._column:
            closing = self._CLOSING.match(line)
            if closing and indent < self._column + 4 and closing[1].startswith(self.marker):
                self.marker = ""
            return
        self.marker = ""
        self._text(line, indent)

    def _text(self, line: str, indent: int) -> None:
        begins = self._BEGINNING.match(line)
        if self._in_paragraph and not begins:
            return  # it goes on with the paragraph above, however far that is set in
        while self._columns and indent < self._column:
            self._columns.pop()
        at = 0
        while (item := self._ITEM.match(line, at)) and item.start(1) < self._column + 4:
            at = item.end()
            self._columns.append(max(at, self._column + 2))
        opening = self._OPENING.match(line, at)
        if opening and opening.start(1) < self._column + 4:
            self.marker = opening[1]
        self._in_paragraph = not self.marker and not line[at:].lstrip().startswith("#")


def _lines(text: str) -> list[str]:
    """Only "\\n" ends a line here: a file that mixes ends differs in them, and that must show."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


# -- entries


def _entry(entry: Entry) -> Iterable[str]:
    return _ENTRIES[type(entry)](entry)


def _message(entry: Message) -> Iterator[str]:
    text = str(entry.text).strip("\n")
    if entry.role is Role.USER:
        yield (f"**{one_line(entry.sender)}:**\n\n" if entry.sender else "") + _quoted(text)
    elif entry.role is Role.THOUGHT:
        body = _closed(text).replace("</details", "&lt;/details")
        yield f"<details>\n<summary>Thought</summary>\n\n{body}\n\n</details>"
    else:
        yield _closed(text)


def _attachment(entry: Attachment) -> Iterator[str]:
    shown = _block(entry.block)
    yield _quoted(shown) if entry.role is Role.USER else shown


def _tool_call(entry: ToolCall) -> Iterator[str]:
    title = one_line(entry.title) or entry.name or "(no title)"
    places = ", ".join(map(_place, entry.locations))
    yield f"- [{entry.status}] {entry.kind}: {title}" + (f" ({places})" if places else "")
    shown = set()
    for content in entry.content:
        if isinstance(content, TerminalRef):
            shown.add(content.terminal)
        yield from _content(content, entry)
    for terminal, output in entry.terminals.items():
        if terminal not in shown:
            yield from _output(output)
    if not entry.content and not entry.terminals and entry.output is not None:
        yield _raw_output(entry.output)


def _content(content: ToolContent, entry: ToolCall) -> Iterator[str]:
    if isinstance(content, Diff):
        lines = unified_diff(content)
        yield fenced("\n".join(lines), "diff") if lines else f"{content.path} stays as it is."
    elif isinstance(content, TerminalRef):
        output = entry.terminals.get(content.terminal)
        if output is not None:
            yield from _output(output)
    elif content.kind == "text":
        body, info = unfenced(content.text)
        if body.strip():
            yield fenced(on_screen(body), info)
    else:
        yield _block(content)


def _output(output: Output) -> Iterator[str]:
    text = on_screen(str(output.text))
    if text.strip():
        yield fenced(text)
    if output.signal:
        yield f"Ended by {output.signal}."
    elif output.exit_code is not None:
        yield f"Exit code {output.exit_code}."


def _raw_output(value: Any) -> str:
    return fenced(on_screen(value)) if isinstance(value, str) else _json(value)


def _plan(entry: Plan) -> Iterator[str]:
    notes = {"completed": "", "pending": ""}
    lines = []
    for step in entry.steps:
        mark = "x" if step.status == "completed" else " "
        note = notes.get(step.status, f" *({step.status.replace('_', ' ')})*")
        lines.append(f"- [{mark}] {one_line(step.text)}{note}")
    yield "\n".join(lines)


def _ask(entry: Ask) -> Iterator[str]:
    decision = entry.decision
    if decision is None:
        verdict = "open"
    elif decision.option is None:
        verdict = f"not allowed ({decision.by})"
    else:
        option = decision.option
        verdict = f"{one_line(option.name)} ({option.kind or 'unknown kind'}, by {decision.by})"
    yield f"- [ask] {one_line(entry.title)}: {verdict}"


def _question(entry: Question) -> Iterator[str]:
    reply = entry.reply
    if reply is None:
        answer = "open"
    else:
        answer = f"not answered ({reply.by})" if reply.text is None else f"answered by {reply.by}"
    to = f" to {one_line(entry.to)}" if entry.to else ""
    yield f"- [question{to}] {one_line(entry.text)}: {answer}"
    if reply is not None and reply.text is not None:
        yield _quoted(reply.text.strip("\n"))


def _turn_end(entry: TurnEnd) -> Iterator[str]:
    tokens = f" ({used})" if (used := usage_words(entry.usage)) else ""
    yield f"*Turn {entry.turn} ended: {entry.reason}{tokens}.*"
    if entry.error:
        yield f"**Error:** {one_line(entry.error)}"


def usage_words(usage: Usage | None) -> str:
    """Tokens in words; empty when the agent told none."""
    if usage is None:
        return ""
    counts = (
        (usage.input_tokens, "in"),
        (usage.output_tokens, "out"),
        (usage.total_tokens, "in total"),
    )
    told = [f"{count:,} {where}" for count, where in counts if count is not None]
    return f"tokens: {', '.join(told)}" if told else ""


def _notice(entry: Notice) -> Iterator[str]:
    yield f"**{entry.level.value.capitalize()}:** {one_line(entry.text)}"


def _other(entry: Other) -> Iterator[str]:
    yield f"- [other] {one_line(entry.kind)}"
    yield _json(entry.raw)


_ENTRIES: dict[type, Callable[[Any], Iterable[str]]] = {
    Message: _message,
    Attachment: _attachment,
    ToolCall: _tool_call,
    Plan: _plan,
    Ask: _ask,
    Question: _question,
    TurnEnd: _turn_end,
    Notice: _notice,
    Other: _other,
}


# -- pieces


def _block(block: Block) -> str:
    if block.kind == "text":
        return _closed(block.text)
    if block.kind == "link":
        return f"[{block.name or block.uri}]({block.uri})"
    if block.kind == "image":
        return f"![{block.name or 'image'}]({block.uri or _data_uri(block)})"
    if block.kind == "audio":
        return f"[{block.name or 'audio'}]({block.uri or _data_uri(block)})"
    if block.kind == "resource":
        if not block.text:
            return f"[{block.uri or 'resource'}]({_data_uri(block)})"
        return f"{block.uri}\n\n{fenced(block.text)}".lstrip("\n")
    return f"- [{one_line(block.kind)}]\n\n{_json(block.raw)}"


def _data_uri(block: Block) -> str:
    return f"data:{block.mime};base64,{block.data}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _closed(text: str) -> str:
    """The text, with an end for a code block that was left open."""
    fence = Fence()
    for line in text.split("\n"):
        fence.feed(line)
    return f"{text}\n{fence.closing}" if fence.marker else text


def _place(location: Location) -> str:
    return location.path if location.line is None else f"{location.path}:{location.line}"


def _json(value: Any) -> str:
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, default=str)
    return fenced(text, "json")
