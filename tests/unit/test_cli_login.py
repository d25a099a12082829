"""`agentls login`, and the dialects in which agents offer a login."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentls.agent.login_methods import login_methods
from agentls.cli import main
from agentls.core.logins import shown_command
from agentls.core.model import AuthMethod

AGENT = Path(__file__).parent.parent / "fakes" / "login_agent.py"
COMMAND = ("agent", "--acp")


# -- dialects


@pytest.mark.parametrize(
    ("raw", "command", "env", "foreign"),
    [
        (
            {"type": "terminal", "args": ["--login"], "env": {"A": "1"}},
            (*COMMAND, "--login"),
            {"A": "1"},
            False,
        ),
        ({"type": "terminal"}, COMMAND, {}, False),
        (
            {"_meta": {"terminal-auth": {"command": "other", "args": ["in"], "env": {"B": "2"}}}},
            ("other", "in"),
            {"B": "2"},
            True,
        ),
        (
            {
                "_meta": {
                    "type": "terminal",
                    "args": ["--auth"],
                    "env": [{"name": "C", "value": "3"}],
                }
            },
            (*COMMAND, "--auth"),
            {"C": "3"},
            False,
        ),
    ],
)
def test_a_login_in_a_terminal_is_known_in_each_dialect(
    raw: dict[str, Any], command: tuple[str, ...], env: dict[str, str], foreign: bool
) -> None:
    (method,) = login_methods([{"id": "x", "name": "X", **raw}], COMMAND)
    assert method == AuthMethod(
        id="x", name="X", kind="terminal", command=command, env=env, foreign=foreign
    )


def test_other_ways_name_no_program() -> None:
    raw = [
        {"id": "a", "name": "A", "_meta": {"api-key": {"provider": "x"}}},
        {
            "id": "v",
            "type": "env_var",
            "vars": [{"name": "KEY"}, 7, {}],
            "link": "https://x.example",
        },
        {"id": "n", "type": "new_kind", "args": ["x"]},
    ]
    agent, variables, new = login_methods(raw, COMMAND)
    assert (agent.kind, agent.command) == ("agent", ())
    assert (variables.kind, variables.variables) == ("env_var", ("KEY",))
    assert (new.kind, new.command) == ("new_kind", ())


@pytest.mark.parametrize("raw", [None, 7, {}, [7, {}, None, []]])
def test_nonsense_offers_no_login(raw: Any) -> None:
    assert login_methods(raw, COMMAND) == ()


def test_what_would_stop_a_process_from_starting_is_left_out() -> None:
    raw = {"id": "x", "type": "terminal", "args": ["a\0", 7, "b"], "env": {"": "1", "A=B": "1"}}
    (method,) = login_methods([raw], COMMAND)
    assert (method.command, method.env) == ((*COMMAND, "b"), {})


def test_a_command_is_shown_with_all_that_is_set_for_it() -> None:
    method = AuthMethod(id="x", name="X", command=("a b", "c"), env={"KEY": "two words"})
    assert shown_command(method) == "KEY='two words' 'a b' c"


# -- the command


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that makes the agent `guarded` logged in."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "token"
    words = json.dumps([sys.executable, str(AGENT), str(file), "new"])
    (tmp_path / "config/agentls").mkdir(parents=True)
    (tmp_path / "config/agentls/agents.toml").write_text(f"[agents.guarded]\ncommand = {words}\n")
    return file


def test_the_ways_to_log_in_are_listed(token: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "guarded", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:3] for line in lines] == [
        ["browser", "(agent)"],
        ["term", "(terminal)"],
        ["key", "(env_var)"],
    ]
    assert not token.exists()


@pytest.mark.parametrize(
    ("typed", "code", "words"), [("ada\n", 0, "You are logged in"), ("bad\n", 1, "exit code 3")]
)
def test_a_login_program_is_shown_run_here_and_its_success_is_checked(
    token: Path, typed: str, code: int, words: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentls", "login", "guarded", "--method", "term", "--yes"],
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert f"{token} new --login\n" in done.stdout
    assert words in done.stdout + done.stderr
    assert token.exists() == (code == 0)


def test_a_program_is_not_run_where_nobody_can_see_it(token: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentls", "login", "guarded", "-m", "term"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "Add --yes to run it." in done.stderr
    assert not token.exists()


def test_variables_are_for_a_person_to_set(token: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "guarded", "--method", "key"]) == 1
    assert "Agent" not in capsys.readouterr().err
    assert not token.exists()


def test_an_agent_that_is_still_refused_is_not_said_to_be_logged_in(
    token: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # What it remembers of the login ends with its process.
    assert main(["login", "guarded", "--method", "browser"]) == 1
    assert "still wants a login" in capsys.readouterr().err
    assert not token.exists()


def test_mistakes_are_told(token: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "guarded", "--method", "magic"]) == 2
    assert "Name one with --method: browser, term, key." in capsys.readouterr().err
    assert main(["login", "demo"]) == 1
    assert "offers no way to log in" in capsys.readouterr().out
    assert main(["login", "nobody"]) == 1
    assert not token.exists()
