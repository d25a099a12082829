"""Where in the editor an ask belongs: where its tool call points, or the session's document."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from ..core.model import Diff
from ..core.transcript import ToolCall
from .documents import Documents


class Place(Struct, frozen=True):
    """A line in a document; lines count from 0 as LSP has it."""

    uri: str
    line: int


def place_of(call: ToolCall | None, documents: Documents, cwd: str) -> Place | None:
    """The place a tool call names; None when it names none."""
    if call is None:
        return None
    for content in call.content:
        if isinstance(content, Diff):
            uri = _uri(content.path, cwd)
            return Place(uri, _line_of(call, content, uri, documents))
    for at in call.locations:
        return Place(_uri(at.path, cwd), max(0, (at.line or 1) - 1))
    return None


def _uri(path: str, cwd: str) -> str:
    return (Path(cwd) / path).as_uri()


def _line_of(call: ToolCall, diff: Diff, uri: str, documents: Documents) -> int:
    """The first line the diff changes. Some agents send whole files, some only a fragment."""
    for at in call.locations:
        if at.path == diff.path and at.line:
            return at.line - 1
    old, new = (diff.old or "").split("\n"), diff.new.split("\n")
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    document = documents.get(uri)
    if document is None or not diff.old:
        return same
    start = document.text.find(diff.old)
    return same if start <= 0 else document.text.count("\n", 0, start) + same
