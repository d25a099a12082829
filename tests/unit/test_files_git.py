"""Checkpoints in a repository: nothing of it runs and nothing in it changes, whatever its setup."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from agentls.core.errors import CheckpointFailed
from agentls.files import restoring, shadow
from agentls.files.checkpoints import Checkpoints, checkpoints_of
from agentls.files.git_checkpoints import GitCheckpoints
from agentls.files.plain_checkpoints import PlainCheckpoints
from agentls.files.values import Checkpoint, FileChange, Stop
from fakes.repositories import ENV, age, environment, git, git_folder, repository, tree, write

FILES = {"a.txt": b"one\n", "src/b.py": b"two\n", "src/c.py": b"three\n"}


def opened(root: Path, state: Path | None = None) -> Checkpoints:
    found = checkpoints_of(
        str(root), state or root.parent / "state", environment(root.parent / "home")
    )
    assert isinstance(found, GitCheckpoints)
    return found


def by_path(changes: list[FileChange]) -> dict[str, FileChange]:
    return {change.path: change for change in changes}


def restored(checkpoints: Checkpoints, checkpoint: Checkpoint) -> restoring.Restored:
    found = restoring.restore(checkpoints, restoring.plan(checkpoints, checkpoint))
    assert found.skipped == ()
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", FILES)


# --- nothing changes


def test_restore_and_undo_leave_the_repository_as_it_was(root: Path) -> None:
    (root / "a.txt").write_bytes(b"stashed\n")
    git(root, "stash")
    (root / "a.txt").write_bytes(b"staged\n")
    git(root, "add", "a.txt")
    (root / "a.txt").write_bytes(b"staged, then edited\n")
    write(root / "untracked", b"mine\n")
    checkpoints = opened(root)
    repository_before = git_folder(root)
    asked = (
        ("status", "--porcelain=v2"),
        ("stash", "list"),
        ("for-each-ref",),
        ("diff", "--cached"),
    )
    answers = [git(root, "--no-optional-locks", *args) for args in asked]
    first, start = tree(root), checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (root / "src" / "b.py").unlink()
    write(root / "untracked", b"agent\n")
    write(root / "more", b"agent\n")
    second = tree(root)
    done = restored(checkpoints, start)
    assert tree(root) == first
    restoring.undo(checkpoints, done)
    assert tree(root) == second
    restored(checkpoints, start)
    checkpoints.collect(0.0)
    assert tree(root) == first
    assert git_folder(root) == repository_before
    assert [git(root, "--no-optional-locks", *args) for args in asked] == answers


def test_uncommitted_work_of_the_user_is_in_the_checkpoint_and_comes_back(root: Path) -> None:
    (root / "a.txt").write_bytes(b"uncommitted\n")
    checkpoints = opened(root)
    start = checkpoints.take()
    git(root, "checkout", "-q", "--", "a.txt")  # what an agent should not do
    git(root, "clean", "-fdq")
    restored(checkpoints, start)
    assert (root / "a.txt").read_bytes() == b"uncommitted\n"


def test_content_is_kept_even_if_the_user_throws_objects_away(root: Path) -> None:
    (root / "a.txt").write_bytes(b"only staged\n")
    checkpoints = opened(root)
    (root / "a.txt").touch()
    start = checkpoints.take()
    git(root, "add", "a.txt")
    git(root, "reset", "-q", "--hard")
    git(root, "prune", "--expire=now")
    restored(checkpoints, start)
    assert (root / "a.txt").read_bytes() == b"only staged\n"


# --- nothing runs

HOOKS = (
    *("pre-commit", "post-checkout", "post-index-change", "fsmonitor-watchman", "post-merge"),
    *("reference-transaction", "pre-auto-gc", "post-rewrite", "update", "pre-receive"),
)


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository in which whatever git could be made to run leaves a mark."""
    root, mark = tmp_path / "project", tmp_path / "it-ran"
    repository(root, {**FILES, ".gitattributes": b"* filter=evil diff=evil merge=evil\n"})
    run = tmp_path / "run"
    run.write_text(f"#!/bin/sh\necho \"$0 $*\" >>'{mark}'\ncat\n")
    run.chmod(0o755)
    for hook in HOOKS:
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / hook).symlink_to(run)
    for key in (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process"),
        *("diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver"),
        *("gpg.program", "credential.helper", "uploadpack.packObjectsHook", "core.gitProxy"),
        *("interactive.diffFilter", "core.alternateRefsCommand"),
    ):
        git(root, "config", key, str(run))
    for alias in ("diff-files", "ls-files", "update-index", "write-tree", "config", "diff-tree"):
        git(root, "config", f"alias.{alias}", f"!{run}")
    git(root, "config", "core.hooksPath", str(root / ".git" / "hooks"))
    git(root, "config", "filter.evil.required", "true")
    git(root, "config", "core.untrackedCache", "true")
    git(root, "config", "diff.ignoreSubmodules", "none")
    write(tmp_path / "home" / ".gitconfig", f'[core]\n\tfsmonitor = "{run}"\n'.encode())
    inner = root / ".git" / "included"
    inner.write_text(f'[core]\n\tfsmonitor = "{run}"\n')
    git(root, "config", "include.path", str(inner))
    mark.unlink(missing_ok=True)
    return root, mark


