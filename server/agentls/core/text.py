"""Lines, positions and position encodings, exactly as LSP defines them.

Invariant: only "\\n", "\\r\\n" and "\\r" end a line, and joining the lines gives the text back.
"""

from __future__ import annotations

import enum
import io
import re
from collections.abc import Sequence

import msgspec

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Encoding(enum.StrEnum):
    """The unit in which `Position.character` counts; the values are LSP's."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"


class Position(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place between two characters; both numbers start at zero."""

    line: int
    character: int


class Range(msgspec.Struct, frozen=True, order=True, gc=False):
    """The text from `start` up to, not including, `end`."""

    start: Position
    end: Position


def split_lines(text: str) -> list[str]:
    """The lines with their ends; the last one never has an end, so that it may be ""."""
    # Not str.splitlines: that also splits at form feeds, U+2028, U+0085 and others.
    lines = list(io.StringIO(text, newline=""))
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def excerpt(text: str, line: int | None, limit: int | None) -> str:
    """The part of a text that an agent asks for: `limit` lines from number `line` (from 1) on."""
    if line is None and limit is None:
        return text
    first = max(line or 1, 1) - 1
    last = None if limit is None else first + max(limit, 0)
    return "".join(split_lines(text)[first:last])


def line_end(text: str) -> str:
    """The one line end that is used throughout; "" where there are none, or several kinds."""
    windows = text.count("\r\n")
    unix, old = text.count("\n") - windows, text.count("\r") - windows
    kinds = [end for end, n in (("\n", unix), ("\r\n", windows), ("\r", old)) if n]
    return kinds[0] if len(kinds) == 1 else ""


def with_line_end(text: str, end: str) -> str:
    """A text from a source that knows only "\\n", with the line end of the file it is for.

    A text that has a "\\r" anywhere was written by somebody who knows about line ends, and stays
    as it is.
    """
    return text if end in {"", "\n"} or "\r" in text else text.replace("\n", end)


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same but for the kind of their line ends."""
    return one == other or with_newlines(one) == with_newlines(other)


def with_newlines(text: str) -> str:
    """The text with "\\n" as its only line end, to compare it with others."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def to_index(line: str, character: int, encoding: Encoding) -> int:
    """The index into `line`, one of `split_lines`, at which an LSP `character` offset points.

    An offset outside the line goes to its nearest end, the line end excluded; an offset inside
    a character goes to the start of that character.
    """
    if character <= 0:
        return 0
    if line.isascii() or encoding is Encoding.UTF_32:
        index = character
    else:
        codec, width = _codec(encoding)
        # No character is less than one unit: what is asked for lies within this much of the line.
        units = _encode(line[:character], codec)[: character * width]
        index = len(units.decode(codec, "ignore"))
    return min(index, _length(line))


def to_character(line: str, index: int, encoding: Encoding) -> int:
    """The LSP `character` offset of an index into `line`, one of `split_lines`.

    An index outside the line goes to its nearest end, the line end excluded.
    """
    index = max(0, min(index, _length(line)))
    if line.isascii() or encoding is Encoding.UTF_32:
        return index
    codec, width = _codec(encoding)
    return len(_encode(line[:index], codec)) // width


def locate(lines: Sequence[str], position: Position, encoding: Encoding) -> tuple[int, int]:
    """The line number and the index in that line of the place nearest to `position` that exists."""
    if position.line < 0:
        return 0, 0
    if position.line >= len(lines):
        return len(lines) - 1, len(lines[-1])
    return position.line, to_index(lines[position.line], position.character, encoding)


def _length(line: str) -> int:
    return len(line.rstrip("\r\n"))


def _codec(encoding: Encoding) -> tuple[str, int]:
    """The codec without a byte order mark, and the number of bytes in a unit."""
    return ("utf-8", 1) if encoding is Encoding.UTF_8 else ("utf-16-le", 2)


def _encode(text: str, codec: str) -> bytes:
    try:
        return text.encode(codec)
    except UnicodeEncodeError:
        # JSON can carry half a surrogate pair. U+FFFD is as long in each encoding, and encodable.
        return _LONE_SURROGATE.sub("\ufffd", text).encode(codec)
