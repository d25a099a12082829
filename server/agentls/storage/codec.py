"""Entries and heads as bytes, and back.

Invariant: what is decoded equals what was encoded, in every field. Text that grows is not in the
bytes but for its last part; the parts before it are complete, and stored once each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from agentls.core.growing import GrowingText
from agentls.core.model import (
    Block,
    Diff,
    EntryId,
    Location,
    Role,
    TerminalId,
    TerminalRef,
    ToolCallId,
    ToolContent,
)
from agentls.core.output import Output
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

PART: Final = 4096
"""Characters in a complete part of a text that grows."""

KINDS: Final[dict[type, str]] = {
    Message: "message",
    Attachment: "attachment",
    ToolCall: "tool_call",
    Plan: "plan",
    Ask: "ask",
    Question: "question",
    TurnEnd: "turn_end",
    Notice: "notice",
    Other: "other",
}
TEXT: Final = ""
"""The name of a message's own text; outputs are named by their terminal."""


class GrownText(Struct, frozen=True):
    """What a text that grows has got since it was last stored."""

    first: int
    """How many complete parts are stored already, and still right."""
    parts: tuple[str, ...]
    """The complete parts after those."""
    tail: str

    @property
    def count(self) -> int:
        return self.first + len(self.parts)


Grown = Mapping[str, GrownText]


class _Content(Struct, omit_defaults=True):
    block: Block | None = None
    diff: Diff | None = None
    terminal: TerminalRef | None = None


class _Message(Struct, kw_only=True, omit_defaults=True):
    at: float
    turn: int
    role: Role
    message: str = ""
    sender: str = ""
    parts: int = 0
    text: str = ""


class _Output(Struct, kw_only=True, omit_defaults=True):
    parts: int = 0
    text: str = ""
    dropped: int = 0
    version: int = 0
    ended: bool = False
    exit_code: int | None = None
    signal: str = ""


class _ToolCall(Struct, kw_only=True, omit_defaults=True):
    at: float
    turn: int
    call: ToolCallId
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    name: str = ""
    content: tuple[_Content, ...] = ()
    locations: tuple[Location, ...] = ()
    input: Any = None
    output: Any = None
    terminals: dict[TerminalId, _Output] = field(default_factory=dict)
    rejected: bool = False


_PLAIN: Final[dict[str, type]] = {
    kind: type for type, kind in KINDS.items() if type not in {Message, ToolCall}
}
_OF_CALL: Final = tuple(
    name for name in _ToolCall.__struct_fields__ if name not in {"content", "terminals"}
)
_OF_OUTPUT: Final = tuple(
    name for name in _Output.__struct_fields__ if name not in {"parts", "text"}
)

Parts = Callable[[str], str]
"""The complete parts of a text, joined."""


def grown(text: GrowingText, first: int, room: int) -> GrownText:
    """What to store of a text of which `first` parts are; about `room` characters at most."""
    whole = text.length // PART
    end = min(whole, first + max(1, room // PART))
    start = first * PART
    new = text.since(start) if end == whole else text.between(start, end * PART)
    cuts = range(0, (end - first) * PART, PART)
    tail = new[(end - first) * PART :]
    return GrownText(first, tuple(new[cut : cut + PART] for cut in cuts), tail)


def whole_text(text: str) -> GrownText:
    """A text of which nothing is stored."""
    return grown(GrowingText(text), 0, max(1, len(text)) + PART)


def encoded(entry: Entry, texts: Grown) -> bytes:
    """The entry with all but the complete parts of its texts. Never fails."""
    value: Any = entry
    if isinstance(entry, Message):
        text = texts[TEXT]
        value = _Message(
            at=entry.at,
            turn=entry.turn,
            role=entry.role,
            message=entry.message,
            sender=entry.sender,
            parts=text.count,
            text=text.tail,
        )
    elif isinstance(entry, ToolCall):
        value = _ToolCall(
            content=tuple(_content(item) for item in entry.content),
            terminals={id: _output(entry.terminals[id], texts[id]) for id in entry.terminals},
            **{name: getattr(entry, name) for name in _OF_CALL},
        )
    return json_of(value)


def json_of(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, TypeError):
        return msgspec.json.encode(_clean(msgspec.to_builtins(value, enc_hook=str)))


def decoded(kind: str, number: int, body: bytes, parts: Parts) -> Entry:
    id = EntryId(f"e{number}")
    if kind == "message":
        message = msgspec.json.decode(body, type=_Message)
        return Message(
            id=id,
            at=message.at,
            turn=message.turn,
            role=message.role,
            message=message.message,
            sender=message.sender,
            text=GrowingText((parts(TEXT) if message.parts else "") + message.text),
        )
    if kind == "tool_call":
        return _call(id, msgspec.json.decode(body, type=_ToolCall), parts)
    entry: Entry = msgspec.json.decode(body, type=_PLAIN[kind])
    entry.id = id  # whatever a file from elsewhere says
    return entry


def _call(id: EntryId, stored: _ToolCall, parts: Parts) -> ToolCall:
    return ToolCall(
        id=id,
        content=tuple(_of_content(item) for item in stored.content),
        terminals={
            terminal: Output(
                text=GrowingText((parts(terminal) if output.parts else "") + output.text),
                **{name: getattr(output, name) for name in _OF_OUTPUT},
            )
            for terminal, output in stored.terminals.items()
        },
        **{name: getattr(stored, name) for name in _OF_CALL},
    )


def _content(item: ToolContent) -> _Content:
    if isinstance(item, Block):
        return _Content(block=item)
    if isinstance(item, Diff):
        return _Content(diff=item)
    return _Content(terminal=item)


def _of_content(item: _Content) -> ToolContent:
    found = item.block or item.diff or item.terminal
    assert found is not None, "one of them is always there"
    return found


def _output(output: Output, text: GrownText) -> _Output:
    kept = {name: getattr(output, name) for name in _OF_OUTPUT}
    return _Output(parts=text.count, text=text.tail, **kept)


def _clean(value: Any) -> Any:
    """Half characters cannot be written down."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value
