"""What happens is stored a moment later, cheaply, and privately; a decision at once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agentls.core import events as ev
from agentls.core.family.spawn import Spawn
from agentls.core.model import (
    AgentSessionId,
    AskId,
    Decision,
    Level,
    Option,
    SessionId,
    TerminalId,
    ToolCallId,
)
from agentls.core.past import Past
from agentls.core.session import Session
from agentls.core.transcript import Ask, Message, ToolCall
from agentls.storage.servers import dead_servers, is_alive, notes_of
from fakes.stored import ALLOW, Desk, ask, call, close, desk, plain, said, turn

ID = SessionId("s1")
SPAWN = Spawn(orchestrator=SessionId("s0"), name="tester", depth=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "agentls.db"


def rows(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "store"]


def test_nothing_is_opened_before_the_first_session_and_nothing_is_left_after(path: Path) -> None:
    with desk(path) as one:
        assert not path.parent.exists()
        assert threads() == []
        close(one.session())
        assert threads() == ["store"]
    assert threads() == []
    assert list((path.parent / "servers").iterdir()) == []
    assert rows(path, "SELECT server FROM session") == [(None,)]


def test_a_server_starts_without_loading_sqlite() -> None:
    code = (
        "import sys, agentls.storage.store\n"
        "heavy = {'sqlite3', 'agentls.storage.recorder', 'agentls.core.store'}\n"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_only_the_owner_can_read_what_is_stored(path: Path) -> None:
    with desk(path) as one:
        one.session().deliver(said("secret"))
        one.flush()
        modes = {p.name.split("-")[0]: p.stat().st_mode & 0o777 for p in path.parent.iterdir()}
        files = [p.stat().st_mode & 0o777 for p in (path.parent / "servers").iterdir()]
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert modes == {"agentls.db": 0o600, "servers": 0o700}
    assert files == [0o600]


def test_streamed_text_is_joined_and_long_text_is_written_once(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        text = ""
        kept: list[tuple[Any, ...]] = []
        for number in range(300):
            piece = f"{number} words that come one after the other, "
            text += piece
            session.deliver(said(piece))
            if number % 10 == 0:
                one.flush()
                parts = rows(path, "SELECT rowid, number, data FROM part ORDER BY number")
                assert parts[: len(kept)] == kept, "a complete part was written again"
                kept = parts
        one.flush()
        assert len(kept) >= 2
        assert rows(path, "SELECT count(*), max(length(body)) < 5000 FROM entry") == [(1, 1)]
        (entry,) = one.store.sessions.page(ID).entries
    assert isinstance(entry, Message)
    assert str(entry.text) == text


def test_text_is_stored_within_a_tenth_of_a_second(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        one.flush()
        session.deliver(said("hello"))
        one.clock.advance(0.1)
        flight = one.store.recorder._flight
        assert flight is not None, "nothing was sent to the writer"
        assert flight[0].done.wait(20)
        assert len(one.store.sessions.page(ID).entries) == 1


def test_an_ask_is_stored_without_waiting(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        one.flush()
        session.deliver(ask("a1"))
        one.clock.advance(0.0)
        flight = one.store.recorder._flight
        assert flight is not None, "nothing was sent to the writer"
        assert flight[0].urgent
        assert flight[0].done.wait(20)
        (entry,) = one.store.sessions.page(ID).entries
        assert isinstance(entry, Ask)


def test_a_decision_is_noted_before_anybody_hears_of_it(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        session.deliver(call("c1", title="make", status="pending"))
        one.flush()
        session.deliver(ask("a1"))
        session.deliver(ev.AskSettled(AskId("a1"), Decision(option=ALLOW, by="you")))
        server = one.store._own(begin=False)
        assert server is not None
        (note,) = notes_of(path.parent / "servers", server)
        assert (note.head.id, note.number) == ("s1", 2)
        assert b'"by":"you"' in bytes(note.body)
        one.flush()
        assert list(notes_of(path.parent / "servers", server)) == []
    assert rows(path, "SELECT session, by, allowed, entry, shown FROM decision") == [
        ("s1", "you", 1, 2, "make a1")
    ]


def test_a_decision_is_one_row_however_often_its_ask_is_stored(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        session.deliver(ask("a1", decision=Decision(option=None, by="a rule")))
        one.flush()
        one.store.recorder._feeds[ID].forget()
        session.deliver(said("more"))
        one.flush()
    assert rows(path, "SELECT count(*) FROM decision") == [(1,)]


def test_a_call_that_was_rejected_says_so_when_it_is_loaded(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        session.deliver(call("c1", title="make", status="pending"))
        session.deliver(ask("a1"))
        one.flush()
        no = Option("no", "Reject", "reject_once")
        session.deliver(ev.AskSettled(AskId("a1"), Decision(option=no, by="you")))
        one.flush()
        entry = one.store.sessions.page(ID).entries[0]
    assert isinstance(entry, ToolCall)
    assert entry.rejected


def test_an_output_that_is_replaced_by_a_shorter_one_leaves_nothing_behind(path: Path) -> None:
    with desk(path) as one:
        session = one.session()

        def output(data: str, whole: bool) -> None:
            session.deliver(ev.OutputAdded(ToolCallId("c"), TerminalId("t"), data, whole))
            one.flush()

        output("a" * 10_000, False)
        assert rows(path, "SELECT count(*) FROM part") == [(2,)]
        output("b" * 5_000, True)
        assert rows(path, "SELECT count(*) FROM part") == [(1,)]
        output("short", True)
        assert rows(path, "SELECT count(*) FROM part") == [(0,)]
        (entry,) = one.store.sessions.page(ID).entries
    assert isinstance(entry, ToolCall)
    assert str(entry.terminals[TerminalId("t")].text) == "short"


def test_texts_that_are_the_same_are_kept_once_and_no_longer_than_used(path: Path) -> None:
    from agentls.core.model import Diff

    big, other = "x = 1\n" * 1000, "y = 2\n" * 1000
    with desk(path) as one:
        session = one.session()
        session.deliver(call("c1", content=(Diff("a.py", None, big),)))
        session.deliver(call("c2", content=(Diff("a.py", big, other),)))
        one.flush()
        assert rows(path, "SELECT count(*) FROM blob") == [(2,)]
        assert rows(path, "SELECT sum(length(data)) < 2000 FROM blob") == [(1,)]
        session.deliver(call("c2", content=()))
        one.flush()
        assert rows(path, "SELECT count(*) FROM blob") == [(1,)]
        session.deliver(call("c1", content=()))
        one.flush()
        assert rows(path, "SELECT count(*) FROM blob") == [(0,)]


def test_much_at_once_is_stored_in_several_bearable_batches(path: Path) -> None:
    text = "0123456789" * 400_000
    with desk(path) as one:
        session = one.session()
        session.deliver(said(text))
        sizes = []
        while one.store.recorder._feeds[ID].behind or one.store.recorder._flight:
            one.clock.advance(0.2)
            flight = one.store.recorder._flight
            if flight is not None:
                assert flight[0].done.wait(20)
                entries = [e for change in flight[0].changes for e in change.entries]
                sizes.append(
                    sum(len(p) for e in entries for t in e.texts.values() for p in t.parts)
                )
        assert max(sizes) <= 1 << 20
        (entry,) = one.store.sessions.page(ID).entries
    assert isinstance(entry, Message)
    assert str(entry.text) == text


def test_a_closed_session_that_begins_again_goes_on_where_it_was(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        session.deliver(said("first"))
        close(session)
        one.flush()
        assert one.store.recorder._feeds == {}, "a closed session is still held"
        session.begin()
        session.deliver(turn(1, "again"))
        one.flush()
        assert plain(one.store.sessions.load(ID).transcript) == plain(session.transcript)


def test_what_a_session_was_started_with_comes_back(path: Path) -> None:
    with desk(path) as one:
        session = one.session(parent="s0", spawn=SPAWN)
        one.flush()
        head = one.store.sessions.load(ID).head
        session.deliver(ev.ModeChanged("plan"))
        one.flush()
        again = one.store.sessions.load(ID).head
        (listed,) = one.store.sessions.summaries()
    assert (head.parent, head.spawn) == ("s0", SPAWN)
    assert (listed.orchestrator, listed.member) == ("s0", "tester")
    assert (again.parent, again.spawn, again.mode) == (head.parent, head.spawn, "plan")


def test_a_stored_session_goes_on_in_another_server(path: Path) -> None:
    with desk(path) as one:
        session = one.session(spawn=SPAWN)
        session.agent_session = AgentSessionId("theirs")
        session.deliver(turn(1, "hello"))
        session.deliver(said("an answer"))
        session.deliver(ev.TurnEnded(1, "end_turn"))
        close(session)
    with desk(path, time=5000.0) as two:
        stored = two.store.sessions.claim(ID)
        head = stored.head
        past = Past(
            created=head.created,
            transcript=stored.transcript,
            agent_session=head.agent_session,
            agent_session_at=head.agent_session_at,
        )
        again = two.session(begin=False, past=past, spawn=head.spawn)
        two.store.recorder.adopt(again)
        again.begin()
        again.deliver(turn(2, "more"))
        close(again)
        two.flush()
        loaded = two.store.sessions.load(ID)
    assert plain(loaded.transcript) == plain(again.transcript)
    assert [e.turn for e in loaded.transcript.entries] == [1, 1, 1, 2]
    assert loaded.head.spawn == SPAWN
    assert (loaded.head.created, loaded.head.agent_session) == (1000.0, "theirs")


def test_what_must_not_be_stored_any_more_is_not(path: Path) -> None:
    with desk(path) as one:
        session = one.session()
        one.flush()
        session.deliver(said("late"))
        one.store.recorder.forget(ID)
        one.flush()
        assert one.store.sessions.page(ID).entries == []


def test_half_a_character_does_not_keep_the_rest_from_being_stored(path: Path) -> None:
    with desk(path) as one:
        session = one.session(cwd="/a\ud800b")
        session.deliver(ev.TitleChanged("t\ud800"))
        session.deliver(said("one \ud800 two"))
        session.deliver(call("c", title="x\udfff", input={"\ud800": "\ud801"}))
        session.deliver(ev.OutputAdded(ToolCallId("c"), TerminalId("t\ud800"), "\ud800" * 5000))
        session.deliver(ask("a\ud800", decision=Decision(option=None, by="\ud800")))
        session.deliver(ev.NoticeShown(Level.INFO, "\ud800"))
        one.indexed()
        assert one.problems == []
        message = one.store.sessions.page(ID).entries[0]
    assert isinstance(message, Message)
    assert str(message.text) == "one ? two"


def test_a_deeply_nested_value_is_stored(path: Path) -> None:
    deep: Any = "x" * 5000
    for _ in range(400):
        deep = {"a": [deep]}
    with desk(path) as one:
        session: Session = one.session()
        session.deliver(call("c", input=deep))
        one.indexed()
        (entry,) = one.store.sessions.page(ID).entries
    assert one.problems == []
    assert isinstance(entry, ToolCall)
    assert entry.input == deep


def test_a_server_is_alive_as_long_as_its_process_holds_its_file(path: Path) -> None:
    folder = path.parent / "servers"
    one = Desk(path)
    one.session()
    server = one.store._own(begin=False)
    assert server is not None
    assert is_alive(folder, server)
    assert dead_servers(folder) == []
    one.store.close()
    assert not is_alive(folder, server)
    (folder / "1-abc.server").write_bytes(b"")
    assert dead_servers(folder) == ["1-abc"]
