"""`agentls doctor`: real processes of scripted agents, what is said about them, what is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentls.cli import main
from fakes.leftovers import VARIABLE, marked, new_mark, nothing_left
from fakes.stored import until

SCENARIOS = Path(__file__).parent.parent / "scenarios"


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AGENTLS_LOG", "")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mark = new_mark()
    monkeypatch.setenv(VARIABLE, mark)
    yield
    asyncio.run(nothing_left(mark))
    assert not list(tmp_path.glob("agentls-doctor-*")), "a folder was left behind"


def write_agents(tmp_path: Path, *scenarios: str, more: str = "") -> None:
    text = more
    for name in scenarios:
        file = SCENARIOS / f"{name}.jsonl"
        assert file.exists(), file
        words = json.dumps([sys.executable, "-m", "agentls.agent.replay", str(file)])
        text += f"[agents.{name}]\ncommand = {words}\n"
    folder = tmp_path / "config/agentls"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agents.toml").write_text(text)


def examined(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", "--json", *args])
    found = json.loads(capsys.readouterr().out)
    return code, found


def test_an_agent_that_works_is_told_with_its_times_and_abilities(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, found = examined(capsys, "demo")
    (agent,) = found["agents"]
    assert (code, found["ok"], agent["ok"], agent["login"]) == (0, True, True, "fine")
    assert agent["handshake"] > 0
    assert agent["session"] >= 0
    assert {"load", "resume", "list"} <= set(agent["abilities"])
    assert (agent["problem"], agent["advice"]) == ("", "")


def test_an_agent_that_wants_a_login_is_told_with_its_ways_and_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_agents(tmp_path, "login_needed")
    code, found = examined(capsys, "login_needed")
    (agent,) = found["agents"]
    assert (code, agent["ok"], agent["login"]) == (1, False, "needed")
    assert [method["id"] for method in agent["methods"]] == ["browser"]
    assert agent["advice"] == "agentls login login_needed"
    assert agent["session"] is None


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("exits_at_start", "ended with exit code"),
        ("hangs_at_start", "did not answer initialize within 0.5 seconds"),
    ],
)
def test_an_agent_that_does_not_start_is_one_sentence_and_what_to_do(
    scenario: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_agents(tmp_path, scenario)
    code, found = examined(capsys, scenario, "--timeout", "0.5")
    (agent,) = found["agents"]
    assert (code, agent["ok"], agent["login"]) == (1, False, "")
    assert words in agent["problem"]
    assert agent["advice"]


def test_only_what_is_installed_is_started_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, found = examined(capsys)
    assert (code, [agent["name"] for agent in found["agents"]]) == (0, ["demo"])
    code, found = examined(capsys, "gemini", "demo")
    assert code == 1
    assert [(a["name"], a["ok"]) for a in found["agents"]] == [("gemini", False), ("demo", True)]
    assert found["agents"][0]["advice"] == "npm install -g @google/gemini-cli"
    assert main(["doctor", "goose"]) == 1
    assert capsys.readouterr().out.endswith("download_cli.sh | bash\n"), "no line is cut"


def test_a_mistake_in_the_users_file_is_something_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_agents(tmp_path, more="[agents.bad]\ncommand = 7\n")
    code, found = examined(capsys, "demo")
    assert (code, found["ok"], len(found["problems"])) == (1, False, 1)


def test_people_read_one_block_for_each_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_agents(tmp_path, "login_needed")
    assert main(["doctor", "login_needed", "demo"]) == 1
    text = capsys.readouterr().out
    blocks = text.split("✓ ")
    assert len(blocks) == 2
    assert blocks[0].startswith("✗ login_needed  login_needed\n")
    assert "login     needed\n              browser: Log in with a browser\n" in blocks[0]
    assert "do        agentls login login_needed\n" in blocks[0]
    assert blocks[1].startswith("demo          Demo agent ")
    assert "time      handshake " in blocks[1]


def test_an_unknown_agent_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "demi"]) == 2
    assert "There is no agent named 'demi'. Did you mean demo?" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_doctor_that_is_interrupted_leaves_nothing_running(
    number: signal.Signals, tmp_path: Path
) -> None:
    write_agents(tmp_path, "hangs_at_start")
    doctor = subprocess.Popen(
        [sys.executable, "-m", "agentls", "doctor", "hangs_at_start"], stdout=subprocess.DEVNULL
    )
    try:
        mark = os.environ[VARIABLE]
        until(
            lambda: any("agentls.agent.replay" in words for words in marked(mark).values()),
            "the agent was started",
        )
        doctor.send_signal(number)
        assert doctor.wait(20) == 128 + number
    finally:
        doctor.kill()
        doctor.wait()
