"""What agents do to files by themselves: found, shown, kept, undone, gone back to."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor, RequestFailed

Json = dict[str, Any]
OLD = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n"
NEW = OLD.replace("return 1", "return 10").replace("return 3", "return 30")


async def session_of(editor: Editor) -> str:
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    return str(result["session"]["id"])


async def play(editor: Editor, session: str, *steps: Json, turn: int = 1) -> None:
    await begin(editor, session, *steps)
    await ended(editor, session, turn)


async def begin(editor: Editor, session: str, *steps: Json) -> None:
    params = {"sessionId": session, "text": json.dumps(steps)}
    await editor.request("agentls/session/prompt", params)


def write(path: Path, text: str | None) -> Json:
    return {"write": str(path)} if text is None else {"write": str(path), "text": text}


async def changes(editor: Editor, count: int = 1, **which: Any) -> list[Json]:
    """The changes, once the editor has been told of so many, with all labels."""

    def told() -> bool:
        items = [
            item["changeId"]
            for told in editor.notifications("agentls/change/didChange")
            for item in told["items"]
        ]
        return len(set(items)) >= count

    await editor.until(told, f"{count} changes")
    result = await editor.request("agentls/change/list", which)
    return list(result["changes"])


async def decide(editor: Editor, verdict: str, **which: Any) -> Json:
    return dict(await editor.request("agentls/change/decide", {"verdict": verdict, **which}))


def follow_edits(editor: Editor, uri: str, version: int) -> list[list[int]]:
    """An editor that does what it is told; the lines of each edit."""
    lines: list[list[int]] = []

    def apply(message: Json) -> Json:
        (edit,) = message["params"]["edit"]["documentChanges"]
        lines.append([e["range"]["start"]["line"] for e in edit["edits"]])
        changes = [{"range": e["range"], "text": e["newText"]} for e in reversed(edit["edits"])]
        identifier = {"uri": uri, "version": version}
        editor.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )
        return {"applied": True}

    editor.answers["workspace/applyEdit"] = apply
    return lines


def git(folder: Path, *words: str) -> bytes:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True
    ).stdout


@pytest.fixture(params=["plain", "git"])
def file(bench: Bench, request: pytest.FixtureRequest) -> Path:
    """A file in a folder with and without git."""
    path = bench.workspace / "counting.py"
    path.write_bytes(OLD.encode())
    if request.param == "git":
        git(bench.workspace, "init", "-q")
        git(bench.workspace, "add", ".")
        git(bench.workspace, "commit", "-q", "-m", "first")
    bench.add_puppet()
    return path


async def test_what_an_agent_wrote_to_disk_is_a_change_whose_hunks_are_undone_one_by_one(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    (change,) = await changes(editor)
    assert (change["path"], change["type"], change["turn"]) == (str(file), "modified", 1)
    assert [(h["start"], h["end"], h["state"]) for h in change["hunks"]] == [
        (1, 2, "pending"),
        (9, 10, "pending"),
    ]
    first, second = (h["hunkId"] for h in change["hunks"])
    result = await decide(editor, "undo", changeId=change["changeId"], hunkIds=[first])
    assert "refused" not in result
    assert file.read_bytes() == OLD.replace("return 3", "return 30").encode()
    await decide(editor, "undo", changeId=change["changeId"], hunkIds=[second])
    assert file.read_bytes() == OLD.encode()
    await decide(editor, "redo", changeId=change["changeId"])
    assert file.read_bytes() == NEW.encode()


async def test_kept_changes_are_not_pending_and_stay(bench: Bench, file: Path) -> None:
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    await changes(editor)
    await decide(editor, "keep", sessionId=session, turn=1)
    assert await changes(editor, pending=True) == []
    await decide(editor, "undo", sessionId=session)
    assert file.read_bytes() == NEW.encode()


async def test_files_that_are_made_and_removed_come_back_and_go_exactly(
    bench: Bench, file: Path
) -> None:
    made, binary = bench.workspace / "new folder" / "made.txt", bench.workspace / "picture.bin"
    binary.write_bytes(b"\0\1\2")
    editor = await bench.editor()
    session = await session_of(editor)
    await play(
        editor,
        session,
        write(file, None),
        write(made, "hello\r\nyou"),
        write(binary, "\0other"),
    )
    found = await changes(editor, 3)
    assert {Path(c["path"]).name: c["type"] for c in found} == {
        "made.txt": "created",
        "counting.py": "deleted",
        "picture.bin": "modified",
    }
    result = await decide(editor, "undo", sessionId=session)
    assert "refused" not in result
    assert file.read_bytes() == OLD.encode()
    assert binary.read_bytes() == b"\0\1\2"
    assert not made.exists()


async def test_what_the_person_saves_meanwhile_is_not_the_agents(bench: Bench, file: Path) -> None:
    editor = await bench.editor()
    session = await session_of(editor)
    mine = OLD.replace("return 2", "return 222")
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": OLD}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    await begin(editor, session, {"update": said("working")}, {"await": "cancel"})
    mirror = editor.mirror(session)
    await editor.until(lambda: "working" in mirror.text(), "the agent at work")
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": mine}]},
    )
    file.write_text(mine)
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    (bench.workspace / "agents.txt").write_text("from the agent\n")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    (change,) = await changes(editor)
    assert change["path"] == str(bench.workspace / "agents.txt")


def said(text: str) -> Json:
    return {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}


async def test_a_change_is_a_hint_code_actions_lenses_and_a_hover_where_it_is(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    await changes(editor)
    document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": NEW}
    editor.notify("textDocument/didOpen", {"textDocument": document})

    def labelled() -> list[str]:
        told = editor.notifications("textDocument/publishDiagnostics")
        return [d["message"] for d in told[-1]["diagnostics"]] if told else []

    await editor.until(
        lambda: any("def one" in text for text in labelled()), "a hint with the function"
    )
    hints = editor.notifications("textDocument/publishDiagnostics")[-1]["diagnostics"]
    assert [(d["severity"], d["range"]["start"]["line"]) for d in hints] == [(4, 1), (4, 9)]
    at = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 0}}
    where = {"textDocument": {"uri": file.as_uri()}}
    actions = await editor.request(
        "textDocument/codeAction", {**where, "range": at, "context": {"diagnostics": []}}
    )
    titles = [action["title"] for action in actions]
    assert titles[:2] == ["puppet: Keep this change", "puppet: Undo this change"]
    assert len(await editor.request("textDocument/codeLens", where)) == 4
    hover = await editor.request("textDocument/hover", {**where, "position": at["start"]})
    assert hover["contents"]["value"].startswith("Written by puppet in turn 1: ")
    nothing = await editor.request(
        "textDocument/hover", {**where, "position": {"line": 4, "character": 0}}
    )
    assert nothing is None
    keep = next(a for a in actions if a["title"] == "puppet: Keep all in this file")
    await editor.command(keep["command"], *keep["arguments"])
    await editor.until(lambda: labelled() == [], "no hints any more")


async def test_an_open_document_is_undone_in_the_editor_and_on_disk(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor(capabilities={"workspace": {"applyEdit": True}})
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    (change,) = await changes(editor)
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": NEW}
    editor.notify("textDocument/didOpen", {"textDocument": document})

    follow_edits(editor, uri, version=2)
    result = await decide(editor, "undo", changeId=change["changeId"])
    assert "refused" not in result
    assert file.read_bytes() == OLD.encode()
    assert {h["state"] for h in result["changes"][0]["hunks"]} == {"undone"}


async def test_going_back_is_shown_first_spares_the_persons_work_and_can_be_undone(
    bench: Bench, file: Path
) -> None:
    other = bench.workspace / "mine.txt"
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, OLD.replace("return 1", "return 10")))
    await changes(editor)
    mine = file.read_text().replace("return 2", "return 222")
    file.write_text(mine)
    other.write_text("only mine\n")
    await play(editor, session, write(file, mine.replace("return 3", "return 30")), turn=2)
    await changes(editor, 2)
    at_end = file.read_bytes()
    shown = await editor.request("agentls/change/restore", {"sessionId": session, "turn": 1})
    assert [(f["path"], f["effect"]) for f in shown["files"]] == [(str(file), "changed")]
    assert (shown["done"], file.read_bytes()) == (False, at_end)
    named = {"restoreId": shown["restoreId"]}
    texts = await editor.request("agentls/change/restoreShow", {**named, "path": str(file)})
    assert texts["now"].encode() == at_end
    assert texts["then"] == OLD.replace("return 2", "return 222")
    with pytest.raises(RequestFailed, match="not about"):
        await editor.request("agentls/change/restoreShow", {**named, "path": str(other)})
    assert (await editor.request("agentls/change/restore", {"step": "do", **named}))["done"]
    assert file.read_bytes() == OLD.replace("return 2", "return 222").encode()
    assert other.read_text() == "only mine\n"
    with pytest.raises(RequestFailed, match="no restore"):
        await editor.request("agentls/change/restore", {"step": "do", **named})
    await editor.request("agentls/change/restore", {"step": "undo", **named})
    assert file.read_bytes() == at_end


async def test_the_git_repository_itself_is_left_alone(bench: Bench) -> None:
    bench.add_puppet()
    file = bench.workspace / "counting.py"
    file.write_text(OLD)
    git(bench.workspace, "init", "-q")
    git(bench.workspace, "add", ".")
    git(bench.workspace, "commit", "-q", "-m", "first")
    index = (bench.workspace / ".git" / "index").read_bytes()
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    await changes(editor)
    assert (bench.workspace / ".git" / "index").read_bytes() == index
    await decide(editor, "undo", sessionId=session)
    assert git(bench.workspace, "status", "--porcelain") == b""
    assert git(bench.workspace, "stash", "list") == b""


async def test_two_sessions_in_one_file_are_both_told(bench: Bench, file: Path) -> None:
    editor = await bench.editor()
    one, two = await session_of(editor), await session_of(editor)

    def call(path: Path) -> Json:
        return {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "Edit",
            "kind": "edit",
            "status": "completed",
            "locations": [{"path": str(path)}],
        }

    await begin(editor, one, write(file, NEW), {"update": call(file)}, {"await": "cancel"})
    await changes(editor)
    both = NEW.replace("return 2", "return 20")
    await begin(editor, two, write(file, both), {"update": call(file)}, {"await": "cancel"})
    found = await changes(editor, 2)
    assert [c["sessionId"] for c in found] == [one, two]
    for session in (one, two):
        mirror = editor.mirror(session)
        await editor.until(
            lambda mirror=mirror: [n for n in mirror.of_kind("notice") if file.name in n["text"]],
            "a notice of the other session",
        )
        await editor.request("agentls/session/cancel", {"sessionId": session})


@pytest.mark.parametrize("overlaps", [False, True])
async def test_unsaved_text_and_what_the_agent_wrote_both_stay(
    bench: Bench, file: Path, overlaps: bool
) -> None:
    editor = await bench.editor(capabilities={"workspace": {"applyEdit": True}})
    session = await session_of(editor)
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": OLD}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    mine = OLD.replace("return 1" if overlaps else "return 2", "return 111")
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": mine}]},
    )
    edited = follow_edits(editor, uri, version=3)
    await play(editor, session, write(file, NEW))
    words = "Both are kept: choose" if overlaps else "merged into your text"
    await editor.until(
        lambda: any(words in m["message"] for m in editor.notifications("window/showMessage")),
        "a message about the file",
    )
    assert file.read_bytes() == NEW.encode()
    assert edited == ([] if overlaps else [[1, 9]])


async def test_an_editor_that_refuses_the_merge_keeps_its_text_and_is_told_so(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor(capabilities={"workspace": {"applyEdit": True}})
    session = await session_of(editor)
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": OLD}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    mine = OLD.replace("return 2", "return 222")
    editor.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": mine}]},
    )
    editor.answers["workspace/applyEdit"] = lambda _: {"applied": True}
    await play(editor, session, write(file, NEW))
    await editor.until(
        lambda: any("Both are" in m["message"] for m in editor.notifications("window/showMessage")),
        "a message about the file",
    )


async def test_what_is_kept_while_another_hunk_is_being_undone_stays_kept(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor(capabilities={"workspace": {"applyEdit": True}})
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    (change,) = await changes(editor)
    first, second = (hunk["hunkId"] for hunk in change["hunks"])
    uri = file.as_uri()
    document = {"uri": uri, "languageId": "python", "version": 1, "text": NEW}
    editor.notify("textDocument/didOpen", {"textDocument": document})
    follow_edits(editor, uri, version=2)
    names = {"changeId": change["changeId"]}
    undone, kept = await asyncio.gather(
        decide(editor, "undo", **names, hunkIds=[first]),
        decide(editor, "keep", **names, hunkIds=[second]),
    )
    assert "refused" not in undone
    assert "refused" not in kept
    (after,) = await changes(editor)
    assert {h["hunkId"]: h["state"] for h in after["hunks"]} == {first: "undone", second: "kept"}
    assert file.read_text() == NEW.replace("return 10", "return 1")


async def test_a_field_that_nobody_knows_does_not_make_a_decision_about_more(
    bench: Bench, file: Path
) -> None:
    editor = await bench.editor()
    session = await session_of(editor)
    await play(editor, session, write(file, NEW))
    (change,) = await changes(editor)
    names = {"changeId": change["changeId"], "hunks": [change["hunks"][0]["hunkId"]]}
    with pytest.raises(RequestFailed, match="hunks"):
        await decide(editor, "undo", **names)
    assert file.read_text() == NEW
