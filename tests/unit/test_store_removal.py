"""What is deleted is gone, what is old gets lighter, and the database does not grow for ever."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentls.core import events as ev
from agentls.core.errors import SessionNotReady, UnknownSession
from agentls.core.model import (
    Block,
    Decision,
    Diff,
    Role,
    SessionId,
    TerminalId,
    ToolCallId,
)
from agentls.core.transcript import Attachment, Message, ToolCall
from agentls.storage.chores import LATER, Chores
from agentls.storage.database import connect
from agentls.storage.writer import Limits
from fakes.stored import ALLOW, Desk, ask, call, close, desk, said

NOW = time.time()
DAY = 86_400.0
TABLES = ("entry", "part", "blob", "blob_use", "passage", "touched", "doomed", "decision")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agentls.db"


@pytest.fixture
def one(path: Path) -> Iterator[Desk]:
    with desk(path, time=NOW) as found:
        yield found


def words(seed: int, count: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"w{chance.randrange(16**8):x}" for _ in range(count))


def fill(one: Desk, id: str, *, seed: int = 0, size: int = 2000) -> None:
    session = one.session(id)
    session.deliver(said(f"a word of {id}: secretword{id} " + words(seed, 10)))
    big = words(seed + 1, size)
    session.deliver(
        call(
            "c",
            title="Edit",
            status="completed",
            content=(Diff("/p/a.py", big, big + "\nmore"), Block(kind="text", text=big)),
            input={"text": big, "n": 1},
        )
    )
    session.deliver(ev.OutputAdded(ToolCallId("c"), TerminalId("t"), f"output{id} " + big))
    session.deliver(ev.BlockAdded(Role.USER, Block(kind="image", data="QUJD" * 1000)))
    session.deliver(ask(f"{id}.a1", decision=Decision(option=ALLOW, by="you")))
    close(session)
    one.indexed()


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


def do_chores(path: Path, limits: Limits) -> list[float]:
    """All chores until nothing is left to do; seconds that each step took."""
    connection = connect(path)
    took = []
    try:
        chores = Chores(connection, path, None, limits)
        for _ in range(10_000):
            began = time.perf_counter()
            due = chores.step()
            took.append(time.perf_counter() - began)
            if due == LATER:
                return took
    finally:
        connection.close()
    raise AssertionError("the chores never end")


def test_a_deleted_session_is_gone_from_everywhere(one: Desk, path: Path) -> None:
    fill(one, "kept", seed=1)
    fill(one, "gone", seed=2)
    kept = {table: count(path, table) for table in TABLES}
    one.store.sessions.delete(SessionId("gone"))
    for table in TABLES[:-2]:
        assert count(path, table) == kept[table] // 2, table
    assert (count(path, "doomed"), count(path, "decision")) == (0, 1)
    assert one.store.sessions.search("secretwordgone") == []
    assert len(one.store.sessions.search("secretwordkept")) == 1
    with pytest.raises(UnknownSession):
        one.store.sessions.load(SessionId("gone"))
    one.store.close()
    data = b"".join(file.read_bytes() for file in path.parent.glob("agentls.db*"))
    assert b"secretwordgone" not in data
    assert b"retwordgone" not in data
    assert b"kept" in data


def test_texts_that_another_session_uses_too_stay(one: Desk) -> None:
    fill(one, "a", seed=5)
    fill(one, "b", seed=5)
    before = one.store.sessions.export(SessionId("b"))
    one.store.sessions.delete(SessionId("a"))
    assert one.store.sessions.export(SessionId("b")) == before


def test_a_session_that_lives_is_not_deleted(one: Desk) -> None:
    session = one.session()
    one.flush()
    with pytest.raises(SessionNotReady, match="Close it"):
        one.store.sessions.delete(session.id)
    close(session)
    one.flush()
    one.store.sessions.delete(session.id)
    assert one.store.sessions.summaries() == []


def test_a_number_is_not_used_again_while_rows_of_a_deleted_session_are_left(
    one: Desk, path: Path
) -> None:
    from agentls.storage.database import transaction
    from agentls.storage.removal import doom

    fill(one, "gone")
    connection = connect(path)
    with transaction(connection):
        doom(connection, 1, decisions=False)
    connection.close()
    fill(one, "new")
    do_chores(path, Limits())
    assert count(path, "doomed") == 0
    assert count(path, "entry") == 4
    assert one.store.sessions.search("secretwordgone") == []
    assert count(path, "decision") == 2, "what was decided outlives what is only tidied away"


def test_an_old_session_keeps_what_was_said_and_loses_what_is_long(path: Path) -> None:
    with desk(path, time=NOW - 100 * DAY) as old:
        fill(old, "old")
    with desk(path, time=NOW - 10 * DAY) as recent:
        fill(recent, "recent", seed=9)
        before = recent.store.sessions.export(SessionId("recent"))
    whole = used(path)
    do_chores(path, Limits(days=90))
    sessions = Desk(path).store.sessions
    assert sessions.export(SessionId("recent")) == before
    assert sessions.get(SessionId("old")).compacted
    assert not sessions.get(SessionId("recent")).compacted
    message, tool, image, asked = sessions.load(SessionId("old")).transcript.entries
    assert isinstance(message, Message)
    assert "secretwordold" in str(message.text)
    assert isinstance(tool, ToolCall)
    diff, text = tool.content
    assert isinstance(diff, Block)
    assert "/p/a.py" in diff.text
    assert "no longer kept" in diff.text
    assert isinstance(text, Block)
    assert len(text.text) < 1500
    assert len(str(tool.terminals[TerminalId("t")].text)) < 1500
    assert "no longer kept" in tool.input["note"]
    assert isinstance(image, Attachment)
    assert image.block.data == ""
    assert asked.id == "e4"
    assert len(sessions.search("secretwordold")) == 1
    assert sessions.search("outputold") == []
    assert used(path) < 0.7 * whole


def test_compacting_twice_changes_nothing_more(path: Path) -> None:
    with desk(path, time=NOW - 100 * DAY) as old:
        fill(old, "old")
    do_chores(path, Limits(days=90))
    once = Desk(path).store.sessions.export(SessionId("old"))
    connection = connect(path)
    connection.execute("UPDATE session SET compacted = 0")
    connection.close()
    do_chores(path, Limits(days=90))
    assert Desk(path).store.sessions.export(SessionId("old")) == once


def test_a_session_that_lives_is_never_compacted(path: Path) -> None:
    with desk(path, time=NOW - 100 * DAY) as old:
        session = old.session()
        session.deliver(said("x " * 5000))
        session.deliver(call("c", content=(Diff("a", None, "y" * 5000),)))
        old.flush()
        do_chores(path, Limits(days=1, megabytes=0.001))
        assert not old.store.sessions.get(session.id).compacted
        assert len(old.store.sessions.load(session.id).transcript.entries) == 2


def test_the_size_is_bounded_by_compacting_and_then_deleting_the_oldest(path: Path) -> None:
    for number in range(8):
        with desk(path, time=NOW - (8 - number) * DAY) as one:
            fill(one, f"s{number}", seed=number * 10, size=20_000)
    limit = 1.0
    do_chores(path, Limits(megabytes=limit))
    sessions = Desk(path).store.sessions
    states = [s.compacted for s in reversed(sessions.summaries())]
    assert states == sorted(states, reverse=True), "the oldest go first"
    assert True in states
    assert used(path) <= limit * (1 << 20)
    do_chores(path, Limits(megabytes=0.15))
    left = [s.id for s in sessions.summaries()]
    assert 0 < len(left) < 8
    assert left == [f"s{n}" for n in range(7, 7 - len(left), -1)], "the oldest went first"
    assert count(path, "decision") == 8


def test_free_room_is_given_back(path: Path) -> None:
    with desk(path, time=NOW) as one:
        for number in range(4):
            fill(one, f"s{number}", seed=number * 10, size=100_000)
        one.store.close()
        before = path.stat().st_size
        for number in range(4):
            one.store.sessions.delete(SessionId(f"s{number}"))
    do_chores(path, Limits())
    connection = connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    assert before > 10_000_000
    assert path.stat().st_size < before / 2


def test_deleting_much_never_keeps_others_from_writing_for_long(path: Path) -> None:
    with desk(path, time=NOW) as one:
        session = one.session("big")
        for number in range(5000):
            session.deliver(said(words(number, 30), message=str(number)))
        close(session)
        one.indexed()
        connection = connect(path)
        connection.execute("INSERT INTO doomed SELECT number FROM session")
        connection.execute("DELETE FROM session")
        connection.close()
        took = do_chores(path, Limits())
    assert len(took) > 20
    assert max(took) < 2.0, "one step holds the lock"
    assert count(path, "entry") == 0


def used(path: Path) -> int:
    connection = sqlite3.connect(path)

    def read(name: str) -> Any:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]

    try:
        return int((read("page_count") - read("freelist_count")) * read("page_size"))
    finally:
        connection.close()
