"""Bytes to lines: every split of a stream gives the same lines, and no line is ever too big."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentls.agent.framing import DEFAULT_LINE_LIMIT, Lines, TooLong

Seen = list[bytes | tuple[int, bytes, bytes]]


def lines_of(chunks: list[bytes], limit: int = DEFAULT_LINE_LIMIT, *, end: bool = True) -> Seen:
    """Whole lines as bytes, skipped ones as their size, head and tail."""
    seen: Seen = []
    lines = Lines(seen.append, lambda t: seen.append((t.size, t.head, t.tail)), limit)
    for chunk in chunks:
        lines.feed(chunk)
    if end:
        lines.end()
    return seen


def split_at(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in pairwise(places)]


streams = st.lists(
    st.sampled_from([b"\n", b"{}", b"x" * 3, b"\r\n", b'{"a":1}', b"y" * 9, b"\xff\xfe", b"z" * 5])
).map(b"".join)


@settings(deadline=None)
@given(streams, st.lists(st.integers(0, 1000), max_size=20), st.integers(1, 12))
@example(b"xxxx\nab\n", [1, 2, 3], 3)
def test_any_split_of_a_stream_gives_the_same_lines(
    stream: bytes, cuts: list[int], limit: int
) -> None:
    assert lines_of(split_at(stream, cuts), limit) == lines_of([stream], limit)


@settings(deadline=None)
@given(streams, st.integers(1, 12))
def test_lines_are_those_of_the_stream_without_the_empty_ones(stream: bytes, limit: int) -> None:
    expected = [
        line if len(line) <= limit else (len(line), line, line)
        for line in stream.split(b"\n")
        if line
    ]
    assert lines_of([stream], limit) == expected


def test_a_line_of_exactly_the_limit_is_kept() -> None:
    assert lines_of([b"abcd\n"], 4) == [b"abcd"]
    assert lines_of([b"ab", b"cd", b"\n"], 4) == [b"abcd"]


def test_a_line_of_one_byte_more_is_skipped_in_one_piece_and_in_many() -> None:
    expected: Seen = [(5, b"abcde", b"abcde"), b"next"]
    assert lines_of([b"abcde\nnext\n"], 4) == expected
    assert lines_of([b"abcde", b"\nnext\n"], 4) == expected
    assert lines_of([bytes([b]) for b in b"abcde\nnext\n"], 4) == expected


def test_a_skipped_line_keeps_its_first_and_last_bytes_however_it_came() -> None:
    line = b"HEAD" + b"-" * 20_000 + b"TAIL"
    for size in (1, 3, 100, 4096, len(line)):
        chunks = [line[at : at + size] for at in range(0, len(line), size)]
        [(length, head, tail)] = lines_of([*chunks, b"\n"], 1000)
        assert length == len(line)
        assert head == line[:4096], f"in chunks of {size}"
        assert tail == line[-4096:], f"in chunks of {size}"


def test_two_long_lines_in_a_row_are_two() -> None:
    assert lines_of([b"aaaa\nbbbbb\ncc\n"], 3) == [
        (4, b"aaaa", b"aaaa"),
        (5, b"bbbbb", b"bbbbb"),
        b"cc",
    ]


def test_an_unfinished_line_is_a_line_once_the_stream_has_ended() -> None:
    assert lines_of([b"one\ntw"], end=False) == [b"one"]
    assert lines_of([b"one\ntw"]) == [b"one", b"tw"]
    assert lines_of([b"one\n", b"toolong"], 5) == [b"one", (7, b"toolong", b"toolong")]
    assert lines_of([b"one\n"]) == [b"one"]


class CountedBytes(bytes):
    """A chunk that counts the bytes that are looked at or copied from it."""

    touched = 0

    def split(self, *args: object, **kwargs: object) -> list[bytes]:
        CountedBytes.touched += len(self)
        return [CountedBytes(part) for part in super().split(*args, **kwargs)]  # type: ignore[arg-type]


def test_each_byte_of_a_long_line_is_looked_at_once_and_joined_once() -> None:
    """With a search through what is held already, the first number would grow with the square."""
    chunk, count = CountedBytes(b"x" * 100), 1000
    joined: list[int] = []
    lines = Lines(lambda line: joined.append(len(line)), lambda _: None, 10**9)
    CountedBytes.touched = 0
    for _ in range(count):
        lines.feed(chunk)
        assert not joined, "a line was joined before its end"
    assert len(lines._held) == count
    assert CountedBytes.touched == count * len(chunk)
    lines.feed(b"\n")
    assert joined == [count * len(chunk)]
    assert not lines._held


def test_what_is_held_of_a_line_past_the_limit_is_small() -> None:
    lines = Lines(lambda _: None, lambda _: None, limit=1000)
    for _ in range(100):
        lines.feed(b"x" * 100_000)
        assert sum(map(len, lines._held)) <= 1000
    assert isinstance(lines._skipping, TooLong)
    assert len(lines._skipping.head) + len(lines._skipping.tail) <= 2 * 4096
    assert lines._skipping.size == 10_000_000
