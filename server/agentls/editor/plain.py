"""Editors without our front end: asks and errors as messages, the conversation as a document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from ..core import events as ev
from ..core.asks import Asks
from ..core.errors import AskError
from ..core.markdown import transcript_markdown
from ..core.model import AskId, Level
from ..core.ports import Tasks
from ..core.session import Session
from ..core.transcript import Ask, Entry
from .capabilities import EditorAbilities

Request = Callable[[str, Any], Awaitable[Any]]


class PlainEditor:
    """An observer of all sessions, for an editor that did not declare our front end."""

    def __init__(
        self,
        abilities: EditorAbilities,
        request: Request,
        tell: Callable[[str, Any], None],
        *,
        asks: Asks,
        tasks: Tasks,
        folder: Path,
    ) -> None:
        self._abilities = abilities
        self._request = request
        self._tell = tell
        self._asks = asks
        self._tasks = tasks
        self._folder = folder

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.AskOpened) and isinstance(entry, Ask):
            if self._abilities.message_request:
                self._tasks.start(self._ask(session, entry), f"ask {entry.ask}")
        elif isinstance(event, ev.NoticeShown) and event.level is not Level.INFO:
            kind = lsp.MessageType.Error if event.level is Level.ERROR else lsp.MessageType.Warning
            self._message(kind, f"{session.agent_name}: {event.text}")
        elif isinstance(event, ev.TurnEnded):
            if event.error:
                self._message(lsp.MessageType.Error, f"{session.agent_name}: {event.error}")
            self._tasks.start(self._show(session), f"show {session.id}")

    async def _ask(self, session: Session, ask: Ask) -> None:
        """One message with the agent's own options. Dismissing it answers nothing."""
        by_title = {option.name: option for option in ask.options}
        answer = await self._request(
            lsp.WINDOW_SHOW_MESSAGE_REQUEST,
            lsp.ShowMessageRequestParams(
                type=lsp.MessageType.Warning,
                message=f"{session.agent_name} asks: {ask.title}",
                actions=[lsp.MessageActionItem(title=title) for title in by_title],
            ),
        )
        option = by_title.get(answer.title) if answer is not None else None
        if option is not None:
            try:
                self._asks.decide(AskId(ask.ask), option.id, "you, in a message")
            except AskError as error:
                self._message(lsp.MessageType.Info, str(error))

    async def _show(self, session: Session) -> None:
        """The conversation so far as a Markdown file, shown beside the person's work."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / f"{session.id}.md"
        text = transcript_markdown(
            session.transcript, title=session.title, agent=session.agent_name, cwd=session.cwd
        )
        path.write_text(text, encoding="utf-8")
        if self._abilities.show_document:
            await self._request(
                lsp.WINDOW_SHOW_DOCUMENT,
                lsp.ShowDocumentParams(uri=path.as_uri(), take_focus=False),
            )

    def _message(self, kind: lsp.MessageType, text: str) -> None:
        self._tell("window/showMessage", {"type": kind.value, "message": text})
