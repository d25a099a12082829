"""Every decision is a row that a person can read; the file is theirs alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from agentls.core import events as ev
from agentls.core.model import AskId, Decision, Option, ToolCallId
from agentls.storage.audit import decisions
from agentls.storage.database import connect
from fakes.stored import desk

ALLOW = Option("once", "Allow", "allow_once")


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


def test_what_a_person_and_what_a_rule_decided_are_rows_and_an_open_ask_is_none(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state" / "agentls.db"
    allowed = Decision(option=ALLOW, by="you", remembered="`echo`")
    with desk(path) as one:
        session = one.session()
        session.deliver(opened(1))
        session.deliver(ev.AskSettled(AskId("a1"), allowed))
        session.deliver(opened(2, Decision(option=None, by="a rule")))
        session.deliver(opened(3))
        one.flush()
        newest, oldest = decisions(path, 10)
    assert (oldest.allowed, oldest.by, oldest.shown) == (True, "you", "echo 1")
    assert (oldest.kind, oldest.remembered) == ("allow_once", "`echo`")
    assert (newest.allowed, newest.by, newest.option) == (False, "a rule", None)


def test_where_nothing_was_ever_decided_there_are_no_rows(tmp_path: Path) -> None:
    assert list(decisions(tmp_path / "agentls.db", 10)) == []


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    connect(tmp_path / "new" / "agentls.db").close()
    assert (tmp_path / "new" / "agentls.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


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
