"""A line of text around the words that were searched for."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_BEFORE: Final = 40
_LENGTH: Final = 160

Marks = tuple[tuple[int, int], ...]


def snippet(text: str, words: list[str]) -> tuple[str, Marks]:
    """The part of the text with the first of the words, on one line, and where words are in it."""
    pattern = _pattern(words)
    found = pattern.search(_folded(text)) if pattern else None
    start = max(0, found.start() - _BEFORE) if found else 0
    if start:
        space = re.compile(r"\s").search(text, start, start + _BEFORE)
        start = space.end() if space else start
    end = start + _LENGTH
    line = " ".join(text[start:end].split())
    line = f"{'…' if start else ''}{line}{'…' if end < len(text) else ''}"
    if pattern is None:
        return line, ()
    return line, tuple(match.span() for match in pattern.finditer(_folded(line)))


def _pattern(words: list[str]) -> re.Pattern[str] | None:
    """Any of the words, with any signs where they have some."""
    options = []
    for word in words:
        parts = re.findall(r"\w+", _folded(word).replace("_", " "))
        if parts:
            options.append(r"[\W_]{1,3}".join(re.escape(part) for part in parts))
    return re.compile("|".join(sorted(options, key=len, reverse=True))) if options else None


def _folded(text: str) -> str:
    """Small letters without marks; each character stays one."""
    if text.isascii():
        return text.lower()
    return "".join(_plain(character) for character in text)


def _plain(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0].lower()
    return base if len(base) == 1 else character