def test_a_hostile_repository_runs_nothing(hostile: tuple[Path, Path]) -> None:
    root, mark = hostile
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (root / "src" / "b.py").unlink()
    write(root / "new", b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"a.txt", "src/b.py", "new"}
    assert checkpoints.read(found["a.txt"].before) == b"one\n"
    restoring.undo(checkpoints, restored(checkpoints, start))
    checkpoints.collect(0.0)
    assert not mark.exists(), mark.read_text()
    # The trap does work: git itself runs into it.
    os.utime(root / "a.txt")
    subprocess.run(
        ["git", "status"], cwd=root, env=environment(root.parent / "home"),
        capture_output=True, check=False, timeout=20,
    )  # fmt: skip
    assert mark.exists()


def test_a_hostile_submodule_runs_nothing(hostile: tuple[Path, Path], tmp_path: Path) -> None:
    inner, mark = hostile
    root = repository(tmp_path / "outer", {"x": b"1"})
    inner.rename(root / "inner")
    mark.unlink(missing_ok=True)  # what this test runs is git with the user's settings
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "inner" / "a.txt").write_bytes(b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"inner/a.txt"}
    assert checkpoints.read(found["inner/a.txt"].before) == b"one\n"
    restored(checkpoints, start)
    assert (root / "inner" / "a.txt").read_bytes() == b"one\n"
    assert not mark.exists(), mark.read_text()


def test_variables_for_git_in_our_environment_do_not_count(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = repository(tmp_path / "elsewhere", {"other": b"x"})
    env = environment(tmp_path / "home") | {
        "GIT_DIR": str(elsewhere / ".git"),
        "GIT_WORK_TREE": str(elsewhere),
        "GIT_INDEX_FILE": str(elsewhere / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(elsewhere / ".git" / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch {tmp_path}/ran",
        "GIT_TRACE": str(tmp_path / "trace"),
    }
    before = git_folder(elsewhere)
    checkpoints = checkpoints_of(str(root), tmp_path / "state", env)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"a.txt"}
    assert git_folder(elsewhere) == before
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "trace").exists()


# --- bytes are those on disk


@pytest.mark.parametrize(
    ("attributes", "settings", "on_disk"),
    [
        (b"* text=auto eol=crlf\n", {}, b"a\r\nb\r\n"),
        (b"", {"core.autocrlf": "true"}, b"a\r\nb\r\n"),
        (b"* ident\n", {}, b"$Id: 0123456789012345678901234567890123456789 $\n"),
        (b"*.txt working-tree-encoding=UTF-16LE\n", {}, "日本 ab".encode("utf-16-le")),
        (b"*.txt filter=rot\n", {"filter.rot.clean": "tr a-z n-za-m"}, b"same size\n"),
        (b"*.txt filter=lfs\n", {"filter.lfs.clean": "echo pointer"}, b"the large thing\n"),
    ],
    ids=["eol", "autocrlf", "ident", "encoding", "filter of equal size", "lfs"],
)  # fmt: skip
def test_what_git_converts_is_kept_as_it_is_on_disk(
    tmp_path: Path, attributes: bytes, settings: dict[str, str], on_disk: bytes
) -> None:
    root = repository(tmp_path / "project")
    for key, value in settings.items():
        git(root, "config", key, value)
    write(root / ".gitattributes", attributes)
    write(root / "f.txt", on_disk)
    age(root / "f.txt")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "cat-file", "-p", ":f.txt").encode() != on_disk, "nothing was converted"
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "f.txt").write_bytes(b"agent\n")
    (change,) = checkpoints.changes(start, checkpoints.take())
    assert checkpoints.read(change.before) == on_disk
    restored(checkpoints, start)
    assert (root / "f.txt").read_bytes() == on_disk


