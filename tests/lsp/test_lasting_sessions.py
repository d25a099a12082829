"""Sessions that last: killed servers, reloaded windows, two windows, and everything found again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, same_as_snapshot
from fakes.editor import Editor, RequestFailed
from fakes.leftovers import nothing_left

Json = dict[str, Any]


def say(text: str) -> Json:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}


ASK = {
    "call": "session/request_permission",
    "nowait": True,
    "params": {
        "toolCall": {"toolCallId": "c1", "title": "rm -r build", "kind": "execute"},
        "options": [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
    },
}
WAIT = {"await": "cancel"}


async def send(editor: Editor, session: str, *steps: Json) -> Json:
    params = {"sessionId": session, "text": json.dumps(steps)}
    return dict(await editor.request("agentls/session/prompt", params))


async def new(editor: Editor) -> str:
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    return str(result["session"]["id"])


async def one_turn(editor: Editor, words: str) -> str:
    session = await new(editor)
    await send(editor, session, say(words))
    await ended(editor, session)
    return session


async def listed(editor: Editor, **params: Any) -> dict[str, Json]:
    result = await editor.request("agentls/session/list", params)
    return {head["id"]: head for head in result["sessions"]}


async def killed(editor: Editor) -> None:
    os.kill(editor.process.pid, signal.SIGKILL)
    await editor.process.wait()
    await editor.gone()


async def is_stored(editor: Editor, session: str) -> None:
    """All that was said until now is in the store: an export as JSON waits for that."""
    await editor.request("agentls/session/export", {"sessionId": session, "format": "json"})


async def test_a_server_killed_in_mid_turn_leaves_a_session_that_goes_on(bench: Bench) -> None:
    bench.add_puppet()
    first = await bench.editor()
    session = await new(first)
    await send(first, session, say("Working on it. "), ASK, WAIT)
    mirror = first.mirror(session)
    await first.until(lambda: mirror.of_kind("ask"), "the ask")
    await is_stored(first, session)
    await killed(first)
    await nothing_left(bench.mark)

    second = await bench.editor()
    head = (await listed(second))[session]
    assert (head["state"], head["place"], head["died"]) == ("closed", "past", True)
    read = await second.snapshot(session)
    assert read["session"]["state"] == "closed", "a dead session is shown as alive"
    texts = [e["text"] for e in read["entries"] if e["kind"] == "message"]
    assert texts[-1] == "Working on it. "
    (ask,) = (e for e in read["entries"] if e["kind"] == "ask")
    assert ask["decision"]["allowed"] is False
    assert ask["decision"]["by"] == "never answered: the server ended"
    assert (await second.request("agentls/ask/list", {}))["asks"] == []

    result = await send(second, session, say("And on."))
    assert (result["sessionId"], result["turn"]) == (session, 2)
    end = await ended(second, session, 2)
    assert end["reason"] == "end_turn"
    assert second.mirror(session).text() == "Working on it. And on."
    await same_as_snapshot(second, session)


async def test_a_reloaded_window_gets_its_session_back_under_the_same_id(bench: Bench) -> None:
    bench.add_puppet()
    first = await bench.editor()
    session = await one_turn(first, "Hello. ")
    await send(first, session, say("In the middle. "), WAIT)
    await first.until(lambda: "middle" in first.mirror(session).text(), "the second turn")
    await first.close()

    second = await bench.editor()
    assert (await listed(second))[session]["place"] == "past"
    await second.snapshot(session)
    resumed = await second.request("agentls/session/resume", {"sessionId": session})
    assert resumed["session"]["id"] == session
    again = await second.request("agentls/session/resume", {"sessionId": session})
    assert again["session"]["id"] == session
    await send(second, session, say("On."))
    await ended(second, session, 3)
    assert second.mirror(session).text() == "Hello. In the middle. On."


async def test_a_window_reloaded_in_mid_turn_goes_on_while_the_old_server_still_ends(
    bench: Bench,
) -> None:
    bench.add_puppet()
    first, second = await bench.editor(), await bench.editor()
    session = await new(first)
    await send(first, session, say("Half of it. "), ASK, {"stubborn": True}, WAIT)
    await first.until(lambda: first.mirror(session).of_kind("ask"), "the ask")
    await send(first, session, say("never sent"))
    assert first.process.stdin is not None
    first.process.stdin.close()
    for _ in range(200):  # it ends its agent for a while yet, and has let go of the session
        if (await listed(second)).get(session, {}).get("place") == "past":
            break
        await asyncio.sleep(0.01)
    read = await second.snapshot(session)
    assert (read["session"]["place"], read["session"].get("died", False)) == ("past", False)
    (ask,) = (e for e in read["entries"] if e["kind"] == "ask")
    assert ask["decision"]["allowed"] is False
    loading = {"agent": "puppet", "agentSessionId": "puppet-1"}
    found = await asyncio.gather(
        second.request("agentls/session/resume", {"sessionId": session}),
        second.request("agentls/session/load", loading),
        send(second, session, say("The other half.")),
    )
    assert [r.get("session", {"id": r.get("sessionId")})["id"] for r in found] == [session] * 3
    await ended(second, session, 2)
    mirror = second.mirror(session)
    assert mirror.text() == "Half of it. The other half."
    assert "never sent" in mirror.of_kind("notice")[-1]["text"]
    assert list(await listed(second)) == [session], "it was opened a second time"
    await same_as_snapshot(second, session)


async def test_two_windows_list_both_sessions_and_neither_takes_the_others(bench: Bench) -> None:
    bench.add_puppet()
    one, two = await bench.editor(), await bench.editor()
    ours, theirs = await one_turn(one, "left"), await one_turn(two, "right")
    for editor, session in ((one, ours), (two, theirs)):
        await is_stored(editor, session)
    places = {id: head.get("place", "here") for id, head in (await listed(one)).items()}
    assert places == {ours: "here", theirs: "elsewhere"}
    places = {id: head.get("place", "here") for id, head in (await listed(two)).items()}
    assert places == {ours: "elsewhere", theirs: "here"}
    for editor, session in ((one, theirs), (two, ours)):
        with pytest.raises(RequestFailed, match="another window"):
            await editor.request("agentls/session/resume", {"sessionId": session})
        with pytest.raises(RequestFailed, match="another window"):
            await send(editor, session, say("no"))
        read = await editor.request("agentls/session/snapshot", {"sessionId": session})
        assert read["session"]["place"] == "elsewhere"


async def test_prompts_to_a_past_session_are_all_delivered_in_order(bench: Bench) -> None:
    bench.add_puppet()
    first = await bench.editor()
    session = await one_turn(first, "0")
    await first.close()
    second = await bench.editor()
    await second.snapshot(session)
    sent = [asyncio.ensure_future(send(second, session, say(str(n)))) for n in (1, 2, 3)]
    assert sorted(r["turn"] for r in await asyncio.gather(*sent)) == [2, 3, 4]
    await ended(second, session, 4)
    assert second.mirror(session).text() == "0123"


async def test_a_past_session_is_read_page_by_page(bench: Bench) -> None:
    bench.add_puppet()
    first = await bench.editor()
    session = await new(first)
    for number in range(5):
        await send(first, session, say(f"answer {number}"))
        await ended(first, session, number + 1)
    whole = (await first.snapshot(session))["entries"]
    await first.close()
    second = await bench.editor()
    found: list[Json] = []
    before = ""
    for _ in range(10):
        params = {"sessionId": session, "last": 4, "before": before}
        page = (await second.request("agentls/session/snapshot", params))["entries"]
        if not page:
            break
        found = page + found
        before = page[0]["id"]
    assert [e["id"] for e in found][: len(whole)] == [e["id"] for e in whole]
    assert [e.get("text") for e in found][: len(whole)] == [e.get("text") for e in whole]


async def test_what_was_said_is_searched_renamed_archived_exported_and_deleted(
    bench: Bench,
) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    session = await one_turn(editor, "The zebra crosses.")
    await editor.request("agentls/session/rename", {"sessionId": session, "title": "Zoo"})
    await editor.until(lambda: editor.mirror(session).head["title"] == "Zoo", "the new name")
    names = {"sessionId": session}
    with pytest.raises(RequestFailed, match="Close it first"):
        await editor.request("agentls/session/delete", names)
    await editor.request("agentls/session/close", names)
    assert (await listed(editor))[session]["title"] == "Zoo"

    hits: list[Json] = []
    for _ in range(100):  # the index is made when there is nothing else to do
        result = await editor.request("agentls/search", {"words": "zebra", "agent": "puppet"})
        if hits := [h for h in result["hits"] if h["kind"] == "message"]:
            break
        await asyncio.sleep(0.05)
    assert hits, "what was said is never found"
    assert {hit["sessionId"] for hit in hits} == {session}

    exported = await editor.request("agentls/session/export", {**names, "format": "json"})
    shown = await editor.request("agentls/session/export", names)
    assert "The zebra crosses." in shown["markdown"]

    await editor.request("agentls/session/archive", names)
    assert session not in await listed(editor)
    assert session in await listed(editor, archived=True)
    await editor.request("agentls/session/delete", names)
    assert await listed(editor, archived=None) == {}
    with pytest.raises(RequestFailed, match="no stored session"):
        await editor.request("agentls/session/snapshot", names)

    taken = await editor.request("agentls/session/import", {"json": exported["json"]})
    assert taken["session"]["place"] == "past"
    back = await editor.snapshot(taken["session"]["id"])
    assert "The zebra crosses." in [e.get("text") for e in back["entries"]]


async def test_a_list_comes_in_pages_and_can_be_narrowed(bench: Bench) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    all = [await one_turn(editor, str(number)) for number in range(5)]
    for session in all:
        await editor.request("agentls/session/close", {"sessionId": session})
    pages: list[list[str]] = []
    after = ""
    for _ in range(10):
        page = await editor.request("agentls/session/list", {"limit": 2, "after": after})
        pages.append([head["id"] for head in page["sessions"]])
        if not (after := page.get("next", "")):
            break
    assert sorted(id for page in pages for id in page) == sorted(all)
    assert await listed(editor, agent="demo") == {}
    assert set(await listed(editor, cwd=str(bench.workspace))) == set(all)
    assert await listed(editor, cwd="/nowhere") == {}
    with pytest.raises(RequestFailed, match="not the `next`"):
        await listed(editor, after="nonsense")


async def test_a_session_goes_on_with_another_agent_that_is_told_what_was_said(
    bench: Bench,
) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    session = await one_turn(editor, "The colour is blue.")
    await editor.request("agentls/session/close", {"sessionId": session})
    params = {"sessionId": session, "agent": "demo"}
    fork = (await editor.request("agentls/session/fork", params))["session"]
    assert (fork["agent"], fork["id"] == session) == ("demo", False)
    await editor.snapshot(fork["id"])
    mirror = editor.mirror(fork["id"])
    assert mirror.text() == "The colour is blue."
    assert "goes on from" in mirror.of_kind("notice")[0]["text"]
