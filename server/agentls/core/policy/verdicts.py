"""What an agent wants, and what was decided about it: the words the policy speaks in.

Invariant: these are values; nothing here decides, and a `Ruling` always says why.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from .rules import Rule  # which needs `Verdict`


class Verdict(StrEnum):
    """DENY beats ASK beats ALLOW."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class PathUse(Struct, frozen=True):
    """A file or folder that is read or written: absolute, with symlinks and `..` resolved."""

    path: str
    write: bool


class Subject(Struct, frozen=True, kw_only=True):
    """What an agent wants to do."""

    agent: str = ""
    kind: str = "other"
    """The tool kind of ACP: read, edit, delete, move, search, execute, fetch, think, ..."""
    command: str | tuple[str, ...] | None = None
    """A shell line, or an argument array that is used as it is."""
    cwd: str = ""
    """Where the command runs: absolute and resolved, like the paths. Empty: not known."""
    paths: tuple[PathUse, ...] = ()
    host: str = ""
    tool: str = ""
    """The name of an MCP tool."""
    also: str = ""
    """What it wants beside all that, which no rule is about: a person must see it."""
    unproven: str = ""
    """Why it may do more than its kind says: only a rule or a mode allows it, not its kind."""


class Ruling(Struct, frozen=True, kw_only=True):
    """What was decided."""

    verdict: Verdict
    why: str
    """One sentence for a person."""
    rule: Rule | None = None
    """The rule that decided, if one did."""
