"""Files that an agent reads and writes through us: unsaved text is seen, no keystroke is lost."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import PUPPET, Bench
from fakes.buffers import Buffers
from fakes.conversation import ended
from fakes.editor import Editor

Json = dict[str, Any]
CAPABILITIES = Path(__file__).parent.parent / "capabilities"
EDITORS = sorted(p.stem for p in CAPABILITIES.glob("*.json"))
EDITING = [name for name in EDITORS if not name.startswith("vim-ale")]
PLAIN = {"workspace": {"applyEdit": True}}
REFUSED, NOT_FOUND, INVALID = -32003, -32002, -32602


def read(path: Path | str, **params: Any) -> Json:
    return {"call": "fs/read_text_file", "params": {"path": str(path), **params}}


def write(path: Path | str, content: str) -> Json:
    return {"call": "fs/write_text_file", "params": {"path": str(path), "content": content}}


async def started(
    bench: Bench,
    capabilities: Json | None = None,
    *,
    policy: str = "trust",
    agent: str = "puppet",
) -> tuple[Editor, Buffers, str]:
    """An editor with buffers, and a session with the puppet."""
    bench.add_agent(agent, [sys.executable, str(PUPPET)])
    editor = await bench.raw_editor()
    answer = await editor.initialize(bench.workspace, capabilities=capabilities or PLAIN)
    buffers = Buffers(editor, answer["capabilities"].get("positionEncoding", "utf-16"))
    opened = await editor.request("agentls/session/new", {"agent": agent})
    session = str(opened["session"]["id"])
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": policy})
    return editor, buffers, session


def captured(name: str) -> Json:
    params = json.loads((CAPABILITIES / f"{name}.json").read_text())
    return dict(params["capabilities"])


async def begin(editor: Editor, session: str, *steps: Json) -> None:
    await editor.request(
        "agentls/session/prompt", {"sessionId": session, "text": json.dumps(steps)}
    )


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    await begin(editor, session, *steps)
    await ended(editor, session, turns)
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


def notices(editor: Editor, session: str) -> str:
    return " ".join(n["text"] for n in editor.mirror(session).of_kind("notice"))


def cards(editor: Editor, session: str) -> list[Json]:
    return editor.mirror(session).of_kind("tool_call")


async def open_ask(editor: Editor, session: str) -> Json:
    mirror = editor.mirror(session)
    (ask,) = await editor.until(
        lambda: [a for a in mirror.of_kind("ask") if "decision" not in a], "an ask"
    )
    return dict(ask)


async def decide(editor: Editor, ask: Json, verdict: str) -> None:
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": verdict})


def file(bench: Bench, text: str, name: str = "a.txt") -> Path:
    path = bench.workspace / name
    path.write_bytes(text.encode())
    return path


# -- reading


async def test_unsaved_text_is_read_and_lines_count_from_one(bench: Bench) -> None:
    editor, buffers, session = await started(bench, policy="ask")
    path = file(bench, "on disk\n")
    buffers.type(buffers.open(path), "one\ntwo\nthree\n")
    whole, part, rest, few = await play(
        editor,
        session,
        read(path),
        read(path, line=2, limit=1),
        read(path, line=3),
        read(path, limit=2),
    )
    assert whole["result"] == {"content": "one\ntwo\nthree\n"}
    assert part["result"] == {"content": "two\n"}
    assert rest["result"] == {"content": "three\n"}
    assert few["result"] == {"content": "one\ntwo\n"}
    assert editor.mirror(session).of_kind("ask") == [], "reading in the workspace is not asked"


async def test_a_buffer_that_fell_behind_the_disk_is_not_read(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "old\n")
    buffers.open(path)
    await editor.request("agentls/agents", {})  # so that it is open by now
    path.write_text("new\n")
    os.utime(path, (2**32, 2**32))
    (answer,) = await play(editor, session, read(path))
    assert answer["result"] == {"content": "new\n"}


async def test_text_that_was_unsaved_when_it_was_opened_is_read(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "on disk\n")
    buffers.open(path, "left unsaved the last time\n")
    (answer,) = await play(editor, session, read(path))
    assert answer["result"] == {"content": "left unsaved the last time\n"}


@pytest.mark.parametrize(
    ("params", "code", "words"),
    [
        ({"path": "gone.txt"}, NOT_FOUND, "There is no file"),
        ({"path": "."}, REFUSED, "not a file but a folder"),
        ({"path": "binary"}, REFUSED, "not a text file"),
        ({"path": ""}, INVALID, "path is missing"),
        ({"path": "a.txt", "line": "1"}, INVALID, "line is not a number"),
        ({"path": "a.txt", "limit": -1}, INVALID, "limit is not a number"),
        ({"path": "https://example.org/x"}, INVALID, "is not a file"),
    ],
)
async def test_what_cannot_be_read_is_one_sentence(
    bench: Bench, params: Json, code: int, words: str
) -> None:
    editor, _, session = await started(bench)
    file(bench, "text")
    file(bench, "\0\1\2", "binary")
    (answer,) = await play(editor, session, {"call": "fs/read_text_file", "params": params})
    assert answer["error"]["code"] == code
    assert words in answer["error"]["message"]


async def test_gemini_gets_empty_text_for_a_missing_file(bench: Bench) -> None:
    editor, _, session = await started(bench, agent="gemini")
    path = bench.workspace / "new.txt"
    empty, written = await play(editor, session, read(path), write(path, "brand new\n"))
    assert empty["result"] == {"content": ""}
    assert written["result"] == {}
    assert path.read_text() == "brand new\n"


async def test_outside_the_workspace_only_what_is_there_is_asked_about(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    above = bench.workspace.parent
    (above / "AGENTS.md").write_text("secret\n")
    await begin(editor, session, read(above / "CLAUDE.md"), read(above / "AGENTS.md"))
    ask = await open_ask(editor, session)
    assert "AGENTS.md" in ask["shown"]
    await decide(editor, ask, "reject")
    await ended(editor, session)
    missing, rejected = map(json.loads, editor.mirror(session).text().splitlines())
    assert missing["error"]["code"] == NOT_FOUND
    assert rejected["error"]["code"] == REFUSED
    assert "not allowed (you)" in rejected["error"]["message"]


# -- writing files that are not open


@pytest.mark.parametrize(
    ("old", "new", "then"),
    [
        (None, "new\n", b"new\n"),
        ("a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nc\n", b"a\r\nc\n"),
        ("\ufeffa\n", "b\n", b"\xef\xbb\xbfb\n"),
        ("no end", "none\f\u2028 either 😀", "none\f\u2028 either 😀".encode()),
        ("text\n", "", b""),
    ],
)
async def test_a_file_that_is_not_open_is_written_to_disk(
    bench: Bench, old: str | None, new: str, then: bytes
) -> None:
    editor, buffers, session = await started(bench)
    path = bench.workspace / ("deep/er/a.txt" if old is None else "a.txt")
    if old is not None:
        path.write_bytes(old.encode())
    (answer,) = await play(editor, session, write(path, new))
    assert answer["result"] == {}
    assert path.read_bytes() == then
    assert buffers.edits == []
    (card,) = cards(editor, session)
    assert card["status"] == "completed"
    (diff,) = card["content"]
    assert diff["new"]["text"].encode() in {then, then.removeprefix(b"\xef\xbb\xbf")}
    assert [p.name for p in path.parent.iterdir()] == [path.name], "no temporary file is left"


async def test_what_cannot_be_written_is_told_and_nothing_is_lost(bench: Bench) -> None:
    editor, _, session = await started(bench)
    fixed = file(bench, "keep\n", "fixed.txt")
    fixed.chmod(0o444)
    (bench.workspace / "folder").mkdir()
    answers = await play(
        editor,
        session,
        write(fixed, "x"),
        write(bench.workspace / "folder", "x"),
        write(fixed / "below", "x"),
        write("", "x"),
        {"call": "fs/write_text_file", "params": {"path": str(fixed)}},
    )
    said = [(a["error"]["code"], a["error"]["message"]) for a in answers]
    words = ("is read-only", "a folder", "a part of its path is a file", "path is", "content is")
    assert all(w in message for w, (_, message) in zip(words, said, strict=True)), said
    assert [code for code, _ in said] == [REFUSED, REFUSED, -32603, INVALID, INVALID]
    assert fixed.read_text() == "keep\n"
    assert "is read-only" in notices(editor, session)
    assert {p.name for p in bench.workspace.iterdir()} == {"fixed.txt", "folder"}


async def test_a_link_is_written_through_and_its_document_is_found(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    link = bench.workspace / "link.txt"
    link.symlink_to(path)
    buffer = buffers.open(link)
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert answer["result"] == {}
    assert (buffer.text, path.read_text(), link.is_symlink()) == ("two\n", "two\n", True)


# -- writing files that are open


@pytest.mark.parametrize("name", EDITING)
@pytest.mark.parametrize("manner", ["apply", "tells later"])
async def test_an_open_file_is_edited_where_it_changed_and_saved(
    bench: Bench, name: str, manner: str
) -> None:
    editor, buffers, session = await started(bench, captured(name))
    buffers.manner = manner
    path = file(bench, "first\nä😀 hello 🎉\nlast\n")
    buffer = buffers.open(path)
    wanted = "first\nä😀 goodbye 🎉\nlast\n"
    (answer,) = await play(editor, session, write(path, wanted))
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == wanted
    (change,) = buffers.edits
    assert change["textDocument"]["version"] == 1
    (edit,) = change["edits"]
    assert edit["range"]["start"]["line"] == edit["range"]["end"]["line"] == 1
    assert len(edit["newText"]) < len("goodbye 🎉")


async def test_encodings_of_all_widths_were_used(bench: Bench) -> None:
    found = set()
    for name in EDITING:
        editor = await bench.raw_editor()
        answer = await editor.initialize(bench.workspace, capabilities=captured(name))
        found.add(answer["capabilities"].get("positionEncoding", "utf-16"))
        await editor.close()
    assert found == {"utf-8", "utf-16", "utf-32"}


@pytest.mark.parametrize("shown", ["a\r\nb\r\nc\r\n", "a\nb\nc\n"])
async def test_line_ends_stay_in_the_buffer_and_on_disk(bench: Bench, shown: str) -> None:
    """Emacs has only newlines in its buffer, whatever the file has."""
    editor, buffers, session = await started(bench, captured("emacs30.1-eglot"))
    path = file(bench, "a\r\nb\r\nc\r\n")
    buffer = buffers.open(path, shown)
    (answer,) = await play(editor, session, write(path, "a\nB\nc\n"))
    assert answer["result"] == {}
    assert path.read_bytes() == b"a\r\nB\r\nc\r\n"
    assert buffer.text == shown.replace("b", "B")


@pytest.mark.parametrize("manner", ["says it did", "refuses"])
async def test_an_editor_that_refuses_is_not_believed(bench: Bench, manner: str) -> None:
    editor, buffers, session = await started(bench, captured("nvim-0.12.4"))
    buffers.manner = manner
    path = file(bench, "one\n")
    buffer = buffers.open(path)
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert "did not take the change" in answer["error"]["message"]
    assert buffer.text == path.read_text() == "one\n"
    assert "did not take the change" in notices(editor, session)


@pytest.mark.parametrize("manner", ["apply", "always says applied"])
async def test_what_is_typed_during_a_write_is_kept_with_what_is_written(
    bench: Bench, manner: str
) -> None:
    editor, buffers, session = await started(bench)
    buffers.manner = manner
    path = file(bench, "one\ntwo\nthree\nfour\n")
    buffer = buffers.open(path)
    buffers.before = lambda: buffers.type(buffer, "typed\none\ntwo\nthree\nfour\n")
    (answer,) = await play(editor, session, write(path, "one\ntwo\nthree\nFOUR\n"))
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == "typed\none\ntwo\nthree\nFOUR\n"
    (card,) = cards(editor, session)
    assert card["content"][0]["new"]["text"] == buffer.text, "what was really written is shown"


async def test_typing_in_the_same_line_is_a_conflict_that_all_hear_of(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    buffer = buffers.open(path)
    buffers.before = lambda: buffers.type(buffer, "one, typed\n")
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert "has changed since puppet looked at it" in answer["error"]["message"]
    assert (buffer.text, path.read_text()) == ("one, typed\n", "one\n")
    assert "has changed since puppet looked at it" in notices(editor, session)


async def test_typing_right_after_the_edit_is_not_taken_for_a_refusal(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\ntwo\nthree\n")
    buffer = buffers.open(path)
    buffers.manner = "says it did"
    buffers.before = lambda: buffers.type(buffer, "typed\none\ntwo\nTHREE\n")
    (answer,) = await play(editor, session, write(path, "one\ntwo\nTHREE\n"))
    assert answer["result"] == {}
    assert buffer.text == "typed\none\ntwo\nTHREE\n"
    assert path.read_text() == "one\ntwo\nTHREE\n", "what is typed stays unsaved"


async def test_what_was_typed_since_the_agent_read_is_kept(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\ntwo\nthree\n")
    buffer = buffers.open(path)
    await play(editor, session, read(path))
    buffers.type(buffer, "typed\none\ntwo\nthree\n")
    *_, answer = await play(editor, session, write(path, "one\ntwo\nTHREE\n"), turns=2)
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == "typed\none\ntwo\nTHREE\n"


async def test_unsaved_text_outlives_an_agent_that_only_knows_the_disk(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\ntwo\nthree\n")
    buffer = buffers.open(path)
    buffers.type(buffer, "unsaved\none\ntwo\nthree\n")
    (answer,) = await play(editor, session, write(path, "one\ntwo\nTHREE\n"))
    assert answer["result"] == {}
    assert buffer.text == "unsaved\none\ntwo\nTHREE\n"


async def test_unsaved_text_and_a_changed_disk_are_both_kept(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\ntwo\nthree\n")
    buffer = buffers.open(path)
    buffers.type(buffer, "unsaved\none\ntwo\nthree\n")
    await editor.request("agentls/agents", {})  # so that it is known by now
    path.write_text("one\ntwo\nby somebody\n")
    os.utime(path, (2**32, 2**32))
    (answer,) = await play(editor, session, write(path, "ONE\ntwo\nby somebody\n"))
    assert "nothing was written" in answer["error"]["message"]
    assert buffer.text == "unsaved\none\ntwo\nthree\n"
    assert path.read_text() == "one\ntwo\nby somebody\n"


async def test_a_file_that_is_closed_during_a_write_is_written_to_disk(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    buffer = buffers.open(path)
    buffers.before = lambda: buffers.close(buffer)
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert answer["result"] == {}
    assert path.read_text() == "two\n"


async def test_what_cannot_be_saved_does_not_stay_in_the_editor(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    path.chmod(0o444)
    buffer = buffers.open(path)
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert "is read-only" in answer["error"]["message"]
    assert buffer.text == path.read_text() == "one\n"


async def test_without_edits_a_saved_file_is_written_and_an_unsaved_one_is_not(
    bench: Bench,
) -> None:
    editor, buffers, session = await started(bench, captured("vim-ale-3.3.0"))
    saved, unsaved = file(bench, "one\n"), file(bench, "one\nand\ntwo\n", "b.txt")
    buffers.open(saved)
    buffers.type(buffers.open(unsaved), "typed\none\nand\ntwo\n")
    good, bad = await play(
        editor, session, write(saved, "two\n"), write(unsaved, "one\nand\nTWO\n")
    )
    assert good["result"] == {}
    assert saved.read_text() == "two\n"
    assert bad["error"]["code"] == REFUSED
    assert "has unsaved text" in bad["error"]["message"]
    assert unsaved.read_text() == "one\nand\ntwo\n"
    assert buffers.edits == []


async def test_an_agent_that_writes_by_itself_too_does_no_harm(bench: Bench) -> None:
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    buffer = buffers.open(path)
    buffers.before = lambda: (path.write_text("two\n"), None)[1]
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == "two\n"


# -- asks


async def test_an_ask_for_a_write_shows_the_change(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\n")
    await begin(editor, session, write(path, "two\n"))
    ask = await open_ask(editor, session)
    (card,) = cards(editor, session)
    (diff,) = card["content"]
    assert (diff["path"], diff["old"]["text"], diff["new"]["text"]) == (str(path), "one\n", "two\n")
    await decide(editor, ask, "reject")
    await ended(editor, session)
    answer = json.loads(editor.mirror(session).text())
    assert answer["error"]["code"] == REFUSED
    assert path.read_text() == "one\n"


def edit_call(path: Path, old: str, new: str) -> Json:
    return {
        "call": "session/request_permission",
        "params": {
            "toolCall": {
                "toolCallId": "c1",
                "title": "Edit",
                "kind": "edit",
                "status": "pending",
                "content": [{"type": "diff", "path": str(path), "oldText": old, "newText": new}],
                "locations": [{"path": str(path)}],
            },
            "options": [
                {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"},
            ],
        },
    }


@pytest.mark.parametrize(("old", "new"), [("one\ntwo\n", "one\nTWO\n"), ("two", "TWO")])
async def test_what_was_shown_and_allowed_is_not_asked_twice(
    bench: Bench, old: str, new: str
) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\ntwo\n")
    await begin(editor, session, edit_call(path, old, new), read(path), write(path, "one\nTWO\n"))
    await decide(editor, await open_ask(editor, session), "allow")
    await ended(editor, session)
    assert path.read_text() == "one\nTWO\n"
    assert len(editor.mirror(session).of_kind("ask")) == 1
    assert len(cards(editor, session)) == 1, "the agent's own card shows it already"


@pytest.mark.parametrize(("old", "new"), [("one\ntwo\n", "one\nTWO\n"), ("two", "bad")])
async def test_another_text_than_was_shown_is_asked_with_the_real_change(
    bench: Bench, old: str, new: str
) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\ntwo\n")
    await begin(editor, session, edit_call(path, old, new), write(path, "bad"))
    await decide(editor, await open_ask(editor, session), "allow")
    mirror = editor.mirror(session)
    await editor.until(lambda: len(mirror.of_kind("ask")) == 2, "the second ask")
    ask = await open_ask(editor, session)
    (diff,) = cards(editor, session)[-1]["content"]
    assert (diff["old"]["text"], diff["new"]["text"]) == ("one\ntwo\n", "bad")
    await decide(editor, ask, "reject")
    await ended(editor, session)
    assert path.read_text() == "one\ntwo\n"


async def test_a_cancelled_turn_writes_nothing(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\n")
    await begin(editor, session, {"stubborn": True}, write(path, "two\n"))
    await open_ask(editor, session)
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)
    answer = json.loads(editor.mirror(session).text())
    assert answer["error"]["code"] == REFUSED
    assert path.read_text() == "one\n"
