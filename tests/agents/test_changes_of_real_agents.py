"""Whatever real agents do to files, in their own ways, is a change that can be undone exactly.

See fakes/real_agents.py for how they are run.
"""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor
from fakes.real_agents import AGENTS

BEFORE = b"one\r\nhello\r\nthree without end"
WISHES = {
    "edit": "#fake edit greeting.txt hello goodbye",
    "write": "#fake write new.txt some words",
    "shell": "#fake shell sed -i s/hello/goodbye/ greeting.txt",
}

pytestmark = [pytest.mark.real_agent, pytest.mark.timeout(180)]


def git(folder: Path, *words: str) -> bytes:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    return subprocess.check_output(["git", *who, *words], cwd=folder)


@pytest.fixture
def project(bench: Bench) -> Path:
    (bench.workspace / "greeting.txt").write_bytes(BEFORE)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        git(bench.workspace, *words)
    return bench.workspace


async def allow_all(editor: Editor, session: str) -> None:
    """Allows whatever is asked, until it is cancelled."""
    done: set[str] = set()
    mirror = editor.mirror(session)
    while True:
        (ask, *_) = await editor.until(
            lambda: [
                a for a in mirror.of_kind("ask") if "decision" not in a and a["askId"] not in done
            ],
            "an ask",
            patience=170,
        )
        done.add(ask["askId"])
        await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})


async def the_change(editor: Editor, path: Path) -> dict[str, Any]:
    def told() -> list[dict[str, Any]]:
        all = editor.notifications("agentls/change/didChange")
        return [i for n in all for i in n["items"] if i["path"] == str(path)]

    await editor.until(told, f"a change of {path.name}", patience=60)
    (change,) = (await editor.request("agentls/change/list", {}))["changes"]
    return dict(change)


@pytest.mark.parametrize("what", WISHES)
@pytest.mark.parametrize("agent", AGENTS)
async def test_what_a_real_agent_does_is_a_change_and_undone_to_the_byte(
    bench: Bench, project: Path, agent: str, what: str
) -> None:
    made = what == "write"
    path = project / ("new.txt" if made else "greeting.txt")
    editor = await bench.editor()
    session = await prompt(editor, agent, WISHES[what])
    allowing = asyncio.create_task(allow_all(editor, session))
    await ended(editor, session)
    allowing.cancel()
    assert (b"some words" if made else b"goodbye") in path.read_bytes()
    change = await the_change(editor, path)
    assert (change["agent"], change["type"]) == (agent, "created" if made else "modified")
    assert change["hunks"]
    for hunk in change["hunks"]:
        which = {"changeId": change["changeId"], "hunkIds": [hunk["hunkId"]]}
        result = await editor.request("agentls/change/decide", {"verdict": "undo", **which})
        assert "refused" not in result
    assert not path.exists() if made else path.read_bytes() == BEFORE
    assert git(project, "status", "--porcelain") == b""
