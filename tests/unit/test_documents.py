"""The store of open documents against a reference that rebuilds the whole text at every edit."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentls.core.errors import BadRequest
from agentls.core.text import Encoding, split_lines
from agentls.editor.documents import Document, Documents

URI = "file:///project/a.py"
CODECS = {Encoding.UTF_8: "utf-8", Encoding.UTF_16: "utf-16-le", Encoding.UTF_32: "utf-32-le"}
UNIT_BYTES = {Encoding.UTF_8: 1, Encoding.UTF_16: 2, Encoding.UTF_32: 4}
LINE_END = re.compile(r"\r\n|\n|\r")


def edit(start: tuple[int, int], end: tuple[int, int], text: str) -> dict[str, Any]:
    points = [{"line": line, "character": character} for line, character in (start, end)]
    return {"range": {"start": points[0], "end": points[1]}, "text": text}


def offset(text: str, position: dict[str, int], encoding: Encoding) -> int:
    """Where the position is in the whole text, found the slow way."""
    if position["line"] < 0:
        return 0
    begin = 0
    for _ in range(position["line"]):
        end = LINE_END.search(text, begin)
        if end is None:
            return len(text)
        begin = end.end()
    left = position["character"]
    index = begin
    while index < len(text) and text[index] not in "\r\n":
        size = len(text[index].encode(CODECS[encoding], "surrogatepass"))
        left -= size // UNIT_BYTES[encoding]
        if left < 0:
            break
        index += 1
    return index


def edited(text: str, change: dict[str, Any], encoding: Encoding) -> str:
    if "range" not in change:
        return str(change["text"])
    ends = [offset(text, change["range"][end], encoding) for end in ("start", "end")]
    return text[: min(ends)] + str(change["text"]) + text[max(ends) :]


# Line ends dominate, since joining and splitting lines is where it goes wrong.
texts = st.text(
    "\r\n\r\n\r\nab\f\v\x1c\x85\u2028é\u0301中😀𝄞\ud83d\ude00",
    max_size=12,
)
points = st.tuples(st.integers(-1, 8), st.integers(-1, 10))
changes = st.one_of(
    st.builds(edit, points, points, texts),
    points.flatmap(lambda point: st.builds(edit, st.just(point), st.just(point), texts)),
    st.builds(lambda text: {"text": text}, texts),
)


@given(texts, st.lists(st.lists(changes, max_size=3), max_size=6), st.sampled_from(Encoding))
@example("a\rb\n", [[edit((1, 0), (1, 1), "")]], Encoding.UTF_16)
@example("a\r\nb", [[edit((0, 1), (1, 0), "\r")], [edit((1, 0), (1, 1), "\n")]], Encoding.UTF_8)
def test_any_edits_give_the_same_text_as_editing_the_whole_text(
    text: str, notifications: list[list[dict[str, Any]]], encoding: Encoding
) -> None:
    documents = Documents(encoding)
    document = documents.open(URI, "python", 1, text)
    for version, sent in enumerate(notifications, start=2):
        documents.change(URI, version, sent)
        for change in sent:
            text = edited(text, change, encoding)
        assert document.text == text
        assert document.lines == split_lines(text)
        assert document.version == version


@pytest.fixture
def documents() -> Documents:
    return Documents()


def changed(documents: Documents, text: str, *sent: dict[str, Any]) -> Document:
    documents.open(URI, "python", 1, text)
    return documents.change(URI, 2, list(sent))


@pytest.mark.parametrize(
    ("before", "change", "lines"),
    [
        pytest.param("ab\ncd", edit((0, 1), (0, 1), "x"), ["axb\n", "cd"], id="type"),
        pytest.param("ab\ncd", edit((0, 2), (1, 0), ""), ["abcd"], id="join two lines"),
        pytest.param("ab", edit((0, 1), (0, 1), "\n"), ["a\n", "b"], id="split a line"),
        pytest.param("a\nb\nc", edit((0, 0), (2, 1), ""), [""], id="delete everything"),
        pytest.param("a\n", edit((1, 0), (1, 0), "b\n"), ["a\n", "b\n", ""], id="append"),
        pytest.param("a\rx\n", edit((1, 0), (1, 1), ""), ["a\r\n", ""], id="pair made by deleting"),
        pytest.param("a\rb", edit((1, 0), (1, 0), "\n"), ["a\r\n", "b"], id="pair made by typing"),
        pytest.param("a\nb", edit((0, 1), (0, 1), "\r"), ["a\r\n", "b"], id="pair made in front"),
        pytest.param("a\r\nb", edit((0, 9), (0, 9), "x"), ["ax\r\n", "b"], id="never in a pair"),
        pytest.param("a\r\nb", edit((0, 1), (1, 0), "\r"), ["a\r", "b"], id="pair broken"),
        pytest.param("a\nb", edit((9, 0), (9, 9), "!"), ["a\n", "b!"], id="line beyond the end"),
        pytest.param("abc", edit((0, 2), (0, 1), "x"), ["axc"], id="ends in the wrong order"),
        pytest.param("a\fb\nc", edit((1, 0), (1, 1), "d"), ["a\fb\n", "d"], id="form feed"),
        pytest.param("x😀y", edit((0, 3), (0, 3), "z"), ["x😀zy"], id="after an emoji"),
        pytest.param("a\nb", {"text": "new\n"}, ["new\n", ""], id="whole text"),
        pytest.param("a\nb", {"range": None, "text": "new"}, ["new"], id="range null"),
        pytest.param(
            "ab", {**edit((0, 0), (0, 1), "x"), "rangeLength": 1}, ["xb"], id="range length"
        ),
    ],
)
def test_a_change_gives_these_lines(
    documents: Documents, before: str, change: dict[str, Any], lines: list[str]
) -> None:
    assert changed(documents, before, change).lines == lines


def test_each_change_sees_the_text_the_one_before_it_left(documents: Documents) -> None:
    document = changed(
        documents, "a", edit((0, 1), (0, 1), "\nb"), edit((1, 1), (1, 1), "c"), {"text": "d"}
    )
    assert document.text == "d"


def test_the_text_is_made_once_until_the_next_change(documents: Documents) -> None:
    document = documents.open(URI, "python", 1, "one\ntwo\n")
    before = document.text
    assert document.text is before
    documents.change(URI, 2, [edit((0, 0), (0, 3), "1")])
    assert document.text == "1\ntwo\n"
    assert before == "one\ntwo\n"


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (None, "Expected 'array', got 'null' - at 'contentChanges'"),
        ({"text": "x"}, "Expected 'array', got 'object' - at 'contentChanges'"),
        (["x"], "Expected 'object', got 'str' - at 'contentChanges[1]'"),
        ([{}], "missing required field 'text' - at 'contentChanges[1]'"),
        ([{"text": None}], "Expected 'str', got 'null' - at 'contentChanges[1].text'"),
        ([{"text": "", "range": {}}], "field 'start' - at 'contentChanges[1].range'"),
        ([edit((0, 0), ("1", 0), "")], "got 'str' - at 'contentChanges[1].range.end.line'"),  # type: ignore[arg-type]
        (
            [edit((0, True), (0, 0), "")],
            "got 'bool' - at 'contentChanges[1].range.start",
        ),
    ],
)
def test_a_malformed_change_is_refused_and_nothing_is_changed(
    documents: Documents, sent: Any, reason: str
) -> None:
    document = documents.open(URI, "python", 7, "one\ntwo")
    good = edit((0, 0), (0, 0), "never seen")
    with pytest.raises(BadRequest) as refused:
        documents.change(URI, 8, [good, *sent] if isinstance(sent, list) else sent)
    assert reason in refused.value.message
    assert URI in refused.value.message
    assert (document.text, document.version) == ("one\ntwo", 7)


def test_a_change_of_a_document_that_is_not_open_is_refused(documents: Documents) -> None:
    with pytest.raises(BadRequest, match="not open"):
        documents.change(URI, 2, [{"text": "x"}])
    assert documents.get(URI) is None


def test_the_editor_is_believed_about_versions(documents: Documents) -> None:
    documents.open(URI, "python", 9, "a")
    assert documents.change(URI, 3, [{"text": "b"}]).version == 3
    assert documents.change(URI, 4, []).version == 4


def test_documents_open_and_close(documents: Documents) -> None:
    first = documents.open(URI, "python", 1, "a")
    second = documents.open("untitled:Untitled-1", "plaintext", 1, "b")
    assert list(documents) == [first, second]
    assert documents.get(URI) is first
    for document in documents:
        documents.close(document.uri)
    assert len(documents) == 0
    assert documents.get(URI) is None
    documents.close(URI)


def test_opening_again_replaces_the_document(documents: Documents) -> None:
    documents.open(URI, "python", 5, "old")
    again = documents.open(URI, "python", 1, "new")
    assert documents.get(URI) is again
    assert list(documents) == [again]


def test_a_file_is_found_however_its_uri_is_escaped(documents: Documents) -> None:
    from_neovim = "file:///app/(shop)/it's%20%C3%A9.tsx"
    from_pathlib = PurePosixPath("/app/(shop)/it's é.tsx").as_uri()
    assert from_neovim != from_pathlib
    document = documents.open(from_neovim, "typescriptreact", 1, "")
    assert documents.get(from_pathlib) is document
    assert document.uri == from_neovim


def test_uris_are_only_taken_for_the_same_where_they_name_the_same_file(
    documents: Documents,
) -> None:
    uris = ["file:///%FF", "file:///%FE", "git:/a?x%26y", "git:/a?x&y", "file:///%2541"]
    for uri in uris:
        documents.open(uri, "python", 1, uri)
    assert [document.text for document in documents] == uris
    assert documents.get("file:///A") is None


def test_a_line_that_does_not_exist_is_empty(documents: Documents) -> None:
    document = documents.open(URI, "python", 1, "one\r\ntwo")
    assert [document.line(number) for number in range(-1, 3)] == ["", "one\r\n", "two", ""]
