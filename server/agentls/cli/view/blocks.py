"""Cuts Markdown that is still being written into finished blocks, at a cost that does not grow.

Invariant: the pieces do not depend on how the text was cut into chunks, and apart from blank lines
between them they are the text.
"""

from __future__ import annotations

import re

from agentls.core.growing import GrowingText
from agentls.core.markdown import Fence

_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_TOP_FENCE = re.compile(r" {0,3}(?:```|~~~)")


class Blocks:
    """Text goes in as it comes; a block comes out when the next one has begun."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._partial = GrowingText()
        self._fence = Fence()
        self._in_list = False
        self._after_blank = False

    def feed(self, text: str) -> list[str]:
        """The blocks that this text finished."""
        found: list[str] = []
        *lines, rest = text.split("\n")
        for line in lines:
            self._partial.append(line)
            whole, self._partial = str(self._partial), GrowingText()
            self._line(whole, found)
        if rest:
            self._partial.append(rest)
        return found

    def finish(self) -> list[str]:
        """What is left; the next text begins anew."""
        found: list[str] = []
        if len(self._partial):
            found = self.feed("\n")
        self._close(found)
        return found

    def tail(self, lines: int, width: int) -> str:
        """The end of the unfinished block, enough to fill that many lines of a screen."""
        partial = self._partial.since(max(0, len(self._partial) - lines * width))
        shown = self._lines[-lines:]
        if self._fence.marker and len(self._lines) > lines:
            opening = next(line for line in self._lines if self._fence.marker in line)
            shown = [opening, *shown]
        return "\n".join([*shown, partial])

    def _line(self, line: str, found: list[str]) -> None:
        if self._fence.marker:
            self._lines.append(line)
            self._fence.feed(line)
            if not self._fence.marker:
                if _TOP_FENCE.match(line) and not self._in_list:
                    self._close(found)
                # A code block in a quote can also end because the quote does.
                self._in_list = self._in_list or bool(_ITEM.match(line))
        elif not line.strip():
            if self._lines:
                self._lines.append(line)
                self._after_blank = True
        else:
            self._text_line(line, found)

    def _text_line(self, line: str, found: list[str]) -> None:
        heading = bool(_HEADING.match(line))
        if self._lines and (
            heading
            or (self._after_blank and not self._continues(line))
            or (_TOP_FENCE.match(line) and not (self._in_list and line.startswith(" ")))
        ):
            self._close(found)
        self._in_list = self._in_list or bool(_ITEM.match(line))
        self._after_blank = False
        self._lines.append(line)
        self._fence.feed(line)
        if heading:
            self._close(found)

    def _continues(self, line: str) -> bool:
        """Whether a line after a blank one still belongs to the block."""
        if self._in_list:
            return line.startswith((" ", "\t")) or bool(_ITEM.match(line))
        code = ("    ", "\t")
        return line.startswith(code) and self._lines[0].startswith(code)

    def _close(self, found: list[str]) -> None:
        while self._lines and not self._lines[-1].strip():
            self._lines.pop()
        if self._lines:
            found.append("\n".join(self._lines))
        self._lines = []
        self._fence = Fence()
        self._in_list = self._after_blank = False
