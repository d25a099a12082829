"""How styled lines and Markdown look in a terminal, with rich. Colours are the terminal's own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from .pieces import Line

THEME = Theme(
    {
        "good": "green",
        "bad": "red",
        "busy": "cyan",
        "wait": "yellow",
        "kind": "cyan",
        "title": "bold",
        "key": "bold yellow",
        "added": "green",
        "removed": "red",
        "thought": "dim italic",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold underline",
        "markdown.h3": "bold",
        "markdown.h4": "bold dim",
        "markdown.code": "cyan",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "cyan",
        "markdown.item.number": "cyan",
        "markdown.hr": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)
_CODE_THEME = "ansi_dark"
_NARROWEST = 8


class Lines:
    """Styled lines; a long one goes on below its own beginning."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self._lines:
            text = Text.assemble(*line.spans)
            room = max(_NARROWEST, options.max_width - len(line.lead))
            hang = re.sub("[^│]", " ", line.lead)
            for number, part in enumerate(text.wrap(console, room) or [Text()]):
                part.rstrip()
                yield Text.assemble((hang if number else line.lead, line.style), part)


class _Heading(Heading):
    """All headings at the left: in a stream of text there is no middle."""

    LEVEL_ALIGN: ClassVar = {}


class _Code(CodeBlock):
    """Code without a background, set in a little."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = Syntax(
            str(self.text).rstrip(),
            self.lexer_name,
            theme=_CODE_THEME,
            background_color="default",
            word_wrap=True,
        )
        yield Padding(code, (0, 0, 0, 2))


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }


class AgentMarkdown:
    """Markdown from an agent, without blank lines around it. A link shows where it leads."""

    def __init__(self, text: str, style: str = "") -> None:
        self._text = text
        self._style = style or "none"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        markdown = _Markdown(self._text, style=self._style, hyperlinks=False)
        lines = console.render_lines(markdown, options, pad=False)
        while lines and _is_blank(lines[0]):
            del lines[0]
        while lines and _is_blank(lines[-1]):
            del lines[-1]
        for line in lines:
            yield from line
            yield Segment.line()


def _is_blank(line: list[Segment]) -> bool:
    return not "".join(segment.text for segment in line).strip()
