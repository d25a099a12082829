"""Laws and examples of lines, positions and position encodings."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.text import (
    Encoding,
    Position,
    Range,
    locate,
    split_lines,
    to_character,
    to_index,
)

# What str.splitlines takes for line ends, and characters of every encoded length.
WITHIN_A_LINE = "ab \t\f\v\x1c\x1d\x1e\x85\u2028\u2029é\u0301中\ufeff😀𝄞\ud83d\ude00\ud800"
texts = st.text(WITHIN_A_LINE + "\r\n" * 4, max_size=30)
lines = st.builds(
    str.__add__, st.text(WITHIN_A_LINE, max_size=30), st.sampled_from(["", "\n", "\r", "\r\n"])
)
encodings = st.sampled_from(Encoding)


def units(char: str, encoding: Encoding) -> int:
    """How many units one character takes, straight from the definitions of the encodings."""
    code = ord(char)
    match encoding:
        case Encoding.UTF_8:
            return 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)
        case Encoding.UTF_16:
            return 1 + (code >= 0x10000)
        case Encoding.UTF_32:
            return 1


def content(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


@given(texts)
def test_joining_the_lines_gives_the_text_back(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(texts)
def test_every_line_but_the_last_has_one_line_end_and_it_is_at_its_end(text: str) -> None:
    *ended, last = split_lines(text)
    assert "\r" not in last
    assert "\n" not in last
    for line in ended:
        assert line.endswith(("\n", "\r"))
        assert "\r" not in content(line)
        assert "\n" not in content(line)


@given(texts)
def test_a_carriage_return_and_its_line_feed_stay_on_one_line(text: str) -> None:
    parts = split_lines(text)
    for before, after in pairwise(parts):
        assert not (before.endswith("\r") and after.startswith("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a\n", ""]),
        ("a\nb", ["a\n", "b"]),
        ("\r\n\r\n", ["\r\n", "\r\n", ""]),
        ("a\rb\r\nc\nd", ["a\r", "b\r\n", "c\n", "d"]),
        ("\n\r", ["\n", "\r", ""]),
        ("\r\r\n", ["\r", "\r\n", ""]),
        ("a\fb\vc\x1cd\x85e\u2028f\u2029g", ["a\fb\vc\x1cd\x85e\u2028f\u2029g"]),
    ],
)
def test_only_the_line_ends_of_lsp_end_a_line(text: str, expected: list[str]) -> None:
    assert split_lines(text) == expected


@given(lines, encodings)
def test_an_index_survives_the_way_to_a_character_and_back(line: str, encoding: Encoding) -> None:
    for index in range(len(content(line)) + 1):
        assert to_index(line, to_character(line, index, encoding), encoding) == index


@given(lines, encodings, st.integers(-3, 140))
def test_an_offset_goes_to_the_last_character_start_that_is_not_beyond_it(
    line: str, encoding: Encoding, character: int
) -> None:
    index, left = 0, character
    for char in content(line):
        left -= units(char, encoding)
        if left < 0:
            break
        index += 1
    assert to_index(line, character, encoding) == index


@given(lines, encodings, st.integers(-3, 40))
def test_a_character_counts_the_units_before_the_index(
    line: str, encoding: Encoding, index: int
) -> None:
    before = content(line)[: max(0, index)]
    assert to_character(line, index, encoding) == sum(units(char, encoding) for char in before)


@pytest.mark.parametrize(
    ("encoding", "character", "index"),
    [
        (Encoding.UTF_8, 2, 1),  # inside é
        (Encoding.UTF_8, 3, 2),
        (Encoding.UTF_8, 5, 2),  # inside the emoji
        (Encoding.UTF_8, 7, 3),
        (Encoding.UTF_16, 2, 2),
        (Encoding.UTF_16, 3, 2),  # inside the surrogate pair
        (Encoding.UTF_16, 4, 3),
        (Encoding.UTF_32, 3, 3),
        (Encoding.UTF_8, 10**30, 4),
        (Encoding.UTF_16, 10**30, 4),
        (Encoding.UTF_32, 10**30, 4),
        (Encoding.UTF_16, -1, 0),
    ],
)
def test_an_offset_in_a_line_of_mixed_characters(
    encoding: Encoding, character: int, index: int
) -> None:
    assert to_index("aé😀b\r\n", character, encoding) == index


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_nothing_points_behind_or_into_a_line_end(end: str) -> None:
    assert to_index(f"abc{end}", 99, Encoding.UTF_16) == 3
    assert to_index(f"äbc{end}", 4, Encoding.UTF_16) == 3
    assert to_character(f"abc{end}", 99, Encoding.UTF_16) == 3


@pytest.mark.parametrize(
    ("position", "place"),
    [
        (Position(0, 1), (0, 1)),
        (Position(1, 3), (1, 1)),
        (Position(2, 0), (2, 0)),
        (Position(-1, 5), (0, 0)),
        (Position(3, 0), (2, 4)),
        (Position(10**30, 10**30), (2, 4)),
    ],
)
def test_a_position_outside_the_text_is_at_the_nearest_place_inside(
    position: Position, place: tuple[int, int]
) -> None:
    assert locate(["ab\r\n", "c\n", "last"], position, Encoding.UTF_16) == place


def test_positions_compare_in_the_order_of_the_text_and_can_be_keys() -> None:
    places = [Position(2, 0), Position(0, 9), Position(0, 1)]
    assert sorted(places) == [Position(0, 1), Position(0, 9), Position(2, 0)]
    assert len({Position(1, 2), Position(1, 2)}) == 1


def test_a_range_has_the_shape_of_lsp_in_json() -> None:
    raw = b'{"start":{"line":1,"character":2},"end":{"line":3,"character":4}}'
    value = Range(Position(1, 2), Position(3, 4))
    assert msgspec.json.encode(value) == raw
    assert msgspec.json.decode(raw, type=Range) == value


def test_the_encodings_have_the_names_of_lsp() -> None:
    assert [str(encoding) for encoding in Encoding] == ["utf-8", "utf-16", "utf-32"]