def test_an_attribute_file_that_is_not_committed_or_is_the_users_own_counts_too(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path / "project")
    git(root, "config", "filter.rot.clean", "tr a-z n-za-m")
    git(root, "config", "core.attributesFile", str(tmp_path / "attributes"))
    (tmp_path / "attributes").write_text("*.one filter=rot\n")
    write(root / ".git" / "info" / "attributes", b"*.two filter=rot\n")
    write(root / "sub" / ".gitattributes", b"*.three filter=rot\n")
    names = ["x.one", "x.two", "sub/x.three"]
    for name in names:
        write(root / name, b"hello\n")
        age(root / name)
    git(root, "add", *names)
    checkpoints = opened(root)
    start = checkpoints.take()
    for name in names:
        (root / name).write_bytes(b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert {name: checkpoints.read(found[name].before) for name in names} == dict.fromkeys(
        names, b"hello\n"
    )


# --- every shape of repository


def test_ignored_files_are_left_out_by_every_kind_of_pattern(root: Path, tmp_path: Path) -> None:
    write(root / ".gitignore", b"*.log\n")
    write(root / "src" / ".gitignore", b"gen/\n")
    write(root / ".git" / "info" / "exclude", b"*.excluded\n")
    write(tmp_path / "patterns", b"*.mine\n")
    write(
        tmp_path / "home" / ".gitconfig", f"[core]\n\texcludesFile = {tmp_path}/patterns\n".encode()
    )
    checkpoints = opened(root)
    start = checkpoints.take()
    names = ["x.log", "src/gen/y", "z.excluded", "w.mine", "seen"]
    for name in names:
        write(root / name, b"x")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"seen"}
    restored(checkpoints, start)
    assert [name for name in names if (root / name).exists()] == names[:-1]


def test_a_usual_file_of_patterns_in_the_home_folder_counts(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "home" / ".config" / "git" / "ignore", b"*.mine\n")
    checkpoints = opened(root)
    start = checkpoints.take()
    write(root / "w.mine", b"x")
    assert checkpoints.changes(start, checkpoints.take()) == []


def test_files_that_are_tracked_although_ignored_are_seen(root: Path) -> None:
    write(root / ".gitignore", b"*.log\n")
    for name in ("early.log", "late.log", "never.log"):
        write(root / name, b"1")
    git(root, "add", "-f", "early.log")
    checkpoints = opened(root)
    checkpoints.take()
    git(root, "add", "-f", "late.log")
    start = checkpoints.take()
    for name in ("early.log", "late.log", "never.log"):
        write(root / name, b"2")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"early.log", "late.log"}
    assert checkpoints.read(found["late.log"].before) == b"1"


def test_a_repository_without_a_commit_and_one_with_no_file(tmp_path: Path) -> None:
    root = repository(tmp_path / "project")
    checkpoints = opened(root)
    start = checkpoints.take()
    write(root / "a", b"1")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"a"}
    restored(checkpoints, start)
    assert tree(root) == {}


