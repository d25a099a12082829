"""Files on disk: what is read is what is there, and no failed write loses or leaves anything."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.errors import FileFailed, FileMissing, FileMoved, FileRefused
from agentls.files import disk
from agentls.files.disk import read_text, write_bytes, write_text
from agentls.files.texts import Form, decode, encode, in_line_ends_of


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- texts


@pytest.mark.parametrize(
    ("data", "text", "form"),
    [
        (b"", "", Form()),
        (b"a\nb\n", "a\nb\n", Form(line_end="\n")),
        (b"a\r\nb", "a\r\nb", Form(line_end="\r\n")),
        (b"a\rb\r", "a\rb\r", Form(line_end="\r")),
        (b"a\r\nb\n", "a\r\nb\n", Form()),
        (b"a\x0cb", "a\x0cb", Form()),
        ("é😀".encode(), "é😀", Form()),
        (b"\xef\xbb\xbfa", "a", Form("utf-8", b"\xef\xbb\xbf")),
        (b"\xff\xfea\0\n\0", "a\n", Form("utf-16-le", b"\xff\xfe", "\n")),
        (b"\xfe\xff\0a", "a", Form("utf-16-be", b"\xfe\xff")),
        (b"\xff\xfe\0\0a\0\0\0", "a", Form("utf-32-le", b"\xff\xfe\0\0")),
        (b"caf\xe9", "café", Form("latin-1")),
        (b"\x93caf\xe9\x94", "\u201ccafé\u201d", Form("cp1252")),
    ],
)
def test_the_encoding_of_a_file_is_found(data: bytes, text: str, form: Form) -> None:
    assert decode(data, "f") == (text, form)
    assert encode(text, form) == data


@pytest.mark.parametrize(
    "data",
    [
        b"a\0b",
        b"\x7fELF\x01\xff",
        b"\x89PNG\r\n\x1a\n\xff",
        b"\xff\xfea",
        b"\xff\xfe\0\xd8",
        b"\xe9\x81",
        b"\xe9\x01",
    ],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(FileRefused, match=r"^f is not a text file\."):
        decode(data, "f")


def test_utf_8_with_an_accident_is_not_taken_for_latin_1() -> None:
    with pytest.raises(FileRefused, match="line 2 has bytes that are no character"):
        decode("é\n".encode() + b"\xe9\n", "f")


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda x: x.encode("utf-16")))
def test_every_text_goes_back_to_the_bytes_it_came_from(data: bytes) -> None:
    try:
        text, form = decode(data, "f")
    except FileRefused:
        return
    assert encode(text, form) == data


def test_text_that_the_encoding_cannot_hold_is_refused() -> None:
    with pytest.raises(FileRefused, match="f is in latin-1, which has no"):
        encode("→", Form("latin-1"), "f")
    with pytest.raises(FileRefused, match="half a character"):
        encode("\ud800", Form(), "f")


def test_a_mark_is_not_written_twice() -> None:
    assert encode("\ufeffa", Form("utf-8", b"\xef\xbb\xbf")) == b"\xef\xbb\xbfa"


def test_line_ends_change_only_for_whoever_lost_them() -> None:
    windows = Form(line_end="\r\n")
    assert in_line_ends_of("a\nb\n", windows) == "a\r\nb\r\n"
    assert in_line_ends_of("a\r\nb\n", windows) == "a\r\nb\n"
    assert in_line_ends_of("a\n", Form()) == "a\n"


# --- reading


def test_lines_are_counted_from_one(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1\r\n2\x0c\n3\n4")

    def part(line: int | None, limit: int | None) -> str:
        return read_text(str(path), line=line, limit=limit)[0]

    assert part(None, None) == "1\r\n2\x0c\n3\n4"
    assert part(1, 1) == "1\r\n"
    assert part(2, 2) == "2\x0c\n3\n"
    assert part(None, 2) == "1\r\n2\x0c\n"
    assert part(3, None) == "3\n4"
    assert part(9, 5) == ""
    assert part(0, 1) == "1\r\n"
    assert part(2, 0) == ""


def test_what_cannot_be_read_is_refused_with_words(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 2048)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for name, error, words in (
            ("missing", FileMissing, "There is no file"),
            ("f/below", FileMissing, "There is no file"),
            (".", FileRefused, "not a file but a folder"),
            ("pipe", FileRefused, "a pipe, a socket or a device"),
            ("socket", FileRefused, "a pipe, a socket or a device"),
            ("loop", FileFailed, "lead in a circle"),
            ("f", FileRefused, "too large to read"),
        ):
            with pytest.raises(error, match=words):
                read_text(str(tmp_path / name), largest=1024)
    with pytest.raises(FileRefused, match="device"):
        read_text(os.devnull)


# --- writing


def test_a_new_file_gets_its_folders_and_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "f"
    write_text(str(path), "x\r\n")
    assert path.read_bytes() == b"x\r\n"
    (tmp_path / "usual").touch()
    assert mode(path) == mode(tmp_path / "usual")
    assert names(path.parent) == ["f"]


def test_a_file_is_replaced_with_its_permissions_and_in_its_form(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xff\xfea\0")
    path.chmod(0o751)
    before = path.stat().st_ino
    text, form = read_text(str(path))
    write_text(str(path), text + "b\n", form=form)
    assert path.read_bytes() == b"\xff\xfea\0b\0\n\0"
    assert mode(path) == 0o751
    assert path.stat().st_ino != before
    assert names(tmp_path) == ["f"]


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real/f")
    (tmp_path / "dangling").symlink_to("real/new")
    write_text(str(tmp_path / "link"), "new")
    write_text(str(tmp_path / "dangling"), "made")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "f").read_bytes() == b"new"
    assert (tmp_path / "real" / "new").read_bytes() == b"made"


def test_a_file_with_two_names_keeps_both(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a long old content")
    os.link(tmp_path / "f", tmp_path / "other")
    write_text(str(tmp_path / "f"), "new")
    assert (tmp_path / "other").read_bytes() == b"new"
    write_text(str(tmp_path / "f"), "longer than before was")
    assert (tmp_path / "other").read_bytes() == b"longer than before was"


def test_a_writable_file_in_a_read_only_folder_is_written_in_place(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "f").write_bytes(b"old")
    folder.chmod(0o555)
    write_text(str(folder / "f"), "new")
    with pytest.raises((FileRefused, FileFailed), match=r"read-only|permissions"):
        write_text(str(folder / "g"), "new")
    folder.chmod(0o755)
    assert names(folder) == ["f"]
    assert (folder / "f").read_bytes() == b"new"


@pytest.mark.parametrize("kind", ["read-only", "folder", "pipe", "loop", "under a file", "long"])
def test_what_cannot_be_written_is_one_clear_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f"
    if kind == "read-only":
        path.write_bytes(b"old")
        path.chmod(0o444)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to("f")
    elif kind == "under a file":
        (tmp_path / "file").write_bytes(b"old")
        path = tmp_path / "file" / "f"
    else:
        path = tmp_path / "made" / ("x" * 300)
    before = names(tmp_path)
    with pytest.raises((FileRefused, FileFailed)) as caught:
        write_text(str(path), "new")
    assert str(caught.value).count("\n") == 0
    assert caught.value.hint
    assert names(tmp_path) == before
    if kind == "read-only":
        assert path.read_bytes() == b"old"
        write_bytes(str(path), b"new", force=True)
        assert (path.read_bytes(), mode(path)) == (b"new", 0o444)


def test_a_write_happens_only_if_the_file_is_as_expected(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with pytest.raises(FileMoved, match="has changed in the meantime"):
        write_bytes(str(tmp_path / "d" / "f"), b"new", expected=b"old")
    assert names(tmp_path) == []
    write_bytes(str(path), b"one", expected=None)
    with pytest.raises(FileMoved):
        write_bytes(str(path), b"two", expected=None)
    with pytest.raises(FileMoved):
        write_bytes(str(path), b"two", expected=b"on")
    write_bytes(str(path), b"two", expected=b"one")
    os.link(path, tmp_path / "second")
    with pytest.raises(FileMoved):
        write_bytes(str(path), b"three", expected=b"one")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["f", "second"]


def test_a_file_that_comes_at_the_last_moment_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    check = disk._check

    def check_then_somebody_writes(*args: object) -> None:
        check(*args)  # type: ignore[arg-type]
        path.write_bytes(b"somebody else's")

    monkeypatch.setattr(disk, "_check", check_then_somebody_writes)
    with pytest.raises(FileMoved):
        write_bytes(str(path), b"ours", expected=None)
    assert path.read_bytes() == b"somebody else's"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize("linked", [False, True])
def test_a_write_that_the_system_cuts_off_loses_nothing(tmp_path: Path, linked: bool) -> None:
    """A real limit of the system, in a process of its own, fails in the middle of the content."""
    path = tmp_path / "d" / "f"
    path.parent.mkdir()
    path.write_bytes(b"o" * 3000)
    if linked:
        os.link(path, path.parent / "g")
    before = names(path.parent)
    script = """
        import resource, sys
        from agentls.files.disk import write_bytes
        from agentls.core.errors import FileFailed
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        try:
            write_bytes(sys.argv[1], b"n" * 100_000)
        except FileFailed as error:
            print(error.message)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert "larger than the system allows" in result.stdout
    assert path.read_bytes() == b"o" * 3000
    assert names(path.parent) == before


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_at_any_step_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        with pytest.raises(FileFailed, match="the disk is full"):
            write_bytes(str(path), b"new")
        if step != "replace":  # a file that is to be new is not renamed into place
            with pytest.raises(FileFailed, match="the disk is full"):
                write_bytes(str(tmp_path / "d" / "e" / "f"), b"new", expected=None)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["f"]


def test_a_folder_that_vanishes_under_a_write_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d" / "f"
    make = disk._make_folders

    def make_then_lose(folder: str) -> list[str]:
        made = make(folder)
        Path(folder).rmdir()
        return made

    monkeypatch.setattr(disk, "_make_folders", make_then_lose)
    with pytest.raises(FileFailed, match="its folder has vanished"):
        write_text(str(path), "x")
    assert names(tmp_path) == []
