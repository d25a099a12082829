"""Text of agents and commands made safe to show: it can neither move a cursor nor pose as ours.

Invariant: nothing that comes out of here holds a control character other than "\\n" and "\\t".
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erasing
    r"|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?"  # OSC and other strings: titles, links, clipboard
    r"|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# They let a text read differently from what it is.
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without terminal escapes and control characters."""
    if text.isascii() and text.isprintable():
        return text
    text = _CONTROLS.sub("", _ESCAPES.sub("", text))
    return _REORDERING.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text on a single line."""
    return " ".join(printable(text).split())


def on_screen(output: str) -> str:
    """What a terminal would be left showing of a command's output: progress bars as they ended."""
    lines = _ESCAPES.sub("", output).split("\n")
    return printable("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))
