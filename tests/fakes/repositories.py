"""Folders and git repositories for tests, and everything that can be seen of them."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path

ENV = {
    "PATH": os.environ["PATH"],
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def environment(home: Path) -> dict[str, str]:
    """An environment in which nobody's settings count."""
    home.mkdir(exist_ok=True)
    return ENV | {"HOME": str(home)}


def git(folder: Path, *args: str, env: dict[str, str] | None = None) -> str:
    result = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *args],
        cwd=folder,
        env=env or environment(folder.parent / "home"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, output
    return output


def repository(folder: Path, files: dict[str, bytes] | None = None) -> Path:
    """A repository with one commit; without files it has none."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for name, content in (files or {}).items():
        write(folder / name, content)
    if files:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "first")
    return folder


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def age(path: Path) -> None:
    """Make a file an hour old: git reads again what is as new as its index."""
    was = path.stat().st_mtime - 3600
    os.utime(path, (was, was))


def tree(root: Path, *, skip: tuple[str, ...] = (".git",)) -> dict[str, str]:
    """Every file and link below a folder: what it is, whether executable, and what it holds."""
    found = {}
    for folder, names, files in os.walk(os.fsencode(root)):
        names[:] = [name for name in names if os.fsdecode(name) not in skip]
        for name in [*files, *(x for x in names if os.path.islink(folder + b"/" + x))]:  # noqa: PTH114
            path = folder + b"/" + name
            if os.fsdecode(name) in skip:
                continue
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                held = "link to " + os.fsdecode(os.readlink(path))  # noqa: PTH115 - bytes
            elif stat.S_ISREG(mode):
                digest = hashlib.sha256(Path(os.fsdecode(path)).read_bytes()).hexdigest()
                held = f"{digest} {'x' if mode & 0o100 else '-'}"
            else:
                held = "something else"
            found[os.fsdecode(os.path.relpath(path, os.fsencode(root)))] = held
    return found


def git_folder(root: Path) -> dict[str, tuple[str, int]]:
    """Every file of a .git folder, with its time."""
    place = root / ".git"
    return {
        name: (held, os.lstat(place / name).st_mtime_ns)
        for name, held in tree(place, skip=()).items()
    }
