"""The documents the editor has open, kept as lines and changed in place.

Invariant: `Document.lines` is always `split_lines(Document.text)`, and all the changes of one
notification are applied or none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import unquote

import msgspec
from pygls.uris import to_fs_path

from agentls.core.errors import BadRequest
from agentls.core.text import Encoding, Position, Range, locate, split_lines

_OUT_OF_STEP = "Close it in the editor and open it again."


class ContentChange(msgspec.Struct, gc=False):
    """One change of an LSP didChange; without a range it replaces the whole text."""

    text: str
    range: Range | None = None


class _DidChange(msgspec.Struct, gc=False):
    # msgspec remembers how to read a struct; a bare list[ContentChange] is worked out every time.
    contentChanges: list[ContentChange]  # noqa: N815


class Document:
    """An open document; `lines` is live, so keep `text` to have what was there at one moment."""

    __slots__ = (
        "_lines",
        "_saved_version",
        "_text",
        "language_id",
        "last",
        "saved_at",
        "uri",
        "version",
    )

    def __init__(self, uri: str, language_id: str, version: int, text: str) -> None:
        self.uri = uri
        self.language_id = language_id
        self.version = version
        self._lines = split_lines(text)
        self._text: str | None = None
        self.last: Sequence[ContentChange] = ()
        """The changes of the last notification."""
        self.saved()

    def saved(self) -> None:
        """What is on disk is this, as far as the editor knows."""
        self._saved_version = self.version
        self.saved_at = time.time()
        """In seconds since the epoch, to compare with files."""

    @property
    def changed(self) -> bool:
        """Whether it was changed since it was opened or saved."""
        return self.version != self._saved_version

    @property
    def lines(self) -> Sequence[str]:
        return self._lines

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = "".join(self._lines)
        return self._text

    def line(self, number: int) -> str:
        """The line with its line end; "" where there is no such line."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def apply(self, change: ContentChange, encoding: Encoding) -> None:
        """Apply one change; positions outside the text go to the nearest place inside it."""
        self._text = None
        if change.range is None:
            self._lines = split_lines(change.text)
        else:
            self._replace(change.range.start, change.range.end, change.text, encoding)

    def _replace(self, start: Position, end: Position, text: str, encoding: Encoding) -> None:
        lines = self._lines
        first, head = place = locate(lines, start, encoding)
        last, tail = place if end == start else locate(lines, end, encoding)
        if (last, tail) < (first, head):
            first, head, last, tail = last, tail, first, head
        text = f"{lines[first][:head]}{text}{lines[last][tail:]}"
        if text.startswith("\n") and first > 0 and lines[first - 1].endswith("\r"):
            # The "\r" that ended the line before is now the first half of a "\r\n".
            first -= 1
            text = lines[first] + text
        changed = split_lines(text)
        if last + 1 < len(lines):
            # Every line but the last keeps its end, so what follows starts a line as before.
            changed.pop()
        lines[first : last + 1] = changed


class Documents:
    """The open documents by URI; a URI of a file may be percent-encoded in any way.

    `encoding` is what `initialize` agreed on.
    """

    def __init__(self, encoding: Encoding = Encoding.UTF_16) -> None:
        self.encoding = encoding
        self._documents: dict[str, Document] = {}
        self.observers: list[Callable[[Document], None]] = []
        """Told of every document that was changed or closed."""

    def __iter__(self) -> Iterator[Document]:
        # A copy: documents may open and close while somebody awaits between two of them.
        return iter(tuple(self._documents.values()))

    def __len__(self) -> int:
        return len(self._documents)

    def get(self, uri: str) -> Document | None:
        return self._documents.get(_key(uri))

    def open(self, uri: str, language_id: str, version: int, text: str) -> Document:
        """Remember the document; one that was open under the same URI is replaced."""
        document = self._documents[_key(uri)] = Document(uri, language_id, version, text)
        return document

    def change(self, uri: str, version: int, changes: object) -> Document:
        """Apply the `contentChanges` of a didChange as they were sent.

        Raises BadRequest, with nothing changed, for a document that is not open and for changes
        that are not what LSP says. The version is taken as it comes: the editor counts.
        """
        document = self.get(uri)
        if document is None:
            raise BadRequest(f"The document {uri} was changed but is not open.", hint=_OUT_OF_STEP)
        try:
            # Reading all of them first is what makes it all or none: applying cannot fail.
            sent = msgspec.convert({"contentChanges": changes}, _DidChange)
        except msgspec.ValidationError as error:
            reason = str(error).replace("$.", "").replace("`", "'")
            message = f"A change to the document {uri} was refused: {reason}."
            raise BadRequest(message, hint=_OUT_OF_STEP) from error
        for change in sent.contentChanges:
            document.apply(change, self.encoding)
        document.last = sent.contentChanges
        document.version = version
        self._tell(document)
        return document

    def close(self, uri: str) -> None:
        """Forget the document; one that is not open is no error."""
        if (document := self._documents.pop(_key(uri), None)) is not None:
            self._tell(document)

    def saved(self, uri: str) -> None:
        """The editor has written it to disk."""
        if (document := self.get(uri)) is not None:
            document.saved()

    def _tell(self, document: Document) -> None:
        for observer in tuple(self.observers):
            observer(document)


def path_of(uri: str) -> str:
    """Of a document that is a file; empty otherwise."""
    return (to_fs_path(uri) or "") if unquote(uri).startswith("file:") else ""


def _key(uri: str) -> str:
    # Editors and pathlib escape different characters in a path, e.g. "(" in app/(shop)/page.tsx.
    return unquote(uri, errors="surrogateescape") if uri.startswith("file:") else uri
