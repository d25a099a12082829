"""Sessions in which nothing happens: stuck turns are shown, idle agents sleep and come back."""

from __future__ import annotations

import json
from typing import Any

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor

Json = dict[str, Any]
HELLO = {
    "update": {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "hello "},
    }
}


async def began(bench: Bench, **options: Any) -> tuple[Editor, str]:
    bench.add_puppet()
    editor = await bench.editor(options=options)
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    return editor, str(result["session"]["id"])


async def say(editor: Editor, session: str, *steps: Json) -> None:
    text = json.dumps(steps)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})


def puppets(bench: Bench) -> list[int]:
    return [pid for pid, words in bench.processes().items() if "puppet.py" in words]


async def test_a_turn_without_a_sign_of_life_is_shown_as_stuck_with_the_last_sign(
    bench: Bench,
) -> None:
    editor, session = await began(bench, stuckAfter=0.2)
    await say(editor, session, HELLO, {"await": "cancel"})
    await editor.until(lambda: editor.mirror(session).head.get("stuck"), "the turn seems stuck")
    head = editor.mirror(session).head
    assert (head["state"], head["detail"]) == ("running", "no sign of life")
    (message,) = [e for e in editor.mirror(session).of_kind("message") if e["role"] == "agent"]
    assert head["lastSign"] - message["at"] < 0.2, "being stuck is no sign of life"
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)
    await editor.until(lambda: not editor.mirror(session).head.get("stuck"), "it moves again")


async def test_the_agent_of_an_idle_session_is_stopped_and_the_next_prompt_brings_it_back(
    bench: Bench,
) -> None:
    editor, session = await began(bench, idleAgentTimeout=0.2)
    await say(editor, session, HELLO)
    await ended(editor, session)
    await editor.until(
        lambda: "sleeps" in editor.mirror(session).head.get("detail", ""), "the agent sleeps"
    )
    assert editor.mirror(session).head["state"] == "idle"
    await say(editor, session, HELLO)
    await ended(editor, session, 2)
    assert editor.mirror(session).text() == "hello hello "


async def test_no_agent_sleeps_during_a_turn(bench: Bench) -> None:
    editor, session = await began(bench, idleAgentTimeout=0.1, stuckAfter=0.4)
    await say(editor, session, HELLO, {"await": "cancel"})
    await editor.until(lambda: editor.mirror(session).head.get("stuck"), "four times as long")
    assert "sleeps" not in editor.mirror(session).head.get("detail", "")
    assert len(puppets(bench)) == 1
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)


async def test_a_warm_agent_serves_the_next_session(bench: Bench) -> None:
    editor, session = await began(bench, warmAgent=True)
    await say(editor, session, HELLO)
    await ended(editor, session)
    before = puppets(bench)
    await editor.request("agentls/session/close", {"sessionId": session})
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    second = str(result["session"]["id"])
    await say(editor, second, HELLO)
    await ended(editor, second)
    assert puppets(bench) == before
    assert len(before) == 1