def test_a_bare_repository_is_a_plain_folder(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    found = checkpoints_of(str(tmp_path / "bare.git"), tmp_path / "state", ENV)
    assert isinstance(found, PlainCheckpoints)


def test_a_linked_work_tree_is_its_own(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", "../linked", "-b", "other")
    linked = tmp_path / "linked"
    checkpoints = opened(linked)
    start = checkpoints.take()
    (linked / "a.txt").write_bytes(b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"a.txt"}
    assert checkpoints.read(found["a.txt"].before) == b"one\n"


def test_submodules_and_repositories_within_are_seen_and_restored(
    root: Path, tmp_path: Path
) -> None:
    library = repository(tmp_path / "library", {"lib.c": b"int x;\n"})
    git(root, "submodule", "add", "-q", str(library), "deps/lib")
    git(root, "commit", "-q", "-m", "with a submodule")
    repository(root / "own" / "nested", {"n": b"1"})
    repository(root / "own" / "nested" / "deeper", {"d": b"1"})
    git_dirs = [root, root / "own" / "nested", root / "own" / "nested" / "deeper"]
    before = [git_folder(x) for x in git_dirs]
    checkpoints = opened(root)
    first, start = tree(root), checkpoints.take()
    assert not start.partial
    for name in ("deps/lib/lib.c", "own/nested/n", "own/nested/deeper/d", "own/nested/deeper/e"):
        write(root / name, b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {
        *("deps/lib/lib.c", "own/nested/n", "own/nested/deeper/d", "own/nested/deeper/e"),
    }
    restored(checkpoints, start)
    assert tree(root) == first
    assert [git_folder(x) for x in git_dirs] == before


def test_a_repository_that_is_made_or_removed_during_a_turn(root: Path) -> None:
    repository(root / "goes", {"g": b"1"})
    checkpoints = opened(root)
    start = checkpoints.take()
    repository(root / "comes", {"c": b"1"})
    git(root / "src", "init", "-q")
    (root / "src" / "b.py").write_bytes(b"agent\n")
    (root / "goes" / "g").unlink()
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert {path: str(x.kind) for path, x in found.items()} == {
        "comes/c": "created",
        "src/b.py": "modified",
        "goes/g": "deleted",
    }
    restored(checkpoints, start)
    assert (root / "goes" / "g").read_bytes() == b"1"


def test_a_folder_within_a_repository_is_looked_at_alone(root: Path) -> None:
    checkpoints = opened(root / "src", root.parent / "state")
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"outside\n")
    (root / "src" / "b.py").write_bytes(b"agent\n")
    write(root / "src" / "new", b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"b.py", "new"}
    restored(checkpoints, start)
    assert (root / "src" / "b.py").read_bytes() == b"two\n"
    assert (root / "a.txt").read_bytes() == b"outside\n"


@pytest.mark.parametrize("name", ["*", ":(top)x", "-n", "sp ace", "é", "new\nline"])
def test_a_folder_with_a_strange_name_is_looked_at_alone(root: Path, name: str) -> None:
    write(root / name / "x", b"1")
    checkpoints = opened(root / name, root.parent / "state")
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"outside\n")
    write(root / name / "x", b"2")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"x"}
    restored(checkpoints, start)
    assert (root / name / "x").read_bytes() == b"1"


def test_files_that_the_repository_has_are_not_kept_a_second_time(root: Path) -> None:
    for name in FILES:
        age(root / name)
    git(root, "status")
    opened(root).take()
    kept = [path.parent.name + path.name for path in root.parent.glob("state/**/objects/??/*")]
    blobs = {line.split()[2] for line in git(root, "ls-tree", "-r", "HEAD").splitlines()}
    assert kept, "the trees are ours"
    assert blobs.isdisjoint(kept)


def test_a_folder_that_its_repository_ignores_is_a_plain_folder(root: Path) -> None:
    write(root / ".gitignore", b"sandbox/\n")
    write(root / "sandbox" / "x", b"1")
    env = environment(root.parent / "home")
    found = checkpoints_of(str(root / "sandbox"), root.parent / "state", env)
    assert isinstance(found, PlainCheckpoints)
    assert set(found.take().files) == {"x"}


def test_files_that_git_was_told_not_to_look_at_are_looked_at(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "a.txt")
    git(root, "update-index", "--skip-worktree", "src/b.py")
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (root / "src" / "b.py").write_bytes(b"agent\n")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"a.txt", "src/b.py"}
    restored(checkpoints, start)
    assert tree(root) == tree(repository(root.parent / "same", FILES))


@pytest.mark.parametrize("options", [[], ["--sparse-index"]])
def test_a_sparse_checkout_holds_what_is_on_disk(root: Path, options: list[str]) -> None:
    git(root, "sparse-checkout", "set", "--cone", *options, "nothing")
    assert not (root / "src").exists()
    checkpoints = opened(root)
    start = checkpoints.take()
    write(root / "src" / "b.py", b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert {path: str(x.kind) for path, x in found.items()} == {"src/b.py": "created"}
    restored(checkpoints, start)
    assert tree(root) == {"a.txt": tree(root)["a.txt"]}


@pytest.mark.parametrize("version", ["2", "4", "split"])
def test_every_form_of_index_is_read(root: Path, version: str) -> None:
    how = ["--split-index"] if version == "split" else ["--index-version", version]
    git(root, "update-index", *how)
    write(root / "a.txt", b"uncommitted\n")
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "src" / "b.py").write_bytes(b"agent\n")
    found = by_path(checkpoints.changes(start, checkpoints.take()))
    assert set(found) == {"src/b.py"}
    assert checkpoints.read(found["src/b.py"].before) == b"two\n"


