"""`agentls rules` on the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentls.cli.rules import command

RULES = """\
[[rule]]
verdict = "allow"
command = "git status"

[[rule]]
verdict = "deny"
path = "private/**"
"""


class Shell:
    """Runs our command in a project, with a configuration of its own."""

    def __init__(self, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.config = base / "config" / "agentls"
        self.root = base / "project"
        self.root.mkdir(parents=True)
        self._capsys = capsys
        self.errors = ""

    def __call__(self, *args: str, code: int = 0) -> str:
        assert command(args) == code
        found = self._capsys.readouterr()
        self.errors = found.err
        return found.out

    def explain(self, *args: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("explain", "--json", *args))
        return found

    def write_rules(self, text: str = RULES) -> Path:
        self.config.mkdir(parents=True, exist_ok=True)
        file = self.config / "rules.toml"
        file.write_text(text)
        return file


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    base = Path(os.path.realpath(tmp_path))
    shell = Shell(base, capsys)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(base / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
    monkeypatch.setenv("HOME", str(base / "home"))
    monkeypatch.chdir(shell.root)
    return shell


# --- list, add, remove


def test_without_rules_the_list_says_how_to_add_one(shell: Shell) -> None:
    assert "agentls rules add --command" in shell("list")


def test_the_list_shows_every_rule_and_where_it_is_written(shell: Shell) -> None:
    file = shell.write_rules()
    assert shell("list").splitlines() == [
        f"1  allow  git status       user  {file}:1",
        f"2  deny   path private/**  user  {file}:5",
    ]


def test_the_list_as_json_has_everything(shell: Shell) -> None:
    file = shell.write_rules(RULES + '[[rule]]\nverdict = "allow"\n')
    found = json.loads(shell("list", "--json"))
    assert found["rules"][0] == {
        "number": 1,
        "verdict": "allow",
        "command": "git status",
        "scope": "user",
        "source": str(file),
        "line": 1,
    }
    assert len(found["rules"]) == 2
    assert found["problems"][0].startswith(f"{file}:8:1: ")


def test_problems_are_said_beside_the_list(shell: Shell) -> None:
    shell.write_rules("[[rule]]\nverdict = allow\n")
    shell("list")
    assert "rules.toml:2:11: correct the TOML here" in shell.errors


def test_a_rule_that_is_written_once_is_listed_once(shell: Shell, tmp_path: Path) -> None:
    (shell.root / "private").symlink_to(tmp_path)
    shell.write_rules()
    assert len(shell("list").splitlines()) == 2


def test_a_rule_is_added_and_removed_by_what_it_says(shell: Shell) -> None:
    added = shell("add", "--command", "git status", "--agent", "claude")
    assert added.startswith("allow git status, agent claude\n")
    shell("add", "--verdict", "deny", "--path", "private/**", "--kind", "edit")
    assert len(shell("list").splitlines()) == 2
    shell("remove", "--command", "git status", code=2)
    assert "no such rule" in shell.errors
    assert shell("remove", "--command", "git status", "--agent", "claude").startswith("removed: ")
    shell("remove", "--path", "private/**", "--kind", "edit")
    assert "There are no rules" in shell("list")


def test_a_rule_is_removed_by_its_number(shell: Shell) -> None:
    shell.write_rules()
    assert shell("remove", "2") == "removed: deny path private/**\n"
    assert "private" not in shell("list")
    for number in ("2", "0", "-1"):
        assert shell("remove", "--", number, code=2) == ""
        assert "no such rule" in shell.errors


def test_of_several_rules_that_say_the_same_the_number_has_to_be_named(shell: Shell) -> None:
    shell("add", "--command", "ls")
    shell("add", "--command", "ls", "--verdict", "ask")
    shell("remove", "--command", "ls", code=2)
    assert "The rules 1, 2 say that." in shell.errors
    shell("remove", "--command", "ls", "--verdict", "ask")
    assert shell("list").startswith("1  allow  ls")


def test_a_rule_for_a_project_is_for_that_project(shell: Shell) -> None:
    shell("add", "--project", ".", "--command", "make")
    assert "project" in shell("list")
    assert list(shell.root.iterdir()) == []
    assert shell.explain("make")["verdict"] == "allow"
    assert shell.explain("--root", "/", "make")["verdict"] == "ask"
    shell("remove", "--project", ".", "--command", "make")
    assert shell.explain("make")["verdict"] == "ask"


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["add"], "too wide"),
        (["add", "--agent", "claude"], "too wide"),
        (["add", "--command", "a && b"], "simple command"),
        (["add", "--command", "ls", "--project", "nowhere"], "There is no folder nowhere."),
        (["list", "--root", "nowhere"], "There is no folder nowhere."),
        (["remove"], "by its number or by what it says"),
        (["remove", "1", "--command", "x"], "by its number or by what it says"),
        (["explain"], "Name a command"),
        (["explain", "--jsonl", "ls"], "Name a command"),
        (["explain", "--rules", "nowhere", "ls"], "There is no file nowhere."),
        (["explain", "--root", "nowhere", "ls"], "There is no folder nowhere."),
    ],
)
def test_a_mistake_is_said_in_a_sentence(shell: Shell, args: list[str], part: str) -> None:
    assert shell(*args, code=2) == ""
    assert shell.errors.startswith("agentls: ")
    assert part in shell.errors
    assert len(shell.errors.splitlines()) == 1


# --- explain


def test_explain_says_which_rule_decides_and_why(shell: Shell) -> None:
    file = shell.write_rules()
    assert shell("explain", "git", "status", "--short") == (
        f"allow: allowed by the rule `git status` (user rules, line 1)\n  {file}:1\n"
    )
    assert shell("explain", "rm x") == "ask: asked: no rule allows `rm x`\n"


def test_explain_as_json_names_the_rule(shell: Shell) -> None:
    file = shell.write_rules()
    found = shell.explain("git status")
    assert found["verdict"] == "allow"
    assert (found["rule"]["command"], found["rule"]["line"]) == ("git status", 1)
    assert found["rule"]["source"] == str(file)
    assert shell.explain("git push") == {
        "verdict": "ask",
        "rule": None,
        "why": "asked: no rule allows `git push`",
    }


def test_explain_takes_one_word_as_a_shell_line_and_more_as_arguments(shell: Shell) -> None:
    shell.write_rules()
    assert shell.explain("git status && rm x")["verdict"] == "ask"
    assert shell.explain("git", "status", "&& rm x")["verdict"] == "allow"


def test_explain_with_a_file_of_rules_leaves_your_own_out(shell: Shell, tmp_path: Path) -> None:
    shell.write_rules()
    file = tmp_path / "other.toml"
    file.write_text('[[rule]]\nverdict = "allow"\ncommand = "ls"\n')
    (shell.root / ".agentls").mkdir()
    (shell.root / ".agentls" / "rules.toml").write_text(
        '[[rule]]\nverdict = "deny"\ncommand = "ls -R"\n'
    )
    assert shell.explain("--rules", str(file), "ls")["verdict"] == "allow"
    assert shell.explain("--rules", str(file), "git status")["verdict"] == "ask"
    assert shell.explain("--rules", str(file), "ls -R")["verdict"] == "deny"


def test_explain_with_a_broken_file_says_so_and_allows_nothing(shell: Shell) -> None:
    shell.write_rules(RULES + "[[rule]\n")
    assert shell.explain("git status")["verdict"] == "ask"
    assert "correct the TOML" in shell.errors


def test_explain_asks_as_the_agent_that_is_named(shell: Shell) -> None:
    shell.write_rules('[[rule]]\nverdict = "allow"\ncommand = "ls"\nagent = "claude"\n')
    assert shell.explain("ls")["verdict"] == "ask"
    assert shell.explain("--agent", "claude", "ls")["verdict"] == "allow"


def answers(shell: Shell, monkeypatch: pytest.MonkeyPatch, *lines: bytes) -> list[dict[str, Any]]:
    stdin = io.TextIOWrapper(io.BytesIO(b"\n".join(lines)))
    monkeypatch.setattr(sys, "stdin", stdin)
    found = shell("explain", "--jsonl", "--root", str(shell.root)).splitlines()
    assert len(found) == len(lines)
    return [json.loads(line) for line in found]


def test_lines_of_json_are_answered_line_by_line(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write_rules()
    (shell.root / "src").mkdir()
    (shell.root / "out").symlink_to("/")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"command": "git status"}, "allow"),
        ({"command": ["git", "status"]}, "allow"),
        ({"command": "git status; rm x"}, "ask"),
        ({"command": []}, "ask"),
        ({"command": "git status", "cwd": "src"}, "allow"),
        ({"command": "git status", "cwd": "/"}, "ask"),
        ({"op": "read", "path": "src/x.py"}, "allow"),
        ({"op": "read", "path": f"{shell.root}/x"}, "allow"),
        ({"op": "read", "path": "x", "cwd": "src"}, "allow"),
        ({"op": "read", "path": "/etc/passwd"}, "ask"),
        ({"op": "read", "path": "out/etc/passwd"}, "ask"),
        ({"op": "read", "path": "../x"}, "ask"),
        ({"op": "read", "path": ".env"}, "ask"),
        ({"op": "write", "path": "x"}, "ask"),
        ({"op": "write", "path": "private/x"}, "deny"),
        ({"op": "read", "path": "private/x", "kind": "search"}, "deny"),
        ({"op": "write", "path": "a\0b"}, "ask"),
        ({"op": "write", "path": "/proc/self/cwd/x"}, "ask"),
        ({"kind": "think"}, "allow"),
        ({"host": "example.org"}, "ask"),
        ({"tool": "mcp__x", "note": "other keys are nobody's business"}, "ask"),
    ]
    lines = [json.dumps(case).encode() for case, _ in cases]
    found = answers(shell, monkeypatch, *lines)
    for (case, expected), answer in zip(cases, found, strict=True):
        assert answer["verdict"] == expected, case
        assert set(answer) == {"verdict", "rule", "why"}
        assert answer["why"]


def test_a_malformed_line_is_asked_about_and_the_next_is_answered(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write_rules()
    bad = [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"git status"',
        b"{}",
        b'{"command": 5}',
        b'{"command": ["git", 5]}',
        b'{"command": null}',
        b'{"command": "git status", "op": "read", "path": "x"}',
        b'{"command": "git status", "agent": 5}',
        b'{"op": "read"}',
        b'{"path": "x"}',
        b'{"op": "delete", "path": "x"}',
        b'{"op": "read", "path": ["x"]}',
        b'{"op": "read", "path": ""}',
        b"\xff\xfe",
        b'{"command": "\\ud800"}',
        b'{"x": ' + b"[" * 100_000,
    ]
    *found, last = answers(shell, monkeypatch, *bad, b'{"command": "git status"}')
    for line, answer in zip(bad, found, strict=True):
        assert (answer["verdict"], answer["rule"]) == ("ask", None), line
        assert answer["why"].startswith("asked: ")
    assert last["verdict"] == "allow"


def test_answers_come_at_once_and_not_at_the_end(shell: Shell) -> None:
    shell.write_rules()
    program = "import sys; from agentls.cli.rules import command; sys.exit(command(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", program, "explain", "--jsonl", "--root", str(shell.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write(b'{"command": "git status"}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == "allow"
        process.stdin.close()
        assert process.wait(20) == 0


def test_explain_decides_as_a_live_ask_would(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.write_rules(RULES + '[[rule]]\nverdict = "allow"\ncommand = "cp"\n')
    (shell.root / ".hidden").mkdir()
    (shell.root / "out").symlink_to("..")
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"command": "git status", "cwd": ".hidden"}, "ask", "hidden folder"),
        ({"command": "git status", "cwd": "out"}, "ask", "outside"),
        ({"command": "cp a b"}, "allow", "`cp`"),
        ({"command": "cp a out/b"}, "ask", "leads to"),
    ]
    found = answers(shell, monkeypatch, *(json.dumps(case).encode() for case, _, _ in cases))
    for (case, verdict, part), answer in zip(cases, found, strict=True):
        assert answer["verdict"] == verdict, case
        assert part in answer["why"]


def test_explain_takes_a_tool_call_as_an_agent_sends_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write_rules()

    def run(**given: Any) -> dict[str, Any]:
        return {"toolCallId": "1", "kind": "execute", "rawInput": given}

    read = {"kind": "read", "rawInput": {"path": "a"}}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"toolCall": run(command="git status")}, "allow", "`git status`"),
        ({"toolCall": run(command="git status", env={"A": "b"})}, "ask", "env"),
        ({"toolCall": {"kind": "execute", "title": "git status"}}, "ask", "title"),
        ({"toolCall": read}, "allow", "only reads"),
        ({"toolCall": {**read, "locations": [{"path": "/etc/x"}]}}, "ask", "outside"),
        ({"toolCall": {"kind": "edit", "rawInput": {"path": "private/x"}}}, "deny", "private"),
        (
            {"toolCall": run(command="git status"), "before": run(command="git s", cwd="/")},
            "ask",
            "it runs in /",
        ),
        ({"toolCall": {}}, "ask", "other"),
        ({"toolCall": 5}, "ask", "cannot be read"),
        ({"toolCall": read, "command": "git status"}, "ask", "either"),
    ]
    found = answers(shell, monkeypatch, *(json.dumps(case).encode() for case, _, _ in cases))
    for (case, verdict, part), answer in zip(cases, found, strict=True):
        assert answer["verdict"] == verdict, case
        assert part in answer["why"], case
