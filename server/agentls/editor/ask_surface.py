"""Open asks where the code is: a diagnostic, code actions and code lenses at each place.

Every surface shows the same asks; whichever is answered first wins, and all the others go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lsprotocol import types as lsp
from msgspec import Struct

from ..core import events as ev
from ..core.model import AskId
from ..core.session import Session
from ..core.transcript import Ask, Entry
from .capabilities import EditorAbilities
from .diagnostics import Diagnostics, comparable
from .documents import Documents
from .places import Place, place_of
from .session_documents import SessionDocuments


class _Shown(Struct, frozen=True):
    ask: Ask
    agent: str
    place: Place
    has_change: bool


class AskSurface:
    """An observer of all sessions."""

    def __init__(
        self,
        abilities: EditorAbilities,
        documents: Documents,
        files: SessionDocuments,
        *,
        diagnostics: Diagnostics,
        refresh_lenses: Callable[[], None],
    ) -> None:
        self._abilities = abilities
        self._documents = documents
        self._files = files
        self._diagnostics = diagnostics
        self._refresh_lenses = refresh_lenses
        self._shown: dict[AskId, _Shown] = {}
        self._pages: dict[str, AskId] = {}
        """Pages with proposed texts, by their uri: there the ask can be answered, too."""

    def __call__(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.AskOpened) and isinstance(entry, Ask):
            if entry.decision is None:
                self._show(session, entry)
        elif isinstance(event, ev.AskSettled) and isinstance(entry, Ask):
            shown = self._shown.pop(entry.ask, None)
            self._pages = {uri: ask for uri, ask in self._pages.items() if ask != entry.ask}
            if shown is not None:
                self._changed(shown.place.uri)

    def page_opened(self, uri: str, ask: AskId) -> None:
        """A page with what an ask would write."""
        self._pages[comparable(uri)] = ask

    def _show(self, session: Session, ask: Ask) -> None:
        call = session.transcript.call(ask.call)
        place = place_of(call, self._documents, session.cwd)
        if place is None:
            path = self._files.write(session)
            with path.open(encoding="utf-8") as lines:
                place = Place(path.as_uri(), sum(1 for _ in lines) - 1)
        has_change = bool(call and call.content) or bool(ask.shown)
        self._shown[ask.ask] = _Shown(ask, session.agent_name, place, has_change)
        self._changed(place.uri)

    def _changed(self, uri: str) -> None:
        self._diagnostics.publish("asks", uri, [_diagnostic(s) for s in self._at(uri)])
        if self._abilities.lens_refresh:
            self._refresh_lenses()

    def _at(self, uri: str) -> list[_Shown]:
        wanted = comparable(uri)
        return [s for s in self._shown.values() if comparable(s.place.uri) == wanted]

    # -- what the editor asks for

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
        """The answers to the asks in a range; to all of a session in its own document."""
        found: list[lsp.CodeAction | lsp.Command] = []
        for shown in self._at(params.text_document.uri):
            first, last = params.range.start.line, params.range.end.line
            if first <= shown.place.line <= last or _is_session_document(shown.place.uri):
                for title, command, argument in _answers(shown):
                    found.append(self._action(title, command, argument))
        return found + [self._action(*it) for it in self._on_page(params.text_document.uri)]

    def _on_page(self, uri: str) -> list[_Answer]:
        """Accepting what is on a page with a proposed text, and rejecting it."""
        shown = self._shown.get(self._pages.get(comparable(uri), AskId("")))
        if shown is None:
            return []
        choices = (("Accept this text", "allow"), ("Reject", "reject"))
        return [
            (
                f"{shown.agent}: {title}",
                "agentls.ask.decide",
                {"askId": shown.ask.ask, "verdict": verdict},
            )
            for title, verdict in choices
        ]

    def lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return [
            lsp.CodeLens(
                range=_range(shown.place.line),
                command=lsp.Command(title=title, command=command, arguments=[argument]),
            )
            for shown in self._at(params.text_document.uri)
            for title, command, argument in _answers(shown)
        ] + [
            lsp.CodeLens(
                range=_range(0),
                command=lsp.Command(title=title, command=command, arguments=[argument]),
            )
            for title, command, argument in self._on_page(params.text_document.uri)
        ]

    def _action(
        self, title: str, command: str, argument: dict[str, Any]
    ) -> lsp.CodeAction | lsp.Command:
        run = lsp.Command(title=title, command=command, arguments=[argument])
        if not self._abilities.action_literals:
            return run
        return lsp.CodeAction(title=title, kind=lsp.CodeActionKind.QuickFix, command=run)


_Answer = tuple[str, str, dict[str, Any]]
"""Title, command and argument."""


def _answers(shown: _Shown) -> list[_Answer]:
    """One per option, then what we offer beside them."""
    ask = shown.ask
    found: list[_Answer] = [
        (
            f"{shown.agent}: {option.name}",
            "agentls.ask.decide",
            {"askId": ask.ask, "optionId": option.id},
        )
        for option in ask.options
    ]
    found += [
        (
            f"{shown.agent}: {offer.label}",
            "agentls.ask.decide",
            {"askId": ask.ask, "always": offer.id},
        )
        for offer in ask.always
    ]
    if ask.editable:
        argument = {"askId": ask.ask, "open": True}
        found.append((f"{shown.agent}: Edit before accepting…", "agentls.ask.proposal", argument))
    found.append((f"{shown.agent}: Reject and say why…", "agentls.ask.reason", {"askId": ask.ask}))
    if shown.has_change:
        found.append((f"{shown.agent}: Show what it asks", "agentls.ask.show", {"askId": ask.ask}))
    return found


def _diagnostic(shown: _Shown) -> dict[str, Any]:
    line = shown.place.line
    message = f"{shown.agent} asks: {shown.ask.title}"
    if shown.ask.shown and shown.ask.shown not in message:
        message += f"\n{shown.ask.shown[:500]}"
    return {
        "range": {
            "start": {"line": line, "character": 0},
            "end": {"line": line + 1, "character": 0},
        },
        "severity": lsp.DiagnosticSeverity.Information.value,
        "source": "agentls",
        "code": shown.ask.ask,
        "message": message,
    }


def _is_session_document(uri: str) -> bool:
    return uri.endswith(".md") and "/transcripts/" in uri


def _range(line: int) -> lsp.Range:
    return lsp.Range(start=lsp.Position(line, 0), end=lsp.Position(line, 0))