def test_a_broken_index_is_no_obstacle(root: Path) -> None:
    (root / ".git" / "index").write_bytes(b"DIRC, but not quite")
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").write_bytes(b"agent\n")
    (change,) = checkpoints.changes(start, checkpoints.take())
    assert checkpoints.read(change.before) == b"one\n"


def test_a_merge_with_conflicts_and_an_intended_file(root: Path) -> None:
    git(root, "checkout", "-q", "-b", "other")
    write(root / "a.txt", b"theirs\n")
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "main")
    write(root / "a.txt", b"ours\n")
    git(root, "commit", "-qam", "ours")
    with pytest.raises(AssertionError, match="CONFLICT"):
        git(root, "merge", "-q", "other")
    write(root / "soon", b"1\n")
    git(root, "add", "-N", "soon")
    conflict, index = (root / "a.txt").read_bytes(), (root / ".git" / "index").read_bytes()
    checkpoints = opened(root)
    start = checkpoints.take()
    write(root / "a.txt", b"agent\n")
    write(root / "soon", b"agent\n")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"a.txt", "soon"}
    restored(checkpoints, start)
    assert (root / "a.txt").read_bytes() == conflict
    assert (root / "soon").read_bytes() == b"1\n"
    assert (root / ".git" / "index").read_bytes() == index


def test_another_hash_than_sha1(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    git(tmp_path / "project", "init", "-q", "--object-format=sha256")
    root = repository(tmp_path / "project", FILES)
    checkpoints = opened(root)
    start = checkpoints.take()
    (root / "a.txt").unlink()
    (change,) = checkpoints.changes(start, checkpoints.take())
    assert len(change.before.id) == 64
    restored(checkpoints, start)
    assert (root / "a.txt").read_bytes() == b"one\n"


def test_after_a_change_of_branch_the_users_index_is_taken_over_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow, "_MANY", 5)
    git(root, "checkout", "-q", "-b", "other")
    for number in range(20):
        write(root / "many" / f"{number}", b"%d\n" % number)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "many")
    checkpoints = opened(root)
    start = checkpoints.take()
    write(root / "mine", b"untracked\n")
    git(root, "checkout", "-q", "main")
    after = checkpoints.take()
    found = by_path(checkpoints.changes(start, after))
    assert set(found) == {"mine", *(f"many/{n}" for n in range(20))}
    assert checkpoints.changes(after, checkpoints.take()) == []
    restored(checkpoints, start)
    assert (root / "many" / "7").read_bytes() == b"7\n"


def test_several_at_once_wait_for_each_other(root: Path) -> None:
    opened(root).take()
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            checkpoints = opened(root)
            for turn in range(3):
                write(root / f"{number}", b"%d\n" % turn)
                start = checkpoints.take()
                state = checkpoints.changes(start, checkpoints.take())
                assert f"{number}" not in by_path(state)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(50)
        assert not thread.is_alive(), "a checkpoint never ended"
    assert errors == []


def test_a_lock_that_a_killed_git_left_is_no_obstacle(root: Path) -> None:
    checkpoints = opened(root)
    start = checkpoints.take()
    (lock,) = (index.with_suffix(".lock") for index in root.parent.rglob("state/**/index"))
    lock.touch()
    (root / "a.txt").write_bytes(b"agent\n")
    assert set(by_path(checkpoints.changes(start, checkpoints.take()))) == {"a.txt"}


def test_patterns_in_a_pipe_end_with_the_time_that_a_checkpoint_has(root: Path) -> None:
    os.mkfifo(root / ".gitignore")
    with pytest.raises(CheckpointFailed, match="too long"):
        opened(root).take(Stop(seconds=1.0))
    (root / ".gitignore").unlink()
    assert opened(root).take().id


def test_our_folder_is_private(root: Path) -> None:
    opened(root).take()
    place = root.parent / "state" / "checkpoints"
    for folder in [*place.iterdir()]:
        assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0
