"""The buffers of a test editor: opened, typed into, edited by the server, as real editors do it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from .editor import NO_ANSWER, Editor

Json = dict[str, Any]
_WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Buffer:
    def __init__(self, uri: str, text: str) -> None:
        self.uri = uri
        self.text = text
        self.version = 1


class Buffers:
    """Answers `workspace/applyEdit`; `before` happens first, and `manner` is how it is done."""

    def __init__(self, editor: Editor, encoding: str = "utf-16") -> None:
        self.editor = editor
        self.encoding = encoding
        self.manner = "apply"
        self.before: Callable[[], None] = lambda: None
        self.edits: list[Json] = []
        self.saves: list[str] = []
        self._open: dict[str, Buffer] = {}
        self.formatted: Callable[[str], str] = lambda text: text
        """What saving makes of a text."""
        editor.answers["workspace/applyEdit"] = self._edit
        editor.answers["agentls/document/save"] = lambda message: self._save(message["params"])

    def open(self, path: Path, text: str | None = None) -> Buffer:
        shown = path.read_bytes().decode() if text is None else text
        buffer = self._open[path.as_uri()] = Buffer(path.as_uri(), shown)
        item = {"uri": buffer.uri, "languageId": "text", "version": 1, "text": shown}
        self.editor.notify("textDocument/didOpen", {"textDocument": item})
        return buffer

    def type(self, buffer: Buffer, text: str) -> None:
        buffer.text = text
        buffer.version += 1
        self.editor.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": buffer.uri, "version": buffer.version},
                "contentChanges": [{"text": text}],
            },
        )

    def close(self, buffer: Buffer) -> None:
        del self._open[buffer.uri]
        self.editor.notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})

    def save(self, buffer: Buffer) -> None:
        """As a person does it, with all that saving does."""
        path = Path(unquote(urlparse(buffer.uri).path))
        text = self.formatted(buffer.text)
        if text != buffer.text:
            self.type(buffer, text)
        path.write_bytes(text.encode())
        self.editor.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})

    def _save(self, params: Json) -> Json:
        self.saves.append(params["uri"])
        buffer = self._open.get(params["uri"])
        if buffer is None or self.manner in {"cannot save", "says it saved"}:
            return {"saved": self.manner == "says it saved"}
        self.save(buffer)
        return {"saved": True}

    def _edit(self, message: Json) -> Any:
        (change,) = message["params"]["edit"]["documentChanges"]
        self.edits.append(change)
        self.before()
        self.before = lambda: None
        buffer = self._open.get(change["textDocument"]["uri"])
        if self.manner == "says it did":
            return {"applied": True}
        if buffer is None or change["textDocument"]["version"] != buffer.version:
            return {"applied": self.manner == "always says applied"}
        if self.manner == "refuses":
            return {"applied": False, "failureReason": "no"}
        text = self._edited(buffer.text, change["edits"])
        if self.manner != "tells later":
            self.type(buffer, text)
            return {"applied": True}
        self.editor.send({"jsonrpc": "2.0", "id": message["id"], "result": {"applied": True}})
        self.type(buffer, text)
        return NO_ANSWER

    def _edited(self, text: str, edits: list[Json]) -> str:
        spans = [
            (self._index(text, e["range"]["start"]), self._index(text, e["range"]["end"]), e)
            for e in edits
        ]
        for start, end, edit in sorted(spans, key=lambda span: span[0], reverse=True):
            text = text[:start] + edit["newText"] + text[end:]
        return text

    def _index(self, text: str, position: Json) -> int:
        lines = text.replace("\r\n", "\r\r").replace("\n", "\n\0").replace("\r\r", "\r\n\0")
        before = lines.split("\0")[: position["line"] + 1]
        codec, width = _WIDTHS[self.encoding]
        units = before[-1].encode(codec)[: position["character"] * width]
        return len("".join(before[:-1])) + len(units.decode(codec))
