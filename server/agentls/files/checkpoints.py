"""The state of the files of a folder, remembered before every turn: which kind there is for it.

Invariant: a checkpoint never changes the folder or anything in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from .values import Blob, Checkpoint, FileChange, Limits, Stop


class Checkpoints(Protocol):
    """All checkpoints of one folder. Everything here blocks: run it in a thread."""

    root: str
    exact_modes: bool
    """Whether all permissions of a file are known, or only whether it is executable."""

    def take(self, stop: Stop | None = None, *, kept: bool = True) -> Checkpoint:
        """Remember the present state; unless `kept`, only as long as nothing is collected."""
        ...

    def changes(
        self, before: Checkpoint, after: Checkpoint, stop: Stop | None = None
    ) -> list[FileChange]:
        """What is different between two states, by path."""
        ...

    def read(self, blob: Blob) -> bytes:
        """Content that was kept."""
        ...

    def touch(self, path: str) -> None:
        """A file, relative to the folder, is about to change."""
        ...

    def ids(self) -> list[str]:
        """Of the checkpoints there are, the oldest first."""
        ...

    def find(self, id: str) -> Checkpoint:
        """The checkpoint of that id, also one that another process has taken."""
        ...

    def collect(self, now: float, stop: Stop | None = None) -> None:
        """Drop checkpoints that are too old or too many, and content that nothing refers to."""
        ...


def checkpoints_of(
    root: str, state_folder: Path, env: Mapping[str, str], limits: Limits | None = None
) -> Checkpoints:
    """The checkpoints of a folder: by git where it is in a repository, else by our own means."""
    from . import git, git_checkpoints, ledger, plain_checkpoints  # noqa: PLC0415 - not at start

    root = os.path.realpath(root)
    place = ledger.place_of(state_folder, root)
    if (program := git.program(env)) is not None:
        runner = git.Git(program, env)
        if (found := git_checkpoints.opened(runner, root, place, limits)) is not None:
            return found
    return plain_checkpoints.PlainCheckpoints(ledger.Ledger(place, root), limits)
