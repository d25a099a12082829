"""A tool call of the demo agent: announced, asked about when it matters, and always finished.

Only the client's clear choice of an allow option allows; anything else does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acp.schema import (
    AllowedOutcome,
    ContentToolCallContent,
    FileEditToolCallContent,
    PermissionOption,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    ToolCallUpdate,
    ToolKind,
)

from agentls.demo.session import Decision
from agentls.demo.turn import Turn, asking_client

Content = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent

_OPTIONS = [
    PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
    PermissionOption(option_id="allow_always", name="Always allow", kind="allow_always"),
    PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
]


class ToolCall:
    """A context: the call is announced on entry, and marked failed when it is left unfinished."""

    def __init__(
        self,
        turn: Turn,
        title: str,
        kind: ToolKind,
        *,
        raw_input: dict[str, Any],
        path: Path | None = None,
        line: int | None = None,
        content: Sequence[Content] = (),
    ) -> None:
        self.turn = turn
        self.id = turn.session.next_id("call")
        self.content = list(content)
        self.meta: dict[str, Any] | None = None
        self.meta_when_unfinished: dict[str, Any] | None = None
        self._title = title
        self._kind: ToolKind = kind
        self._raw_input = raw_input
        self._locations = [ToolCallLocation(path=str(path), line=line)] if path else None
        self._finished = False

    async def __aenter__(self) -> Self:
        await self.turn.show(
            ToolCallStart(
                session_update="tool_call",
                tool_call_id=self.id,
                title=self._title,
                kind=self._kind,
                status="pending",
                content=self.content or None,
                locations=self._locations,
                raw_input=self._raw_input,
                field_meta=self.meta,
            )
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._finished:
            # When the client is gone nobody waits for the status.
            with suppress(ConnectionError):
                await self.update("failed", meta=self.meta_when_unfinished)

    async def allowed(self) -> bool:
        """Ask whether to go on, unless the mode or an earlier "always" has answered already."""
        session = self.turn.session
        if session.mode == "auto" or self._kind in session.always:
            return True
        call = ToolCallUpdate(
            tool_call_id=self.id,
            title=self._title,
            kind=self._kind,
            status="pending",
            content=self.content or None,
            locations=self._locations,
            raw_input=self._raw_input,
        )
        with asking_client("answer the request for permission"):
            response = await self.turn.client.request_permission(session.id, call, _OPTIONS)
        if not isinstance(response.outcome, AllowedOutcome):
            # The protocol's word for "the whole turn was cancelled".
            raise asyncio.CancelledError
        choice = response.outcome.option_id
        if choice == "allow_always":
            session.always.add(self._kind)
        verdict = choice in {"allow_once", "allow_always"}
        session.decisions.append(Decision(self._title, allowed=verdict))
        return verdict

    async def update(
        self,
        status: ToolCallStatus | None = None,
        *,
        content: Sequence[Content] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Report progress; a status of completed or failed finishes the call."""
        self._finished = status in {"completed", "failed"}
        await self.turn.show(
            ToolCallProgress(
                session_update="tool_call_update",
                tool_call_id=self.id,
                status=status,
                content=list(content) if content is not None else None,
                field_meta=meta,
            )
        )
