"""Every decision is a row, also when several servers write at once and when the disk fails."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.model import AskId, Decision, Option, SessionId, ToolCallId
from agentls.core.session import Session
from agentls.storage.audit import Audit, decisions
from agentls.storage.database import connect
from fakes.core import FakeClock

ALLOW = Option("once", "Allow", "allow_once")


def session(audit: Audit) -> Session:
    return Session(
        SessionId("s1"),
        "demo",
        "/project",
        clock=FakeClock(),
        asks=Asks(),
        observers=[audit],
        cancel_grace=1,
    )


def opened(number: int, decision: Decision | None = None) -> ev.AskOpened:
    return ev.AskOpened(
        ask=AskId(f"a{number}"),
        tool_call=ToolCallId("c"),
        title=f"run {number}",
        options=(ALLOW,),
        shown=f"echo {number}",
        why="asked: no rule covers it",
        decision=decision,
    )


def test_what_a_person_and_what_a_rule_decided_are_rows(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "state" / "agentls.db")
    one = session(audit)
    one.deliver(opened(1))
    one.deliver(ev.AskSettled(AskId("a1"), Decision(option=ALLOW, by="you", remembered="`echo`")))
    one.deliver(opened(2, Decision(option=None, by="a rule")))
    audit.close()
    newest, oldest = decisions(tmp_path / "state" / "agentls.db", 10)
    assert (oldest.allowed, oldest.by, oldest.shown) == (True, "you", "echo 1")
    assert (oldest.kind, oldest.remembered) == ("allow_once", "`echo`")
    assert (newest.allowed, newest.by, newest.option) == (False, "a rule", None)


def test_an_open_ask_is_no_row_yet(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "agentls.db")
    session(audit).deliver(opened(1))
    audit.close()
    assert list(decisions(tmp_path / "agentls.db", 10)) == []


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    connect(tmp_path / "new" / "agentls.db").close()
    assert (tmp_path / "new" / "agentls.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trouble", ["corrupt", "folder"])
def test_a_database_that_cannot_be_written_holds_nobody_up(
    tmp_path: Path, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "agentls.db"
    if trouble == "corrupt":
        path.write_bytes(b"this is not a database, and long enough to be looked at" * 100)
    else:
        path.mkdir()
    audit = Audit(path)
    one = session(audit)
    for number in range(3):
        one.deliver(opened(number, Decision(option=ALLOW, by="a rule")))
    audit.close()
    assert len([r for r in caplog.records if "not written down" in r.message]) == 1


WRITER = """
import sys
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from test_audit import Audit, Decision, ALLOW, opened, session
audit = Audit(Path(sys.argv[1]))
one = session(audit)
for number in range(int(sys.argv[2])):
    one.deliver(opened(number, Decision(option=ALLOW, by="a rule")))
audit.close()
"""


def test_servers_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path, here = tmp_path / "agentls.db", Path(__file__).parent
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), "200", str(here), str(here.parent)]
        )
        for _ in range(3)
    ]
    assert [writer.wait(timeout=30) for writer in writers] == [0, 0, 0]
    assert len(list(decisions(path, 10_000))) == 600


def test_a_newer_schema_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "agentls.db"
    connection = connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    again = connect(path)
    assert again.execute("PRAGMA user_version").fetchone() == (99,)
    again.close()
    with pytest.raises(sqlite3.ProgrammingError):
        again.execute("SELECT 1")
