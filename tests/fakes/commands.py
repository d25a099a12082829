"""Commands that the puppet runs in terminals of ours, and what the editor sees of them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor

Json = dict[str, Any]
WAIT = {"call": "terminal/wait_for_exit", "params": {"terminalId": "$t"}}
OUTPUT = {"call": "terminal/output", "params": {"terminalId": "$t"}}
RELEASE = {"call": "terminal/release", "params": {"terminalId": "$t"}}
KILL = {"call": "terminal/kill", "params": {"terminalId": "$t"}}


def create(*words: str, **params: Any) -> Json:
    command, *args = words
    return {"call": "terminal/create", "params": {"command": command, "args": args, **params}}


async def trusted(bench: Bench, **options: Any) -> tuple[Editor, str]:
    """An editor, and a session in which the puppet may do anything."""
    bench.add_puppet()
    editor = await bench.editor(**options)
    session = await new_session(editor)
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": "trust"})
    return editor, session


async def new_session(editor: Editor) -> str:
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    return str(result["session"]["id"])


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    """Let the puppet do that; what each of its calls was answered with."""
    await begin(editor, session, *steps)
    end = await ended(editor, session, turns)
    assert end["reason"] == "end_turn", end
    return said(editor, session)


async def begin(editor: Editor, session: str, *steps: Json) -> None:
    text = json.dumps(steps)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})


def said(editor: Editor, session: str) -> list[Json]:
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


async def opened(editor: Editor, count: int = 1) -> Json:
    found = await editor.until(
        lambda: len(all := editor.notifications("agentls/terminal/didOpen")) >= count and all,
        f"terminal {count}",
    )
    return dict(found[count - 1]["terminal"])


async def exited(editor: Editor, terminal: Json) -> Json:
    def found() -> list[Json]:
        told = editor.notifications("agentls/terminal/didExit")
        return [n["terminal"] for n in told if n["terminal"]["terminalId"] == name(terminal)]

    return dict((await editor.until(found, f"the end of {terminal['command']}"))[0])


def name(terminal: Json) -> str:
    return str(terminal["terminalId"])


def ids(terminal: Json) -> Json:
    return {"sessionId": terminal["sessionId"], "terminalId": name(terminal)}


def shown(editor: Editor, terminal: Json) -> str:
    """What came for the view of a terminal, after it was attached."""
    text = ""
    for data in editor.notifications("agentls/terminal/data"):
        if data["terminalId"] == name(terminal):
            text = data["text"] if data.get("reset") else text + data["text"]
    return text


def card(editor: Editor, session: str) -> Json:
    return dict(editor.mirror(session).of_kind("tool_call")[-1])


async def open_ask(editor: Editor, session: str) -> Json:
    mirror = editor.mirror(session)
    (ask,) = await editor.until(
        lambda: [a for a in mirror.of_kind("ask") if "decision" not in a], "an ask"
    )
    return dict(ask)


async def decide(editor: Editor, session: str, ask: Json, verdict: str) -> None:
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": verdict})
    mirror = editor.mirror(session)
    await editor.until(lambda: "decision" in mirror.entries[ask["id"]], "the decision")


async def there_is(path: Path) -> None:
    for _ in range(1000):
        if path.exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path.name} was never made")


async def pid_in(path: Path) -> int:
    for _ in range(1000):
        if path.exists() and (text := path.read_text().strip()):
            return int(text)
        await asyncio.sleep(0.02)
    raise AssertionError(f"nothing wrote {path.name}")
