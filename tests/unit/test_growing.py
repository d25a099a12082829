"""Text that only grows, against plain concatenation."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.growing import _PIECES_PER_BLOCK, GrowingText

# More pieces than one block has, without making Hypothesis invent each of them.
pieces = st.lists(
    st.tuples(st.text(max_size=5), st.integers(1, _PIECES_PER_BLOCK + 2)), max_size=5
).map(lambda runs: [piece for piece, times in runs for _ in range(times)])


@settings(deadline=None)
@given(st.text(max_size=5), pieces)
def test_it_equals_plain_concatenation(start: str, more: list[str]) -> None:
    text = GrowingText(start)
    for piece in more:
        text.append(piece)
    assert str(text) == start + "".join(more)
    assert text.length == len(text) == len(str(text))


@settings(deadline=None)
@given(pieces, st.integers(-3, 4000))
def test_since_equals_a_slice_from_there(more: list[str], start: int) -> None:
    text = GrowingText()
    for piece in more:
        text.append(piece)
    assert text.since(start) == "".join(more)[max(0, start) :]


@settings(deadline=None)
@given(st.lists(st.text(max_size=4) | st.integers(0, 40) | st.none(), max_size=60))
def test_reading_in_between_changes_nothing(steps: list[str | int | None]) -> None:
    """A text is a piece to append, a number a place to read from, None a read of everything."""
    text, plain = GrowingText(), ""
    for step in steps:
        if isinstance(step, str):
            text.append(step)
            plain += step
        elif step is None:
            assert str(text) == plain
        else:
            assert text.since(step) == plain[step:]
    assert str(text) == plain


def test_a_reader_of_pieces_gets_all_of_the_text_exactly_once() -> None:
    text, seen, got = GrowingText(), 0, ""
    for number in range(3 * _PIECES_PER_BLOCK):
        text.append(f"{number} ")
        if number % 7 == 0:
            got += text.since(seen)
            seen = text.length
    assert got + text.since(seen) == str(text)


class Counted(list[str]):
    """A list that counts how many of its items were looked at from the end."""

    looked_at = 0

    def __reversed__(self) -> Iterator[str]:
        for item in super().__reversed__():
            self.looked_at += 1
            yield item


def test_reading_the_newest_part_does_not_look_at_the_older_ones() -> None:
    text = GrowingText()
    for _ in range(1000 * _PIECES_PER_BLOCK + 3):
        text.append("ab")
    text._blocks, text._pieces = Counted(text._blocks), Counted(text._pieces)
    assert text.since(text.length - 5) == "babab"
    assert (text._blocks.looked_at, text._pieces.looked_at) == (0, 3)
    assert text.since(text.length - 7) == "bababab"
    assert text._blocks.looked_at == 1


def test_appending_holds_few_loose_pieces_however_long_the_text_is() -> None:
    text = GrowingText()
    most = 0
    for _ in range(20 * _PIECES_PER_BLOCK):
        text.append("x")
        most = max(most, len(text._pieces))
    assert most < _PIECES_PER_BLOCK
    assert len(text._blocks) == 20
