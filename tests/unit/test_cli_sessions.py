"""`agentls sessions` on a real store."""

from __future__ import annotations

import argparse
import json
import os
import pty
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentls.cli import main
from agentls.cli.session_words import moment
from agentls.core import events as ev
from agentls.core.family.spawn import Spawn
from agentls.core.model import SessionId
from agentls.storage.paths import database_file
from fakes.stored import Desk, ask, call, close, desk, said, turn

NOW = time.time()


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def work() -> Iterator[Desk]:
    """A server that is alive while the command line looks at what it stores."""
    path = database_file(os.environ)
    path.parent.mkdir(parents=True)
    with desk(path, NOW - 3600) as found:
        yield found


def past(work: Desk, id: str, words: str, agent: str = "demo", cwd: str = "/project") -> None:
    session = work.session(id, agent, cwd)
    session.deliver(ev.TitleChanged(f"About {words}"))
    session.deliver(turn(1, f"Tell me of {words}"))
    session.deliver(said(f"There is much to say about {words}.\n\x1b[31mRed"))
    session.deliver(call("c1", title="Run make", kind="execute", status="completed"))
    session.deliver(ask("a1"))
    session.deliver(ev.TurnEnded(1, "end_turn"))
    close(session)
    work.clock.advance(60)
    work.indexed()


