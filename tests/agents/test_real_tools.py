"""Real agents call the tools that agentls offers them, as their scripted model tells them to.

Codex keeps MCP tools in namespaces: it takes part when
AGENTLS_MODEL_NAMESPACES says that the scripted model can name one, as `namespace::tool`.
"""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.buffers import Buffers
from fakes.conversation import prompt
from fakes.editor import Editor

NAMES = {
    "claude": "mcp__agentls__{}",
    "gemini": "mcp_agentls_{}",
    "opencode": "agentls_{}",
    **({"codex": "mcp__agentls::{}"} if os.environ.get("AGENTLS_MODEL_NAMESPACES") else {}),
}
Json = dict[str, Any]

pytestmark = [pytest.mark.real_agent, pytest.mark.timeout(120)]


def script(agent: str, *calls: tuple[str, Json]) -> str:
    steps = [[{"tool": NAMES[agent].format(name), "args": args}] for name, args in calls]
    return f"#fake {json.dumps(steps)}"


def open_asks(editor: Editor, session: str) -> list[Json]:
    return [a for a in editor.mirror(session).of_kind("ask") if "decision" not in a]


@pytest.mark.parametrize("agent", NAMES)
async def test_every_tool_works_and_the_person_is_asked_once(bench: Bench, agent: str) -> None:
    path = bench.workspace / "tea.txt"
    path.write_text("saved\n")
    editor = await bench.editor(knows_code=True)
    buffers = Buffers(editor)
    buffers.type(buffers.open(path), "earl grey, not saved\n")
    problem = {"uri": path.as_uri(), "line": 0, "character": 0, "severity": "error"}
    editor.answers["agentls/code/problems"] = lambda _: {
        "problems": [{**problem, "message": "too hot"}]
    }
    session = await prompt(
        editor,
        agent,
        script(
            agent,
            ("read_buffer", {"path": "tea.txt"}),
            ("diagnostics", {"path": "tea.txt", "wait": 0}),
            (
                "ask_person" if agent == "gemini" else "ask_user",
                {"question": "Milk?", "options": ["yes", "no"]},
            ),
            ("run_in_terminal", {"command": "touch made.txt && echo out-loud"}),
        ),
    )
    mirror = editor.mirror(session)
    (question,) = await editor.until(lambda: mirror.of_kind("question"), "a question", patience=60)
    assert mirror.head["state"] == "waiting_for_you"
    answer = {"questionId": question["questionId"], "text": "a drop"}
    await editor.request("agentls/question/answer", answer)

    (ask,) = await editor.until(lambda: open_asks(editor, session), "an ask", patience=60)
    assert ask["shown"] == "touch made.txt && echo out-loud"
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})
    await editor.until(lambda: mirror.of_kind("turn_end"), "the end of the turn", patience=60)

    by_you = [a for a in mirror.of_kind("ask") if a["decision"]["by"] == "you"]
    assert len(by_you) == 1, mirror.of_kind("ask")
    assert len(mirror.of_kind("tool_call")) == 4, "each shows once"
    assert not mirror.of_kind("notice")
    assert (bench.workspace / "made.txt").exists()
    (terminal,) = editor.notifications("agentls/terminal/didOpen")
    assert terminal["terminal"]["source"] == "hosted"
    if agent != "codex":  # who tells only programs what came of a call
        told = json.dumps(mirror.of_kind("tool_call"))
        for words in ("earl grey, not saved", "too hot", "a drop", "out-loud"):
            assert words in told, words
