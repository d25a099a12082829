"""What has to be known of files, and of the person at the editor, to tell who changed what."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from .record import FileState, Origin


class Found(Struct, frozen=True):
    """A file that is not as it was at the last look. The path is absolute."""

    path: str
    before: FileState
    after: FileState


class Look(Struct, frozen=True):
    """What is different since the last look at a folder; nothing at the first."""

    found: tuple[Found, ...] = ()
    problem: str = ""
    """Why it could not be seen, as a sentence; then `found` says nothing."""


class Folders(Protocol):
    """Looks at all files of a folder, one look after the other."""

    async def look(self, root: str, *, begins: bool = False) -> Look:
        """If a turn `begins`, only as long as a person would wait for it."""
        ...


class Person(Protocol):
    """What the person does to files in the editor."""

    async def settled(self, found: tuple[Found, ...]) -> None:
        """Returns when what the person saved is known, as far as these files show it."""
        ...

    def saves(self, path: str) -> list[tuple[str, str]]:
        """Which text they made of which and saved since this was last asked."""
        ...

    def agent_wrote(self, origin: Origin, path: str, before: FileState, after: FileState) -> bool:
        """On disk; `before` has what the person saved. Whether they have unsaved text in it."""
        ...
