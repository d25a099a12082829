"""What was shown and what is written; what the agent wrote and what somebody else did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.file_work import merged
from agentls.core.grants import as_shown
from agentls.core.model import Diff
from agentls.core.text import excerpt, line_end, same_text, with_line_end

TEXTS = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("shown", "old", "new", "agrees"),
    [
        ([("a\nb\n", "a\nc\n")], "a\nb\n", "a\nc\n", True),
        ([("a\nb\n", "a\nc\n")], "a\nb\n", "a\nd\n", False),
        ([("a\nb\n", "a\nc\n")], "a\r\nb\r\n", "a\r\nc\r\n", True),
        ([("b", "c")], "a\nb\n", "a\nc\n", True),
        ([("b", "c")], "a\nb\n", "c", False),
        ([("b", "c")], "b b", "c b", True),
        ([("b", "c")], "b b", "b c", True),
        ([("b", "c")], "b b", "c c", True),
        ([("b", "c")], "b b", "c d", False),
        ([("b", "c"), ("x", "y")], "b x", "c y", True),
        ([("b", "c"), ("x", "y")], "b x", "c x", False),
        ([("gone", "c"), ("x", "y")], "b x", "b y", False),
        ([(None, "new")], None, "new", True),
        ([("", "new")], None, "new", True),
        ([(None, "new")], None, "other", False),
        ([("a\nb\n", "a\nc\n")], "a\nb, typed\n", "a\nc\n", True),
    ],
)
def test_a_write_is_what_was_shown_or_it_is_not(
    shown: list[tuple[str | None, str]], old: str | None, new: str, agrees: bool
) -> None:
    assert as_shown([Diff("/f", *pair) for pair in shown], old, new) is agrees


@given(TEXTS, TEXTS)
def test_a_whole_file_that_was_shown_is_what_was_shown(old: str, new: str) -> None:
    assert as_shown([Diff("/f", old, new)], old, new)


@given(TEXTS, TEXTS)
def test_what_nobody_else_changed_is_written_as_it_is(seen: str, text: str) -> None:
    assert merged(seen, seen, text) == text
    assert merged(seen, None, text) == text
    assert merged(None, None, text) == text


@given(TEXTS, TEXTS)
def test_what_is_there_already_may_be_written(seen: str, text: str) -> None:
    assert merged(seen, text, text) == text


@given(TEXTS, TEXTS, TEXTS)
def test_a_write_never_leaves_out_lines_that_somebody_else_added(
    seen: str, now: str, text: str
) -> None:
    result = merged(seen, now + "\ntyped", text)
    assert result is None or "typed" in result


@pytest.mark.parametrize(
    ("seen", "now", "text", "result"),
    [
        ("1\n2\n3\n", "0\n1\n2\n3\n", "1\n2\n4\n", "0\n1\n2\n4\n"),
        ("1\n", "2\n", "3\n", None),
        ("1\n2\n3\n", "0\n1\n2\n3\n", "1\n2\n3\n", None),
        (None, "somebody's\n", "agent's\n", None),
        (None, "", "agent's\n", "agent's\n"),
        ("1\r\n2\r\n", "1\r\n2\r\n", "1\n3\n", "1\r\n3\r\n"),
    ],
)
def test_both_are_kept_or_it_is_a_conflict(
    seen: str | None, now: str, text: str, result: str | None
) -> None:
    assert merged(seen, now, text) == result


def test_an_excerpt_counts_lines_from_one() -> None:
    assert excerpt("a\r\nb\nc", None, None) == "a\r\nb\nc"
    assert excerpt("a\r\nb\nc", 1, 1) == "a\r\n"
    assert excerpt("a\r\nb\nc", 2, None) == "b\nc"
    assert excerpt("a\r\nb\nc", 9, 1) == ""
    assert excerpt("a\r\nb\nc", None, 0) == ""


def test_line_ends_are_kept_where_they_are_of_one_kind() -> None:
    assert (line_end("a\r\nb\r\n"), line_end("a\r\nb\n"), line_end("a")) == ("\r\n", "", "")
    assert with_line_end("a\nb", "\r\n") == "a\r\nb"
    assert with_line_end("a\r\nb\n", "\r\n") == "a\r\nb\n"
    assert same_text("a\r\nb", "a\nb")
    assert not same_text("a\n", "a")
