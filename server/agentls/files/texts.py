"""From the bytes of a file to its text, and back.

Invariant: `encode(*decode(data)) == data` for everything that `decode` takes; what it cannot be
sure of it refuses, because a wrong guess would be written back as damage.

Line ends are part of the text: nothing here changes them. A writer that knows its text was made
from a file whose line ends got lost on the way says so with `in_line_ends_of`.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from msgspec import Struct

from agentls.core.errors import FileRefused
from agentls.core.text import line_end, with_line_end

_MARKS: Final = (
    # UTF-32 first: its mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_IN_TEXT: Final = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_UTF_8_LETTER: Final = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_WINDOWS_ONLY: Final = re.compile(rb"[\x80-\x9f]")


class Form(Struct, frozen=True):
    """How a text is written down in its file."""

    encoding: str = "utf-8"
    mark: bytes = b""
    """The byte order mark at its start; it is not part of the text."""
    line_end: str = ""
    """The one line end that is used throughout; "" where there are none, or several kinds."""


def decode(data: bytes, name: str) -> tuple[str, Form]:
    """The text and its form. Raises `FileRefused`, which calls the file `name`."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise _binary(name) from None
            return text, Form(encoding, mark, line_end(text))
    if b"\0" in data:
        raise _binary(name)
    try:
        text, encoding = data.decode(), "utf-8"
    except UnicodeDecodeError as error:
        text, encoding = _decode_old(data, name, error.start)
    return text, Form(encoding, b"", line_end(text))


def _decode_old(data: bytes, name: str, wrong: int) -> tuple[str, str]:
    """A text in the one-byte encodings of Western Europe, if it can be nothing else."""
    if _NOT_IN_TEXT.search(data):
        raise _binary(name)
    if _UTF_8_LETTER.search(data):
        # Almost certainly UTF-8 with an accident in it. Read as Latin-1 every other letter would be
        # wrong too, and what is added would be written in another encoding than the rest.
        line = data.count(b"\n", 0, wrong) + 1
        raise FileRefused(
            f"{name} is not quite UTF-8: line {line} has bytes that are no character.",
            hint="Mend or convert the file first.",
        )
    encoding = "cp1252" if _WINDOWS_ONLY.search(data) else "latin-1"
    try:
        return data.decode(encoding), encoding
    except UnicodeDecodeError:
        raise _binary(name) from None


def _binary(name: str) -> FileRefused:
    return FileRefused(f"{name} is not a text file.", hint="Use a tool that reads binary files.")


def encode(text: str, form: Form, name: str = "The file") -> bytes:
    """The bytes of a text in that form. Raises `FileRefused`."""
    if form.mark and text.startswith("\ufeff"):
        text = text[1:]  # an agent that was given the mark gives it back
    try:
        return form.mark + text.encode(form.encoding)
    except UnicodeEncodeError as error:
        wrong = text[error.start]
        if "\ud800" <= wrong <= "\udfff":
            raise FileRefused(
                f"The text for {name} has half a character (U+{ord(wrong):04X}).",
                hint="Send the text again.",
            ) from None
        raise FileRefused(
            f"{name} is in {form.encoding}, which has no {wrong!r} (U+{ord(wrong):04X}).",
            hint="Write it in other characters, or convert the file to UTF-8 first.",
        ) from None


def in_line_ends_of(text: str, form: Form) -> str:
    """Text from a source that knows only "\\n", with the line ends of the file it was made from.

    Only for a caller who knows that the line ends were lost. A text that has a "\\r" anywhere was
    written by somebody who knows about them, and stays as it is.
    """
    return with_line_end(text, form.line_end)
