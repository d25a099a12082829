"""The editor as tools of agents see it: its documents, its windows, its language servers.

Invariant: what an editor does not say it can do is not asked of it, and one that does not answer in
time, or answers nonsense, knows nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from ..core.tools.desk import OpenText, Problem, Spot
from . import protocol as p
from .capabilities import EditorAbilities
from .documents import Documents

log = logging.getLogger(__name__)

_T = TypeVar("_T")
Request = Callable[[str, Any], Awaitable[Any]]
_PATIENCE = 10.0
"""Seconds for the editor to answer."""


class EditorDesk:
    """Implements `core.tools.desk.Desk`."""

    def __init__(self, abilities: EditorAbilities, documents: Documents, request: Request) -> None:
        self._abilities = abilities
        self._documents = documents
        self._request = request

    def open_texts(self) -> list[OpenText]:
        documents = [d for d in self._documents if d.uri.startswith("file:")]
        return [
            OpenText(
                path=to_fs_path(document.uri) or "",
                language=document.language_id,
                unsaved=document.changed,
                lines=len(document.lines),
            )
            for document in documents
        ]

    async def show(self, path: str, line: int) -> bool:
        if not self._abilities.show_document:
            return False
        place = lsp.Position(line - 1, 0)
        params = lsp.ShowDocumentParams(
            uri=Path(path).as_uri(), take_focus=False, selection=lsp.Range(place, place)
        )
        answer = await self._asked(lsp.WINDOW_SHOW_DOCUMENT, params)
        return bool(getattr(answer, "success", False))

    @property
    def knows_code(self) -> bool:
        return self._abilities.knows_code

    async def problems(self, path: str) -> Sequence[Problem] | None:
        params = p.CodeFileParams(uri=Path(path).as_uri() if path else "")
        result = await self._code("agentls/code/problems", params, p.CodeProblemsResult)
        if result is None:
            return None
        return [
            Problem(
                path=to_fs_path(problem.uri) or problem.uri,
                line=problem.line + 1,
                column=problem.character + 1,
                severity=problem.severity,
                message=problem.message,
                source=problem.source,
                code=problem.code,
            )
            for problem in result.problems
        ]

    async def definition(self, path: str, line: int, column: int) -> Sequence[Spot] | None:
        return await self._spots("agentls/code/definition", _place(path, line, column))

    async def references(self, path: str, line: int, column: int) -> Sequence[Spot] | None:
        return await self._spots("agentls/code/references", _place(path, line, column))

    async def document_symbols(self, path: str) -> Sequence[Spot] | None:
        return await self._spots("agentls/code/symbols", p.CodeFileParams(uri=Path(path).as_uri()))

    async def workspace_symbols(self, query: str) -> Sequence[Spot] | None:
        return await self._spots("agentls/code/search", p.CodeQueryParams(query=query))

    async def _spots(self, method: str, params: Any) -> Sequence[Spot] | None:
        result = await self._code(method, params, p.CodeSpotsResult)
        if result is None or not result.known:
            return None
        return [
            Spot(
                path=to_fs_path(spot.uri) or spot.uri,
                line=spot.line + 1,
                column=spot.character + 1,
                name=spot.name,
                kind=spot.kind,
                inside=spot.inside,
            )
            for spot in result.spots
        ]

    async def _code(self, method: str, params: Any, shape: type[_T]) -> _T | None:
        if not self._abilities.knows_code:
            return None
        answer = await self._asked(method, params)
        if answer is None:
            return None
        try:
            return msgspec.convert(answer, shape)
        except msgspec.ValidationError as error:
            log.warning("%s was answered with nonsense: %s", method, error)
            return None

    async def _asked(self, method: str, params: Any) -> Any:
        try:
            return await asyncio.wait_for(self._request(method, params), _PATIENCE)
        except (TimeoutError, JsonRpcException):
            return None


def _place(path: str, line: int, column: int) -> p.CodePlaceParams:
    return p.CodePlaceParams(uri=Path(path).as_uri(), line=line - 1, character=column)
