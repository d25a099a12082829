"""A checkpoint of a large repository, and `git status` in it, in turns and with warm caches."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agentls.files.checkpoints import checkpoints_of
from bench.rows import FULL, Row, Sizes, compared

FILES = 200_000
"""In a full run and a quick one; a tiny one has as much less as it has fewer updates."""
IN_A_FOLDER = 50
ROUNDS = 7
CHANGED = 100


def measure(sizes: Sizes) -> list[Row]:
    few = sizes.samples < 2
    files = FILES * sizes.chunks // FULL.chunks if few else FILES
    with tempfile.TemporaryDirectory(prefix="agentls-bench-") as folder:
        root = Path(folder) / "project"
        _make(root, files)
        checkpoints = checkpoints_of(str(root), Path(folder) / "state", os.environ)
        _git(root, "status", "--porcelain")
        first = _seconds(checkpoints.take)
        start = checkpoints.take()
        ours, bare = [], []
        for _ in range(1 if few else ROUNDS):
            bare.append(_seconds(lambda: _git(root, "status", "--porcelain")))
            ours.append(_seconds(checkpoints.take))
        for number in range(min(CHANGED, files)):
            _file(root, number).write_text("changed\n")
        after_changes = _seconds(checkpoints.take)
        found = checkpoints.changes(start, checkpoints.take())
        if len(found) != min(CHANGED, files):
            raise RuntimeError(f"{len(found)} changes were found")
    name = f"checkpoint of a git repository of {files:,} files"
    return [
        compared(name, "s", ours, bare, limit=2.0, note="the reference is git status"),
        Row(name=f"{name}: with {CHANGED} changed files", value=after_changes, unit="s"),
        Row(name=f"{name}: the first ever", value=first, unit="s"),
    ]


def _make(root: Path, files: int) -> None:
    for number in range(files):
        path = _file(root, number)
        if number % IN_A_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(f"the file {number}\n" * 4)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    person = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    _git(root, *person, "commit", "-q", "-m", "all of it")
    _git(root, "repack", "-a", "-d", "-q")


def _file(root: Path, number: int) -> Path:
    folder = number // IN_A_FOLDER
    return root / f"{folder // 50}" / f"{folder}" / f"{number}.txt"


def _git(root: Path, *args: str) -> None:
    command = ["git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", *args]
    subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
