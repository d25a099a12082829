"""A person and agents at work in the same files at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.bench import Bench
from fakes.buffers import Buffer, Buffers
from fakes.conversation import ended
from fakes.editor import Editor
from fakes.file_agent import Json, begin, file, notices, started

OLD = "".join(f"line {n}\n" for n in range(20))
NEW = OLD.replace("line 3\n", "three\n").replace("line 15\n", "fifteen\n")


def wrote(path: Path, text: str) -> list[Json]:
    """The agent writes to disk by itself, says so, and goes on."""
    call = {
        "sessionUpdate": "tool_call",
        "toolCallId": f"write {len(text)}",
        "title": "Edit",
        "kind": "edit",
        "status": "completed",
        "locations": [{"path": str(path)}],
    }
    return [{"write": str(path), "text": text}, {"update": call}]


async def change_of(editor: Editor) -> Json:
    def told() -> list[Json]:
        return [i for n in editor.notifications("agentls/change/didChange") for i in n["items"]]

    await editor.until(told, "a change")
    (change,) = (await editor.request("agentls/change/list", {}))["changes"]
    return dict(change)


def insert(editor: Editor, buffer: Buffer, line: int, text: str) -> None:
    """As editors tell it: only what was typed."""
    lines = buffer.text.splitlines(keepends=True)
    lines[line:line] = [text]
    buffer.text = "".join(lines)
    buffer.version += 1
    at = {"line": line, "character": 0}
    editor.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": buffer.uri, "version": buffer.version},
            "contentChanges": [{"range": {"start": at, "end": at}, "text": text}],
        },
    )


async def at_work(bench: Bench) -> tuple[Editor, Buffers, Buffer, str, Path]:
    """The agent has written, its turn goes on, and the editor shows what it wrote."""
    editor, buffers, session = await started(bench)
    path = file(bench, OLD)
    await begin(editor, session, *wrote(path, NEW), {"await": "cancel"})
    await change_of(editor)
    return editor, buffers, buffers.open(path), session, path


async def test_hunks_follow_what_is_typed_and_what_is_seen_otherwise(bench: Bench) -> None:
    editor, buffers, buffer, session, path = await at_work(bench)
    insert(editor, buffer, 0, "typed\n")
    insert(editor, buffer, 10, "two\nlines\n")
    starts = [h["start"] for h in (await change_of(editor))["hunks"]]
    assert starts == [4, 18]
    buffers.type(buffer, "again\n" + buffer.text)
    insert(editor, buffer, 0, "typed\n")
    change = await change_of(editor)
    assert [h["start"] for h in change["hunks"]] == [6, 20]
    buffers.save(buffer)
    await editor.request(
        "agentls/change/decide",
        {"verdict": "undo", "changeId": change["changeId"]},
    )
    expected = "typed\nagain\ntyped\n" + OLD.replace("line 9\n", "two\nlines\nline 9\n")
    assert path.read_text() == buffer.text == expected
    insert(editor, buffer, 0, "more\n")
    assert [h["start"] for h in (await change_of(editor))["hunks"]] == [7, 21]
    await editor.request("agentls/session/cancel", {"sessionId": session})


async def test_what_a_person_undoes_during_a_turn_is_not_the_agents(bench: Bench) -> None:
    editor, _, session = await started(bench)
    path, other = file(bench, OLD), bench.workspace / "other.txt"
    await begin(editor, session, *wrote(path, NEW))
    await ended(editor, session)
    change = await change_of(editor)
    await begin(editor, session, {"update": said("at work")}, {"await": "cancel"})
    mirror = editor.mirror(session)
    await editor.until(lambda: "at work" in mirror.text(), "the agent at work")
    which = {"changeId": change["changeId"], "hunkIds": [change["hunks"][0]["hunkId"]]}
    await editor.request("agentls/change/decide", {"verdict": "undo", **which})
    other.write_text("by the agent\n")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    found = await editor.until_result(
        lambda: editor.request("agentls/change/list", {}),
        lambda it: str(other) in {change["path"] for change in it["changes"]},
    )
    assert [(c["path"], c["turn"]) for c in found["changes"]] == [(str(path), 1), (str(other), 2)]
    assert path.read_text() == OLD.replace("line 15\n", "fifteen\n")


def said(text: str) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


@pytest.mark.parametrize("first", ["agent", "person"])
async def test_typing_where_an_agent_is_at_work_is_told(bench: Bench, first: str) -> None:
    if first == "agent":
        editor, _, buffer, session, path = await at_work(bench)
        assert "you and an agent" not in notices(editor, session)
        insert(editor, buffer, 0, "typed\n")
    else:
        editor, buffers, session = await started(bench)
        path = file(bench, OLD)
        insert(editor, buffers.open(path), 8, "typed\n")
        await begin(editor, session, *wrote(path, NEW), {"await": "cancel"})
    await editor.until(
        lambda: "you and an agent" in notices(editor, session), "a notice of the meeting"
    )
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)


async def test_a_document_that_is_read_again_is_not_typing(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, OLD)
    buffer = buffers.open(path)
    again = NEW.replace("line 9\n", "nine\n")
    await begin(editor, session, *wrote(path, NEW), {"await": "cancel"})
    await change_of(editor)
    buffers.type(buffer, NEW)
    path.write_text(again)
    buffers.type(buffer, again)
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)
    await editor.until_result(lambda: change_of(editor), lambda it: len(it["hunks"]) == 3)
    assert "you and an agent" not in notices(editor, session)
