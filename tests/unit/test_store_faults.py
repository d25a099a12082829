"""A database that is damaged, locked, full, forbidden or too new: said once, and nothing stops."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentls.core.errors import StoreError
from agentls.core.model import Decision, SessionId
from agentls.core.transcript import Ask
from agentls.storage import write_loop
from agentls.storage.database import connect
from fakes.stored import ALLOW, Desk, ask, plain, said

ID = SessionId("s1")
TESTS = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agentls.db"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_loop, "_BUSY", 0.05)


@pytest.fixture
def one(path: Path) -> Iterator[Desk]:
    desk = Desk(path)
    yield desk
    desk.store.close()


def attempt(desk: Desk) -> None:
    """Let the next batch be tried."""
    before = desk.store.recorder._flight
    desk.clock.advance(6.0)
    flight = desk.store.recorder._flight or before
    assert flight is not None, "nothing was tried"
    assert flight[0].done.wait(20), "the attempt does not end"
    desk.clock.advance(0.01)


def test_a_file_that_is_no_database_is_kept_and_a_new_one_begun(path: Path, one: Desk) -> None:
    broken = b"this was never a database, but it is long enough to look like one" * 200
    path.write_bytes(broken)
    session = one.session()
    session.deliver(said("hello"))
    one.flush()
    session.deliver(said(" again"))
    one.flush()
    assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)
    (kept,) = path.parent.glob("agentls.db.damaged-*")
    assert kept.read_bytes() == broken
    assert len(one.problems) == 1
    assert str(kept) in one.problems[0]


def test_a_database_that_is_damaged_under_way_is_stored_anew(path: Path, one: Desk) -> None:
    past = one.session("past")
    past.deliver(said("before"))
    session = one.session()
    for number in range(200):
        session.deliver(said(f"{number} " * 300, message=str(number)))
    one.flush()
    wal = path.with_name("agentls.db-wal")
    for file in (path, wal):
        data = file.read_bytes()
        file.write_bytes(data[:100] + b"\xa5" * (len(data) - 100))
    with pytest.raises(StoreError, match="cannot be used"):
        one.store.sessions.summaries()
    for number in range(5):
        session.deliver(said(f"after {number}", message="after"))
        past.deliver(said(f"after {number}"))
        one.flush()
    assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)
    assert plain(one.store.sessions.load(past.id).transcript) == plain(past.transcript)
    assert len(one.problems) == 1
    assert len(list(path.parent.glob("agentls.db.damaged-*[0-9]"))) == 1


def test_of_two_servers_that_find_the_damage_one_puts_it_aside(path: Path, one: Desk) -> None:
    path.write_bytes(b"no database" * 1000)
    two = Desk(path)
    first, second = one.session("a"), two.session("b")
    for desk, session in ((one, first), (two, second)):
        session.deliver(said("hello"))
        desk.clock.advance(0.2)
    one.flush()
    two.flush()
    two.store.close()
    assert {s.id for s in one.store.sessions.summaries()} == {"a", "b"}
    assert len(list(path.parent.glob("agentls.db.damaged-*"))) == 1


def test_a_locked_database_is_waited_for_and_said_once(path: Path, one: Desk) -> None:
    session = one.session()
    one.flush()
    holder = connect(path)
    holder.execute("BEGIN IMMEDIATE")
    session.deliver(said("while it is locked "))
    attempt(one)
    assert one.problems == [], "a short wait is nobody's business"
    session.deliver(said("and longer"))
    one.clock.advance(20)
    attempt(one)
    attempt(one)
    (sentence,) = one.problems
    assert "another program has locked" in sentence
    holder.execute("ROLLBACK")
    holder.close()
    attempt(one)
    one.flush()
    assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)
    assert len(one.problems) == 1


def test_a_session_that_is_lost_from_the_database_is_stored_again(path: Path, one: Desk) -> None:
    session = one.session()
    session.deliver(said("hello"))
    one.flush()
    connection = connect(path)
    connection.execute("DELETE FROM session")
    connection.close()
    session.deliver(said(" again"))
    one.flush()
    assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)


FULL = """
import resource, signal, sys
from pathlib import Path
from agentls.core.model import Decision, SessionId
from fakes.stored import Desk, plain, said
desk = Desk(Path(sys.argv[1]))
session = desk.session()
session.deliver(said("before "))
desk.flush()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
import random
words = "".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(300_000))
session.deliver(said(words))
for _ in range(3):
    desk.clock.advance(10.0)
    flight = desk.store.recorder._flight
    assert flight is None or flight[0].done.wait(20)
