"""What agents made of files, written down and read again, also after an accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentls.core.changes.record import MISSING, Blob, FileState, Origin
from agentls.core.changes.remembering import Deed
from agentls.core.model import SessionId
from agentls.files.change_journal import ChangeJournal
from agentls.files.folders import Contents
from agentls.files.on_disk import DiskFiles
from agentls.files.review_files import ReviewFiles

S = SessionId("k3v9x2mq7abc")


def journal(folder: Path) -> ChangeJournal:
    """As a server of its own has it."""
    files = ReviewFiles(DiskFiles(), Contents())
    return ChangeJournal(folder / "changes", files.bytes_of, files.state_of)


def deed(path: str, before: FileState, after: FileState, turn: int = 1) -> Deed:
    origin = Origin(session=S, turn=turn, agent="claude", prompt="do it \ud800")
    return Deed(origin=origin, path=path, before=before, after=after)


async def test_another_server_reads_what_was_written_in_its_order(tmp_path: Path) -> None:
    deeds = [
        deed("/a \udcff.txt", FileState("one\r\n", 0o644), FileState("two\r\n", 0o755)),
        deed("/new", MISSING, FileState("", 0o644), turn=2),
    ]
    one = journal(tmp_path)
    await one.add(deeds[:1])
    await one.add(deeds[1:])
    found = await journal(tmp_path).of(S)
    assert [(it.path, it.before, it.after, it.origin.turn) for it in found] == [
        (it.path, it.before, it.after, it.origin.turn) for it in deeds
    ]
    assert await journal(tmp_path).of(SessionId("other")) == []


async def test_bytes_that_are_no_text_come_back(tmp_path: Path) -> None:
    files = ReviewFiles(DiskFiles(), Contents())
    before = files.state_of("/x.bin", b"\0\1", 0o644)
    assert isinstance(before.content, Blob)
    one = ChangeJournal(tmp_path / "changes", files.bytes_of, files.state_of)
    await one.add([deed("/x.bin", before, MISSING)])
    again = ReviewFiles(DiskFiles(), Contents())
    (found,) = await ChangeJournal(tmp_path / "changes", again.bytes_of, again.state_of).of(S)
    assert again.bytes_of("/x.bin", found.before) == b"\0\1"


@pytest.mark.parametrize("lost", [1, 3, 30])
async def test_a_row_that_was_cut_off_is_left_out(tmp_path: Path, lost: int) -> None:
    one = journal(tmp_path)
    await one.add([deed("/a", FileState("1"), FileState("2"))])
    await one.add([deed("/b", FileState("1"), FileState("2"))])
    (file,) = (tmp_path / "changes").iterdir()
    file.write_bytes(file.read_bytes()[:-lost])
    assert [it.path for it in await journal(tmp_path).of(S)] == ["/a"]


async def test_what_cannot_be_written_down_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "changes").write_text("in the way")
    await journal(tmp_path).add([deed("/a", FileState("1"), FileState("2"))])
    assert await journal(tmp_path).of(S) == []
