"""Changes that are looked at, and edited, before they are written."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor, RequestFailed
from fakes.file_agent import (
    Json,
    begin,
    cards,
    decide,
    edit_call,
    file,
    open_ask,
    play,
    read,
    started,
    write,
)

BEFORE = {"review": "before"}
OLD = "one\ntwo\nthree\n"
NEW = "one\nTWO\nthree\n"
EDITED = "one\nTwo!\nthree\n"


async def proposal(editor: Editor, ask: Json) -> Json:
    result = await editor.request("agentls/ask/proposal", {"askId": ask["askId"]})
    (found,) = result["files"]
    return dict(found)


def page(found: Json) -> Path:
    return Path(unquote(urlparse(found["uri"]).path))


@pytest.mark.parametrize("policy", ["ask", "accept_edits"])
async def test_a_write_waits_for_the_person_whatever_is_allowed(bench: Bench, policy: str) -> None:
    editor, _, session = await started(bench, policy=policy, options=BEFORE)
    path = file(bench, OLD)
    await begin(editor, session, read(path), write(path, NEW))
    ask = await open_ask(editor, session)
    assert path.read_text() == OLD
    assert (ask["editable"], ask.get("always", [])) == (True, [])
    await decide(editor, ask, "allow")
    await ended(editor, session)
    assert path.read_text() == NEW


async def test_in_a_trusted_session_nothing_waits(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="trust", options=BEFORE)
    path = file(bench, OLD)
    (answer,) = await play(editor, session, write(path, NEW))
    assert answer["result"] == {}
    assert path.read_text() == NEW


@pytest.mark.parametrize("saved", [True, False])
async def test_the_text_on_the_page_is_written_and_the_agent_is_told(
    bench: Bench, saved: bool
) -> None:
    editor, buffers, session = await started(bench, policy="ask", options=BEFORE)
    path = file(bench, OLD)
    await begin(editor, session, write(path, NEW))
    ask = await open_ask(editor, session)
    found = await proposal(editor, ask)
    assert (found["path"], found["before"], found["after"]) == (str(path), OLD, NEW)
    assert page(found).read_text() == NEW
    if saved:
        page(found).write_text(EDITED)
    else:
        buffers.type(buffers.open(page(found)), EDITED)
    assert path.read_text() == OLD, "nothing is written before it is accepted"
    await decide(editor, ask, "allow")
    await ended(editor, session)
    assert path.read_text() == EDITED
    answer = json.loads(editor.mirror(session).text())
    message = answer["error"]["message"]
    assert "is written, but not as you proposed" in message
    assert "-TWO\n+Two!" in message
    (card,) = cards(editor, session)
    assert card["content"][0]["new"]["text"] == EDITED


async def test_a_page_that_nobody_edited_is_a_plain_yes(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask", options=BEFORE)
    path = file(bench, OLD.replace("\n", "\r\n"))
    await begin(editor, session, write(path, NEW))
    ask = await open_ask(editor, session)
    await proposal(editor, ask)
    await decide(editor, ask, "allow")
    await ended(editor, session)
    assert path.read_bytes() == NEW.replace("\n", "\r\n").encode()
    assert json.loads(editor.mirror(session).text())["result"] == {}


@pytest.mark.parametrize("whole", [True, False])
async def test_an_agent_that_writes_itself_is_told_no_and_what_was_written(
    bench: Bench, whole: bool
) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, OLD)
    old, new = (OLD, NEW) if whole else ("two", "TWO")
    await begin(editor, session, edit_call(path, old, new))
    ask = await open_ask(editor, session)
    assert ask["editable"]
    found = await proposal(editor, ask)
    assert (found["before"], found["after"]) == (OLD, NEW)
    page(found).write_text(EDITED)
    await decide(editor, ask, "allow")
    await ended(editor, session)
    answer = json.loads(editor.mirror(session).text().splitlines()[0])
    assert answer["result"]["outcome"]["optionId"] == "no"
    mirror = editor.mirror(session)

    def prompts() -> list[str]:
        return [m["text"] for m in mirror.of_kind("message") if m["role"] == "user"]

    await editor.until(lambda: len(prompts()) == 2, "a message to the agent")
    assert "-TWO\n+Two!" in prompts()[1]
    assert path.read_text() == EDITED


async def test_what_somebody_typed_meanwhile_is_kept_with_the_accepted_text(bench: Bench) -> None:
    editor, buffers, session = await started(bench, policy="ask", options=BEFORE)
    path = file(bench, OLD)
    buffer = buffers.open(path)
    await begin(editor, session, write(path, NEW))
    ask = await open_ask(editor, session)
    page(await proposal(editor, ask)).write_text(EDITED)
    buffers.type(buffer, "typed\n" + OLD)
    await decide(editor, ask, "allow")
    await ended(editor, session)
    assert buffer.text == path.read_text() == "typed\n" + EDITED


async def test_an_edited_page_that_is_rejected_writes_nothing(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask", options=BEFORE)
    path = file(bench, OLD)
    await begin(editor, session, write(path, NEW))
    ask = await open_ask(editor, session)
    page(await proposal(editor, ask)).write_text(EDITED)
    await decide(editor, ask, "reject")
    await ended(editor, session)
    assert path.read_text() == OLD
    with pytest.raises(RequestFailed):
        await editor.request("agentls/ask/proposal", {"askId": ask["askId"]})


async def test_an_ask_without_a_text_has_no_proposal(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    call = {"call": "terminal/create", "params": {"command": "touch", "args": ["x"]}}
    await begin(editor, session, call)
    ask = await open_ask(editor, session)
    assert "editable" not in ask
    with pytest.raises(RequestFailed, match="not about the text of a file"):
        await editor.request("agentls/ask/proposal", {"askId": ask["askId"]})
    await decide(editor, ask, "reject")
    await ended(editor, session)


async def test_any_editor_edits_and_accepts_by_code_actions(bench: Bench) -> None:
    editor, buffers, session = await started(
        bench,
        {
            "workspace": {"applyEdit": True},
            "window": {"showDocument": {"support": True}},
        },
        policy="ask",
        options=BEFORE,
    )
    path = file(bench, OLD)
    buffers.open(path)
    await begin(editor, session, write(path, NEW))
    await open_ask(editor, session)
    editor.answers["window/showDocument"] = lambda _: {"success": True}

    async def actions(uri: str) -> dict[str, Json]:
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
        where = {"textDocument": {"uri": uri}, "range": whole, "context": {"diagnostics": []}}
        found = await editor.request("textDocument/codeAction", where)
        return {action["title"]: action for action in found}

    edit = (await actions(path.as_uri()))["puppet: Edit before accepting…"]
    result = await editor.command(edit["command"], *edit["arguments"])
    (shown,) = await editor.until(
        lambda: [m for m in editor.received if m.get("method") == "window/showDocument"], "a page"
    )
    (found,) = result["files"]
    assert shown["params"]["uri"] == found["uri"]
    buffers.type(buffers.open(page(found)), EDITED)
    accept = (await actions(found["uri"]))["puppet: Accept this text"]
    await editor.command(accept["command"], *accept["arguments"])
    await ended(editor, session)
    assert path.read_text() == EDITED
    assert await actions(found["uri"]) == {}


async def test_an_edited_text_is_accepted_once_and_never_for_always(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, OLD)
    await begin(editor, session, write(path, NEW))
    ask = await open_ask(editor, session)
    page(await proposal(editor, ask)).write_text(EDITED)
    always = {"askId": ask["askId"], "always": ask["always"][0]["id"]}
    with pytest.raises(RequestFailed, match="only be accepted once"):
        await editor.request("agentls/ask/decide", always)
    assert path.read_text() == OLD
    await editor.request("agentls/ask/decideAll", {"verdict": "allow"})
    await ended(editor, session)
    assert path.read_text() == EDITED
