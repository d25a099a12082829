"""What of an entry can be searched for: the words, cut into passages, and the files it is about.

The words of a passage are indexed twice: as they stand, and in pieces, so that `config` finds
`loadConfig` and a word finds itself in a language that writes without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from agentls.core.model import Block, Diff
from agentls.core.transcript import (
    Ask,
    Attachment,
    Entry,
    Message,
    Notice,
    Other,
    Plan,
    Question,
    ToolCall,
    TurnEnd,
)

LENGTH: Final = 16_384
"""Characters in a passage."""
_OVERLAP: Final = 128
"""Characters of the passage before, so that words at the cut are found."""
_OUTPUT: Final = 256 * 1024
"""Characters of an output that can be searched: so many of its beginning and of its end."""
_DEEP: Final = 20

# Both are part of the index: what is deleted from it must be cut as it was when it was added.
_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_CAMEL: Final = re.compile(r"[a-z0-9][A-Z]")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)


def pieces(text: str) -> str:
    """The parts of words that are made of several, and the characters of unspaced writing."""
    # First words, then humps: one pattern for both takes the square of a long word's length.
    found = [_HUMP.sub(" ", word) for word in _WORD.findall(text) if _CAMEL.search(word)]
    if not text.isascii():
        found += [" ".join(run) for run in _UNSPACED.findall(text)]
    # Something between them, so that no phrase is found across.
    return " \x02x\x02 ".join(found)


def passages(entry: Entry) -> Iterator[str]:
    """The searchable text of an entry, in pieces of a bearable length."""
    text = "\n".join(piece for piece in _texts(entry) if piece)
    for start in range(0, len(text), LENGTH):
        yield text[max(0, start - _OVERLAP) : start + LENGTH]


def _texts(entry: Entry) -> Iterator[str]:
    match entry:
        case Message():
            yield str(entry.text)
        case Attachment():
            yield from _block(entry.block)
            yield from paths(entry)
        case ToolCall():
            yield from _call(entry)
        case Plan():
            yield from (step.text for step in entry.steps)
        case Ask():
            yield from (entry.title, entry.shown)
        case Question():
            yield entry.text
            if entry.reply is not None and entry.reply.text is not None:
                yield entry.reply.text
        case TurnEnd():
            yield entry.error
        case Notice():
            yield entry.text
        case Other():
            yield from _strings(entry.raw)


def _call(call: ToolCall) -> Iterator[str]:
    yield from (call.title, call.name)
    yield from paths(call)
    yield from _strings(call.input)
    for item in call.content:
        if isinstance(item, Block):
            yield from _block(item)
        elif isinstance(item, Diff):
            yield from _changed_lines(item)
    for output in call.terminals.values():
        text = output.text
        yield text.between(0, _OUTPUT)
        if text.length > _OUTPUT:
            yield text.since(max(_OUTPUT, text.length - _OUTPUT))
    if not call.terminals and not call.content:
        yield from _strings(call.output)


def _block(block: Block) -> Iterator[str]:
    yield from (block.text, block.name, block.uri)
    if block.raw is not None:
        yield from _strings(block.raw)


def _changed_lines(diff: Diff) -> Iterator[str]:
    """Lines that only one side has: agents send whole files for a change of one word."""
    old, new = (diff.old or "").splitlines(), diff.new.splitlines()
    before, after = set(old), set(new)
    yield "\n".join(line for line in new if line not in before)
    yield "\n".join(line for line in old if line not in after)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:_OUTPUT]
    elif depth < _DEEP and isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth + 1)


def paths(entry: Entry) -> list[str]:
    """The files that an entry is about, each once."""
    found: list[str] = []
    if isinstance(entry, ToolCall):
        found += [location.path for location in entry.locations]
        found += [item.path for item in entry.content if isinstance(item, Diff)]
    elif isinstance(entry, Attachment) and entry.block.uri.startswith("file:///"):
        from urllib.parse import unquote, urlsplit  # noqa: PLC0415 - few messages have files

        found.append(unquote(urlsplit(entry.block.uri).path))
    return list(dict.fromkeys(path for path in found if path))