assert len(desk.problems) == 1, desk.problems
assert "cannot be written" in desk.problems[0], desk.problems
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
session.deliver(said("after"))
desk.clock.advance(10.0)
desk.flush()
loaded = desk.store.sessions.load(SessionId("s1"))
assert plain(loaded.transcript) == plain(session.transcript)
assert len(desk.problems) == 1, desk.problems
desk.store.close()
"""


def test_a_full_disk_is_said_once_and_all_is_stored_when_there_is_room(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_place_that_cannot_be_written_is_said_once(path: Path, what: str) -> None:
    if what == "file":
        path.mkdir()  # also for the superuser, this is no file to write to
        where = path
    else:
        path.write_text("a file where the folder should be")
        where = path / "agentls.db"
    one = Desk(where)
    session = one.session()
    session.deliver(said("hello"))
    attempt(one)
    session.deliver(said(" again"))
    attempt(one)
    (sentence,) = one.problems
    assert "in memory" in sentence
    assert str(where) in sentence
    one.store.close()


def test_a_database_of_a_newer_version_is_not_touched(path: Path, one: Desk) -> None:
    connection = connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    before = path.read_bytes()
    session = one.session()
    session.deliver(said("hello"))
    attempt(one)
    session.deliver(said(" again"))
    one.clock.advance(100)
    (sentence,) = one.problems
    assert "update agentls" in sentence
    for use in (one.store.sessions.summaries, one.store.sessions.recover):
        with pytest.raises(StoreError, match="newer agentls"):
            use()
    one.store.close()
    assert path.read_bytes() == before
    assert one.store.recorder._feeds == {}, "what will never be stored is still held"


def test_a_file_that_is_taken_away_is_begun_anew(path: Path, one: Desk) -> None:
    session = one.session()
    session.deliver(said("hello"))
    one.flush()
    for file in path.parent.glob("agentls.db*"):
        file.unlink()
    session.deliver(said(" again"))
    one.flush()
    assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)


def test_what_reading_meets_is_a_sentence(path: Path, one: Desk) -> None:
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="cannot be used"):
        one.store.sessions.summaries()


def test_reading_where_nothing_was_ever_stored_finds_nothing(path: Path, one: Desk) -> None:
    assert one.store.sessions.summaries() == []
    assert one.store.sessions.search("anything") == []
    assert one.store.sessions.recover() == []
    assert not path.exists()


def test_an_old_database_is_brought_up_to_date_also_by_who_only_reads(path: Path) -> None:
    from agentls.storage import database

    connection = sqlite3.connect(path, isolation_level=None)
    for statement in database._STEPS[0].split(";"):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO decision (at, session, agent, folder, ask, title, shown, allowed, by, why,"
        " remembered) VALUES (1, 's', 'a', '/', 'x', 't', 's', 1, 'you', '', '')"
    )
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert Desk(path).store.sessions.summaries() == []
    again = sqlite3.connect(path)
    assert again.execute("SELECT by, entry FROM decision").fetchall() == [("you", None)]
    again.close()


def test_ending_is_not_held_up_by_a_locked_database_and_keeps_what_was_decided(
    path: Path, one: Desk
) -> None:
    session = one.session()
    session.deliver(said("hello"))
    one.flush()
    holder = connect(path)
    holder.execute("BEGIN IMMEDIATE")
    session.deliver(ask("a1", decision=Decision(option=ALLOW, by="you")))
    one.store.close()
    holder.execute("ROLLBACK")
    holder.close()
    two = Desk(path)
    assert two.store.sessions.recover() == [ID]
    found = two.store.sessions.load(ID).transcript.entries[1]
    assert isinstance(found, Ask)
    assert found.decision is not None
    assert found.decision.by == "you"


def test_what_is_damaged_in_the_file_of_a_dead_server_does_not_matter(
    path: Path, one: Desk
) -> None:
    session = one.session()
    session.deliver(ask("a1"))
    one.flush()
    folder = path.parent / "servers"
    (folder / "1-dead.server").write_bytes(b'{"head"\n\xff\xfe\n{}\n[1,')
    assert one.store.sessions.recover() == []
    assert not (folder / "1-dead.server").exists()
