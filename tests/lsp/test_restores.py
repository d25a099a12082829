"""Going back to before a turn, and undoing that, seen as a whole: every file, and git itself."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.editor import Editor
from fakes.file_agent import Json, begin, play, started

BINARY = bytes(range(256)) * 40


def git(folder: Path, *words: str) -> bytes:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True
    ).stdout


def tree(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file of a folder but git's own, with its mode and a hash of its content."""
    found: dict[str, tuple[int, str]] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split(os.sep, maxsplit=1)[0] == ".git" or path.is_dir():
            continue
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        found[name] = (path.lstat().st_mode, hashlib.sha256(data).hexdigest())
    return found


def git_itself(folder: Path) -> tuple[bytes, ...]:
    """The index, what is stashed, all refs, and where HEAD is."""
    return (
        (folder / ".git" / "index").read_bytes(),
        git(folder, "stash", "list"),
        git(folder, "for-each-ref"),
        git(folder, "rev-parse", "HEAD"),
    )


@pytest.fixture
def project(bench: Bench) -> Path:
    """A repository with work in all its states: committed, staged, changed, new, stashed."""
    root = bench.workspace
    (root / "folder").mkdir()
    for name, data in {
        "code.py": b"def one():\n    return 1\n",
        "folder/crlf.txt": b"a\r\nb\r\nno end",
        "latin.txt": "gr\u00fc\u00dfe\n".encode("latin-1"),
        "picture.bin": BINARY,
        "gone.txt": b"to be removed by the agent\n",
        "script.sh": b"#!/bin/sh\n",
        ".gitignore": b"ignored.log\n",
        "staged.txt": b"one\n",
        "changed.txt": b"one\n",
    }.items():
        (root / name).write_bytes(data)
    (root / "link").symlink_to("code.py")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "code.py").write_text("stashed\n")
    git(root, "stash")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "changed.txt").write_text("changed, not staged\n")
    (root / "new.txt").write_text("new\n")
    (root / "ignored.log").write_text("ignored\n")
    return root


def everything(root: Path) -> list[Json]:
    """What an agent does to it by itself, in all ways."""
    texts = {
        "code.py": "def one():\n    return 11\n\n\ndef two():\n    return 2\n",
        "folder/crlf.txt": "a\r\nB\r\nno end",
        "picture.bin": "\0other bytes",
        "made/deep/file.txt": "made\n",
        "changed.txt": "changed, not staged\nand by the agent\n",
        "new.txt": "",
    }
    steps = [{"write": str(root / name), "text": text} for name, text in texts.items()]
    return [*steps, {"write": str(root / "gone.txt")}]


async def restore(editor: Editor, **params: Any) -> Json:
    return dict(await editor.request("agentls/change/restore", params))


async def test_restoring_and_undoing_that_leaves_every_byte_and_git_as_they_were(
    bench: Bench, project: Path
) -> None:
    at_first, of_git = tree(project), git_itself(project)
    status = git(project, "status", "--porcelain")
    editor, _, session = await started(bench)
    await play(editor, session, *everything(project))
    after_turn, changed_status = tree(project), git(project, "status", "--porcelain")
    assert after_turn != at_first
    plan = await editor.until_result(
        lambda: restore(editor, sessionId=session, turn=1), lambda it: len(it["files"]) == 7
    )
    assert tree(project) == after_turn, "a preview changes nothing"
    named = {"restoreId": plan["restoreId"]}
    done = await restore(editor, step="do", **named)
    assert [file for file in done["files"] if file.get("why")] == []
    assert tree(project) == at_first
    assert git(project, "status", "--porcelain") == status
    await restore(editor, step="undo", **named)
    assert tree(project) == after_turn
    assert git(project, "status", "--porcelain") == changed_status
    assert git_itself(project)[1:] == of_git[1:]
    assert not (project / ".git" / "index.lock").exists()


async def test_the_index_is_not_even_touched(bench: Bench, project: Path) -> None:
    """Without `git status` in between, which writes the index itself."""
    index = (project / ".git" / "index").read_bytes()
    editor, _, session = await started(bench)
    await begin(editor, session, *everything(project))
    plan = await editor.until_result(
        lambda: restore(editor, sessionId=session, turn=1), lambda it: len(it["files"]) == 7
    )
    for step in ("do", "undo"):
        await restore(editor, step=step, restoreId=plan["restoreId"])
    assert (project / ".git" / "index").read_bytes() == index


async def test_a_file_that_was_moved_is_a_rename_and_goes_back_exactly(
    bench: Bench, project: Path
) -> None:
    editor, _, session = await started(bench)
    text = "".join(f"line {n}\n" for n in range(30))
    (project / "long.txt").write_text(text)
    at_first = tree(project)
    new = text.replace("line 7\n", "seven\n")
    moved = project / "folder" / "moved.txt"
    steps: list[Json] = [
        {"write": str(project / "long.txt")},
        {"write": str(moved), "text": new},
    ]
    await play(editor, session, *steps)
    after_turn = tree(project)
    result = await editor.until_result(
        lambda: editor.request("agentls/change/list", {}), lambda it: len(it["changes"]) == 1
    )
    (change,) = result["changes"]
    assert (change["type"], change["oldPath"]) == ("renamed", str(project / "long.txt"))
    assert (change["path"], len(change["hunks"])) == (str(moved), 1)
    plan = await restore(editor, sessionId=session, turn=1)
    for step, expected in (("do", at_first), ("undo", after_turn)):
        await restore(editor, step=step, restoreId=plan["restoreId"])
        assert tree(project) == expected
    which = {"changeId": change["changeId"]}
    for verdict, expected in (("undo", at_first), ("redo", after_turn)):
        decided = await editor.request("agentls/change/decide", {"verdict": verdict, **which})
        assert "refused" not in decided
        assert tree(project) == expected


async def test_a_turn_of_an_earlier_server_can_be_gone_back_to(bench: Bench, project: Path) -> None:
    at_first = tree(project)
    editor, _, session = await started(bench)
    await play(editor, session, *everything(project))
    await editor.until_result(
        lambda: restore(editor, sessionId=session, turn=1), lambda it: len(it["files"]) == 7
    )
    after_turn = tree(project)
    await editor.close()
    editor = await bench.editor()
    plan = await restore(editor, sessionId=session, turn=1)
    assert len(plan["files"]) == 7
    listed = await editor.request("agentls/change/list", {"pending": True})
    assert listed["changes"] == [], "what was left to decide then is not asked again"
    for step, expected in (("do", at_first), ("undo", after_turn)):
        await restore(editor, step=step, restoreId=plan["restoreId"])
        assert tree(project) == expected
