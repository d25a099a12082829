"""Checkpoints of a folder that git knows: trees of our own, one for each repository in it.

Invariant: the user's repositories are only read; see shadow.py for how.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

from agentls.core.errors import CheckpointFailed

from . import repository
from .git import Git
from .ledger import Ledger, key
from .repository import Repository
from .shadow import Shadow
from .values import (
    Blob,
    Checkpoint,
    FileChange,
    FileState,
    Limits,
    Stop,
    Tree,
    change,
)

_READ_SECONDS: Final = 30.0


class GitCheckpoints:
    """All checkpoints of one folder in a repository. Blocking: run it in a thread."""

    exact_modes = False
    """Only whether a file is executable is known, as in git."""

    def __init__(
        self, git: Git, top: Repository, ledger: Ledger, limits: Limits | None = None
    ) -> None:
        self.root = ledger.root
        self._git = git
        self._top = top
        self._ledger = ledger
        self._limits = limits or Limits()
        scope = os.path.relpath(self.root, top.top)
        self._scope = "" if scope == "." else scope

    def is_ignored(self) -> bool:
        """Whether the repository wants to know nothing of this folder."""
        stop = Stop(_READ_SECONDS)
        if not self._scope:
            return False
        with self._ledger.alone(stop):
            return self._shadow(self._top, self._scope)[1].is_ignored(stop)

    def take(self, stop: Stop | None = None, *, kept: bool = True) -> Checkpoint:
        """Remember the present state. Raises `CheckpointFailed`."""
        stop = stop or Stop(self._limits.seconds)
        with self._ledger.alone(stop):
            found = _Found(self._limits.nested)
            self._visit(self._top, self._scope, "", found, stop)
            return self._ledger.new(found.trees, found.files, partial=found.partial, kept=kept)

    def _visit(self, where: Repository, scope: str, prefix: str, found: _Found, stop: Stop) -> None:
        """Take one repository and those in it."""
        store, shadow = self._shadow(where, scope)
        snapshot = shadow.take(stop)
        found.trees[prefix] = Tree(store, snapshot.tree)
        cut = len(scope) + 1 if scope else 0
        for path, state in snapshot.remembered.items():
            found.files[prefix + os.fsdecode(path)[cut:]] = state
        found.partial |= snapshot.partial
        for path in snapshot.nested:
            name = os.fsdecode(path).rstrip("/")
            inner = repository.at(f"{where.top}/{name}")
            if inner is None or found.nested_left <= 0:
                found.partial = True
                continue
            found.nested_left -= 1
            self._visit(inner, "", f"{prefix}{name[cut:]}/", found, stop)

    def changes(
        self, before: Checkpoint, after: Checkpoint, stop: Stop | None = None
    ) -> list[FileChange]:
        """What is different, by path. Raises `CheckpointFailed`."""
        stop = stop or Stop(self._limits.seconds)
        sides = _Sides({}, {})
        for prefix in {**before.trees, **after.trees}:
            first, second = before.trees.get(prefix), after.trees.get(prefix)
            if first is not None and second is not None and first.store != second.store:
                self._compare(prefix, first, None, sides, stop)
                first = None
            self._compare(prefix, first, second, sides, stop)
        old = sides.old | _only_in(before.files, after.files)
        new = sides.new | _only_in(after.files, before.files)
        pairs = ((path, old.get(path), new.get(path)) for path in sorted({*old, *new}))
        return [change(path, was, now) for path, was, now in pairs if was != now]

    def _compare(
        self, prefix: str, before: Tree | None, after: Tree | None, sides: _Sides, stop: Stop
    ) -> None:
        tree = before or after
        if tree is None or before == after:
            return
        shadow = self._reopened(tree.store)
        found = shadow.changed(before.id if before else "", after.id if after else "", stop)
        names = {name for _, *both in found for mode, name in both if mode}
        sizes = shadow.sizes(sorted(names), stop)
        cut = len(shadow.scope) + 1 if shadow.scope else 0
        for path, *both in found:
            full = prefix + os.fsdecode(path)[cut:]
            for (mode, name), states in zip(both, sides, strict=True):
                if mode:
                    blob = Blob(name, sizes.get(name, 0), stored=name in sizes)
                    states[full] = FileState(mode, blob)

    def read(self, blob: Blob) -> bytes:
        """Content that was kept. Raises `CheckpointFailed`."""
        stop = Stop(_READ_SECONDS)
        if blob.stored:
            for store in self._stores():
                content = self._reopened(store).content(blob.id, stop)
                if content is not None:
                    return content
        raise CheckpointFailed("That content was not kept, or is not there any more.")

    def touch(self, path: str) -> None:
        """A file is about to change: every file was kept when the checkpoint was taken."""

    def ids(self) -> list[str]:
        return self._ledger.ids()

    def find(self, id: str) -> Checkpoint:
        """Raises `CheckpointFailed` when it has been dropped."""
        return self._ledger.find(id)

    def collect(self, now: float, stop: Stop | None = None) -> None:
        """Drop what is too old or too much. Raises `CheckpointFailed`."""
        stop = stop or Stop(self._limits.seconds)
        with self._ledger.alone(stop):
            kept = self._ledger.drop_old(self._limits, now)
            for store in self._stores():
                trees = {t.id for x in kept for t in x.trees.values() if t.store == store}
                self._reopened(store).collect(trees, stop)

    def _shadow(self, where: Repository, scope: str) -> tuple[str, Shadow]:
        store = key(where.top, where.git_dir, scope)
        return store, Shadow(self._git, self._folder(store), where, scope, self._limits)

    def _folder(self, store: str) -> str:
        return str(self._ledger.place / "git" / store)

    def _stores(self) -> list[str]:
        folder = self._ledger.place / "git"
        return sorted(x.name for x in folder.iterdir()) if folder.is_dir() else []

    def _reopened(self, store: str) -> Shadow:
        shadow = Shadow.reopened(self._git, self._folder(store), self._limits)
        if shadow is None:
            raise CheckpointFailed("What a checkpoint refers to is not there any more.")
        return shadow


class _Found:
    """What is gathered while repositories are visited."""

    def __init__(self, nested_left: int) -> None:
        self.trees: dict[str, Tree] = {}
        self.files: dict[str, FileState] = {}
        self.nested_left = nested_left
        self.partial = False


class _Sides(NamedTuple):
    """Files that differ, as they were and as they are."""

    old: dict[str, FileState]
    new: dict[str, FileState]


def _only_in(these: dict[str, FileState], others: dict[str, FileState]) -> dict[str, FileState]:
    return {path: state for path, state in these.items() if others.get(path) != state}


def opened(git: Git, root: str, place: Path, limits: Limits | None) -> GitCheckpoints | None:
    """The checkpoints of a folder in a repository; None when it is in none, or ignored by it."""
    found = repository.containing(root)
    if found is None:
        return None
    checkpoints = GitCheckpoints(git, found, Ledger(place, root), limits)
    return None if checkpoints.is_ignored() else checkpoints
