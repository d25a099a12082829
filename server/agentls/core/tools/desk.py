"""What tools can see and do in the editor, if there is one.

Invariant: these are facts about files; whether an agent may have them is decided elsewhere.
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class OpenText(Struct, frozen=True, kw_only=True):
    """A document that is open in the editor."""

    path: str
    language: str
    unsaved: bool
    lines: int


class Desk(Protocol):
    """The editor, as tools see it."""

    def open_texts(self) -> list[OpenText]: ...

    async def show(self, path: str, line: int) -> bool:
        """Open a file at a line; whether the editor did."""
        ...


class Desktop:
    """Where the editor is found, once there is one."""

    def __init__(self) -> None:
        self.editor: Desk | None = None
