"""The editor as tools of agents see it: its documents, its windows, its language servers.

Invariant: what an editor does not say it can do is not asked of it, and one that does not answer in
time, or answers nonsense, knows nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from ..core.tools.desk import OpenText
from .capabilities import EditorAbilities
from .documents import Documents

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

    async def _asked(self, method: str, params: Any) -> Any:
        try:
            return await asyncio.wait_for(self._request(method, params), _PATIENCE)
        except (TimeoutError, JsonRpcException):
            return None
