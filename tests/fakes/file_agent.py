"""Files of a workspace, an editor with buffers, and an agent that reads and writes through us."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .bench import PUPPET, Bench
from .buffers import Buffers
from .conversation import ended
from .editor import Editor

Json = dict[str, Any]
CAPABILITIES = Path(__file__).parent.parent / "capabilities"
EDITORS = sorted(p.stem for p in CAPABILITIES.glob("*.json"))
EDITING = [name for name in EDITORS if not name.startswith("vim-ale")]
PLAIN = {"workspace": {"applyEdit": True}}
REFUSED, NOT_FOUND, INVALID = -32003, -32002, -32602


def read(path: Path | str, **params: Any) -> Json:
    return {"call": "fs/read_text_file", "params": {"path": str(path), **params}}


def write(path: Path | str, content: str) -> Json:
    return {"call": "fs/write_text_file", "params": {"path": str(path), "content": content}}


async def started(
    bench: Bench,
    capabilities: Json | None = None,
    *,
    policy: str = "trust",
    agent: str = "puppet",
    saves: bool = False,
    options: Json | None = None,
) -> tuple[Editor, Buffers, str]:
    """An editor with buffers, and a session with the puppet."""
    bench.add_agent(agent, [sys.executable, str(PUPPET)])
    editor = await bench.raw_editor()
    answer = await editor.initialize(
        bench.workspace,
        capabilities=capabilities or PLAIN,
        saves_documents=saves,
        options=options,
    )
    buffers = Buffers(editor, answer["capabilities"].get("positionEncoding", "utf-16"))
    opened = await editor.request("agentls/session/new", {"agent": agent})
    session = str(opened["session"]["id"])
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": policy})
    return editor, buffers, session


def captured(name: str) -> Json:
    params = json.loads((CAPABILITIES / f"{name}.json").read_text())
    return dict(params["capabilities"])


async def begin(editor: Editor, session: str, *steps: Json) -> None:
    await editor.request(
        "agentls/session/prompt", {"sessionId": session, "text": json.dumps(steps)}
    )


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    await begin(editor, session, *steps)
    await ended(editor, session, turns)
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


def notices(editor: Editor, session: str) -> str:
    return " ".join(n["text"] for n in editor.mirror(session).of_kind("notice"))


def cards(editor: Editor, session: str) -> list[Json]:
    return editor.mirror(session).of_kind("tool_call")


async def open_ask(editor: Editor, session: str) -> Json:
    mirror = editor.mirror(session)
    (ask,) = await editor.until(
        lambda: [a for a in mirror.of_kind("ask") if "decision" not in a], "an ask"
    )
    return dict(ask)


async def decide(editor: Editor, ask: Json, verdict: str) -> None:
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": verdict})


def file(bench: Bench, text: str, name: str = "a.txt") -> Path:
    path = bench.workspace / name
    path.write_bytes(text.encode())
    return path


def edit_call(path: Path, old: str, new: str) -> Json:
    return {
        "call": "session/request_permission",
        "params": {
            "toolCall": {
                "toolCallId": "c1",
                "title": "Edit",
                "kind": "edit",
                "status": "pending",
                "content": [{"type": "diff", "path": str(path), "oldText": old, "newText": new}],
                "locations": [{"path": str(path)}],
            },
            "options": [
                {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"},
            ],
        },
    }
