"""The newest output of a command, against decoding all of it at once."""

from __future__ import annotations

import tracemalloc
from collections import deque
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import tail as module
from agentls.core.tail import Tail

# Whole and broken characters of every length, so that cuts fall into all of them.
_ATOMS = ["a", "\n", "\0", "\x1b[31m", "é", "€", "💩", "\ufffd"]
atoms = st.sampled_from([a.encode() for a in _ATOMS])
broken = st.sampled_from([b"\x80", b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f", b"\xed\xa0\x80"])
streams = st.lists(atoms | broken, max_size=40).map(b"".join)
valid = st.lists(atoms, max_size=40).map(b"".join)
limits = st.integers(0, 60)


BLOCK = module._BLOCK


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that short outputs have many of them."""
    monkeypatch.setattr(module, "_BLOCK", 4)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    return [stream[a:b] for a, b in pairwise(places)]


def filled(limit: int, *parts: bytes) -> Tail:
    tail = Tail(limit)
    for part in parts:
        tail.append(part)
    return tail


def lossy(stream: bytes) -> str:
    return stream.decode("utf-8", "replace")


cuts = st.lists(st.integers(0, 200), max_size=8)
laws = settings(deadline=None)


@laws
@given(streams, cuts)
def test_below_the_limit_nothing_is_lost_however_it_comes(stream: bytes, at: list[int]) -> None:
    tail = filled(1000, *pieces(stream, at))
    tail.finish()
    assert tail.text() == lossy(stream)
    assert not tail.truncated
    assert len(tail) == tail.end == len(stream)


@laws
@given(streams, cuts, limits)
def test_what_is_kept_is_the_end_of_the_text_and_fits(
    stream: bytes, at: list[int], limit: int
) -> None:
    tail = filled(limit, *pieces(stream, at))
    tail.finish()
    text = tail.text()
    assert lossy(stream).endswith(text)
    assert len(text.encode()) <= limit
    assert len(tail) <= limit
    assert tail.truncated == (text != lossy(stream))


@laws
@given(valid, cuts, limits)
def test_as_much_as_fits_is_kept_of_valid_text(stream: bytes, at: list[int], limit: int) -> None:
    tail = filled(limit, *pieces(stream, at))
    everything = stream.decode()
    start = next(n for n in range(len(everything) + 1) if len(everything[n:].encode()) <= limit)
    assert tail.text() == everything[start:]


@laws
@given(streams, cuts, limits)
def test_it_does_not_matter_in_which_pieces_it_comes(
    stream: bytes, at: list[int], limit: int
) -> None:
    one, many = filled(limit, stream), filled(limit, *pieces(stream, at))
    assert one.since(0) == many.since(0)
    assert one.text() == many.text()
    assert one.truncated == many.truncated


@laws
@given(streams, cuts, st.lists(st.booleans(), min_size=10, max_size=10))
def test_a_reader_of_parts_gets_all_of_the_text_exactly_once(
    stream: bytes, at: list[int], reads: list[bool]
) -> None:
    tail, got, place = Tail(1000), "", 0
    for piece, read in zip(pieces(stream, at), reads, strict=False):
        tail.append(piece)
        if read:
            part = tail.since(place)
            assert (part.start, part.lost) == (place, False)
            got, place = got + part.text, part.end
    tail.finish()
    part = tail.since(place)
    assert got + part.text == lossy(stream)
    assert part.end == len(stream)


@laws
@given(streams, st.integers(0, 250), st.integers(1, 60))
def test_a_reader_is_told_when_the_part_it_wants_is_gone(
    stream: bytes, place: int, limit: int
) -> None:
    tail = filled(limit, stream)
    part = tail.since(place)
    assert part.lost == (place < tail.since(0).start)
    assert place <= part.start or place > tail.end
    assert lossy(stream[part.start :]).startswith(part.text)


@laws
@given(valid, valid, st.integers(1, 60), cuts)
def test_output_told_again_from_its_beginning_is_taken_once(
    first: bytes, more: bytes, limit: int, at: list[int]
) -> None:
    tail, plain = filled(limit, first), filled(limit, first, more)
    place = tail.end
    tail.become(first)
    tail.become(first + more)
    assert tail.text() == plain.text()
    assert tail.end == plain.end
    part = tail.since(place)
    assert part.lost == (place < plain.since(0).start)


def test_other_output_than_before_replaces_it_and_readers_begin_anew() -> None:
    tail = filled(8, b"0123456789")
    seen = tail.end
    tail.become(b"new")
    assert (tail.text(), tail.truncated) == ("new", False)
    part = tail.since(seen)
    assert (part.text, part.lost) == ("new", True)
    tail.become(b"newer")
    assert tail.since(part.end).text == "er"
    assert not tail.since(part.end).lost
    tail.become(b"")
    assert (tail.text(), len(tail)) == ("", 0)


def test_half_a_character_is_awaited_and_wrong_only_at_the_end() -> None:
    tail = filled(100, b"caf\xc3")
    assert tail.text() == "caf"
    assert tail.since(0).end == 3
    tail.append(b"\xa9!")
    assert tail.since(3).text == "é!"
    tail.append(b"\xe2\x82")
    assert tail.text() == "café!"
    tail.finish()
    assert tail.text() == "café!\ufffd"
    tail.append(b"more")
    assert tail.text() == "café!\ufffdmore"


def test_bytes_that_are_no_text_do_not_make_it_longer_than_the_limit() -> None:
    tail = filled(10, b"\xff" * 9)
    assert not tail.truncated
    assert tail.text() == "\ufffd" * 3
    assert tail.truncated


def test_less_can_be_kept_later_on() -> None:
    tail = filled(100, b"x" * 50, "€".encode())
    tail.shrink(5)
    assert (tail.text(), tail.truncated) == ("xx€", True)
    tail.shrink(100)
    tail.append(b"12345678")
    assert tail.text() == "45678"
    tail.shrink(0)
    assert (tail.text(), len(tail)) == ("", 0)


@pytest.mark.parametrize("size", [1, 7, 4095, 65_536, 3 << 20])
def test_memory_is_the_limit_and_a_little_however_it_comes(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BLOCK", BLOCK)
    limit, slack = 1 << 20, 4 * BLOCK
    piece, tail = b"x" * size, Tail(limit)
    tracemalloc.start()
    try:
        tail.append(b"x" * limit)
        tracemalloc.reset_peak()
        for _ in range(3 * BLOCK // size + 2):
            tail.append(piece)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held <= limit + slack
    # Of a piece that is longer than what may be kept, the end is taken first.
    assert peak <= limit + slack + min(size, limit)


class Counted(deque[bytes]):
    """Blocks that count how often one of them was touched."""

    touched = 0

    def popleft(self) -> bytes:
        self.touched += 1
        return super().popleft()

    def append(self, block: bytes) -> None:
        self.touched += 1
        super().append(block)

    def __reversed__(self) -> Iterator[bytes]:
        for block in super().__reversed__():
            self.touched += 1
            yield block


def test_an_append_and_the_reading_of_it_cost_the_same_however_much_there_is() -> None:
    tail = filled(100_000, b"x" * 100_000)
    tail._blocks = Counted(tail._blocks)
    for _ in range(1000):
        place = tail.end
        tail.append(b"12")
        assert tail.since(place).text == "12"
    assert len(tail) == 100_000
    # For every two of them, a block comes, another goes, and the newest is read from.
    assert tail._blocks.touched <= 3 * 500 + 4
