"""A conversation as the demo agent remembers it: what was said, asked, allowed and rejected.

Everything sent to the client is recorded, so that loading the session shows the same again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from acp.schema import (
    AgentMessageChunk,
    AgentPlanUpdate,
    AgentThoughtChunk,
    AvailableCommandsUpdate,
    SessionInfoUpdate,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
    UsageUpdate,
    UserMessageChunk,
)

from agentls.demo.tools import Tools

Mode = Literal["ask", "auto"]
Pace = Literal["brisk", "calm"]
Update = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | AgentPlanUpdate
    | ToolCallStart
    | ToolCallProgress
    | AvailableCommandsUpdate
    | SessionInfoUpdate
    | UsageUpdate
)


class History:
    """The updates of a session in order; the pieces of one streamed message are kept as one."""

    def __init__(self) -> None:
        self._entries: list[tuple[Update, list[str]]] = []
        self.characters = 0

    def add(self, update: Update) -> None:
        """Record an update, joining it to the message it continues."""
        text = _streamed_text(update)
        self.characters += len(text or "")
        if text is not None and self._entries and _continues(self._entries[-1][0], update):
            self._entries[-1][1].append(text)
        else:
            self._entries.append((update, [] if text is None else [text]))

    def __iter__(self) -> Iterator[Update]:
        for update, pieces in self._entries:
            if len(pieces) > 1:
                whole = TextContentBlock(type="text", text="".join(pieces))
                yield update.model_copy(update={"content": whole})
            else:
                yield update


@dataclass(frozen=True)
class Decision:
    """One answer to an ask."""

    what: str
    allowed: bool


@dataclass
class Session:
    """One conversation. `turn` is the task of the prompt being answered, if there is one."""

    id: str
    cwd: Path
    mode: Mode = "ask"
    pace: Pace = "brisk"
    title: str | None = None
    turns: int = 0
    closed: bool = False
    turn: asyncio.Task[None] | None = None
    ignores_cancel: bool = False
    tools: Tools | None = None
    """What the client lets it call."""
    always: set[ToolKind] = field(default_factory=set)
    decisions: list[Decision] = field(default_factory=list)
    history: History = field(default_factory=History)
    _ids: Counter[str] = field(default_factory=Counter)

    def next_id(self, prefix: str) -> str:
        """Return an id that is new in this session."""
        self._ids[prefix] += 1
        return f"{prefix}-{self._ids[prefix]}"


def _streamed_text(update: Update) -> str | None:
    if not isinstance(update, AgentMessageChunk | AgentThoughtChunk | UserMessageChunk):
        return None
    return update.content.text if isinstance(update.content, TextContentBlock) else None


def _continues(last: Update, update: Update) -> bool:
    return (
        isinstance(update, AgentMessageChunk | AgentThoughtChunk)
        and isinstance(last, type(update))
        and last.message_id == update.message_id
    )
