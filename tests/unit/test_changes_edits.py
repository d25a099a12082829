"""Laws and examples of minimal edits, in every position encoding."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.changes.edits import Edit, applied, edits
from agentls.core.text import Encoding, Position, Range, locate, split_lines
from agentls.editor.documents import ContentChange, Document
from fakes.texts import edited, pairs, texts

encodings = st.sampled_from(Encoding)


def edit(line: int, character: int, end_line: int, end_character: int, text: str) -> Edit:
    return Edit(Range(Position(line, character), Position(end_line, end_character)), text)


def as_an_editor_does(text: str, changes: list[Edit], encoding: Encoding) -> str:
    """From the last to the first, so that none of them moves another."""
    document = Document("file:///x", "", 0, text)
    for change in reversed(changes):
        document.apply(ContentChange(change.text, change.range), encoding)
    return document.text


@given(pairs, encodings)
def test_applying_the_edits_gives_the_other_text(pair: tuple[str, str], encoding: Encoding) -> None:
    old, new = pair
    found = edits(old, new, encoding)
    assert applied(old, found, encoding) == new
    assert as_an_editor_does(old, found, encoding) == new


@given(pairs, encodings)
def test_edits_are_in_order_and_do_not_touch(pair: tuple[str, str], encoding: Encoding) -> None:
    found = edits(*pair, encoding)
    ends = [place for it in found for place in (it.range.start, it.range.end)]
    assert ends == sorted(ends)
    for before, after in pairwise(found):
        assert before.range.end < after.range.start


@given(pairs, encodings)
def test_every_position_exists_exactly_as_it_is_said(
    pair: tuple[str, str], encoding: Encoding
) -> None:
    old, new = pair
    lines = split_lines(old)
    for it in edits(old, new, encoding):
        for place in (it.range.start, it.range.end):
            line, index = locate(lines, place, encoding)
            assert line == place.line
            assert units(lines[line][:index], encoding) == place.character


def units(text: str, encoding: Encoding) -> int:
    width = {Encoding.UTF_8: 1, Encoding.UTF_16: 2, Encoding.UTF_32: 4}[encoding]
    codec = encoding if encoding is Encoding.UTF_8 else f"{encoding}-le"
    return len(text.encode(codec)) // width


@given(texts.flatmap(lambda text: st.tuples(st.just(text), edited(text))))
def test_what_is_the_same_at_both_ends_is_left_alone(pair: tuple[str, str]) -> None:
    old, new = pair
    assert edits(old, old, Encoding.UTF_16) == []
    for it in edits(old, new, Encoding.UTF_32):
        assert it.range.start != it.range.end or it.text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("hello\n", "help\n", [edit(0, 3, 0, 5, "p")]),
        ("a\nb", "a\nb\n", [edit(1, 1, 1, 1, "\n")]),
        ("a\n", "a\nb\n", [edit(1, 0, 1, 0, "b\n")]),
        ("a\nb\n", "b\n", [edit(0, 0, 1, 0, "")]),
        ("", "a", [edit(0, 0, 0, 0, "a")]),
        ("one x\ntwo x\n", "one y\ntwo y\n", [edit(0, 4, 0, 5, "y"), edit(1, 4, 1, 5, "y")]),
        ("a\r\n", "a\n", [edit(0, 1, 1, 0, "\n")]),
        ("a\n", "a\r\n", [edit(0, 1, 1, 0, "\r\n")]),
        ("a\rb", "a\r\nb", [edit(0, 1, 1, 0, "\r\n")]),
        ("a\fb\n", "a\fc\n", [edit(0, 2, 0, 3, "c")]),
        ("aaa\n", "aa\n", [edit(0, 2, 0, 3, "")]),
    ],
)
def test_edits_are_as_small_as_they_can_be(old: str, new: str, expected: list[Edit]) -> None:
    assert edits(old, new, Encoding.UTF_16) == expected


@pytest.mark.parametrize(
    ("encoding", "start", "end"),
    [(Encoding.UTF_8, 6, 10), (Encoding.UTF_16, 3, 5), (Encoding.UTF_32, 2, 3)],
)
def test_characters_beyond_ascii_are_counted_in_the_encoding(
    encoding: Encoding, start: int, end: int
) -> None:
    # The first two code units of 😀 and 😁 are the same in UTF-16.
    assert edits("é😁😀.", "é😁😁.", encoding) == [edit(0, start, 0, end, "😁")]


@pytest.mark.parametrize(
    ("old", "new", "replaced", "text"),
    [
        ("xe\u0301y", "xe\u0300y", "e\u0301", "e\u0300"),
        ("x👩\u200d👧y", "x👩\u200d👦y", "👩\u200d👧", "👩\u200d👦"),
        ("x👍🏽y", "x👍🏿y", "👍🏽", "👍🏿"),
        ("x🇩🇪y", "x🇩🇰y", "🇩🇪", "🇩🇰"),
        ("x\u1112\u1161y", "x\u1112\u1162y", "\u1112\u1161", "\u1112\u1162"),
    ],
)
def test_what_is_shown_as_one_character_is_replaced_as_one(
    old: str, new: str, replaced: str, text: str
) -> None:
    assert edits(old, new, Encoding.UTF_32) == [edit(0, 1, 0, 1 + len(replaced), text)]


def test_a_large_difference_is_one_edit() -> None:
    old = "".join(f"line {n}\n" for n in range(2000))
    new = "".join(f"  line {n}\n" for n in range(2000))
    (found,) = edits(old, new, Encoding.UTF_16)
    assert found.range == Range(Position(0, 0), Position(1999, 0))
    assert applied(old, [found], Encoding.UTF_16) == new
