"""Commands that agents run themselves: recorded traffic of real ones, shown as terminals."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor

TRACES = Path(__file__).parent.parent / "traces"
Json = dict[str, Any]


async def played(bench: Bench, trace: str) -> tuple[Editor, str]:
    """The first prompt of a recording, with every ask allowed."""
    bench.add_agent(
        "recorded", [sys.executable, "-m", "agentls.agent.replay", str(TRACES / f"{trace}.jsonl")]
    )
    editor = await bench.editor()
    session = await prompt(editor, "recorded", _prompt(trace))

    def over() -> bool:
        for ask in editor.mirror(session).of_kind("ask"):
            if "decision" not in ask and ask["id"] not in answered:
                answered.add(ask["id"])
                params = {"askId": ask["askId"], "verdict": "allow"}
                editor.notify_request("agentls/ask/decide", params)
        return bool(editor.mirror(session).of_kind("turn_end"))

    answered: set[str] = set()
    await editor.until(over, "the end of the turn")
    return editor, session


def _prompt(trace: str) -> str:
    for line in (TRACES / f"{trace}.jsonl").read_text().splitlines():
        message = json.loads(line).get("msg")
        if isinstance(message, dict) and message.get("method") == "session/prompt":
            return str(message["params"]["prompt"][0]["text"])
    raise AssertionError("no prompt in it")


@pytest.mark.parametrize(
    ("trace", "output"),
    [
        ("codex-shell", "made it\n"),
        ("codex-shell-caps-meta", "made it\n"),
        ("claude-shell-caps-meta", "made it"),
    ],
)
async def test_a_recorded_command_is_a_mirrored_terminal_with_its_output_once(
    bench: Bench, trace: str, output: str
) -> None:
    editor, session = await played(bench, trace)
    (terminal,) = (await editor.request("agentls/terminal/list"))["terminals"]
    assert terminal["source"] == "mirrored"
    assert "touch" in terminal["command"]
    assert terminal["running"] is False
    assert terminal["exitCode"] == 0
    ids = {"sessionId": session, "terminalId": terminal["terminalId"]}
    view = await editor.request("agentls/terminal/attach", ids)
    assert view["text"] == output
    told = editor.notifications("agentls/terminal/didOpen")
    assert {t["terminal"]["terminalId"] for t in told} == {terminal["terminalId"]}
    assert len(editor.notifications("agentls/terminal/didExit")) == 1


async def test_what_codex_leaves_running_is_said_and_goes_on_in_its_terminal(
    bench: Bench,
) -> None:
    bench.add_agent(
        "recorded",
        [sys.executable, "-m", "agentls.agent.replay", str(TRACES / "codex-cancel-shell.jsonl")],
    )
    editor = await bench.editor()
    session = await prompt(editor, "recorded", _prompt("codex-cancel-shell"))
    mirror = editor.mirror(session)

    def ticking() -> bool:
        for ask in mirror.of_kind("ask"):
            if "decision" not in ask:
                params = {"askId": ask["askId"], "verdict": "allow"}
                editor.notify_request("agentls/ask/decide", params)
        calls = mirror.of_kind("tool_call")
        return any("tick 3" in t["output"]["text"] for c in calls for t in c.get("terminals", []))

    await editor.until(ticking, "some output")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    assert (await ended(editor, session))["reason"] == "cancelled"
    (notice,) = await editor.until(lambda: mirror.of_kind("notice"), "what is left running")
    assert "may still be running `seq 300" in notice["text"]
    (terminal,) = (await editor.request("agentls/terminal/list"))["terminals"]
    ids = {"sessionId": session, "terminalId": terminal["terminalId"]}
    view = await editor.request("agentls/terminal/attach", ids)
    ticks = [line for line in view["text"].splitlines() if line]
    assert ticks == [f"tick {n}" for n in range(2, 2 + len(ticks))], "each tick once, in order"
    with pytest.raises(Exception, match="The agent runs this command itself"):
        await editor.request("agentls/terminal/kill", ids)
    with pytest.raises(Exception, match="Nothing can be typed"):
        await editor.request("agentls/terminal/input", {**ids, "text": "x"})
