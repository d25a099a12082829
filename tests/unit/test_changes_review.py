"""What a person can decide about changes, and who is told of what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.changes import review
from agentls.core.changes.pieces import HunkState
from agentls.core.changes.radar import Meeting
from agentls.core.changes.record import MISSING, Blob, Change, ChangeId, FileState, Kind, Origin
from agentls.core.changes.review import Outcome, Review, Selection
from agentls.core.errors import BadRequest
from agentls.core.model import SessionId
from agentls.core.text import Encoding, Position, Range

PENDING, KEPT, UNDONE = HunkState
S1, S2 = SessionId("s1"), SessionId("s2")
PATH = "/project/a.py"
BEFORE = "one\ntwo\nthree\nfour\n"
AFTER = "one\nTWO\nthree\nFOUR\n"
PICTURE, OTHER_PICTURE = Blob("p1", 10), Blob("p2", 12)


class Folder:
    """Implements `Files` with a dict."""

    def __init__(self) -> None:
        self.files: dict[str, FileState] = {}
        self.before_writing: Callable[[], None] = lambda: None
        self.after_writing: Callable[[], None] = lambda: None
        self.broken = ""

    async def current(self, path: str) -> FileState:
        return self.files.get(path, MISSING)

    async def replace(self, path: str, expected: FileState, new: FileState) -> Outcome:
        self.before_writing()
        if self.broken:
            return Outcome(False, self.broken)
        if self.files.get(path, MISSING) != expected:
            return Outcome(False, "The file has changed.")
        if new.content is None:
            self.files.pop(path, None)
        else:
            self.files[path] = new
        self.after_writing()
        return Outcome(True)

    def text(self, path: str = PATH) -> Any:
        return self.files.get(path, MISSING).content


class Log:
    """Implements `ReviewObserver`."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def changed(self, change: Change) -> None:
        self.seen.append(change)

    def gone(self, change: ChangeId) -> None:
        self.seen.append(change)

    def met(self, meeting: Meeting) -> None:
        self.seen.append(meeting)


class Desk:
    """A review with its files, and agents that write to them."""

    def __init__(self) -> None:
        self.folder = Folder()
        self.log = Log()
        self.review = Review(self.folder)
        self.review.observers.append(self.log)

    def write(
        self,
        after: str | Blob | None,
        before: str | Blob | None = BEFORE,
        *,
        session: SessionId = S1,
        turn: int = 1,
        path: str = PATH,
        old_path: str = "",
        modes: tuple[int | None, int | None] = (0o644, 0o644),
    ) -> Change | None:
        states = [
            MISSING if content is None else FileState(content, mode)
            for content, mode in zip((before, after), modes, strict=True)
        ]
        if old_path:
            self.folder.files.pop(old_path, None)
        self.folder.files[path] = states[1]
        if after is None:
            del self.folder.files[path]
        origin = Origin(session=session, turn=turn, agent="claude", prompt=f"do {turn}")
        return self.review.wrote(origin, path, *states, old_path=old_path)

    def type(self, line: int, text: str) -> None:
        place = Position(line, 0)
        lines = self.folder.text().splitlines(keepends=True)
        new = "".join((*lines[:line], text, *lines[line:]))
        self.folder.files[PATH] = FileState(new, 0o644)
        self.review.edited(PATH, Range(place, place), text, Encoding.UTF_16)
        self.review.typed(PATH)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def one(change: Change | None) -> Change:
    assert change is not None
    return change


def states(change: Change) -> list[HunkState]:
    return [hunk.state for hunk in change.hunks]


# -- hunks, files, turns, sessions


