"""What real git does in the environment that keeps it from obeying files of a workspace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentls.core.policy.git_environment import git_safety

CONFIG = """\
[user]
    name = A
    email = a@example.org
[init]
    defaultBranch = main
[protocol "file"]
    allow = always
"""


class Git:
    """Git with a configuration of its own, in our environment unless told otherwise."""

    def __init__(self, base: Path) -> None:
        self.base = base
        (base / ".gitconfig").write_text(CONFIG)
        self.plain = {
            "PATH": os.environ["PATH"],
            "HOME": str(base),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CEILING_DIRECTORIES": str(base.parent),
        }
        self.safe = self.plain | git_safety(self.plain)

    def __call__(
        self, folder: str, *args: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *args],
            cwd=self.base / folder,
            env=self.safe if env is None else env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def works(self, folder: str, *args: str) -> str:
        done = self(folder, *args)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def git(tmp_path: Path) -> Git:
    git = Git(Path(os.path.realpath(tmp_path)))
    git.works("", "init", "--quiet", "work")
    (git.base / "work" / "file").write_text("text\n")
    git.works("work", "add", "file")
    git.works("work", "commit", "--quiet", "-m", "first")
    return git


def test_a_bare_repository_among_the_files_of_a_workspace_runs_nothing(git: Git) -> None:
    trap = git.base / "work" / "trap"
    for folder in ("objects", "refs"):
        (trap / folder).mkdir(parents=True)
    (trap / "HEAD").write_text("ref: refs/heads/main\n")
    (trap / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n"
        f'\tfsmonitor = "touch {git.base}/ran; false"\n'
    )
    trapped = git("work/trap", "status", env=git.plain)
    assert (git.base / "ran").exists(), trapped.stderr
    (git.base / "ran").unlink()
    for folder in ("work/trap", "work/trap/objects"):
        assert "safe.bareRepository" in git(folder, "status").stderr
    assert not (git.base / "ran").exists()


def test_a_repository_its_worktrees_and_its_submodules_work(git: Git) -> None:
    assert git.works("work", "status", "--short") == ""
    git.works("work", "worktree", "add", "--quiet", "../tree")
    assert git.works("tree", "log", "--format=%s") == "first"
    git.works("", "init", "--quiet", "part")
    git.works("part", "commit", "--quiet", "--allow-empty", "-m", "part")
    git.works("work", "submodule", "--quiet", "add", "../part", "sub")
    assert git.works("work/sub", "log", "--format=%s") == "part"
    git.works("work", "commit", "--quiet", "-m", "with a part")
    git.works("work", "submodule", "--quiet", "update", "--init")


def test_a_bare_repository_that_is_named_works(git: Git) -> None:
    git.works("", "init", "--quiet", "--bare", "bare.git")
    git.works("work", "push", "--quiet", "../bare.git", "main")
    assert git.works("", "--git-dir=bare.git", "log", "--format=%s") == "first"
    git.works("", "clone", "--quiet", "bare.git", "clone")
    git.works("clone", "pull", "--quiet")
    assert git("bare.git", "log").returncode != 0
    named = git("bare.git", "log", env=git.safe | {"GIT_DIR": "."})
    assert named.returncode == 0


def test_worktrees_of_a_bare_repository_work(git: Git) -> None:
    git.works("", "clone", "--quiet", "--bare", "work", "layout/.bare")
    (git.base / "layout" / ".git").write_text("gitdir: ./.bare\n")
    git.works("layout", "worktree", "add", "--quiet", "tree", "main")
    assert git.works("layout/tree", "status", "--short") == ""
    git.works("layout", "fetch", "--quiet")


def test_what_the_environment_says_to_git_stays(git: Git) -> None:
    said = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "a.b",
        "GIT_CONFIG_VALUE_0": "one",
        "GIT_CONFIG_KEY_1": "c.d",
        "GIT_CONFIG_VALUE_1": "two",
    }
    env = git.plain | said
    both = env | git_safety(env)
    for key, value in (("a.b", "one"), ("c.d", "two"), ("safe.bareRepository", "explicit")):
        assert git("work", "config", key, env=both).stdout.strip() == value
    assert git_safety(both) == {}


@pytest.mark.parametrize("count", ["", "0", " 0", "+0"])
def test_a_count_of_nothing_is_none(git: Git, count: str) -> None:
    env = git.plain | {"GIT_CONFIG_COUNT": count}
    done = git("work", "config", "safe.bareRepository", env=env | git_safety(env))
    assert done.stdout.strip() == "explicit"


@pytest.mark.parametrize("count", ["x", "-1", "1x", "99999999999", "1"])
def test_where_git_refuses_to_run_it_still_does(git: Git, count: str) -> None:
    env = git.plain | {"GIT_CONFIG_COUNT": count}
    assert git("work", "status", env=env | git_safety(env)).returncode != 0


def test_who_has_chosen_otherwise_has_chosen() -> None:
    said = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.barerepository",
        "GIT_CONFIG_VALUE_0": "all",
    }
    assert git_safety(said) == {}


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=5)), st.text(max_size=12))
@example({}, "9")
@example({"GIT_CONFIG_KEY_3": "safe.bareRepository"}, "3")
def test_nothing_that_git_reads_changes_but_the_count(env: dict[str, str], count: str) -> None:
    env["GIT_CONFIG_COUNT"] = count
    added = git_safety(env)
    # The first entry that is not counted is ours to take: git does not read it.
    free = {f"GIT_CONFIG_{part}_{count.strip().lstrip('+') or 0}" for part in ("KEY", "VALUE")}
    assert set(added) & set(env) <= {"GIT_CONFIG_COUNT"} | free
    assert git_safety(env | added) == {}