def told(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert main(["sessions", *args]) == code
    out = capsys.readouterr()
    return out.err if code else out.out


def listed(capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    return [s["id"] for s in json.loads(told(capsys, "list", "--json", *args))]


def test_without_a_store_there_are_no_sessions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert told(capsys) == "There are no such sessions.\n"
    assert told(capsys, "search", "x") == "Nothing was found.\n"
    assert "There is no stored session 'abc'" in told(capsys, "show", "abc", code=2)
    assert not (tmp_path / "state").exists(), "looking leaves nothing behind"


def test_sessions_are_listed_newest_first_a_line_each(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "first", "apples")
    past(work, "second", "pears", "claude", "/other")
    rows = [line.split("\t") for line in told(capsys).splitlines()]
    assert [(r[0], r[1], r[2], r[4], r[5]) for r in rows] == [
        ("second", "claude", "ended", "About pears", "/other"),
        ("first", "demo", "ended", "About apples", "/project"),
    ]


def test_a_session_that_is_open_in_a_server_is_shown_with_its_state(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "over", "apples")
    work.session("open")
    work.flush()
    (row,) = (line for line in told(capsys).splitlines() if line.startswith("open"))
    assert row.split("\t")[2] == "starting"
    assert listed(capsys, "--live") == ["open"]
    assert listed(capsys, "--past") == ["over"]


def test_every_filter_filters(work: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    past(work, "first", "apples", cwd="/project/sub")
    past(work, "second", "pears", "claude", "/other")
    assert listed(capsys) == ["second", "first"]
    assert listed(capsys, "--agent", "claude") == ["second"]
    assert listed(capsys, "--project", "/project") == ["first"]
    assert listed(capsys, "--title", "APPLES") == ["first"]
    assert listed(capsys, "--limit", "1") == ["second"]
    assert listed(capsys, "--since", "30m") == []
    assert listed(capsys, "--since", "2h") == ["second", "first"]
    assert listed(capsys, "--until", "2h") == []


def test_words_are_found_with_the_place_they_are_at(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "first", "apples")
    past(work, "second", "pears")
    hits: list[dict[str, Any]] = json.loads(told(capsys, "search", "--json", "much", "apples"))
    assert [(hit["session"], hit["kind"]) for hit in hits] == [("first", "message")]
    text = told(capsys, "search", "apples", "--limit", "1")
    assert text.startswith("first  ")
    assert "apples" in text.splitlines()[1]
    assert "\x1b[31m" not in told(capsys, "search", "Red")


def test_a_session_is_shown_as_markdown_from_its_end(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "first", "apples")
    text = told(capsys, "show", "fir")
    assert text.startswith("About apples\nfirst  demo  ended")
    assert "There is much to say about apples." in text
    assert "\x1b" not in text
    short = told(capsys, "show", "first", "--last", "1")
    assert "earlier pieces are left out" in short
    assert "There is much" not in short
    found = json.loads(told(capsys, "show", "first", "--json"))
    kinds = [entry["type"] for entry in found["shown"]]
    assert kinds == ["message", "message", "tool_call", "ask", "turn_end"]
    assert found["shown"][0]["text"] == "Tell me of apples"


def test_an_id_may_be_shortened_as_long_as_it_is_clear(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "abcd", "apples")
    past(work, "abce", "pears")
    assert "Several sessions begin with 'abc'" in told(capsys, "show", "abc", code=2)
    assert "There is no stored session 'xyz'" in told(capsys, "show", "xyz", code=2)
    assert "There is no stored session 'ab'" in told(capsys, "show", "ab", code=2)


def test_what_is_exported_can_be_taken_in_again(
    work: Desk, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    past(work, "first", "apples")
    file = tmp_path / "talk.json"
    assert main(["sessions", "export", "first", "-o", str(file)]) == 0
    assert main(["sessions", "export", "first", "-o", str(file)]) == 2, "it exists already"
    capfdbinary.readouterr()
    assert main(["sessions", "export", "first"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"# About apples\n")
    assert main(["sessions", "export", "--json", "first"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == json.loads(file.read_bytes())
    assert main(["sessions", "delete", "--yes", "first"]) == 0
    capfdbinary.readouterr()
    assert main(["sessions", "import", str(file)]) == 0
    assert capfdbinary.readouterr().out == b"first\n"
    assert main(["sessions", "import", str(tmp_path / "none")]) == 2


def test_an_archived_session_is_out_of_the_list_and_comes_back(
    work: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    past(work, "first", "apples")
    assert told(capsys, "archive", "first") == "archived: first  About apples\n"
    assert listed(capsys) == []
    assert listed(capsys, "--all") == ["first"]
    assert listed(capsys, "--archived") == ["first"]
    told(capsys, "archive", "--undo", "first")
    assert listed(capsys) == ["first"]


def test_nothing_is_deleted_without_a_yes_nor_while_it_lives(
    work: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    past(work, "first", "apples")
    work.session("open")
    work.flush()
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        assert "Add --yes" in told(capsys, "delete", "first", code=2)
    assert "open in another window" in told(capsys, "delete", "--yes", "open", code=2)
    assert set(listed(capsys)) == {"first", "open"}
    assert told(capsys, "delete", "-y", "first") == "deleted: first  About apples\n"
    assert listed(capsys) == ["open"]


@pytest.mark.parametrize(("answer", "left"), [("n\n", ["first"]), ("\n", ["first"]), ("y\n", [])])
def test_a_person_is_asked_before_a_session_is_deleted(
    answer: str,
    left: list[str],
    work: Desk,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    past(work, "first", "apples")
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        told(capsys, "delete", "first")
    os.close(ours)
    assert listed(capsys) == left


def test_a_past_session_goes_on_with_its_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTLS_DEMO_DELAY", "0")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--agent", "demo", "/help"]) == 0
    capsys.readouterr()
    (id,) = listed(capsys)
    assert main(["sessions", "resume", id[:5], "/help", "--answer", "reject"]) == 0
    capsys.readouterr()
    (found,) = json.loads(told(capsys, "list", "--json"))
    assert (found["id"], found["turns"], found["place"]) == (id, 2, "past")
    assert "wants the id of a session" in told(capsys, "resume", code=2)
    assert "There is no stored session 'nobody'" in told(capsys, "resume", "nobody", code=2)


@pytest.mark.parametrize(
    ("text", "ago"), [("30m", 1800), ("2h", 7200), ("3d", 259200), ("1w", 604800)]
)
def test_a_moment_can_be_told_by_how_long_ago_it_was(text: str, ago: int) -> None:
    before = time.time() - ago
    assert before <= moment(text) <= time.time() - ago


@pytest.mark.parametrize("text", ["", "yesterday", "3y", "-3d", "2026-13-01", "99999999d"])
def test_a_moment_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        moment(text)


def test_a_date_is_the_beginning_of_its_day_here() -> None:
    assert time.localtime(moment("2026-11-01"))[:5] == (2026, 11, 1, 0, 0)


def test_a_tree_shows_who_started_whom(work: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    def begun(id: str, above: str = "", name: str = "") -> None:
        spawn = Spawn(orchestrator=SessionId(above), name=name)
        session = work.session(id, spawn=spawn)
        session.deliver(ev.TitleChanged(f"Task of {id}"))
        close(session)
        work.clock.advance(60)

    begun("top1")
    begun("low1", "top1", "first")
    begun("deep", "low1", "deepest")
    begun("low2", "top1", "second\x1b[31m")
    begun("alone")
    work.flush()
    shown = [line.split("  (")[0] for line in told(capsys, "tree").splitlines()]
    assert shown == [
        "Task of top1",
        "├─ first: Task of low1",
        "│  └─ deepest: Task of deep",
        "└─ second: Task of low2",
    ]
    (top,) = json.loads(told(capsys, "tree", "--json"))
    assert [child["id"] for child in top["children"]] == ["low1", "low2"]
    part = told(capsys, "tree", "low1").splitlines()
    assert [line.split("  (")[0] for line in part] == [
        "first: Task of low1",
        "└─ deepest: Task of deep",
    ]