async def test_a_hunk_is_undone_and_done_again(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    which = Selection(change=change.id, hunks=(change.hunks[0].id,))
    decided = await desk.review.undo(which)
    assert desk.folder.text() == "one\ntwo\nthree\nFOUR\n"
    assert states(decided.changes[0]) == [UNDONE, PENDING]
    assert decided.refused == ()
    await desk.review.redo(which)
    assert desk.folder.text() == AFTER
    assert states(desk.review.get(change.id)) == [PENDING, PENDING]


async def test_deciding_about_all_leaves_alone_what_was_decided_before(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    desk.review.keep(Selection(change=change.id, hunks=(change.hunks[0].id,)))
    await desk.review.undo(Selection(session=S1))
    assert desk.folder.text() == "one\nTWO\nthree\nfour\n"
    desk.review.keep(Selection(session=S1))
    assert states(desk.review.get(change.id)) == [KEPT, UNDONE]
    assert desk.review.changes(pending=True) == []
    await desk.review.undo(Selection(change=change.id))
    assert desk.folder.text() == BEFORE


async def test_a_turn_is_undone_without_the_others(desk: Desk) -> None:
    desk.write(AFTER)
    desk.write("x\n", None, path="/project/b.py", turn=2)
    desk.write("y\n", None, path="/project/c.py", session=S2)
    assert [c.origin.turn for c in desk.review.changes(Selection(session=S1))] == [1, 2]
    await desk.review.undo(Selection(session=S1, turn=1))
    assert desk.folder.text() == BEFORE
    assert desk.folder.text("/project/b.py") == "x\n"
    assert [c.path for c in desk.review.changes(pending=True)] == ["/project/b.py", "/project/c.py"]


async def test_turns_on_the_same_lines_are_undone_from_the_last(desk: Desk) -> None:
    desk.write(AFTER)
    desk.write(AFTER.replace("TWO", "2"), AFTER, turn=2)
    first, second = desk.review.changes()
    assert first.hunks[0].altered
    decided = await desk.review.undo(Selection(session=S1))
    assert decided.refused == ()
    assert desk.folder.text() == BEFORE
    assert first.id != second.id


# Among equal lines nobody can tell which of them came back.
of_different_lines = st.lists(st.sampled_from("abcdefgh"), unique=True).map(
    lambda names: "".join(f"line {name}\n" for name in sorted(names))
)


@given(st.tuples(*[of_different_lines] * 5))
async def test_undoing_everything_of_several_turns_leads_back_to_the_start(
    versions: tuple[str, ...],
) -> None:
    desk = Desk()
    before, *writes = versions
    desk.folder.files[PATH] = FileState(before, 0o644)
    for turn, text in enumerate(writes):
        desk.write(text, desk.folder.text(), turn=turn // 2, session=(S1, S2)[turn % 2])
    changes = desk.review.changes()
    for change in reversed(changes):
        await desk.review.undo(Selection(change=change.id))
    overwritten = any(hunk.altered for c in desk.review.changes() for hunk in c.hunks)
    assert overwritten or desk.folder.text() == before


async def test_a_second_write_in_a_turn_is_the_same_change(desk: Desk) -> None:
    first = one(desk.write(AFTER))
    second = one(desk.write(AFTER + "five\n", AFTER))
    assert second.id == first.id
    assert second.before.content == BEFORE
    assert second.after.content == AFTER + "five\n"
    await desk.review.undo(Selection(path=PATH))
    assert desk.folder.text() == BEFORE


async def test_a_change_that_the_agent_takes_back_is_gone(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    assert desk.write(BEFORE, AFTER) is None
    assert desk.review.changes() == []
    assert desk.log.seen[-1] == change.id
    assert desk.write(BEFORE) is None


# -- what is not lines


@pytest.mark.parametrize("text", ["a\n", ""])
async def test_a_file_that_was_created_is_removed_and_made_again(desk: Desk, text: str) -> None:
    change = one(desk.write(text, None, modes=(None, 0o755)))
    assert change.kind is Kind.CREATED
    await desk.review.undo(Selection(change=change.id))
    assert desk.folder.files == {}
    assert not desk.review.get(change.id).pending
    await desk.review.redo(Selection(change=change.id))
    assert desk.folder.files == {PATH: FileState(text, 0o755)}
    assert desk.review.get(change.id).pending


async def test_a_created_file_in_which_somebody_wrote_stays(desk: Desk) -> None:
    desk.write("a\n", None)
    desk.type(1, "mine\n")
    await desk.review.undo(Selection(path=PATH))
    assert desk.folder.text() == "mine\n"


@pytest.mark.parametrize("text", [BEFORE, ""])
async def test_a_file_that_was_deleted_comes_back_with_its_mode(desk: Desk, text: str) -> None:
    change = one(desk.write(None, text, modes=(0o755, None)))
    assert change.kind is Kind.DELETED
    await desk.review.undo(Selection(change=change.id))
    assert desk.folder.files == {PATH: FileState(text, 0o755)}
    await desk.review.redo(Selection(change=change.id))
    assert desk.folder.files == {}


async def test_a_binary_file_is_undone_as_a_whole(desk: Desk) -> None:
    change = one(desk.write(OTHER_PICTURE, PICTURE))
    assert change.hunks == ()
    assert change.whole is PENDING
    await desk.review.undo(Selection(session=S1))
    assert desk.folder.text() == PICTURE
    await desk.review.redo(Selection(session=S1))
    assert desk.folder.text() == OTHER_PICTURE
    desk.review.keep(Selection(session=S1))
    assert desk.review.get(change.id).whole is KEPT


async def test_a_binary_file_that_is_another_by_now_is_not_undone(desk: Desk) -> None:
    change = one(desk.write(OTHER_PICTURE, PICTURE))
    desk.folder.files[PATH] = FileState(Blob("mine", 1), 0o644)
    decided = await desk.review.undo(Selection(session=S1))
    assert [refusal.change for refusal in decided.refused] == [change.id]
    assert desk.folder.text() == Blob("mine", 1)


async def test_a_text_that_became_a_picture_is_one_thing(desk: Desk) -> None:
    desk.write(AFTER)
    change = one(desk.write(PICTURE, AFTER))
    assert change.hunks == ()
    await desk.review.undo(Selection(change=change.id))
    assert desk.folder.text() == BEFORE


async def test_a_renamed_file_goes_back_with_what_is_in_it_now(desk: Desk) -> None:
    change = one(desk.write(AFTER, BEFORE, old_path="/project/old.py"))
    assert change.kind is Kind.RENAMED
    assert (change.path, change.old_path) == (PATH, "/project/old.py")
    desk.type(1, "mine\n")
    decided = await desk.review.undo(Selection(change=change.id))
    assert decided.refused == ()
    assert desk.folder.files == {
        "/project/old.py": FileState("one\nmine\ntwo\nthree\nfour\n", 0o644)
    }
    assert desk.review.get(change.id).path == "/project/old.py"
    await desk.review.redo(Selection(change=change.id))
    assert desk.folder.text() == "one\nmine\nTWO\nthree\nFOUR\n"


async def test_a_rename_is_not_undone_over_another_file(desk: Desk) -> None:
    change = one(desk.write(BEFORE, BEFORE, old_path="/project/old.py"))
    desk.folder.files["/project/old.py"] = FileState("new work\n")
    decided = await desk.review.undo(Selection(change=change.id))
    assert decided.refused[0].why == "The file has changed."
    assert desk.folder.text("/project/old.py") == "new work\n"
    assert desk.folder.text() == BEFORE


async def test_a_file_renamed_after_it_was_written_is_one_change(desk: Desk) -> None:
    first = one(desk.write(AFTER, path="/project/old.py"))
    second = one(desk.write(AFTER, AFTER, old_path="/project/old.py"))
    assert second.id == first.id
    await desk.review.undo(Selection(change=first.id))
    assert desk.folder.files == {"/project/old.py": FileState(BEFORE, 0o644)}


async def test_a_mode_is_undone_and_the_text_with_it(desk: Desk) -> None:
    change = one(desk.write(AFTER, modes=(0o644, 0o755)))
    assert change.whole is PENDING
    await desk.review.undo(Selection(change=change.id))
    assert desk.folder.files == {PATH: FileState(BEFORE, 0o644)}
    await desk.review.redo(Selection(change=change.id))
    assert desk.folder.files == {PATH: FileState(AFTER, 0o755)}


# -- others write, too


async def test_an_altered_hunk_is_refused_and_can_be_merged(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    desk.type(1, "x")
    decided = await desk.review.undo(Selection(session=S1))
    (refusal,) = decided.refused
    assert refusal.hunks == (change.hunks[0].id,)
    assert desk.folder.text() == "one\nxTWO\nthree\nfour\n"
    merge = await desk.review.merge_undo(change.id, refusal.hunks)
    assert [(it.base, it.ours, it.theirs) for it in merge.conflicts] == [
        ("TWO\n", "xTWO\n", "two\n")
    ]


async def test_what_was_written_behind_our_back_is_noticed_before_undoing(desk: Desk) -> None:
    desk.write(AFTER)
    desk.folder.files[PATH] = FileState("mine\n" + AFTER, 0o644)
    await desk.review.undo(Selection(session=S1))
    assert desk.folder.text() == "mine\n" + BEFORE


async def test_what_is_written_while_undoing_is_kept(desk: Desk) -> None:
    desk.write(AFTER)

    def write_once() -> None:
        desk.folder.files[PATH] = FileState(AFTER + "mine\n", 0o644)
        desk.folder.before_writing = lambda: None

    desk.folder.before_writing = write_once
    decided = await desk.review.undo(Selection(session=S1))
    assert decided.refused == ()
    assert desk.folder.text() == BEFORE + "mine\n"


async def test_what_is_written_just_after_undoing_is_seen(desk: Desk) -> None:
    change = one(desk.write(AFTER))

    def write_more() -> None:
        desk.folder.files[PATH] = FileState("mine\n" + BEFORE, 0o644)

    desk.folder.after_writing = write_more
    await desk.review.undo(Selection(session=S1))
    found = desk.review.get(change.id)
    assert states(found) == [UNDONE, UNDONE]
    assert [hunk.lines.start for hunk in found.hunks] == [2, 4]


async def test_a_renamed_file_that_is_gone_by_now_is_not_brought_back_empty(desk: Desk) -> None:
    change = one(desk.write(BEFORE, BEFORE, old_path="/project/old.py"))
    desk.folder.files.clear()
    decided = await desk.review.undo(Selection(change=change.id))
    assert [refusal.change for refusal in decided.refused] == [change.id]
    assert desk.folder.files == {}
    assert desk.review.get(change.id).whole is PENDING


async def test_a_file_that_cannot_be_written_is_said_and_nothing_changes(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    desk.folder.broken = "The disk is full."
    decided = await desk.review.undo(Selection(session=S1))
    assert [refusal.why for refusal in decided.refused] == ["The disk is full."]
    assert states(desk.review.get(change.id)) == [PENDING, PENDING]


async def test_observers_hear_of_typing_only_when_it_means_something(desk: Desk) -> None:
    desk.write(AFTER)
    desk.log.seen.clear()
    desk.type(3, "next to a hunk\n")
    assert desk.log.seen == []
    desk.type(1, "x")
    (change,) = desk.log.seen
    assert [hunk.altered for hunk in change.hunks] == [True, False]


def test_lines_are_attributed_to_the_last_who_wrote_them(desk: Desk) -> None:
    desk.write(AFTER)
    desk.write("zero\n" + AFTER.replace("TWO", "2"), AFTER, turn=2, session=S2)
    found = [desk.review.writer_of(PATH, line) for line in range(6)]
    assert [it and (it.origin.session, it.origin.prompt) for it in found] == [
        (S2, "do 2"),
        None,
        (S2, "do 2"),
        None,
        (S1, "do 1"),
        None,
    ]
    desk.type(4, "mine\n")
    assert desk.review.writer_of(PATH, 4) is None


def test_what_is_not_there_is_an_error(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    with pytest.raises(BadRequest, match="no change"):
        desk.review.keep(Selection(change=ChangeId("s1.c9")))
    with pytest.raises(BadRequest, match="no hunk"):
        desk.review.keep(Selection(change=change.id, hunks=("nonsense",)))
    with pytest.raises(BadRequest, match="not the change"):
        desk.review.keep(Selection(hunks=("s1.c1.h1",)))


def test_a_session_that_is_forgotten_has_no_changes(desk: Desk) -> None:
    change = one(desk.write(AFTER))
    desk.write(AFTER, session=S2, path="/project/b.py")
    desk.review.forget(S1)
    assert [it.origin.session for it in desk.review.changes()] == [S2]
    assert desk.log.seen[-1] == change.id


def test_of_closed_sessions_what_is_pending_stays_and_of_what_was_decided_the_newest(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "_DECIDED", 2)
    paths = [f"/project/{n}.py" for n in range(5)]
    first, *others = [one(desk.write(AFTER, path=path)) for path in paths]
    going_on = one(desk.write(AFTER, session=S2))
    for change in (*others, going_on):
        desk.review.keep(Selection(change=change.id))
    desk.review.session_closed(S1)
    assert [it.id for it in desk.review.changes()] == [
        first.id,
        *(change.id for change in others[-2:]),
        going_on.id,
    ]


# -- radar


def meetings(desk: Desk) -> list[Meeting]:
    return [it for it in desk.log.seen if isinstance(it, Meeting)]


def test_two_sessions_in_one_file_are_told_of_once(desk: Desk) -> None:
    desk.review.turn_began(S1)
    desk.review.turn_began(S2)
    desk.write(AFTER)
    assert meetings(desk) == []
    desk.write(AFTER + "x\n", AFTER, session=S2)
    desk.write(AFTER + "y\n", AFTER, session=S2)
    assert meetings(desk) == [Meeting(PATH, (S1, S2), user=False)]
    desk.type(0, "me, too\n")
    assert meetings(desk)[1:] == [Meeting(PATH, (S1, S2), user=True)]


def test_a_person_and_a_session_meet_whoever_came_first(desk: Desk) -> None:
    desk.folder.files[PATH] = FileState(BEFORE, 0o644)
    desk.review.turn_began(S1)
    desk.type(0, "mine\n")
    desk.write(AFTER, desk.folder.text())
    assert meetings(desk) == [Meeting(PATH, (S1,), user=True)]


def test_nobody_meets_anybody_when_the_turn_is_over(desk: Desk) -> None:
    desk.review.turn_began(S1)
    desk.write(AFTER)
    desk.review.turn_ended(S1)
    desk.type(0, "mine\n")
    desk.review.turn_began(S2)
    desk.write(AFTER + "x\n", AFTER, session=S2)
    assert meetings(desk) == []
