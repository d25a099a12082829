"""Editors that send nonsense, stop reading or vanish: all is answered, and nothing stalls."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

import pytest

from agentls.editor import protocol as p
from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor, RequestFailed
from fakes.leftovers import nothing_left

Json = dict[str, Any]


@pytest.mark.parametrize("params", [None, 5, "x", [], [1], {"sessionId": 7}, {"text": []}])
async def test_wrong_params_of_any_request_are_answered(bench: Bench, params: Any) -> None:
    editor = await bench.editor()
    for method in p.REQUESTS:
        for error in (
            await _error(editor.request(method.method, params)),
            await _error(editor.command(method.command, params)),
        ):
            if error is not None:
                assert error.code in {-32602, -32803}, f"{method.method}: {error}"
                assert len(error.message) > 10, "an error has words"
    assert editor.notifications("window/showMessage") == []


async def _error(call: Coroutine[Any, Any, Any]) -> RequestFailed | None:
    try:
        await call
    except RequestFailed as error:
        return error
    return None


async def test_requests_of_lsp_itself_with_wrong_params_are_answered(bench: Bench) -> None:
    editor = await bench.editor()
    for method, params in [
        ("workspace/executeCommand", None),
        ("workspace/executeCommand", {"command": 5}),
        ("textDocument/hover", {"nothing": True}),
        ("textDocument/codeAction", 5),
        ("no/such/method", {}),
        ("agentls/no/such/method", {}),
    ]:
        with pytest.raises(RequestFailed) as caught:
            await editor.request(method, params)
        assert caught.value.code in {-32602, -32601}, method


async def test_a_message_in_a_message_is_only_data(bench: Bench) -> None:
    editor = await bench.editor()
    nested = {"jsonrpc": "2.0", "id": 1, "method": "session/update", "params": {}}
    text = "/say 1"
    result = await editor.request(
        "agentls/session/prompt",
        {"agent": "demo", "text": text, "_meta": nested, "class": nested, "type_name": "x"},
    )
    await ended(editor, result["sessionId"])


async def test_what_is_no_message_is_answered_without_an_id_or_skipped(bench: Bench) -> None:
    editor = await bench.editor()
    editor.send_body(b"not json")
    editor.send_body(b"null")
    editor.send_body(b"[1, 2]")
    editor.send_body(b'{"jsonrpc": "2.0", "id": 99, "method": 5}')
    editor.send_body(b'{"jsonrpc": "2.0", "id": 98, "result": "to nothing"}')
    editor.send_raw(b"X-Nothing: 1\r\n\r\n")
    editor.send_raw(b"Content-Length: -5\r\n\r\n")
    editor.notify("textDocument/didChange", {"textDocument": {"uri": "file:///never-opened"}})
    editor.notify("textDocument/didOpen", {"textDocument": None})
    editor.notify("$/cancelRequest", {"id": 12345})
    editor.notify("agentls/session/prompt", {"text": "a request sent as a notification"})
    assert (await editor.request("agentls/session/list")) == {"sessions": []}
    errors = [m for m in editor.received if "error" in m]
    assert [m["id"] for m in errors] == [None, None, None, 99]


async def test_half_a_surrogate_pair_from_the_editor_does_no_harm(bench: Bench) -> None:
    editor = await bench.editor()
    editor.send_body(
        b'{"jsonrpc":"2.0","id":"s","method":"agentls/session/prompt",'
        b'"params":{"agent":"demo","text":"/say 1 \\ud83d"}}'
    )
    await editor.until(lambda: any(m.get("id") == "s" for m in editor.received), "an answer")


async def test_nothing_works_before_initialize_and_after_shutdown(bench: Bench) -> None:
    editor = await bench.raw_editor()
    with pytest.raises(RequestFailed) as early:
        await editor.request("agentls/session/list")
    assert early.value.code == -32002
    editor.notify("textDocument/didOpen", {})
    await editor.initialize(bench.workspace)
    await editor.request("shutdown")
    with pytest.raises(RequestFailed) as late:
        await editor.request("agentls/session/list")
    assert late.value.code == -32600
    editor.notify("exit", None)
    assert await editor.gone() == 0


async def test_exit_without_shutdown_is_an_error_code(bench: Bench) -> None:
    editor = await bench.editor()
    editor.notify("exit", None)
    assert await editor.gone() == 1


@pytest.mark.parametrize("way", ["closed", "killed", "terminated"])
async def test_agents_end_when_the_editor_goes(bench: Bench, way: str) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/slow 2000")
    await editor.until(editor.mirror(session).text, "the agent works")
    assert len(bench.processes()) >= 2
    if way == "terminated":
        editor.process.send_signal(signal.SIGTERM)
    else:
        assert editor.process.stdin is not None
        editor.process.stdin.close()
    if way == "killed":
        editor.stop_reading()
    await editor.process.wait()
    await nothing_left(bench.mark)


async def test_an_editor_that_does_not_read_stalls_nothing(bench: Bench) -> None:
    """Two agents finish their floods while the editor reads nothing; then it gets everything."""
    bench.add_scenario("flood")
    editor = await bench.editor("text")
    done = bench.workspace / "done.txt"
    first = await prompt(editor, "flood")
    editor.stop_reading()
    # A person's command through the same server: it runs only if the server is not stuck.
    allowed = await _session_in_auto_mode(editor)
    editor.notify_request(
        "agentls/session/prompt", {"sessionId": allowed, "text": f"/run touch {done.name}"}
    )
    await _exists(done)
    editor.go_on_reading()
    await ended(editor, first)
    assert editor.mirror(first).text() == "".join(f"word{i} " for i in range(100_000))
    await ended(editor, allowed, turns=2)


async def _session_in_auto_mode(editor: Editor) -> str:
    editor.go_on_reading()
    session = await prompt(editor, "demo", "/say 1")
    await ended(editor, session)
    await editor.request("agentls/session/setMode", {"sessionId": session, "mode": "auto"})
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": "trust"})
    editor.stop_reading()
    return session


async def _exists(path: Any) -> None:
    for _ in range(500):
        if path.exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path} was never made: the server is stuck")


async def test_a_cancelled_request_is_answered_once(bench: Bench) -> None:
    editor = await bench.editor("deaf")
    session = await prompt(editor, "deaf")
    await editor.until(lambda: "still" in editor.mirror(session).text(), "the agent reads no more")
    waiting = asyncio.create_task(
        editor.request("agentls/session/setMode", {"sessionId": session, "mode": "auto"})
    )
    await editor.request("agentls/session/list")
    editor.notify("$/cancelRequest", {"id": editor.last_id})
    with pytest.raises(RequestFailed) as caught:
        await waiting
    assert caught.value.code == -32800


async def test_a_message_answered_after_it_was_withdrawn_changes_nothing(bench: Bench) -> None:
    """A plain editor keeps a prompt open while the turn is cancelled, then says yes."""
    late: list[Json] = []
    editor = await bench.editor(
        "permission", plugin=False, capabilities={"window": {"showMessage": {}}}
    )
    editor.answers["window/showMessageRequest"] = editor.keep(late)
    result = await editor.command("agentls.session.prompt", {"agent": "permission", "text": "x"})
    session = result["sessionId"]
    await editor.until(lambda: late, "the question")
    await editor.command("agentls.session.cancel", {"sessionId": session})
    editor.send({"jsonrpc": "2.0", "id": late[0]["id"], "result": {"title": "Allow"}})
    exported = await editor.command("agentls.session.export", {"sessionId": session})
    assert "turn cancelled" in exported["markdown"]
    assert (await editor.command("agentls.ask.list")) == {"asks": []}
