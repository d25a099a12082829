"""Files that an agent writes while they are open in the editor: no keystroke is lost."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.bench import Bench
from fakes.editor import Editor
from fakes.file_agent import (
    EDITING,
    REFUSED,
    Json,
    captured,
    cards,
    file,
    notices,
    play,
    read,
    started,
    write,
)


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


async def test_what_was_typed_is_still_there_after_the_agents_second_write(bench: Bench) -> None:
    """The agent has not seen what was typed, so that leaving it out means nothing."""
    editor, buffers, session = await started(bench)
    path = file(bench, "one\ntwo\nthree\n")
    buffer = buffers.open(path)
    await play(editor, session, read(path))
    buffers.type(buffer, "typed\none\ntwo\nthree\n")
    *_, first, second = await play(
        editor, session, write(path, "one\ntwo\nTHREE\n"), write(path, "one\n2\nTHREE\n"), turns=2
    )
    assert (first["result"], second["result"]) == ({}, {})
    assert buffer.text == path.read_text() == "typed\none\n2\nTHREE\n"


# -- disks that would not


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (lambda path: path.chmod(0o444), "is read-only"),
        (replaced_by_a_folder, "a folder"),
        (lambda path: path.parent.rename(path.parent.with_name("moved")), ""),
    ],
    ids=["read-only", "a folder in its place", "its folder is gone"],
)
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_disk_that_would_not_is_told_and_loses_nothing(
    bench: Bench, harm: Callable[[Path], None], words: str, is_open: bool
) -> None:
    editor, buffers, session = await started(bench)
    folder = bench.workspace / "folder"
    folder.mkdir()
    path = file(bench, "one\n", "folder/a.txt")
    await play(editor, session, read(path))
    buffer = buffers.open(path) if is_open else None
    harm(path)
    *_, answer = await play(editor, session, write(path, "two\n"), turns=2)
    if words:
        assert words in answer["error"]["message"]
        assert words in notices(editor, session)
        assert buffer is None or buffer.text == "one\n", "what is not on disk is not in the editor"
    else:
        assert answer["result"] == {}, "a folder that is gone is made again"
        assert path.read_text() == "two\n"
    kept = [it for it in bench.workspace.rglob("a.txt") if it.is_file()]
    assert {it.read_text() for it in kept} <= {"one\n", "two\n"}
    assert list(bench.workspace.rglob("*.tmp")) == []


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_disk_without_room_is_told_and_loses_nothing(bench: Bench, is_open: bool) -> None:
    """The limit is a real one, of the system, on the size of the files that the server writes."""
    editor, buffers, session = await started(bench)
    path = file(bench, "one\n")
    buffer = buffers.open(path) if is_open else None
    most = 6 << 20
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (most, most))
    huge = "all too much\n" * (most // 12)
    (answer,) = await play(editor, session, write(path, huge))
    assert "larger than the system allows" in answer["error"]["message"]
    assert "larger than the system allows" in notices(editor, session)
    assert path.read_text() == "one\n"
    assert buffer is None or buffer.text == "one\n"
    assert [it.name for it in bench.workspace.iterdir()] == [path.name], "no temporary file"


# -- saving


async def changed(editor: Editor, path: Path) -> Json:
    """The change of a file, once it is known."""

    def known() -> list[Json]:
        told = editor.notifications("agentls/change/didChange")
        items = [item for each in told for item in each["items"]]
        return [item for item in items if item["path"] == str(path)]

    found = await editor.until(known, f"a change of {path.name}")
    return dict(found[-1])


async def shown(editor: Editor, change: Json) -> tuple[str, str]:
    result = await editor.request("agentls/change/show", {"changeId": change["changeId"]})
    return result["before"], result["after"]


async def test_an_editor_that_can_save_does_it_and_the_change_is_the_agents(bench: Bench) -> None:
    editor, buffers, session = await started(bench, saves=True)
    path = file(bench, "one\ntwo\n")
    buffer = buffers.open(path)
    (answer,) = await play(editor, session, write(path, "one\nTWO\n"))
    assert answer["result"] == {}
    assert buffers.saves == [buffer.uri]
    assert buffer.text == path.read_text() == "one\nTWO\n"
    assert await shown(editor, await changed(editor, path)) == ("one\ntwo\n", "one\nTWO\n")


@pytest.mark.parametrize("saves", [True, False])
async def test_what_was_unsaved_is_saved_as_the_persons(bench: Bench, saves: bool) -> None:
    editor, buffers, session = await started(bench, saves=saves)
    path = file(bench, "one\ntwo\nthree\n")
    buffers.type(buffers.open(path), "mine\none\ntwo\nthree\n")
    (answer,) = await play(editor, session, write(path, "one\ntwo\nTHREE\n"))
    assert answer["result"] == {}
    assert path.read_text() == "mine\none\ntwo\nTHREE\n"
    before, after = await shown(editor, await changed(editor, path))
    assert (before, after) == ("mine\none\ntwo\nthree\n", "mine\none\ntwo\nTHREE\n")


async def test_what_saving_makes_of_a_text_is_what_was_written(bench: Bench) -> None:
    editor, buffers, session = await started(bench, saves=True)
    buffers.formatted = lambda text: text.replace("x=", "x = ")
    path = file(bench, "y = 1\n")
    buffer = buffers.open(path)
    (answer,) = await play(editor, session, write(path, "y = 1\nx=2\n"))
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == "y = 1\nx = 2\n"
    (card,) = cards(editor, session)
    assert card["content"][0]["new"]["text"] == "y = 1\nx = 2\n"
    assert await shown(editor, await changed(editor, path)) == ("y = 1\n", "y = 1\nx = 2\n")


@pytest.mark.parametrize("manner", ["cannot save", "says it saved"])
async def test_an_editor_that_does_not_save_leaves_it_to_the_server(
    bench: Bench, manner: str
) -> None:
    editor, buffers, session = await started(bench, saves=True)
    buffers.manner = manner
    path = file(bench, "one\n")
    buffer = buffers.open(path)
    (answer,) = await play(editor, session, write(path, "two\n"))
    assert answer["result"] == {}
    assert buffer.text == path.read_text() == "two\n"
