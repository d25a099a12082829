"""Laws and examples of the three-way merge."""

from __future__ import annotations

import pytest
from hypothesis import given

from agentls.core.changes.diff import Lines, lines_of
from agentls.core.changes.merge import Conflict, Merge, carried_over, merge
from fakes.texts import pairs, versions


def swapped(found: Merge) -> Merge:
    return Merge(
        tuple(
            part
            if isinstance(part, str)
            else Conflict(
                base=part.base,
                ours=part.theirs,
                theirs=part.ours,
                base_lines=part.base_lines,
                ours_lines=part.theirs_lines,
                theirs_lines=part.ours_lines,
            )
            for part in found.parts
        )
    )


@given(pairs)
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(pair: tuple[str, str]) -> None:
    base, other = pair
    assert merge(base, base, other).text == other
    assert merge(base, other, base).text == other
    assert merge(base, other, other).text == other


@given(versions(3))
def test_the_sides_are_treated_alike(texts: tuple[str, ...]) -> None:
    base, ours, theirs = texts
    assert merge(base, theirs, ours) == swapped(merge(base, ours, theirs))


@given(versions(3))
def test_a_conflict_says_what_all_three_texts_have_there(texts: tuple[str, ...]) -> None:
    base, ours, theirs = texts
    found = merge(base, ours, theirs)
    for it in found.conflicts:
        assert it.ours != it.theirs
        assert it.ours != it.base != it.theirs
        for text, lines, part in (
            (base, it.base_lines, it.base),
            (ours, it.ours_lines, it.ours),
            (theirs, it.theirs_lines, it.theirs),
        ):
            assert "".join(lines_of(text)[lines.start : lines.end]) == part


@given(versions(3))
def test_every_line_of_a_side_is_in_the_merge_or_in_the_base(texts: tuple[str, ...]) -> None:
    base, ours, theirs = texts
    found = merge(base, ours, theirs)
    everything = found.resolved(lambda it: it.ours + "\n" + it.theirs + "\n")
    kept = set(lines_of(base)) | set(lines_of(everything))
    contents = {line.rstrip("\r\n") for line in kept}
    assert {line.rstrip("\r\n") for line in (*lines_of(ours), *lines_of(theirs))} <= contents


@given(versions(2), versions(2))
def test_changes_with_a_line_between_them_are_merged(
    top: tuple[str, ...], bottom: tuple[str, ...]
) -> None:
    first, new_first = (f"{text}\n" for text in top)
    last, new_last = bottom
    base, ours = f"{first}between\n{last}", f"{new_first}between\n{last}"
    theirs = f"{first}between\n{new_last}"
    assert merge(base, ours, theirs).text == f"{new_first}between\n{new_last}"


@given(versions(3))
def test_markers_are_there_exactly_where_there_are_conflicts(texts: tuple[str, ...]) -> None:
    found = merge(*texts)
    marked = found.with_markers(ours="yours", base="before", theirs="the agent's")
    starts = [line for line in lines_of(marked) if line.startswith("<<<<<<< yours")]
    assert len(starts) == len(found.conflicts)
    if not found.conflicts:
        assert marked == found.text


def test_changes_of_different_lines_are_merged() -> None:
    assert merge("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n").text == "A\nb\nC\n"


def test_a_conflict_has_what_all_three_say_and_where() -> None:
    found = merge("top\na\nend\n", "new\ntop\nours\nend\n", "top\ntheirs\nend\n")
    (conflict,) = found.conflicts
    assert (conflict.base, conflict.ours, conflict.theirs) == ("a\n", "ours\n", "theirs\n")
    assert conflict.base_lines == Lines(1, 2)
    assert conflict.ours_lines == Lines(2, 3)
    assert conflict.theirs_lines == Lines(1, 2)
    assert found.text is None
    assert found.resolved(lambda it: it.theirs) == "new\ntop\ntheirs\nend\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("A\nb\n", "a\nB\n"), ("a\nx\nb\n", "a\ny\nb\n"), ("b\n", "A\nb\n")],
    ids=["neighbours", "same place", "removed and changed"],
)
def test_changes_that_touch_are_a_conflict(ours: str, theirs: str) -> None:
    assert len(merge("a\nb\n", ours, theirs).conflicts) == 1


def test_markers_name_the_sides_and_keep_the_line_ends() -> None:
    found = merge("k\r\na", "k\r\nours", "k\r\ntheirs\r\n")
    assert found.with_markers(ours="you", base="before", theirs="agent") == (
        "k\r\n<<<<<<< you\r\nours\r\n||||||| before\r\na\r\n=======\r\ntheirs\r\n>>>>>>> agent\r\n"
    )


def test_markers_are_longer_than_those_in_the_text() -> None:
    found = merge("<<<<<<< x\na\n", "<<<<<<< x\nb\n", "<<<<<<< x\nc\n")
    marked = found.with_markers(ours="you", base="before", theirs="agent")
    assert "\n<<<<<<<< you\n" in marked
    assert "\n========\n" in marked


def test_an_edit_is_carried_over_to_an_earlier_text() -> None:
    checkpoint, seen = "a\nb\nc\nd\n", "a\nB by the agent\nc\nd\n"
    assert carried_over(checkpoint, seen, seen + "mine\n") == "a\nb\nc\nd\nmine\n"
    assert carried_over(checkpoint, seen, "a\nB by the agent, and me\nc\nd\n") is None
