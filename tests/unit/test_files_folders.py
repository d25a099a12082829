"""Looks at folders: what is different since the last one, and old ones make room."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from agentls.core.changes.record import MISSING, FileState
from agentls.files.folders import Contents, Folders


async def test_a_look_finds_what_is_different_since_the_last(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    folders = Folders(tmp_path / "state", os.environ, Contents())
    assert (await folders.look(str(root))).found == ()
    (root / "a.txt").write_text("two two\n")
    (root / "b.txt").write_text("new\n")
    found = {f.path: (f.before, f.after) for f in (await folders.look(str(root))).found}
    assert found == {
        str(root / "a.txt"): (FileState("one\n", 0o644), FileState("two two\n", 0o644)),
        str(root / "b.txt"): (MISSING, FileState("new\n", 0o644)),
    }
    assert (await folders.look(str(root))).found == ()
    await _idle(folders, str(root))


async def test_what_nobody_looked_at_for_long_is_dropped(tmp_path: Path) -> None:
    root, state = tmp_path / "project", tmp_path / "state"
    forgotten = state / "checkpoints" / "forgotten"
    forgotten.mkdir(parents=True)
    (forgotten / "file").write_text("x")
    long_ago = time.time() - 40 * 24 * 3600
    os.utime(forgotten, (long_ago, long_ago))
    root.mkdir()
    folders = Folders(state, os.environ, Contents())
    await folders.look(str(root))
    await _idle(folders, str(root))
    assert not forgotten.exists()
    assert (state / "checkpoints").is_dir()


async def _idle(folders: Folders, root: str) -> None:
    """Until what nobody waits for is done too."""
    await asyncio.wait_for(asyncio.gather(*folders._folders[root].late), 60)
