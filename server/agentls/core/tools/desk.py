"""What tools can see and do in the editor, if there is one.

Invariant: these are facts about files; whether an agent may have them is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class OpenText(Struct, frozen=True, kw_only=True):
    """A document that is open in the editor."""

    path: str
    language: str
    unsaved: bool
    lines: int


class Problem(Struct, frozen=True, kw_only=True):
    """What a language server or linter says about a place. Lines and columns count from 1."""

    path: str
    line: int
    column: int
    severity: str
    """error, warning, information or hint."""
    message: str
    source: str = ""
    code: str = ""


class Spot(Struct, frozen=True, kw_only=True):
    """A place that a language server names. Lines and columns count from 1."""

    path: str
    line: int
    column: int = 1
    name: str = ""
    kind: str = ""
    """function, class, variable…"""
    inside: str = ""
    """What contains it."""


class Desk(Protocol):
    """The editor, as tools see it. None as an answer means: nobody there knows.

    Where something is asked about a place, lines count from 1 and columns from 0, in UTF-16.
    """

    @property
    def knows_code(self) -> bool:
        """Whether it can be asked what its language servers know."""
        ...

    def open_texts(self) -> list[OpenText]: ...

    async def show(self, path: str, line: int) -> bool:
        """Open a file at a line; whether the editor did."""
        ...

    async def problems(self, path: str) -> Sequence[Problem] | None:
        """Of one file, or of all if the path is empty."""
        ...

    async def definition(self, path: str, line: int, column: int) -> Sequence[Spot] | None: ...

    async def references(self, path: str, line: int, column: int) -> Sequence[Spot] | None: ...

    async def document_symbols(self, path: str) -> Sequence[Spot] | None: ...

    async def workspace_symbols(self, query: str) -> Sequence[Spot] | None: ...


class Desktop:
    """Where the editor is found, once there is one."""

    def __init__(self) -> None:
        self.editor: Desk | None = None
