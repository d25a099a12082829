"""Finding the repository that a folder is in, by looking, without asking git.

Invariant: nothing is run and nothing is written.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH112, PTH113, PTH118, PTH120

from __future__ import annotations

import os
from typing import Final

from msgspec import Struct

from .regular import small_file

_LARGEST_POINTER: Final = 8192


class Repository(Struct, frozen=True):
    """Where the parts of the user's repository are."""

    top: str
    """The outermost folder of its files."""
    git_dir: str
    """Its index is here."""
    common_dir: str
    """Its objects and its configuration; not `git_dir` in a linked work tree."""


def containing(folder: str) -> Repository | None:
    """The repository that a folder is in; None for a bare one, which has no files."""
    folder = os.path.realpath(folder)
    while True:
        if (found := at(folder)) is not None:
            return found
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def at(folder: str) -> Repository | None:
    """The repository whose outermost folder this is."""
    named = os.path.join(folder, ".git")
    git_dir = named if os.path.isdir(named) else _pointer(named, b"gitdir: ", folder)
    if git_dir is None or not os.path.isfile(os.path.join(git_dir, "HEAD")):
        return None
    git_dir = os.path.realpath(git_dir)
    shared = _pointer(os.path.join(git_dir, "commondir"), b"", git_dir) or git_dir
    return Repository(folder, git_dir, os.path.realpath(shared))


def _pointer(path: str, start: bytes, base: str) -> str | None:
    """The path that a small file holds."""
    data = small_file(path, _LARGEST_POINTER)
    if data is None or not data.startswith(start):
        return None
    name = os.fsdecode(data[len(start) :].rstrip(b"\r\n"))
    return os.path.join(base, name) if name and "\0" not in name else None
