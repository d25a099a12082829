"""Several servers on one database, and servers that are killed in the middle of a turn."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentls.core.errors import SessionNotReady
from agentls.core.model import SessionId, State
from agentls.core.store import SERVER_GONE, Filter, Place
from agentls.core.transcript import Ask, Message, Notice, ToolCall, TurnEnd
from agentls.storage.audit import decisions
from agentls.storage.servers import dead_servers
from fakes.stored import Desk, desk, said

TESTS = Path(__file__).parents[1]
SERVER = TESTS / "fakes" / "streaming_server.py"
ID = SessionId("s1")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(TESTS)}


@contextmanager
def server(path: Path, id: str = "s1") -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(SERVER), str(path), id],
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    watchdog = threading.Timer(50, process.kill)
    watchdog.start()
    try:
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.wait(timeout=10)
        assert process.stdout is not None
        process.stdout.close()


def lines_until_killed(
    path: Path, answers: int, *, stored: int = 0, seconds: float = 0.0
) -> tuple[list[list[str]], float]:
    """What a server said before it was killed, and when that was: after so many answers, so many
    times of storing, and so many seconds."""
    with server(path) as process:
        assert process.stdout is not None
        lines = []
        seen = 0
        for line in process.stdout:
            lines.append(line.split())
            seen += line.startswith("answered")
            stored -= line.startswith("stored")
            since = float(lines[0][2])
            if seen >= answers and stored <= 0 and time.time() - since >= seconds:
                break
        killed = time.time()
        process.kill()
        lines += [line.split() for line in process.stdout.read().splitlines()]
        process.wait(timeout=10)
    assert seen >= answers, f"the server ended too soon: {lines[-3:]}"
    return [line for line in lines if len(line) == 3], killed


# Text is on its way for 100 ms; how long a loaded machine takes to write it down is another matter.
_LATEST = 3.0


@pytest.mark.parametrize(("answers", "seconds"), [(1, 0.0), (4, 0.0), (25, _LATEST + 1)])
def test_a_server_that_is_killed_loses_a_moment_of_text_and_no_answer(
    tmp_path: Path, answers: int, seconds: float
) -> None:
    path = tmp_path / "agentls.db"
    lines, killed = lines_until_killed(path, answers, stored=1, seconds=seconds)
    confirmed = [int(n) for kind, n, _ in lines if kind == "stored"]
    old = [int(n) for kind, n, at in lines if kind == "text" and float(at) < killed - _LATEST]
    assert old or not seconds, "the server was too slow to be tested"
    due = max(confirmed + old)
    answered = {f"run {call}" for kind, call, _ in lines if kind == "answered"}

    with desk(path, time=killed) as one:
        (listed,) = one.store.sessions.summaries()
        assert (listed.place, listed.died) == (Place.PAST, True), "shown as alive"
        assert one.store.sessions.recover() == [ID]
        stored = one.store.sessions.load(ID)
        (again,) = one.store.sessions.summaries()
    assert (again.place, again.died, again.state) == (Place.PAST, True, State.CLOSED)
    entries = stored.transcript.entries
    text = "".join(str(e.text) for e in entries if isinstance(e, Message) and e.role == "agent")
    pieces = [int(number) for number in re.findall(r"piece (\d+);", text)]
    assert pieces == list(range(1, len(pieces) + 1))
    assert len(pieces) >= due, f"of {due} pieces, {len(pieces)} are there"

    asks = {e.title: e.decision for e in entries if isinstance(e, Ask)}
    assert {title for title, found in asks.items() if found and found.by == "you"} >= answered
    assert asks["rm"] is not None
    assert asks["rm"].by == SERVER_GONE
    assert asks["rm"].option is None
    assert stored.transcript.open_asks() == []
    assert all(not e.is_open for e in entries if isinstance(e, ToolCall))
    assert [e.reason for e in entries if isinstance(e, TurnEnd)] == ["failed"]
    assert any(isinstance(e, Notice) and "and then this" in e.text for e in entries)
    rows = {row.title: row.by for row in decisions(path, 1000)}
    assert {title for title, by in rows.items() if by == "you"} >= answered
    assert rows["rm"] == SERVER_GONE
    assert dead_servers(path.parent / "servers") == []


def test_a_decision_outlives_the_server_also_when_the_database_was_locked(tmp_path: Path) -> None:
    from agentls.storage.database import connect

    path = tmp_path / "agentls.db"
    connection = connect(path)
    connection.execute("BEGIN IMMEDIATE")
    lines, _ = lines_until_killed(path, 3)
    connection.execute("ROLLBACK")
    connection.close()
    answered = {f"run {call}" for kind, call, _ in lines if kind == "answered"}
    with desk(path) as one:
        one.store.sessions.recover()
        entries = one.store.sessions.load(ID).transcript.entries
    by = {e.title: e.decision.by for e in entries if isinstance(e, Ask) and e.decision}
    assert {title for title, who in by.items() if who == "you"} >= answered
    assert [entry.id for entry in entries] == [f"e{n}" for n in range(1, len(entries) + 1)]
    assert any(isinstance(e, Notice) and "lost" in e.text for e in entries)


def test_what_lives_in_another_server_is_shown_so_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "agentls.db"
    with server(path) as other, desk(path) as one:
        assert other.stdout is not None
        while not other.stdout.readline().startswith("stored"):
            pass
        mine = one.session("mine")
        one.flush()
        places = {s.id: s.place for s in one.store.sessions.summaries()}
        assert places == {"s1": Place.ELSEWHERE, "mine": Place.HERE}
        here = one.store.sessions.summaries(Filter(places=(Place.HERE,)))
        assert [s.id for s in here] == ["mine"]
        assert one.store.sessions.recover() == []
        for refused in (one.store.sessions.claim, one.store.sessions.delete):
            with pytest.raises(SessionNotReady, match="another window"):
                refused(ID)
            with pytest.raises(SessionNotReady):
                refused(mine.id)
        other.kill()
        other.wait(timeout=10)
        assert one.store.sessions.claim(ID).transcript.open_asks() == []
        assert one.store.sessions.get(ID).place is Place.HERE


def test_only_one_of_two_servers_gets_a_past_session(tmp_path: Path) -> None:
    path = tmp_path / "agentls.db"
    with desk(path) as past:
        past.session().deliver(said("hello"))
    with desk(path) as one, desk(path) as two:
        one.store.sessions.claim(ID)
        with pytest.raises(SessionNotReady, match="another window"):
            two.store.sessions.claim(ID)
    with desk(path) as three:
        assert three.store.sessions.get(ID).place is Place.PAST
        assert not three.store.sessions.get(ID).died


def test_a_session_that_another_server_took_meanwhile_is_not_closed(tmp_path: Path) -> None:
    from agentls.storage import recovery
    from agentls.storage.database import connect

    with desk(tmp_path / "agentls.db") as one:
        session = one.session()
        session.deliver(said("it goes on"))
        one.flush()
        connection = connect(one.path)
        recovery._close(connection, 1, session.id, "the server that died before")
        connection.close()
        assert one.store.sessions.get(session.id).state is State.STARTING
        assert one.store.sessions.get(session.id).place is Place.HERE


WRITER = """
import sys
from pathlib import Path
from agentls.core import events as ev
from agentls.core.model import Level
from fakes.stored import Desk
desk = Desk(Path(sys.argv[1]))
session = desk.session(sys.argv[2])
for number in range(int(sys.argv[3])):
    session.deliver(ev.NoticeShown(Level.INFO, f"{sys.argv[2]} {number}"))
    desk.flush()
desk.store.close()
sys.exit(str(desk.problems) if desk.problems else 0)
"""


def test_two_servers_write_ten_thousand_times_and_nothing_is_lost(tmp_path: Path) -> None:
    path, each = tmp_path / "agentls.db", 5_000
    names = ("one", "two")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(each)], env=ENVIRONMENT
        )
        for name in names
    ]
    assert [writer.wait(timeout=55) for writer in writers] == [0, 0]
    sessions = Desk(path).store.sessions
    for name in names:
        entries = sessions.load(SessionId(name)).transcript.entries
        found = [e.text for e in entries if isinstance(e, Notice)]
        assert found == [f"{name} {number}" for number in range(each)]
