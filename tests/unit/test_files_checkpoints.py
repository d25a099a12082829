"""Checkpoints of both kinds: what they see is what is on disk, and it comes back byte for byte."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentls.core.errors import CheckpointFailed
from agentls.files import restoring
from agentls.files.big_files import Remembered
from agentls.files.checkpoints import Checkpoints, checkpoints_of
from agentls.files.git_checkpoints import GitCheckpoints
from agentls.files.ledger import drop_unused
from agentls.files.plain_checkpoints import PlainCheckpoints, _same
from agentls.files.values import (
    Blob,
    Checkpoint,
    FileChange,
    FileState,
    Kind,
    Limits,
    Restored,
    Stop,
)
from fakes.repositories import environment, repository, tree, write

Open = Callable[..., Checkpoints]


def opened(root: Path, limits: Limits | None = None) -> Checkpoints:
    env = environment(root.parent / "home")
    return checkpoints_of(str(root), root.parent / "state", env, limits)


@pytest.fixture(params=["git", "plain"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    files = {"a.txt": b"one\n", "src/b.py": b"two\r\n", "bin/run": b"#!/bin/sh\n"}
    folder = tmp_path / "project"
    if request.param == "git":
        repository(folder, files)
    else:
        for name, content in files.items():
            write(folder / name, content)
    expected = GitCheckpoints if request.param == "git" else PlainCheckpoints
    assert isinstance(opened(folder), expected)
    return folder


def by_path(changes: list[FileChange]) -> dict[str, FileChange]:
    return {change.path: change for change in changes}


def kinds(changes: list[FileChange]) -> dict[str, str]:
    return {change.path: str(change.kind) for change in changes}


def go_back(checkpoints: Checkpoints, checkpoint: Checkpoint) -> Restored:
    return restoring.restore(checkpoints, restoring.plan(checkpoints, checkpoint))


def test_every_kind_of_change_is_found(root: Path) -> None:
    checkpoints = opened(root)
    (root / "old-link").symlink_to("a.txt")
    before = checkpoints.take()
    (root / "a.txt").write_bytes(b"other\n")
    (root / "src" / "b.py").unlink()
    (root / "bin" / "run").chmod(0o755)
    write(root / "new" / "c.bin", bytes(range(256)))
    (root / "link").symlink_to("nowhere")
    (root / "old-link").unlink()
    (root / "old-link").write_bytes(b"a file now")
    found = by_path(checkpoints.changes(before, checkpoints.take()))
    assert kinds([*found.values()]) == {
        "a.txt": Kind.MODIFIED,
        "bin/run": Kind.MODIFIED,
        "link": Kind.CREATED,
        "new/c.bin": Kind.CREATED,
        "old-link": Kind.TYPE_CHANGED,
        "src/b.py": Kind.DELETED,
    }
    read = checkpoints.read
    assert read(found["a.txt"].before) == b"one\n"
    assert read(found["a.txt"].after) == b"other\n"
    assert read(found["src/b.py"].before) == b"two\r\n"
    assert read(found["new/c.bin"].after) == bytes(range(256))
    assert read(found["link"].after) == b"nowhere"
    assert found["a.txt"].after.size == 6
    assert (found["bin/run"].before, found["bin/run"].mode_after & 0o100) == (
        found["bin/run"].after,
        0o100,
    )


def test_a_folder_that_our_own_state_is_in_is_looked_at_without_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home / "notes.txt", b"one\n")
    state = home / ".local" / "state" / "agentls"
    write(state / "agentls.db", b"rows")
    checkpoints = checkpoints_of(str(home), state, environment(tmp_path / "env"))
    first = checkpoints.take()
    write(state / "agentls.db", b"more rows")
    write(home / "notes.txt", b"two\n")
    assert set(by_path(checkpoints.changes(first, checkpoints.take()))) == {"notes.txt"}


def test_nothing_changed_is_nothing_changed(root: Path) -> None:
    checkpoints = opened(root)
    before = checkpoints.take()
    os.utime(root / "a.txt")
    assert checkpoints.changes(before, checkpoints.take()) == []


def test_a_change_within_the_same_moment_and_of_the_same_size_is_found(root: Path) -> None:
    checkpoints = opened(root)
    for number in range(10):
        (root / "a.txt").write_bytes(b"%d\n" % number)
        before = checkpoints.take()
        was = (root / "a.txt").stat()
        (root / "a.txt").write_bytes(b"%d\n" % (number + 1))
        os.utime(root / "a.txt", ns=(was.st_atime_ns, was.st_mtime_ns))
        assert kinds(checkpoints.changes(before, checkpoints.take())) == {"a.txt": "modified"}


def test_a_restore_and_its_undo_give_back_every_byte(root: Path) -> None:
    checkpoints = opened(root)
    first, start = tree(root), checkpoints.take()
    (root / "a.txt").write_bytes(b"by the agent\n")
    shutil.rmtree(root / "src")
    write(root / "deep" / "er" / "new", b"\0\1\2")
    (root / "bin" / "run").chmod(0o755)
    second = tree(root)
    restored = go_back(checkpoints, start)
    assert restored.skipped == ()
    assert tree(root) == first
    assert not (root / "deep").exists()
    back = restoring.undo(checkpoints, restored)
    assert back.skipped == ()
    assert tree(root) == second
    assert restoring.undo(checkpoints, back).skipped == ()
    assert tree(root) == first


def test_only_the_chosen_files_are_touched(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (root / "src" / "b.py").write_bytes(b"mine\n")
    others = (root / "src" / "b.py", root / "bin" / "run")
    times = [path.stat().st_mtime_ns for path in others]
    plan = [x for x in restoring.plan(checkpoints, start) if x.path == "a.txt"]
    assert restoring.restore(checkpoints, plan).paths == ("a.txt",)
    assert (root / "a.txt").read_bytes() == b"one\n"
    assert (root / "src" / "b.py").read_bytes() == b"mine\n"
    assert [path.stat().st_mtime_ns for path in others] == times


def test_a_file_that_changed_after_the_plan_is_left_alone(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    for name in ("a.txt", "made", "written", "src/b.py"):
        (root / name).write_bytes(b"agent\n")
    plan = restoring.plan(checkpoints, start)
    (root / "a.txt").write_bytes(b"typed meanwhile\n")
    (root / "made").unlink()
    (root / "made").mkdir()
    (root / "written").write_bytes(b"agent\nand then me\n")
    restored = restoring.restore(checkpoints, plan)
    assert restored.paths == ("src/b.py",)
    assert {x.path for x in restored.skipped} == {"a.txt", "made", "written"}
    assert (root / "a.txt").read_bytes() == b"typed meanwhile\n"
    assert (root / "made").is_dir()
    assert (root / "written").read_bytes() == b"agent\nand then me\n"


def test_other_content_can_be_put_instead(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\nuser\n")
    plan = restoring.plan(checkpoints, start)
    restored = restoring.restore(checkpoints, plan, instead={"a.txt": b"one\nuser\n"})
    assert (root / "a.txt").read_bytes() == b"one\nuser\n"
    restoring.undo(checkpoints, restored)
    assert (root / "a.txt").read_bytes() == b"agent\nuser\n"


def test_undo_leaves_alone_what_was_edited_after_the_restore(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (root / "src" / "b.py").write_bytes(b"agent\n")
    restored = go_back(checkpoints, start)
    (root / "a.txt").write_bytes(b"edited after\n")
    back = restoring.undo(checkpoints, restored)
    assert back.paths == ("src/b.py",)
    assert (root / "a.txt").read_bytes() == b"edited after\n"


def test_no_link_leads_a_restore_out_of_the_folder(root: Path, tmp_path: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    outside = tmp_path / "outside"
    write(outside / "b.py", b"agent\n")
    (root / "src" / "b.py").write_bytes(b"agent\n")
    plan = [x for x in restoring.plan(checkpoints, start) if x.path == "src/b.py"]
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(outside)
    restored = restoring.restore(checkpoints, plan)
    assert [x.path for x in restored.skipped] == ["src/b.py"]
    assert (outside / "b.py").read_bytes() == b"agent\n"
    # With the link itself in the plan, it goes first and the folder comes back.
    assert go_back(checkpoints, start).skipped == ()
    assert (root / "src" / "b.py").read_bytes() == b"two\r\n"
    assert not (root / "src").is_symlink()
    assert (outside / "b.py").read_bytes() == b"agent\n"


def test_a_folder_in_place_of_a_file_goes_only_when_it_holds_nothing_else(root: Path) -> None:
    checkpoints = opened(root)
    if isinstance(checkpoints, GitCheckpoints):
        write(root / ".git" / "info" / "exclude", b"*.secret\n")
    start = checkpoints.take()
    (root / "a.txt").unlink()
    write(root / "a.txt" / "by-agent", b"x")
    hidden = (
        root / "a.txt" / ("node_modules/x" if (root / ".git").exists() is False else "k.secret")
    )
    write(hidden, b"precious")
    restored = go_back(checkpoints, start)
    assert [x.path for x in restored.skipped] == ["a.txt"]
    assert hidden.read_bytes() == b"precious"
    shutil.rmtree(root / "a.txt")
    assert go_back(checkpoints, start).skipped == ()
    assert (root / "a.txt").read_bytes() == b"one\n"


def test_a_big_file_is_known_but_never_lost(root: Path) -> None:
    checkpoints = opened(root, Limits(file_bytes=1000))
    write(root / "big", b"x" * 2000)
    start = checkpoints.take()
    assert start.files["big"].blob.stored is False
    assert checkpoints.changes(start, checkpoints.take()) == []
    write(root / "big", b"y" * 2000)
    write(root / "a.txt", b"z" * 2000)
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"big", "a.txt"}
    assert (found["big"].before.size, found["big"].after.stored) == (2000, False)
    assert checkpoints.read(found["a.txt"].before) == b"one\n"
    restored = go_back(checkpoints, start)
    assert {x.path for x in restored.skipped} == {"big", "a.txt"}
    assert (root / "big").read_bytes() == b"y" * 2000
    assert (root / "a.txt").read_bytes() == b"z" * 2000
    write(root / "big", b"small again")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert checkpoints.read(found["big"].after) == b"small again"


def test_content_that_was_not_kept_cannot_be_read(root: Path) -> None:
    checkpoints = opened(root)
    checkpoints.take()
    for blob in (Blob("0" * 40, 3), Blob("time:1:2:3", 3, stored=False)):
        with pytest.raises(CheckpointFailed, match="not kept"):
            checkpoints.read(blob)


def test_a_pipe_and_a_socket_are_not_files(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    os.mkfifo(root / "pipe")
    (root / "a.txt").unlink()
    os.mkfifo(root / "a.txt")
    assert kinds(checkpoints.changes(start, checkpoints.take())) == {"a.txt": "deleted"}
    restored = go_back(checkpoints, start)
    assert [x.path for x in restored.skipped] == ["a.txt"]


def test_checkpoints_are_found_by_another_process(root: Path) -> None:
    first = opened(root).take()
    (root / "a.txt").write_bytes(b"later\n")
    again = opened(root)
    assert again.ids() == [first.id]
    assert again.find(first.id) == first
    assert kinds(again.changes(again.find(first.id), again.take())) == {"a.txt": "modified"}


def test_a_plan_leaves_no_checkpoint_behind(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    restoring.plan(checkpoints, start)
    assert checkpoints.ids() == [start.id]


def test_old_checkpoints_go_and_the_others_can_still_be_restored(root: Path) -> None:
    checkpoints = opened(root, Limits(kept=2))
    taken = []
    for number in range(5):
        (root / "a.txt").write_bytes(b"version %d\n" % number)
        taken.append(checkpoints.take())
    blobs = [x.before for x in checkpoints.changes(taken[0], taken[3])]
    checkpoints.collect(time.time())
    assert checkpoints.ids() == [x.id for x in taken[3:]]
    with pytest.raises(CheckpointFailed):
        checkpoints.read(blobs[0])
    with pytest.raises(CheckpointFailed, match="not there any more"):
        checkpoints.find(taken[0].id)
    go_back(checkpoints, checkpoints.find(taken[3].id))
    assert (root / "a.txt").read_bytes() == b"version 3\n"
    assert kinds(checkpoints.changes(taken[3], checkpoints.take())) == {}
    checkpoints.collect(time.time() + 40 * 86_400)
    assert checkpoints.ids() == []
    assert checkpoints.take().id in checkpoints.ids()


def test_folders_that_nobody_uses_any_more_are_forgotten(root: Path) -> None:
    state = root.parent / "state"
    opened(root).take()
    assert drop_unused(state, Limits(), time.time()) == 0
    assert drop_unused(state, Limits(), time.time() + 40 * 86_400) == 1
    assert list((state / "checkpoints").iterdir()) == []
    assert opened(root).take().id


def test_a_checkpoint_can_be_called_off(root: Path) -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(CheckpointFailed, match="called off"):
        opened(root).take(stop)
    with pytest.raises(CheckpointFailed, match="too long"):
        opened(root).take(Stop(seconds=-1))
    assert opened(root).take().id


def test_a_state_folder_that_cannot_be_made_is_one_clear_error(root: Path) -> None:
    (root.parent / "state").write_text("a file")
    checkpoints = opened(root)
    with pytest.raises(CheckpointFailed, match="cannot be used"):
        checkpoints.take()


def test_without_git_on_the_path_a_repository_is_a_plain_folder(tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"a": b"1"})
    found = checkpoints_of(str(root), tmp_path / "state", {"PATH": "/nowhere:relative"})
    assert isinstance(found, PlainCheckpoints)
    assert set(found.take().files) == {"a"}


def test_without_git_heavy_folders_and_too_many_files_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for number in range(10):
        write(root / "src" / f"{number}", b"x")
    write(root / "node_modules" / "m", b"x")
    write(root / "top", b"x")
    all_of_it = opened(root).take()
    assert set(all_of_it.files) == {"top", *(f"src/{n}" for n in range(10))}
    assert not all_of_it.partial
    some = opened(root, Limits(files=4)).take()
    assert (set(some.files), some.partial) == ({"top", "src/0", "src/1", "src/2"}, True)


def test_without_git_a_file_that_is_about_to_change_is_kept_although_it_is_big(
    tmp_path: Path,
) -> None:
    root = tmp_path / "project"
    write(root / "big", b"b" * 5000)
    checkpoints = opened(root, Limits(file_bytes=1000))
    start = checkpoints.take()
    checkpoints.touch("big")
    checkpoints.touch("missing")
    write(root / "big", b"small")
    (change,) = checkpoints.changes(start, checkpoints.take())
    assert checkpoints.read(change.before) == b"b" * 5000
    checkpoints.collect(time.time())
    assert go_back(checkpoints, start).skipped == ()
    assert (root / "big").read_bytes() == b"b" * 5000


def test_without_git_a_file_as_new_as_the_last_look_is_read_again() -> None:
    state = FileState(0o100644, Blob("x", 1))
    signature = (1, 10**18, 10**18, 7, 0o100644)
    known = Remembered(signature, state)
    assert not _same(known, signature, began=10**18 + 10**6)
    assert _same(known, signature, began=10**18 + 10**9)
    assert not _same(known, (2, *signature[1:]), began=10**18 + 10**9)


def test_without_git_all_permissions_come_back(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root / "key", b"secret")
    (root / "key").chmod(0o600)
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "key").unlink()
    go_back(checkpoints, start)
    assert (root / "key").stat().st_mode & 0o777 == 0o600


# --- the law, over random trees

NAMES = st.sampled_from(
    [
        *("a", "b", "d/a", "d/b", "d/e/a", "e", "sp ace", "new\nline", "é", "-x", "d/:(x)", "*"),
        "\udcff\udcfe",
    ]
)
CONTENTS = st.one_of(
    st.sampled_from([b"", b"a\r\nb\r\n", b"$Id$\n", b"\xff\xfe\0a", b"x" * 3000]), st.binary()
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, CONTENTS),
        st.tuples(st.just("delete"), NAMES, st.just(b"")),
        st.tuples(st.just("chmod"), NAMES, st.sampled_from([b"644", b"755"])),
        st.tuples(st.just("link"), NAMES, st.sampled_from([b"a", b"d", b"../up", b"\xff"])),
        st.tuples(st.just("rename"), NAMES, st.sampled_from([b"moved", b"d/moved"])),
    ),
    max_size=12,
)


def act(root: Path, step: tuple[str, str, bytes]) -> None:
    what, name, detail = step
    path = root / name
    if what == "delete":
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    elif what == "chmod":
        if path.is_file() and not path.is_symlink():
            path.chmod(int(detail, 8))
    elif what == "rename":
        target = root / detail.decode()
        if os.path.lexists(path) and not os.path.lexists(target) and target.parent.is_dir():
            path.rename(target)
    else:
        _put(root, name, lambda: _make(path, what, detail))


def _make(path: Path, what: str, detail: bytes) -> None:
    if what == "link":
        os.symlink(detail, os.fsencode(path))  # noqa: PTH211 - any bytes
    else:
        path.write_bytes(detail)


def _put(root: Path, name: str, make: Callable[[], None]) -> None:
    """Clear the way first: a file where a folder is wanted, a folder where a file is."""
    parts = name.split("/")
    for depth in range(1, len(parts)):
        folder = root / "/".join(parts[:depth])
        if folder.is_symlink() or folder.is_file():
            folder.unlink()
        folder.mkdir(exist_ok=True)
    act(root, ("delete", name, b""))
    make()


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.parametrize("kind", ["git", "plain"])
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=STEPS, second=STEPS, third=STEPS)
def test_checkpoints_and_restores_are_exact_for_any_tree(
    kind: str, scratch: Path, first: list, second: list, third: list
) -> None:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        root = Path(folder) / "project"
        repository(root) if kind == "git" else root.mkdir()
        if kind == "git":
            write(root / ".gitattributes", b"* text=auto ident eol=crlf\n")
        checkpoints = opened(root)
        states, taken = [], []
        for steps in (first, second, third):
            for step in steps:
                act(root, step)
            states.append(tree(root))
            taken.append(checkpoints.take())
        check_changes(checkpoints, states, taken)
        for place in (0, 1):
            restored = go_back(checkpoints, taken[place])
            assert restored.skipped == ()
            assert tree(root) == states[place]
            assert restoring.undo(checkpoints, restored).skipped == ()
            assert tree(root) == states[2]


def check_changes(
    checkpoints: Checkpoints, states: list[dict[str, str]], taken: list[Checkpoint]
) -> None:
    for before, after in ((0, 1), (1, 2), (0, 2), (2, 0)):
        found = by_path(checkpoints.changes(taken[before], taken[after]))
        old, new = states[before], states[after]
        assert set(found) == {path for path in {*old, *new} if old.get(path) != new.get(path)}
        for path, change in found.items():
            assert (change.before is None, change.after is None) == (
                path not in old,
                path not in new,
            )
