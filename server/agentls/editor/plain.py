"""Editors without our front end: asks and errors as messages, the conversation as a document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types as lsp

from ..core import events as ev
from ..core.errors import AgentlsError
from ..core.model import Always, Level, Option
from ..core.ports import Tasks
from ..core.session import Session
from ..core.transcript import Ask, Entry
from . import protocol as p
from .capabilities import EditorAbilities
from .session_documents import SessionDocuments

_BY = "you, in a message"

Request = Callable[..., Awaitable[Any]]
Decide = Callable[[p.AskDecideParams, str], Awaitable[p.AskDecideResult]]
"""Answers an ask, and says by whom."""


class PlainEditor:
    """An observer of all sessions, for an editor that did not declare our front end."""

    def __init__(
        self,
        abilities: EditorAbilities,
        request: Request,
        tell: Callable[[str, Any], None],
        *,
        decide: Decide,
        tasks: Tasks,
        files: SessionDocuments,
    ) -> None:
        self._abilities = abilities
        self._request = request
        self._tell = tell
        self._decide = decide
        self._tasks = tasks
        self._files = files

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.AskOpened) and isinstance(entry, Ask):
            if self._abilities.message_request and entry.decision is None:
                self._tasks.start(self._ask(session, entry), f"ask {entry.ask}")
        elif isinstance(event, ev.AskSettled) and isinstance(entry, Ask):
            # Answered elsewhere: the message has nothing left to ask.
            self._tell("$/cancelRequest", {"id": _request_id(entry)})
        elif isinstance(event, ev.NoticeShown) and event.level is not Level.INFO:
            kind = lsp.MessageType.Error if event.level is Level.ERROR else lsp.MessageType.Warning
            self._message(kind, f"{session.agent_name}: {event.text}")
        elif isinstance(event, ev.TurnEnded):
            if event.error and session.error is None:  # a session that failed says so itself
                self._message(lsp.MessageType.Error, f"{session.agent_name}: {event.error}")
            self._tasks.start(self._show(session), f"show {session.id}")

    async def _ask(self, session: Session, ask: Ask) -> None:
        """One message with the agent's own options. Dismissing it answers nothing."""
        titles = _titles(ask)
        answer = await self._request(
            lsp.WINDOW_SHOW_MESSAGE_REQUEST,
            lsp.ShowMessageRequestParams(
                type=lsp.MessageType.Warning,
                message=_question(session, ask),
                actions=[lsp.MessageActionItem(title=title) for title in titles],
            ),
            _request_id(ask),
        )
        chosen = titles.get(answer.title) if answer is not None else None
        if chosen is None:
            return
        params = (
            p.AskDecideParams(ask_id=ask.ask, always=chosen.id)
            if isinstance(chosen, Always)
            else p.AskDecideParams(ask_id=ask.ask, option_id=chosen.id)
        )
        try:
            said = (await self._decide(params, _BY)).message
        except AgentlsError as error:
            said = str(error)
        if said:
            self._message(lsp.MessageType.Info, said)

    async def _show(self, session: Session) -> None:
        """The conversation so far as a Markdown file, shown beside the person's work."""
        path = self._files.write(session)
        if self._abilities.show_document:
            await self._request(
                lsp.WINDOW_SHOW_DOCUMENT,
                lsp.ShowDocumentParams(uri=path.as_uri(), take_focus=False),
            )

    def _message(self, kind: lsp.MessageType, text: str) -> None:
        self._tell("window/showMessage", {"type": kind.value, "message": text})


def _request_id(ask: Ask) -> str:
    return f"ask-{ask.ask}"


def _titles(ask: Ask) -> dict[str, Option | Always]:
    """What can be clicked. Two answers with one name would be one too few."""
    titles: dict[str, Option | Always] = {}
    for option in ask.options:
        title = option.name if option.name not in titles else f"{option.name} ({option.id})"
        titles[title] = option
    for offer in ask.always[:1]:
        titles[offer.label] = offer
    return titles


def _question(session: Session, ask: Ask) -> str:
    text = f"{session.agent_name} asks: {ask.title}"
    return text if ask.shown in {"", ask.title} else f"{text}\n{ask.shown[:1000]}"
