"""An editor prompts an agent through the server, end to end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt, same_as_snapshot
from fakes.editor import RequestFailed

Json = dict[str, Any]


async def test_a_prompt_is_answered_and_the_batches_add_up_to_the_snapshot(bench: Bench) -> None:
    editor = await bench.editor("text")
    session = await prompt(editor, "text")
    end = await ended(editor, session)
    mirror = editor.mirror(session)
    assert end["reason"] == "end_turn"
    assert mirror.text() == "Hello, wörld 👋."
    assert mirror.text("thought") == "A greeting."
    assert mirror.text("user") == "Say hello."
    await editor.until(lambda: mirror.head.get("state") == "idle", "the session is idle again")
    assert mirror.head["title"] == "Say hello."
    await same_as_snapshot(editor, session)


@pytest.mark.parametrize(
    "scenario",
    ["early", "late", "glued", "string_ids", "id_as_string", "double_answer", "unknown_request"],
)
async def test_awkward_agents_are_understood(bench: Bench, scenario: str) -> None:
    editor = await bench.editor(scenario)
    session = await prompt(editor, scenario)
    mirror = editor.mirror(session)

    def open_asks() -> list[Json]:
        return [a for a in mirror.of_kind("ask") if "decision" not in a]

    while not mirror.of_kind("turn_end"):
        await editor.until(lambda: mirror.of_kind("turn_end") or open_asks(), "an ask or the end")
        for ask in open_asks():
            answer = {"askId": ask["askId"], "optionId": ask["options"][0]["id"]}
            await editor.request("agentls/ask/decide", answer)
            await editor.until(lambda ask=ask: ask not in open_asks(), "the ask is settled")
    assert (await ended(editor, session))["reason"] == "end_turn"
    assert mirror.text()


async def test_prompts_sent_while_the_agent_is_busy_wait_their_turn(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/say 3")
    for text in ("/say 2", "/say 1"):
        await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})
    await ended(editor, session, turns=3)
    said = [e["text"] for e in editor.mirror(session).of_kind("message") if e["role"] == "agent"]
    assert said == ["word1 word2 word3", "word1 word2", "word1"]
    await same_as_snapshot(editor, session)


async def test_cancel_stops_the_turn_and_gives_the_waiting_prompts_back(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/slow 2000")
    mirror = editor.mirror(session)
    await editor.until(mirror.text, "the first words")
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "and then"})
    result = await editor.request("agentls/session/cancel", {"sessionId": session})
    assert result["returned"] == ["and then"]
    assert (await ended(editor, session))["reason"] == "cancelled"
    assert (await editor.request("agentls/session/cancel", {"sessionId": session})) == {}


async def test_an_ask_is_answered_once_and_a_second_answer_is_harmless(bench: Bench) -> None:
    editor = await bench.editor("permission")
    session = await prompt(editor, "permission")
    mirror = editor.mirror(session)
    (ask,) = await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    await editor.until(lambda: mirror.head["state"] == "waiting_for_you", "the waiting state")
    listed = (await editor.request("agentls/ask/list"))["asks"]
    assert [a["askId"] for a in listed] == [ask["askId"]]
    with pytest.raises(RequestFailed, match="not one of the offered"):
        await editor.request("agentls/ask/decide", {"askId": ask["askId"], "optionId": "nope"})
    allow = next(o["id"] for o in ask["options"] if o["kind"] == "allow_once")
    answer = {"askId": ask["askId"], "optionId": allow}
    assert await editor.request("agentls/ask/decide", answer) == {"settled": True}
    again = await editor.request("agentls/ask/decide", answer)
    assert again["settled"] is False
    assert "answered already" in again["message"]
    assert (await ended(editor, session))["reason"] == "end_turn"
    assert mirror.of_kind("ask")[0]["decision"] == {
        "optionId": allow,
        "allowed": True,
        "by": "you",
    }
    assert [c["status"] for c in mirror.of_kind("tool_call")] == ["completed"]


async def test_cancelling_a_turn_answers_its_open_ask_with_cancelled(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/run echo hi")
    mirror = editor.mirror(session)
    await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    assert (await ended(editor, session))["reason"] == "cancelled"
    (ask,) = mirror.of_kind("ask")
    assert ask["decision"] == {"optionId": None, "allowed": False, "by": "turn cancelled"}


async def test_every_request_is_also_a_command(bench: Bench) -> None:
    editor = await bench.editor("text")
    result = await editor.command("agentls.session.prompt", {"agent": "text", "text": "Say hello."})
    await ended(editor, result["sessionId"])
    exported = await editor.command("agentls.session.export", {"sessionId": result["sessionId"]})
    assert "Hello, wörld 👋." in exported["markdown"]
    listed = await editor.command("agentls.session.list")
    assert [s["id"] for s in listed["sessions"]] == [result["sessionId"]]


async def test_several_sessions_over_several_agents_do_not_mix(bench: Bench) -> None:
    editor = await bench.editor("text")
    sessions = [await prompt(editor, "demo", f"/say {n}") for n in (5, 6, 7)]
    sessions.append(await prompt(editor, "text"))
    await asyncio.gather(*(ended(editor, s) for s in sessions))
    texts = [editor.mirror(s).text().split()[-1] for s in sessions]
    assert texts == ["word5", "word6", "word7", "👋."]
    agents = [c for c in bench.processes().values() if "agentls.demo" in c]
    assert len(agents) == 1, "one process serves all sessions of the demo agent"


async def test_a_turn_shows_as_progress_and_cancelling_it_cancels_the_turn(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/slow 2000")
    progress = await editor.until(
        lambda: [n for n in editor.notifications("$/progress") if n["value"]["kind"] == "begin"],
        "the beginning of a progress",
    )
    assert progress[0]["value"]["title"] == "demo: /slow 2000"
    editor.notify("window/workDoneProgress/cancel", {"token": progress[0]["token"]})
    assert (await ended(editor, session))["reason"] == "cancelled"
    await editor.until(
        lambda: [n for n in editor.notifications("$/progress") if n["value"]["kind"] == "end"],
        "the end of the progress",
    )


async def test_modes_and_options_are_told_and_can_be_set(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/say 1")
    await ended(editor, session)
    head = editor.mirror(session).head
    assert [m["id"] for m in head["modes"]] == ["ask", "auto"]
    set_mode = await editor.request(
        "agentls/session/setMode", {"sessionId": session, "mode": "auto"}
    )
    assert set_mode["session"]["mode"] == "auto"
    with pytest.raises(RequestFailed, match="no mode 'yolo'"):
        await editor.request("agentls/session/setMode", {"sessionId": session, "mode": "yolo"})
    option = head["options"][0]["id"]
    changed = await editor.request(
        "agentls/session/setOption", {"sessionId": session, "option": option, "value": "calm"}
    )
    assert next(o for o in changed["session"]["options"] if o["id"] == option)["value"] == "calm"


async def test_closing_the_last_session_stops_the_agent(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/say 1")
    await ended(editor, session)
    assert any("agentls.demo" in c for c in bench.processes().values())
    closed = await editor.request("agentls/session/close", {"sessionId": session})
    assert closed["session"]["state"] == "closed"
    await _gone(bench, "agentls.demo")
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "/say 1"})
    await ended(editor, session, 2)


async def _gone(bench: Bench, words: str) -> None:
    for _ in range(500):
        if not any(words in c for c in bench.processes().values()):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"still running: {bench.processes()}")
