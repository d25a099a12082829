"""`agentls completion`: what the scripts offer, asked of a real shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentls.cli import COMMANDS, main
from agentls.cli.completion import grammar


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def offered(script: str, tmp_path: Path, *words: str) -> list[str]:
    """What bash would offer after these words, the last of which is being typed."""
    (tmp_path / "agentls").write_text("#!/bin/sh\nprintf 'claude  Claude\\ndemo  Demo\\n'\n")
    (tmp_path / "agentls").chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in ("agentls", *words))
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _agentls\n"
    done = subprocess.run(
        ["bash", "--norc", "-s"],
        input=f"{script}\n{ask}printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["re"], ["record", "replay"]),
        (["sessions", "ex"], ["export"]),
        (["sessions", "list", "--pro"], ["--project"]),
        (["run", "--answer", ""], ["ask", "allow", "reject"]),
        (["run", "--answer", "al"], ["allow"]),
        (["run", "--agent", "cl"], ["claude"]),
        (["sessions", "list", "-a", ""], ["claude", "demo"]),
        (["doctor", "de"], ["demo"]),
        (["completion", "f"], ["fish"]),
        (["rules", "add", "--verdict", "d"], ["deny"]),
        (["run", "--cwd", "x"], []),
        (["nonsense", "x"], []),
    ],
)
def test_bash_offers_what_may_come_next(
    words: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert offered(script("bash", capsys), tmp_path, *words) == expected


def test_every_command_is_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {*COMMANDS, "--help", "--version"} == set(offered(script("bash", capsys), tmp_path, ""))


def test_every_option_of_every_parser_is_in_every_script(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scripts = {shell: script(shell, capsys) for shell in ("bash", "zsh", "fish")}
    known = list(grammar())
    assert {words.after[0] for words in known if words.after} >= {"run", "sessions", "rules"}
    for words in known:
        for option in words.options:
            assert option in scripts["bash"]
            assert option in scripts["zsh"]
            dashes = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            assert dashes in scripts["fish"]


def test_every_command_says_what_it_is_for() -> None:
    top = next(grammar())
    assert all(top.actions.values()), top.actions
