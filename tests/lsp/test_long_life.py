"""A day in the life of a server: whatever sessions did, nothing of them is held afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor

Json = dict[str, Any]
COUNTING = Path(__file__).parent.parent / "fakes" / "counting_server.py"
BEFORE, SESSIONS = 6, 18


def work(number: int, workspace: Path) -> list[Json]:
    """What an agent does in a session: talks, runs commands in both ways, writes files."""
    call, mirrored = f"c{number}", f"m{number}"
    output = {"terminal_id": mirrored, "data": "out"}
    over = {"terminal_id": mirrored, "exit_code": 0}
    updates: list[Json] = [
        {
            "sessionUpdate": "agent_message_chunk",
            "content": {"type": "text", "text": "Working. " * 20},
        },
        {
            "sessionUpdate": "tool_call",
            "toolCallId": call,
            "title": "make",
            "kind": "execute",
            "content": [{"type": "terminal", "terminalId": mirrored}],
        },
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call,
            "status": "completed",
            "_meta": {"terminal_output": output, "terminal_exit": over},
        },
    ]
    text = f"{number}\n"
    return [
        *({"update": update} for update in updates),
        {"call": "terminal/create", "params": {"command": "echo", "args": ["hello"]}, "as": "t"},
        {"call": "terminal/wait_for_exit", "params": {"terminalId": "$t"}},
        {
            "call": "fs/write_text_file",
            "params": {"path": str(workspace / "through.txt"), "content": text},
        },
        {"write": str(workspace / "itself.txt"), "text": text},
    ]


async def live(editor: Editor, bench: Bench, number: int) -> str:
    """One session from its beginning to its end, which is another one each time."""
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    names = {"sessionId": str(result["session"]["id"])}
    session = names["sessionId"]
    steps = work(number, bench.workspace)
    await editor.request("agentls/session/prompt", {**names, "text": json.dumps(steps)})
    mirror = editor.mirror(session)

    def asked() -> list[Json]:
        return [ask for ask in mirror.of_kind("ask") if "decision" not in ask]

    for _ in range(2):  # the command and the file; what the agent does itself is not asked
        (ask,) = await editor.until(asked, "an ask")
        verdict = {"askId": ask["askId"], "verdict": "allow"}
        await editor.request("agentls/ask/decide", verdict)
        await editor.until(lambda ask=ask: ask not in asked(), "the answer")  # type: ignore[misc]
    assert (await ended(editor, session))["reason"] == "end_turn"
    found = (await editor.request("agentls/terminal/list", names))["terminals"]
    assert {t["source"] for t in found} == {"hosted", "mirrored"}
    for terminal in found:
        ids = {**names, "terminalId": terminal["terminalId"]}
        await editor.request("agentls/terminal/attach", ids)
    await editor.request("agentls/change/decide", {**names, "verdict": "undo"})
    if number % 3 == 1:
        await editor.request("agentls/session/restart", names)
    if number % 3 == 2:  # it is closed while it asks and while a command runs
        more = [steps[3], {"await": "cancel"}]
        await editor.request("agentls/session/prompt", {**names, "text": json.dumps(more)})
        await editor.until(asked, "another ask")
    await editor.request("agentls/session/close", names)
    return session


async def held(editor: Editor, bench: Bench, file: Path) -> dict[str, int]:
    """What the server holds, when all that was going to end has ended."""
    found: dict[str, int] = {}
    for _ in range(200):
        if list(bench.processes()) == [editor.process.pid]:
            break
        await asyncio.sleep(0.05)
    assert list(bench.processes()) == [editor.process.pid], "agents of no session are still there"
    for _ in range(100):
        before, found = found, await _count(editor, file)
        if found == before and not found.get("Connection"):
            break
        await asyncio.sleep(0.1)
    return found


async def _count(editor: Editor, file: Path) -> dict[str, int]:
    file.unlink(missing_ok=True)
    os.kill(editor.process.pid, signal.SIGUSR1)
    for _ in range(1000):
        if file.exists():
            return dict(json.loads(file.read_text()))
        await asyncio.sleep(0.01)
    raise AssertionError("the server never said what it holds")


@pytest.mark.timeout(120)
async def test_sessions_leave_no_objects_tasks_files_and_processes_behind(
    bench: Bench, tmp_path: Path
) -> None:
    bench.add_puppet()
    file = tmp_path / "held.json"
    editor = await bench.raw_editor([sys.executable, str(COUNTING), str(file)])
    await editor.initialize(bench.workspace, options={"warmAgent": False})
    for number in range(BEFORE):
        last = await live(editor, bench, number)
    await editor.snapshot(last)
    await editor.request("agentls/session/resume", {"sessionId": last})
    await editor.request("agentls/session/close", {"sessionId": last})
    before = await held(editor, bench, file)
    for number in range(BEFORE, BEFORE + SESSIONS):
        await live(editor, bench, number)
    after = await held(editor, bench, file)
    # One here and there is the last of its kind; one for each session is forgotten by nobody.
    grown = {
        name: (before.get(name, 0), count)
        for name, count in after.items()
        if count > before.get(name, 0) + SESSIONS // 2 and not name.startswith(KEPT)
    }
    assert grown == {}
    assert (after["tasks"], after["files"]) == (before["tasks"], before["files"])


KEPT = (
    "threads",  # those of a pool, which come as they are needed
    "FrameRing",  # of the last eight processes
    "Publisher._last",  # a thousand numbers
    *("Review", "Record", "Hunks", "Piece", "ChangeSurface._labels"),  # 100 that were decided
)
