"""Programs that write, and the links that make another file of what they name."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import Ruling, Subject, Verdict
from agentls.storage.paths import resolve
from agentls.storage.rules import RuleBook

PROGRAMS = ("cp", "tee", "touch", "mv", "rm", "mkdir", "sed", "ls", "cat", "git status", "dd")


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = Path(os.path.realpath(tmp_path_factory.mktemp("r")))  # short, to be shown as a whole
    root = base / "project"
    for folder in ("project/src", "project/.git/hooks", "project/.github", "outside"):
        (base / folder).mkdir(parents=True)
    (root / "out").symlink_to("../outside")
    (root / "hooks").symlink_to(".git/hooks")
    (root / "flows").symlink_to(".github")
    (root / "file").symlink_to("../outside/file")
    (root / "new").symlink_to("../outside/not there yet")
    (root / "near").symlink_to("src")
    (root / "src/up").symlink_to("../hooks")
    (root / "loop").symlink_to("loop")
    return root


def ruling(root: Path, command: str | tuple[str, ...], **how: Mode | Rule) -> Ruling:
    book = RuleBook(root.parent / "config", (str(root),))
    for words in PROGRAMS:
        book.add(Rule(verdict=Verdict.ALLOW, command=words), "user")
    policy = SessionPolicy("x", str(root), book=book, resolve=resolve)
    policy.mode = Mode.TRUST if how else Mode.ASK
    return policy.ruling(Subject(kind="execute", command=command, cwd=str(root)))


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("cp src/a out/b", "outside/b"),
        ("cp out/secret src/a", "outside/secret"),
        ("cp src/a hooks/pre-commit", ".git/hooks/pre-commit"),
        ("cp src/a src/up/pre-commit", ".git/hooks/pre-commit"),
        ("cp src/a near/up/pre-commit", ".git/hooks/pre-commit"),
        ("cp -t hooks src/a", ".git/hooks"),
        ("cp -thooks src/a", ".git/hooks"),
        ("cp --target-directory=hooks src/a", ".git/hooks"),
        ("dd if=src/a of=file", "outside/file"),
        ("tee file", "outside/file"),
        ("touch new", "outside/not there yet"),
        ("touch flows/x.yml", ".github/x.yml"),
        ("ls | tee src/a file", "outside/file"),
        ("cat src/a && rm out/x", "outside/x"),
        ("cd src && touch up/x", ".git/hooks/x"),
        ("touch loop", "cannot be judged"),
        (("cp", "src/a", "hooks/x"), ".git/hooks/x"),
        (("/bin/sh", "-c", "cp src/a hooks/x"), ".git/hooks/x"),
    ],
)
def test_a_writer_that_goes_through_a_link_is_asked(
    root: Path, command: str | tuple[str, ...], place: str
) -> None:
    found = ruling(root, command)
    assert found.verdict is Verdict.ASK
    assert re.search(rf"leads to .*{re.escape(place)}$", found.why)


@pytest.mark.parametrize(
    "command",
    [
        "cp src/a src/b",
        "cp src/a near/b",
        "mkdir -p src/new/deeper",
        "touch ./*.txt",
        "sed -n 's/a/b/p' src/a",
        "ls out",
        "cat file",
        "cd near && touch x",
        "ls && git status",
    ],
)
def test_what_stays_in_the_project_and_what_only_reads_is_not(root: Path, command: str) -> None:
    found = ruling(root, command)
    assert found.verdict is Verdict.ALLOW, found.why


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("cat src/a > file", "outside/file"),
        ("cat src/a >> hooks/x", ".git/hooks/x"),
        ("cat src/a > src/up/x", ".git/hooks/x"),
        ("cd out && ls", "outside"),
        ("cd hooks && git status", ".git"),
    ],
)
def test_redirections_and_folders_are_judged_by_where_they_lead(
    root: Path, command: str, part: str
) -> None:
    found = ruling(root, command)
    assert found.verdict is Verdict.ASK
    assert part in found.why


def test_who_trusts_all_commands_is_not_asked_about_their_arguments(root: Path) -> None:
    assert ruling(root, "cp src/a out/b", mode=Mode.TRUST).verdict is Verdict.ALLOW
