"""Laws and examples of the differences between two texts."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.changes import diff as module
from agentls.core.changes.diff import Difference, differences, joined, lines_of
from agentls.core.changes.sequences import increasing, shortest_script
from agentls.core.text import split_lines
from fakes.texts import pairs, texts

MANY = 50_000
LONGEST = 10.0
"""Seconds; what is not quadratic is done in a hundredth of it."""


def patched(old: Sequence[str], new: Sequence[str], found: Sequence[Difference]) -> list[str]:
    """The old lines, with those of the new where they differ."""
    result: list[str] = []
    at = 0
    for it in found:
        result += (*old[at : it.start], *new[it.new_start : it.new_end])
        at = it.end
    return [*result, *old[at:]]


def inverse(found: Sequence[Difference]) -> list[Difference]:
    return [Difference(it.new_start, it.new_end, it.start, it.end) for it in found]


@given(texts)
def test_lines_are_those_of_lsp_without_an_empty_last_one(text: str) -> None:
    assert lines_of(text) == [line for line in split_lines(text) if line]
    assert "".join(lines_of(text)) == text


@given(pairs)
def test_the_differences_lead_from_one_text_to_the_other_and_back(pair: tuple[str, str]) -> None:
    old, new = map(lines_of, pair)
    found = differences(old, new)
    assert patched(old, new, found) == new
    assert patched(new, old, inverse(found)) == old


@given(pairs)
def test_differences_are_in_order_with_equal_lines_between_them(pair: tuple[str, str]) -> None:
    old, new = map(lines_of, pair)
    found = differences(old, new)
    for it in found:
        assert old[it.start : it.end] != new[it.new_start : it.new_end]
    for before, after in pairwise(found):
        assert before.end < after.start
        assert after.start - before.end == after.new_start - before.new_end


repetitive = st.lists(st.sampled_from(["\n", "a\n", " a\n"]), max_size=9)


@given(repetitive, repetitive)
@settings(max_examples=500)
def test_differences_among_equal_lines_do_not_slide_into_each_other(
    old: list[str], new: list[str]
) -> None:
    found = differences(old, new)
    assert patched(old, new, found) == new
    assert all(before.end < after.start for before, after in pairwise(found))


@given(pairs)
def test_joined_differences_still_lead_from_one_text_to_the_other(pair: tuple[str, str]) -> None:
    old, new = map(lines_of, pair)
    assert patched(old, new, joined(differences(old, new), old)) == new


@given(st.lists(st.sampled_from("abc"), max_size=9), st.lists(st.sampled_from("abc"), max_size=9))
def test_a_script_keeps_as_much_as_can_be_kept(old: list[str], new: list[str]) -> None:
    script = shortest_script(old, new, most=len(old) + len(new), effort=10**6)
    assert script.runs is not None
    for x, y, length in script.runs:
        assert old[x : x + length] == new[y : y + length]
    for (x, y, length), (next_x, next_y, _) in pairwise(script.runs):
        assert x + length <= next_x
        assert y + length <= next_y
    assert sum(length for _, _, length in script.runs) == longest_common(old, new)


def longest_common(old: list[str], new: list[str]) -> int:
    """The length of the longest common subsequence, straight from its definition."""
    row = [0] * (len(new) + 1)
    for item in old:
        above, corner = row[:], 0
        for n, other in enumerate(new):
            corner = above[n]
            row[n + 1] = corner + 1 if item == other else max(above[n + 1], row[n])
    return row[-1]


def test_a_script_gives_up_when_it_costs_too_much() -> None:
    old, new = list("abcdefgh"), list("stuvwxyz")
    assert shortest_script(old, new, most=15, effort=10**6).runs is None
    assert shortest_script(old, new, most=16, effort=3).runs is None
    assert shortest_script(old, new, most=16, effort=10**6).runs == []


@given(st.permutations(range(7)))
def test_a_chain_is_as_long_as_any(order: list[int]) -> None:
    found = increasing(list(enumerate(order)))
    assert found == sorted(found)
    assert [second for _, second in found] == sorted(second for _, second in found)
    best = [1] * len(order)
    for n, second in enumerate(order):
        best[n] += max((best[m] for m in range(n) if order[m] < second), default=0)
    assert len(found) == max(best)


FUNCTION = "def {0}():\n    if x:\n        return 1\n\n"


def test_an_added_function_is_one_difference_that_starts_where_it_starts() -> None:
    old = FUNCTION.format("a") + FUNCTION.format("c")
    new = FUNCTION.format("a") + FUNCTION.format("b") + FUNCTION.format("c")
    assert differences(lines_of(old), lines_of(new)) == [Difference(4, 4, 4, 8)]


def test_an_added_copy_of_a_paragraph_starts_after_a_blank_line() -> None:
    old = "x\n\nif a:\n    b\n\ny\n"
    new = "x\n\nif a:\n    b\n\nif a:\n    b\n\ny\n"
    (found,) = differences(lines_of(old), lines_of(new))
    assert lines_of(new)[found.new_start : found.new_end] == ["if a:\n", "    b\n", "\n"]


def test_lines_that_only_one_text_has_do_not_hide_what_both_have() -> None:
    old = lines_of("p\nsame\nq\nr\nother\n")
    new = lines_of("s\nsame\nt\nother\n")
    assert differences(old, new) == [Difference(0, 1, 0, 1), Difference(2, 4, 2, 3)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("", "a\n", [Difference(0, 0, 0, 1)]),
        ("a\n", "", [Difference(0, 1, 0, 0)]),
        ("a\n", "a", [Difference(0, 1, 0, 1)]),
        ("a\nb", "a\nb\nc", [Difference(1, 2, 1, 3)]),
        ("a\r\nb\r\n", "a\nb\r\n", [Difference(0, 1, 0, 1)]),
        ("a\fb\n", "a\fc\n", [Difference(0, 1, 0, 1)]),
        ("a\rb\rc", "a\rc", [Difference(1, 2, 1, 1)]),
    ],
)
def test_small_differences(old: str, new: str, expected: list[Difference]) -> None:
    assert differences(lines_of(old), lines_of(new)) == expected


def test_what_only_brackets_and_blanks_keep_apart_can_be_joined() -> None:
    old = lines_of("a\n\n}\nb\nkept\nc\n")
    new = lines_of("x\n\n}\ny\nkept\nz\n")
    found = differences(old, new)
    assert len(found) == 3
    assert joined(found, old) == [Difference(0, 4, 0, 4), Difference(5, 6, 5, 6)]


def program(seed: int) -> list[str]:
    """Many functions, most lines of which come up again and again."""
    head = [f"def function_{seed}_{n}():\n" for n in range(MANY // 5)]
    return [
        line for first in head for line in (first, "    if x:\n", "        pass\n", "\n", "}\n")
    ]


def changed_here_and_there(lines: list[str], count: int) -> list[str]:
    chosen = set(random.Random(5).sample(range(len(lines)), count))
    return [f"changed {n}\n" if n in chosen else line for n, line in enumerate(lines)]


@pytest.mark.parametrize("count", [3, 200])
@pytest.mark.parametrize("lines", [program(1), ["same\n"] * MANY], ids=["program", "one line"])
def test_few_changes_of_a_large_text_are_found_exactly(lines: list[str], count: int) -> None:
    new = changed_here_and_there(lines, count)
    found = differences(lines, new)
    assert patched(lines, new, found) == new
    assert sum(it.end - it.start for it in found) == count


NOISE = random.Random(7)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (program(1), program(2)),
        (program(1), program(1)[::-1]),
        (program(1), NOISE.sample(program(1), MANY)),
        (program(1), ["}\n"] * MANY),
        (NOISE.choices(["a\n", "b\n"], k=MANY), NOISE.choices(["a\n", "b\n"], k=MANY)),
        (["a\n"] * MANY, ["b\n", "a\n"] * (MANY // 2)),
    ],
    ids=["other names", "reversed", "shuffled", "brackets", "noise", "every other"],
)
def test_large_texts_with_little_in_common_are_compared_soon(
    old: list[str], new: list[str]
) -> None:
    began = time.perf_counter()
    found = differences(old, new)
    assert time.perf_counter() - began < LONGEST
    assert patched(old, new, found) == new


@given(pairs)
def test_large_texts_are_compared_like_small_ones(pair: tuple[str, str]) -> None:
    old, new = map(lines_of, pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_LARGE", 1)
        patch.setattr(module, "_NEAR", 2)
        found = differences(old, new)
    assert patched(old, new, found) == new
    assert patched(new, old, inverse(found)) == old


@given(pairs, st.integers(0, 12))
def test_out_of_effort_the_differences_are_coarse_and_still_right(
    pair: tuple[str, str], effort: int
) -> None:
    old, new = map(lines_of, pair)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_EFFORT", effort)
        found = differences(old, new)
    assert patched(old, new, found) == new
