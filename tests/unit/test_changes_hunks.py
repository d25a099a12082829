"""Laws and examples of hunks: undone in any combination, and followed while people type."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.changes.diff import Lines, lines_of
from agentls.core.changes.edits import applied, edits
from agentls.core.changes.hunks import Hunks
from agentls.core.changes.pieces import HunkState
from agentls.core.errors import BadRequest
from agentls.core.text import Encoding, Position, Range, split_lines
from agentls.editor.documents import ContentChange, Document
from fakes.texts import edited, pairs, texts

PENDING, KEPT, UNDONE = HunkState
BEFORE = "one\ntwo\nthree\nfour\nfive\nsix\n"
AFTER = "one\nTWO\nthree\nfour\nfive\nSIX\nseven\n"
TOKEN = re.compile(r"<\d+>")


def changed(before: str = BEFORE, after: str = AFTER) -> Hunks:
    return Hunks("c1", before, after)


def place(line: int, character: int, end_line: int, end_character: int) -> Range:
    return Range(Position(line, character), Position(end_line, end_character))


def type_into(hunks: Hunks, range: Range, text: str) -> None:
    hunks.edit(range, text, Encoding.UTF_16)


def undo(hunks: Hunks, *ids: str) -> None:
    hunks.adopt(hunks.undoing(ids or hunks.ids(PENDING)))


def redo(hunks: Hunks, *ids: str) -> None:
    hunks.adopt(hunks.redoing(ids or hunks.ids(UNDONE)))


def states(hunks: Hunks) -> list[HunkState]:
    return [hunk.state for hunk in hunks.all()]


def with_only(before: str, after: str, ids: Collection[str]) -> str:
    """The text with these hunks alone, put together from what a fresh change says about them."""
    fresh = changed(before, after).all()
    lines, result, at = lines_of(after), [], 0
    for hunk in fresh:
        result += lines[at : hunk.lines.start]
        result.append(hunk.after if hunk.id in ids else hunk.before)
        at = hunk.lines.end
    return "".join((*result, *lines[at:]))


def is_sound(hunks: Hunks) -> bool:
    """Every piece has whole lines of the text, and the hunks are where they say."""
    lines = lines_of(hunks.text)
    assert lines == [line for piece in hunks._pieces for line in piece.lines]
    for n, piece in enumerate(hunks._pieces):
        assert bool(piece.id) == bool(n % 2)
    for hunk in hunks.all():
        assert "".join(lines[hunk.lines.start : hunk.lines.end]) == hunk.now
        assert hunk.altered or hunk.now == (hunk.before if hunk.state is UNDONE else hunk.after)
    return True


subsets = st.sets(st.integers(0, 12))


def some(ids: list[str], chosen: set[int]) -> list[str]:
    return [id for n, id in enumerate(ids) if n in chosen]


# -- undoing


@given(pairs, subsets)
def test_undoing_any_of_the_hunks_gives_the_text_with_the_others(
    pair: tuple[str, str], chosen: set[int]
) -> None:
    before, after = pair
    hunks = changed(before, after)
    undone = some(hunks.ids(), chosen)
    plan = hunks.undoing(undone)
    assert plan.hunks == tuple(undone)
    assert plan.refused == ()
    assert plan.text == with_only(before, after, set(hunks.ids()) - set(undone))
    assert hunks.text == after
    hunks.adopt(plan)
    assert hunks.text == plan.text
    assert hunks.ids(UNDONE) == undone
    assert is_sound(hunks)


@given(pairs, subsets, subsets)
def test_undoing_one_after_the_other_and_back_again_leads_to_the_same(
    pair: tuple[str, str], first: set[int], second: set[int]
) -> None:
    hunks = changed(*pair)
    for chosen in (first, second):
        hunks.adopt(hunks.undoing(some(hunks.ids(), chosen)))
    assert hunks.ids(UNDONE) == some(hunks.ids(), first | second)
    hunks.adopt(hunks.redoing(some(hunks.ids(), second)))
    assert hunks.ids(UNDONE) == some(hunks.ids(), first - second)
    hunks.adopt(hunks.redoing(hunks.ids()))
    assert hunks.text == pair[1]
    hunks.adopt(hunks.undoing(hunks.ids()))
    assert hunks.text == pair[0]


@given(pairs, subsets)
def test_a_text_that_was_seen_to_be_undone_is_undone(
    pair: tuple[str, str], chosen: set[int]
) -> None:
    hunks = changed(*pair)
    plan = hunks.undoing(some(hunks.ids(), chosen))
    hunks.see(plan.text)
    assert hunks.text == plan.text
    assert is_sound(hunks)
    hunks.adopt(plan)
    assert hunks.ids(UNDONE) == some(hunks.ids(), chosen)
    assert not any(hunk.altered for hunk in hunks.all())


# -- following


@st.composite
def typing(draw: Any, text: str) -> tuple[Range, str, str]:
    """An edit somewhere in a text, with what comes of it: tokens that are found again later,
    and now and then something is deleted."""
    lines = split_lines(text)
    ends = []
    for _ in range(2):
        line = draw(st.integers(0, len(lines)))
        ends.append(Position(line, draw(st.integers(0, 6))))
    start, end = sorted(ends)
    if draw(st.integers(0, 2)):
        end = start
    return (
        Range(start, end),
        draw(st.sampled_from(["", "\n", "\r", "x"])),
        draw(st.sampled_from(["", "\n", "\r\n", "\r"])),
    )


@given(pairs, st.data(), st.sampled_from(Encoding))
@settings(max_examples=300)
def test_undoing_never_takes_away_what_somebody_typed(
    pair: tuple[str, str], data: st.DataObject, encoding: Encoding
) -> None:
    hunks = changed(*pair)
    document = Document("file:///x", "", 0, pair[1])
    numbers = count()
    for _ in range(data.draw(st.integers(1, 5))):
        where, head, tail = data.draw(typing(document.text))
        new = f"{head}<{next(numbers)}>{tail}" if data.draw(st.booleans()) else head
        document.apply(ContentChange(new, where), encoding)
        if data.draw(st.booleans()):
            hunks.edit(where, new, encoding)
        else:
            hunks.see(document.text)
        assert hunks.text == document.text
        assert is_sound(hunks)
        typed = TOKEN.findall(hunks.text)
        for plan in (hunks.undoing(hunks.ids()), hunks.redoing(hunks.ids())):
            assert sorted(TOKEN.findall(plan.text)) == sorted(typed)
        if data.draw(st.booleans()):
            plan = hunks.undoing(some(hunks.ids(), data.draw(subsets)))
            hunks.adopt(plan)
            document.apply(ContentChange(plan.text), encoding)
            assert hunks.text == plan.text
            assert is_sound(hunks)


@given(pairs, st.data())
def test_merging_an_undo_never_takes_away_what_somebody_typed(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    hunks = changed(*pair)
    for number in (1, 2):
        range, head, tail = data.draw(typing(hunks.text))
        hunks.edit(range, f"{head}<{number}>{tail}", Encoding.UTF_16)
    typed = set(TOKEN.findall(hunks.text))
    for found in (hunks.merge_undo(hunks.ids()), hunks.merge_redo(hunks.ids())):
        assert set(TOKEN.findall(found.resolved(lambda it: it.ours))) == typed
        marked = found.with_markers(ours="yours", base="before", theirs="agent")
        assert typed <= set(TOKEN.findall(marked))


@given(pairs, st.data())
def test_a_plan_that_somebody_overtook_by_typing_keeps_what_they_typed(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    hunks = changed(*pair)
    plan = hunks.undoing(some(hunks.ids(), data.draw(subsets)))
    later = data.draw(edited(plan.text))
    if data.draw(st.booleans()):
        hunks.see(later)
    hunks.adopt(plan, later)
    assert hunks.text == later
    assert is_sound(hunks)


@pytest.mark.parametrize(
    ("range", "text", "moved"),
    [
        (place(0, 0, 0, 0), "new\n", 1),
        (place(0, 3, 0, 3), "\nnew", 1),
        (place(0, 0, 1, 0), "", -1),
        (place(4, 4, 5, 0), "\n\n", 1),
        (place(0, 0, 0, 1), "O", 0),
    ],
)
def test_hunks_move_with_the_lines_before_them(range: Range, text: str, moved: int) -> None:
    hunks = changed()
    type_into(hunks, range, text)
    last = hunks.all()[-1]
    assert last.lines == Lines(5 + moved, 7 + moved)
    assert last.now == "SIX\nseven\n"
    assert not any(hunk.altered for hunk in hunks.all())


@pytest.mark.parametrize(
    ("range", "text"),
    [
        (place(5, 0, 5, 0), " "),
        (place(5, 3, 5, 3), "!"),
        (place(6, 0, 6, 0), "between\n"),
        (place(6, 0, 7, 0), ""),
        (place(4, 4, 5, 0), ""),
        (place(3, 0, 6, 0), ""),
    ],
)
def test_a_hunk_that_somebody_altered_is_not_undone(range: Range, text: str) -> None:
    hunks = changed()
    type_into(hunks, range, text)
    now = hunks.text
    first, last = hunks.all()
    assert not first.altered
    assert last.altered
    plan = hunks.undoing([first.id, last.id])
    assert plan.refused == (last.id,)
    assert plan.text == now.replace("TWO", "two")


def test_what_somebody_adds_next_to_a_hunk_is_not_part_of_it() -> None:
    hunks = changed()
    type_into(hunks, place(1, 0, 1, 0), "above\n")
    type_into(hunks, place(3, 0, 3, 0), "below\n")
    assert not any(hunk.altered for hunk in hunks.all())
    undo(hunks)
    assert hunks.text == "one\nabove\ntwo\nbelow\nthree\nfour\nfive\nsix\n"
    redo(hunks)
    assert hunks.text == "one\nabove\nTWO\nbelow\nthree\nfour\nfive\nSIX\nseven\n"


def test_taking_back_ones_own_alteration_makes_a_hunk_whole_again() -> None:
    hunks = changed()
    type_into(hunks, place(1, 3, 1, 3), "x")
    assert hunks.all()[0].altered
    type_into(hunks, place(1, 3, 1, 4), "")
    assert not hunks.all()[0].altered


def test_the_undo_of_the_editor_counts() -> None:
    hunks = changed()
    for edit in reversed(edits(AFTER, BEFORE, Encoding.UTF_16)):
        type_into(hunks, edit.range, edit.text)
    assert states(hunks) == [UNDONE, UNDONE]
    for edit in reversed(edits(BEFORE, AFTER, Encoding.UTF_16)):
        type_into(hunks, edit.range, edit.text)
    assert states(hunks) == [PENDING, PENDING]


def test_deleting_everything_and_taking_that_back_changes_nothing() -> None:
    before, after = "a\nb\nc\n", "a\nnew\nb\nC\nadded\n"
    hunks = changed(before, after)
    whole = hunks.all()
    type_into(hunks, place(0, 0, 99, 0), "")
    assert hunks.text == ""
    type_into(hunks, place(0, 0, 0, 0), after)
    assert hunks.all() == whole


def test_removed_lines_that_come_back_next_to_their_like_are_back() -> None:
    before, after = "x\nx\nend\n", "x\nend\n"
    hunks = changed(before, after)
    type_into(hunks, place(0, 0, 0, 0), "x\n")
    assert states(hunks) == [UNDONE]


def test_a_hunk_is_not_undone_where_its_last_line_would_run_into_another() -> None:
    hunks = changed("a\nold", "a\nnew\n")
    type_into(hunks, place(2, 0, 2, 0), "mine")
    plan = hunks.undoing(hunks.ids())
    assert plan.text == "a\nnew\nmine"
    assert len(plan.refused) == 1
    assert hunks.merge_undo(plan.refused).resolved(lambda it: it.ours) == "a\nold\nmine"


@pytest.mark.parametrize("before", ["\r\r\n\n", "\ra\n\n", "a\r\n\r"])
def test_only_lines_that_come_to_be_neighbours_can_run_into_each_other(before: str) -> None:
    hunks = changed(before, "")
    undo(hunks)
    assert hunks.text == before


def test_undoing_an_altered_hunk_is_a_merge() -> None:
    hunks = changed()
    type_into(hunks, place(5, 3, 5, 3), " and a half")
    (conflict,) = hunks.merge_undo([hunks.ids()[1]]).conflicts
    assert conflict.base == "SIX\nseven\n"
    assert conflict.ours == "SIX and a half\nseven\n"
    assert conflict.theirs == "six\n"


# -- states


def test_kept_hunks_stay_kept_and_can_still_be_undone() -> None:
    hunks = changed()
    first, last = hunks.ids()
    hunks.keep([first])
    assert states(hunks) == [KEPT, PENDING]
    undo(hunks)
    assert states(hunks) == [KEPT, UNDONE]
    undo(hunks, first)
    assert states(hunks) == [UNDONE, UNDONE]
    hunks.keep([last])
    assert states(hunks) == [UNDONE, UNDONE]
    assert hunks.text == BEFORE


def test_a_hunk_that_is_not_there_is_an_error() -> None:
    with pytest.raises(BadRequest, match=r"no hunk 'c1\.h9'"):
        changed().undoing(["c1.h9"])


def test_a_line_was_written_by_a_hunk_only_where_it_is_the_agents() -> None:
    hunks = changed("a\nb\nc\n", "a\nB\nnew\nB2\nc\n")
    (only,) = hunks.ids()
    assert [hunks.writer_of(n) for n in range(6)] == [None, only, only, only, None, None]
    type_into(hunks, place(2, 0, 2, 3), "mine")
    assert [hunks.writer_of(n) for n in range(5)] == [None, only, None, only, None]
    type_into(hunks, place(2, 0, 2, 4), "new")
    undo(hunks)
    assert [hunks.writer_of(n) for n in range(3)] == [None] * 3


# -- another write


@given(texts.flatmap(lambda text: st.tuples(st.just(text), *[edited(text)] * 3)))
def test_undoing_all_leads_back_to_before_the_first_write(versions: tuple[str, ...]) -> None:
    before, *writes = versions
    hunks = changed(before, writes[0])
    for text in writes:
        hunks.write(text)
        assert hunks.text == hunks.after == text
        assert is_sound(hunks)
    undo(hunks)
    assert hunks.text == before == hunks.before


@given(pairs, st.data())
@settings(max_examples=300)
def test_what_undoing_leads_back_to_does_not_depend_on_another_write(
    pair: tuple[str, str], data: st.DataObject
) -> None:
    """Whatever a person had kept, undone or altered before it."""
    hunks = changed(*pair)
    for _ in range(data.draw(st.integers(1, 3))):
        hunks.keep(some(hunks.ids(), data.draw(subsets)))
        hunks.adopt(hunks.undoing(some(hunks.ids(PENDING), data.draw(subsets))))
        hunks.see(data.draw(edited(hunks.text)))
        plan = hunks.undoing(hunks.ids(PENDING))
        intact = {hunk.id for hunk in hunks.all() if not hunk.altered}
        if set(plan.refused) & intact:
            return  # lines would run into each other: another law
        hunks.write(data.draw(edited(hunks.text)))
        assert is_sound(hunks)
        again = hunks.undoing(hunks.ids(PENDING))
        if not set(again.refused) & {hunk.id for hunk in hunks.all() if not hunk.altered}:
            assert again.text == plan.text


def test_hunks_that_another_write_leaves_alone_stay_as_they_are() -> None:
    hunks = changed()
    first, last = hunks.ids()
    hunks.keep([first])
    undo(hunks, last)
    hunks.write(hunks.text.replace("four", "FOUR"))
    assert states(hunks) == [KEPT, PENDING, UNDONE]
    assert [hunks.all()[0].id, hunks.all()[2].id] == [first, last]
    redo(hunks, last)
    assert hunks.text == "one\nTWO\nthree\nFOUR\nfive\nSIX\nseven\n"


def test_another_write_into_a_pending_hunk_is_undone_with_it() -> None:
    hunks = changed()
    first, _ = hunks.ids()
    hunks.write(hunks.text.replace("TWO", "Two!"))
    assert hunks.all()[0].id == first
    assert (hunks.all()[0].before, hunks.all()[0].after) == ("two\n", "Two!\n")


def test_another_write_into_a_kept_hunk_is_undone_to_what_was_kept() -> None:
    hunks = changed()
    hunks.keep(hunks.ids())
    hunks.write(hunks.text.replace("TWO", "Two!"))
    assert states(hunks) == [PENDING, KEPT]
    undo(hunks)
    assert hunks.text == AFTER


def test_an_agent_that_takes_its_change_back_leaves_no_hunk() -> None:
    hunks = changed()
    hunks.write(BEFORE)
    assert hunks.all() == []


def test_another_write_over_what_somebody_typed_is_undone_to_what_they_typed() -> None:
    hunks = changed()
    type_into(hunks, place(3, 0, 3, 4), "my own line")
    hunks.write(hunks.text.replace("my own line", "not yours any more"))
    undo(hunks)
    assert hunks.text == BEFORE.replace("four", "my own line")


def test_hunks_of_a_large_text_are_found_and_followed() -> None:
    lines = [f"line {n}\n" for n in range(20_000)]
    hunks = changed("".join(lines), "".join(x.replace("7", "seven") for x in lines))
    assert len(hunks.ids()) > 1000
    type_into(hunks, place(10_000, 0, 10_000, 0), "typed\n")
    plan = hunks.undoing(hunks.ids())
    assert plan.refused == ()
    assert plan.text == "".join((*lines[:10_000], "typed\n", *lines[10_000:]))
    assert (
        applied(hunks.text, edits(hunks.text, plan.text, Encoding.UTF_8), Encoding.UTF_8)
        == plan.text
    )
