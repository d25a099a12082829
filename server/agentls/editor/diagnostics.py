"""Diagnostics of several surfaces for one document, which editors take only all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote


class Diagnostics:
    """What each surface says of each document. Invariant: what is published is all of it."""

    def __init__(self, tell: Callable[[str, Any], None]) -> None:
        self._tell = tell
        self._said: dict[str, dict[str, Sequence[dict[str, Any]]]] = {}

    def publish(self, surface: str, uri: str, said: Sequence[dict[str, Any]]) -> None:
        """All that one surface has to say of a document."""
        of_all = self._said.setdefault(comparable(uri), {})
        if not said and not of_all.get(surface):
            return
        of_all[surface] = said
        joined = [it for some in of_all.values() for it in some]
        if not joined:
            del self._said[comparable(uri)]
        self._tell("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": joined})


def comparable(uri: str) -> str:
    """Editors spell the same file differently."""
    return unquote(uri)
