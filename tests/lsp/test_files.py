"""Files that an agent reads and writes through us: unsaved text is seen, and nothing is lost."""

from __future__ import annotations

import json
import os

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.file_agent import (
    INVALID,
    NOT_FOUND,
    REFUSED,
    Json,
    begin,
    cards,
    decide,
    file,
    notices,
    open_ask,
    play,
    read,
    started,
    write,
)

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
