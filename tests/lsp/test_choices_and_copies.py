"""What a person chose comes back with a session; what agents remember is found; copies; diffs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor, RequestFailed

Json = dict[str, Any]
AGENT = Path(__file__).parent.parent / "fakes" / "remembering.py"


@pytest.fixture
def memory(bench: Bench, tmp_path: Path) -> Path:
    """What the agent `keen` remembers."""
    file = tmp_path / "memory.json"
    bench.add_agent("keen", [sys.executable, str(AGENT), str(file)])
    return file


def requests(memory: Path) -> list[str]:
    return Path(f"{memory}.log").read_text().split()


async def opened(editor: Editor, agent: str = "keen") -> str:
    result = await editor.request("agentls/session/new", {"agent": agent})
    session = str(result["session"]["id"])
    await editor.until(
        lambda: editor.mirror(session).head.get("state") == "idle", "an open session"
    )
    return session


async def say(editor: Editor, session: str, words: str, turn: int) -> str:
    """What the agent answers."""
    before = len(editor.mirror(session).text())
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": words})
    await ended(editor, session, turn)
    return editor.mirror(session).text()[before:]


async def choose(editor: Editor, session: str) -> None:
    names = {"sessionId": session}
    await editor.request("agentls/session/setMode", {**names, "mode": "plan"})
    model = {**names, "option": "model", "value": "large"}
    result = await editor.request("agentls/session/setOption", model)
    head = result["session"]
    assert (head["mode"], head["options"][0]["value"]) == ("plan", "large")


async def test_mode_and_options_come_back_with_a_session_that_is_taken_up(
    bench: Bench, memory: Path
) -> None:
    first = await bench.editor()
    session = await opened(first)
    await choose(first, session)
    assert await say(first, session, "one", 1) == "plan large []\n"
    await first.close()
    second = await bench.editor()
    read = await second.snapshot(session)
    assert (read["session"]["mode"], read["session"]["options"][0]["value"]) == ("plan", "large")
    assert await say(second, session, "two", 2) == "plan large ['one']\n"
    assert requests(memory).count("session/new") == 1, "it was resumed"


async def test_what_is_chosen_while_the_agent_sleeps_holds_when_it_is_back(
    bench: Bench, memory: Path
) -> None:
    editor = await bench.editor(options={"idleAgentTimeout": 0.2})
    session = await opened(editor)
    assert await say(editor, session, "one", 1) == "default small []\n"
    head = editor.mirror(session)
    await editor.until(lambda: "sleeps" in head.head.get("detail", ""), "sleep")
    await choose(editor, session)
    wrong = {"sessionId": session, "option": "model", "value": "huge"}
    with pytest.raises(RequestFailed, match="cannot be 'huge'"):
        await editor.request("agentls/session/setOption", wrong)
    assert requests(memory).count("initialize") == 1, "a choice starts no agent"
    assert await say(editor, session, "two", 2) == "plan large ['one']\n"


async def test_what_only_the_agent_remembers_is_listed_once_and_can_be_opened(
    bench: Bench, memory: Path
) -> None:
    memory.write_text(json.dumps({"r1": ["long ago"]}))
    editor = await bench.editor()
    ours = await opened(editor)
    listed = await editor.request("agentls/session/list", {"fromAgents": True})
    assert [head["id"] for head in listed["sessions"]] == [ours]
    assert [r["agentSessionId"] for r in listed["remembered"]] == ["r1"], "ours is not told twice"
    loading = {"agent": "keen", "agentSessionId": "r1"}
    theirs = (await editor.request("agentls/session/load", loading))["session"]["id"]
    listed = await editor.request("agentls/session/list", {"fromAgents": True})
    assert {head["id"] for head in listed["sessions"]} == {ours, theirs}
    assert listed.get("remembered", []) == []


async def test_a_fork_shows_its_history_and_goes_its_own_way(bench: Bench, memory: Path) -> None:
    editor = await bench.editor()
    session = await opened(editor)
    await choose(editor, session)
    await say(editor, session, "one", 1)
    forked = await editor.request("agentls/session/fork", {"sessionId": session})
    fork = str(forked["session"]["id"])
    assert forked["session"]["parent"] == session
    await editor.snapshot(fork)
    assert await say(editor, fork, "two", 2) == "plan large ['one']\n"
    assert await say(editor, session, "three", 2) == "plan large ['one']\n"
    for id, words in ((fork, "two"), (session, "three")):
        entries = (await editor.snapshot(id))["entries"]
        said = [e["text"] for e in entries if e["kind"] == "message" and e["role"] == "user"]
        assert said == ["one", words]
    await editor.close()
    again = await bench.editor()
    read = await again.snapshot(fork)
    assert read["session"]["parent"] == session
    assert [e["id"] for e in read["entries"]][:3] == ["e1", "e2", "e3"]


async def test_what_was_used_is_told_by_turn_session_and_day(bench: Bench, memory: Path) -> None:
    editor = await bench.editor()
    session = await opened(editor)
    await say(editor, session, "one", 1)
    await say(editor, session, "two", 2)
    mirror = editor.mirror(session)
    assert [end["usage"]["cost"] for end in mirror.of_kind("turn_end")] == [0.25, 0.25]
    await editor.until(lambda: mirror.head["usage"].get("totalTokens") == 50, "the tokens")
    usage = mirror.head["usage"]
    assert (usage["cost"], usage["contextUsed"], usage["contextSize"]) == (0.5, 300, 1000)
    await editor.request("agentls/session/close", {"sessionId": session})
    await editor.snapshot(session)
    (day,) = (await editor.request("agentls/usage", {"agent": "keen"}))["days"]
    assert (day["turns"], day["cost"], day["totalTokens"]) == (2, 0.5, 50)
    assert memory.exists()


async def test_a_deleted_session_is_deleted_at_its_agent(bench: Bench, memory: Path) -> None:
    editor = await bench.editor()
    one, two = await opened(editor), await opened(editor)
    await say(editor, one, "secret", 1)
    await editor.request("agentls/session/close", {"sessionId": one})
    await editor.request("agentls/session/delete", {"sessionId": one})
    assert "session/delete" in requests(memory)
    assert "secret" not in memory.read_text()
    assert (await editor.snapshot(two))["session"]["state"] == "idle"


async def test_every_diff_of_a_past_session_can_be_seen_again_also_an_undone_one(
    bench: Bench,
) -> None:
    bench.add_puppet()
    first = await bench.editor()
    session = await opened(first, "puppet")
    file = bench.workspace / "poem.txt"
    old, new = "roses\n" * 500, "roses\n" * 499 + "violets\n"
    file.write_text(old)
    diff = {"type": "diff", "path": str(file), "oldText": old, "newText": new}
    update = {
        "sessionUpdate": "tool_call",
        "toolCallId": "c1",
        "title": "Edit",
        "kind": "edit",
        "status": "completed",
        "content": [diff],
    }
    steps = [{"write": str(file), "text": new}, {"update": update}]
    await say(first, session, json.dumps(steps), 1)
    await first.until(lambda: first.notifications("agentls/change/didChange"), "the change")
    await first.request("agentls/change/decide", {"sessionId": session, "verdict": "undo"})
    assert file.read_text() == old
    await first.close()

    second = await bench.editor()
    (call,) = (e for e in (await second.snapshot(session))["entries"] if e["kind"] == "tool_call")
    place = {"sessionId": session, "entryId": call["id"], "part": 0}
    for side, text in (("old", old), ("new", new)):
        body = await second.request("agentls/session/body", {**place, "side": side})
        assert body["text"] == text
