"""What one turn of an agent did to one file: to its lines, or to the file as a whole.

Invariant: lines are hunks; all else (bytes, mode, name, whether an empty file is there) is decided
as a whole. A text that is empty where there was no file, or is none, means that there is no file.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from ..model import SessionId
from .hunks import Hunk, Hunks
from .pieces import HunkState

ChangeId = NewType("ChangeId", str)


class Blob(Struct, frozen=True):
    """Content that is not text, kept by somebody else under this name."""

    ref: str
    size: int


class FileState(Struct, frozen=True):
    """A file at one moment. No content means that there is no file."""

    content: str | Blob | None
    mode: int | None = None


MISSING = FileState(None)


class Kind(StrEnum):
    """What happened to the file."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"


class Origin(Struct, frozen=True, kw_only=True):
    """Who wrote something, and why."""

    session: SessionId
    turn: int
    agent: str = ""
    prompt: str = ""


class Change(Struct, frozen=True, kw_only=True):
    """What a turn did to a file, and what was decided about it."""

    id: ChangeId
    origin: Origin
    path: str
    """Where the file is now."""
    old_path: str
    """Where it was, if it was renamed."""
    kind: Kind
    before: FileState
    after: FileState
    hunks: tuple[Hunk, ...]
    whole: HunkState | None
    """What was decided about all that is not in hunks; None if there is no such thing."""

    @property
    def pending(self) -> bool:
        states = (*(hunk.state for hunk in self.hunks), self.whole)
        return HunkState.PENDING in states


class Record:
    """A change that can still be decided, written again and followed."""

    def __init__(
        self,
        id: ChangeId,
        origin: Origin,
        path: str,
        before: FileState,
        after: FileState,
        *,
        old_path: str = "",
    ) -> None:
        self.id = id
        self.origin = origin
        self.before = before
        self.after = after
        self._new_path = path
        self._old_path = old_path
        self.hunks: Hunks | None = None
        self.whole: HunkState | None = None
        self.closed = False
        """Its session is not here any more."""
        self._set_up()

    @property
    def path(self) -> str:
        undone = self.whole is HunkState.UNDONE
        return self._old_path if self._old_path and undone else self._new_path

    @property
    def other_path(self) -> str:
        """Where undoing, or doing it again, would move the file; empty if nowhere."""
        if not self._old_path:
            return ""
        return self._new_path if self.path == self._old_path else self._old_path

    @property
    def renamed(self) -> bool:
        return bool(self._old_path)

    @property
    def empty(self) -> bool:
        """Whether nothing is left of it that could be decided."""
        return self.whole is None and not (self.hunks and self.hunks.ids())

    def write(self, after: FileState) -> None:
        """The agent did more to the file in the same turn."""
        self.after = after
        if self.hunks is not None and not isinstance(after.content, Blob):
            self.hunks.write(after.content or "")
            self.whole = HunkState.PENDING if self._more_than_lines() else None
        else:
            self._set_up()

    def move(self, path: str) -> None:
        """The agent renamed the file in the same turn."""
        if self.before.content is not None:
            self._old_path = self._old_path or self._new_path
            if self._old_path == path:
                self._old_path = ""
        self._new_path = path
        self.whole = HunkState.PENDING if self._more_than_lines() else None

    def state_of(self, text: str, now: FileState) -> FileState:
        """The file with this text."""
        if not text and None in (self.before.content, self.after.content):
            return MISSING
        known = now.mode, self.before.mode, self.after.mode
        return FileState(text, next((mode for mode in known if mode is not None), None))

    def whole_changed(self, now: FileState, *, back: bool) -> FileState | None:
        """The file with all that is not lines undone, or done again; None if it is not as the
        agent, or undoing, left it."""
        have, want = (self.after, self.before) if back else (self.before, self.after)
        content, mode = now.content, now.mode
        if self.renamed and content is None:
            return None
        if self.hunks is None or self._is_of_an_empty_file():
            if now.content != have.content:
                return None
            content = want.content
        if self._mode_changed():
            if now.mode != have.mode:
                return None
            mode = want.mode
        elif now.content is None:
            mode = want.mode
        return FileState(content, mode) if content is not None else MISSING

    def shown(self) -> Change:
        return Change(
            id=self.id,
            origin=self.origin,
            path=self.path,
            old_path=self._old_path,
            kind=self._kind(),
            before=self.before,
            after=self.after,
            hunks=tuple(self.hunks.all()) if self.hunks else (),
            whole=self.whole,
        )

    def _set_up(self) -> None:
        before, after = self.before.content, self.after.content
        if isinstance(before, Blob) or isinstance(after, Blob):
            self.hunks = None
            self.whole = HunkState.PENDING if self.before != self.after else None
        else:
            self.hunks = Hunks(self.id, before or "", after or "")
            self.whole = HunkState.PENDING if self._more_than_lines() else None

    def _more_than_lines(self) -> bool:
        return self.renamed or self._mode_changed() or self._is_of_an_empty_file()

    def _mode_changed(self) -> bool:
        return None not in (self.before.mode, self.after.mode) and (
            self.before.mode != self.after.mode
        )

    def _is_of_an_empty_file(self) -> bool:
        """Whether it was made, or removed, without a line in it."""
        return {self.before.content, self.after.content} == {None, ""}

    def _kind(self) -> Kind:
        if self.before.content is None:
            return Kind.CREATED
        if self.after.content is None:
            return Kind.DELETED
        return Kind.RENAMED if self.renamed else Kind.MODIFIED


def text_of(state: FileState) -> str | None:
    """The lines of a file, of which one that is not there has none; None if it is not text."""
    return None if isinstance(state.content, Blob) else state.content or ""
