"""An agent changes on disk what a person has changed and not saved: both stay until they decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.buffers import Buffer, Buffers
from fakes.editor import Editor, RequestFailed
from fakes.file_agent import Json, file, play, started

OLD = "one\ntwo\nthree\n"
MINE = "one\nmine\nthree\nfour\n"
THEIRS = "one\ntheirs\nthree\n"


async def conflicting(bench: Bench, *, saves: bool = False) -> tuple[Editor, Buffers, Buffer, Path]:
    """An agent has written to disk what is being changed in the editor."""
    editor, buffers, session = await started(bench, saves=saves)
    path = file(bench, OLD)
    buffer = buffers.open(path)
    buffers.type(buffer, MINE)
    await play(editor, session, {"write": str(path), "text": THEIRS})
    await editor.until(lambda: conflicts(editor), "a conflict")
    assert (buffer.text, path.read_text()) == (MINE, THEIRS), "both are kept"
    return editor, buffers, buffer, path


def conflicts(editor: Editor) -> list[Json]:
    told = editor.notifications("agentls/conflict/didChange")
    return list(told[-1]["conflicts"]) if told else []


def warnings(editor: Editor, path: Path) -> list[Json]:
    told = editor.notifications("textDocument/publishDiagnostics")
    of_file = [it for it in told if Path(it["uri"]).name == path.name]
    return [d for d in of_file[-1]["diagnostics"] if d["severity"] == 2] if of_file else []


async def settle(editor: Editor, path: Path, take: str) -> Any:
    return await editor.request("agentls/conflict/settle", {"path": str(path), "take": take})


@pytest.mark.parametrize("saves", [True, False])
async def test_taking_mine_saves_it_over_the_agents(bench: Bench, saves: bool) -> None:
    editor, _, buffer, path = await conflicting(bench, saves=saves)
    assert await settle(editor, path, "mine") == {"conflicts": []}
    assert buffer.text == path.read_text() == MINE
    assert warnings(editor, path) == []


@pytest.mark.parametrize("saves", [True, False])
async def test_taking_the_agents_changes_the_document(bench: Bench, saves: bool) -> None:
    editor, _, buffer, path = await conflicting(bench, saves=saves)
    await settle(editor, path, "agent")
    assert buffer.text == path.read_text() == THEIRS
    assert (conflicts(editor), warnings(editor, path)) == ([], [])


async def test_merging_by_hand_marks_both_in_the_document_and_saves_nothing(bench: Bench) -> None:
    editor, buffers, buffer, path = await conflicting(bench, saves=True)
    await settle(editor, path, "merge")
    marked = "<<<<<<< mine\nmine\n||||||| before\ntwo\n=======\ntheirs\n>>>>>>> puppet\n"
    assert buffer.text == MINE.replace("mine\n", marked)
    assert path.read_text() == THEIRS
    assert buffers.saves == []
    assert conflicts(editor) == []


async def test_a_conflict_is_a_warning_with_three_code_actions(bench: Bench) -> None:
    editor, _, buffer, path = await conflicting(bench)
    (warning,) = warnings(editor, path)
    assert warning["range"]["start"]["line"] == 1
    at = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    found = await editor.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": buffer.uri}, "range": at, "context": {"diagnostics": []}},
    )
    assert [action["title"].split(":")[0] for action in found[:3]] == [
        "Take mine",
        "Take what puppet wrote",
        "Merge by hand",
    ]
    texts = await editor.request("agentls/conflict/show", {"path": str(path)})
    assert (texts["before"], texts["mine"], texts["written"]) == (OLD, MINE, THEIRS)
    await editor.command(found[1]["command"], *found[1]["arguments"])
    assert buffer.text == THEIRS


async def test_saving_or_closing_the_document_ends_the_conflict(bench: Bench) -> None:
    editor, buffers, buffer, path = await conflicting(bench)
    buffers.save(buffer)
    await editor.until(lambda: not conflicts(editor), "the end of the conflict")
    with pytest.raises(RequestFailed, match="no conflict"):
        await settle(editor, path, "agent")
    assert path.read_text() == MINE


async def test_a_file_that_changed_again_is_not_written_over(bench: Bench) -> None:
    editor, _, buffer, path = await conflicting(bench)
    path.write_text("by somebody else\n")
    with pytest.raises(RequestFailed, match="changed on disk again"):
        await settle(editor, path, "mine")
    assert (buffer.text, path.read_text()) == (MINE, "by somebody else\n")
