"""One turn of a session, seen from the agent: what it can say and show to the client.

Every update goes through `Turn.send`, which also records it in the session's history.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from acp import Client, RequestError, plan_entry, text_block, update_plan
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ClientCapabilities,
    PlanEntryStatus,
    SessionInfoUpdate,
    UsageUpdate,
)

from agentls.core.errors import AgentError
from agentls.demo.session import Session, Update

_CONTEXT_SIZE = 200_000
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Abilities:
    """What the client offered in `initialize`."""

    reads_files: bool = False
    writes_files: bool = False
    runs_terminals: bool = False
    shows_terminal_output: bool = False

    @classmethod
    def offered(cls, capabilities: ClientCapabilities | None) -> Self:
        """Read the abilities from the client's capabilities."""
        if capabilities is None:
            return cls()
        fs, meta = capabilities.fs, capabilities.field_meta or {}
        return cls(
            reads_files=fs is not None and fs.read_text_file is True,
            writes_files=fs is not None and fs.write_text_file is True,
            runs_terminals=capabilities.terminal is True,
            shows_terminal_output=meta.get("terminal_output") is True,
        )


@contextmanager
def asking_client(to_do: str) -> Iterator[None]:
    """Turn a refusal or an unusable answer of the client into an error for a person."""
    try:
        yield
    except (RequestError, ValueError) as error:
        raise AgentError(f"The client did not {to_do}: {error}") from error


class Turn:
    """What one prompt makes the agent do."""

    def __init__(
        self, session: Session, client: Client, abilities: Abilities, *, delay: float
    ) -> None:
        self.session = session
        self.client = client
        self.abilities = abilities
        self._delay = delay
        self._message_id: str | None = None

    async def send(self, update: Update) -> None:
        """Send an update to the client and remember it."""
        self.session.history.add(update)
        await self.client.session_update(self.session.id, update)

    async def show(self, update: Update) -> None:
        """Send an update that is no message, which ends the message before it."""
        self._message_id = None
        await self.send(update)

    async def chunk(self, text: str) -> None:
        """Send one piece of a message."""
        if self._message_id is None:
            self._message_id = self.session.next_id("message")
        await self.send(
            AgentMessageChunk(
                session_update="agent_message_chunk",
                content=text_block(text),
                message_id=self._message_id,
            )
        )

    async def say(self, text: str) -> None:
        """Stream a message word by word at the pace of the session."""
        for word in _words(text):
            await self.chunk(word)
            await asyncio.sleep(self._delay)

    async def think(self, text: str) -> None:
        """Stream a thought word by word."""
        message_id = self.session.next_id("thought")
        for word in _words(text):
            await self.show(
                AgentThoughtChunk(
                    session_update="agent_thought_chunk",
                    content=text_block(word),
                    message_id=message_id,
                )
            )
            await asyncio.sleep(self._delay)

    async def show_plan(self, steps: Sequence[str], *, done: int, working: bool = True) -> None:
        """Publish the plan with the first `done` steps completed and the next one in progress."""

        def status(number: int) -> PlanEntryStatus:
            if number < done:
                return "completed"
            return "in_progress" if number == done and working else "pending"

        await self.show(
            update_plan(plan_entry(step, status=status(n)) for n, step in enumerate(steps))
        )

    async def wrap_up(self, title: str) -> None:
        """Report the use of the context, and give the session a title when it has none."""
        used = self.session.history.characters // _CHARACTERS_PER_TOKEN
        await self.show(
            UsageUpdate(
                session_update="usage_update", used=min(used, _CONTEXT_SIZE), size=_CONTEXT_SIZE
            )
        )
        if self.session.title is None:
            self.session.title = title
            await self.show(SessionInfoUpdate(session_update="session_info_update", title=title))


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s*", text)
