"""A terminal with lines that stay and, below them, a few that are drawn anew in place.

Invariant: what stays is written once. A frame is one write, so that nothing flickers, and what is
drawn anew is never higher than the screen, so that it can always be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show a frame only when it is complete."""
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_UP, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"
_NEW_LINE = f"\n{_CLEAR_LINE}"
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_PADDING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class Screen:
    """The lower end of a terminal."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._staying: list[str] = []
        self._drawn: list[str] = []

    @property
    def height(self) -> int:
        return self.console.size.height

    def keep(self, *renderables: RenderableType) -> None:
        """Write something for good, with the next frame."""
        self._staying.append(self._rendered(renderables) + "\n")

    def blank(self) -> None:
        self._staying.append("\n")

    def draw(self, *renderables: RenderableType) -> None:
        """A frame: what is to stay, and below it this, until the next frame."""
        # One column stays free: a cursor beyond the last one would be in a state of its own.
        lines = self._rendered(renderables, narrower=1).split("\n") if renderables else []
        lines = lines[-max(1, self.height - 1) :]
        if not self._staying and lines == self._drawn:
            return
        text = "".join(self._staying) + "\n".join(lines)
        if self._drawn:
            # Line by line, because tmux keeps a copy of a screen that is cleared all at once.
            text = f"{self._back()}{_CLEAR_LINE}{text.replace(chr(10), _NEW_LINE)}{_CLEAR_BELOW}"
        cursor = _HIDE_CURSOR if lines else _SHOW_CURSOR
        self._staying.clear()
        self._drawn = lines
        self.console.file.write(f"{_BEGIN}{cursor}{text}{_END}")
        self.console.file.flush()

    def _rendered(self, renderables: Sequence[RenderableType], narrower: int = 0) -> str:
        with self.console.capture() as capture:
            for renderable in renderables:
                self.console.print(renderable, width=max(1, self.console.width - narrower))
        return _PADDING.sub(r"\1", capture.get().removesuffix("\n"))

    def _back(self) -> str:
        """To where the drawing began, also when the window has become narrower since."""
        width = max(1, self.console.width)
        rows = sum(max(1, -(-cell_len(_STYLE.sub("", line)) // width)) for line in self._drawn)
        up = min(rows, self.height) - 1
        return f"\r{_UP.format(up)}" if up else "\r"
