"""A rule: a remembered decision, what is wrong with it if anything, and how it reads to a person.

Invariant: what loosens is read narrowly and what tightens is read generously. An allow rule whose
meaning is in doubt covers nothing.
"""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from ..printable import one_line
from .verdicts import Verdict


class Mode(StrEnum):
    """How much a person lets the agent of one session do."""

    ASK = "ask"
    ACCEPT_EDITS = "accept_edits"
    """Edits inside the workspace are allowed, unless they are of something protected."""
    READ_ONLY = "read_only"
    """Everything but reading is denied."""
    TRUST = "trust"
    """Everything is allowed that no rule denies or asks about and that is not protected."""


Scope = Literal["session", "project", "user", "repository", "built in"]


class Rule(Struct, frozen=True, kw_only=True):
    """Everything that is given must hold for the rule to apply."""

    verdict: Verdict
    kind: str | None = None
    command: str | None = None
    """Words of a simple command: further arguments are covered, risky options are not."""
    path: str | None = None
    """A glob: absolute, or relative to the project."""
    host: str | None = None
    tool: str | None = None
    agent: str | None = None
    project: str | None = None
    """A folder, absolute and resolved: the rule is for work in there."""
    scope: Scope = "session"
    source: str = "this session"
    """The file it is written in."""
    line: int = 0


FIELDS: Final = ("kind", "command", "path", "host", "tool", "agent", "project")
_WHAT: Final = ("kind", "command", "path", "host", "tool")
KINDS: Final = frozenset(
    {
        "read",
        "edit",
        "delete",
        "move",
        "search",
        "execute",
        "fetch",
        "think",
        "switch_mode",
        "other",
    }
)
_SCOPES: Final = ("built in", "repository", "user", "project", "session")
_PLACES: Final = {
    "session": "this session",
    "project": "project rules",
    "user": "user rules",
    "repository": "the repository's rules",
    "built in": "built in",
}


def says_what(rule: Rule) -> bool:
    """Whether a rule says what it is about, and not only who or where."""
    return any(getattr(rule, key) is not None for key in _WHAT)


def misfit(rule: Rule) -> str:
    """Why the parts of a rule do not go together; empty when they do."""
    if rule.verdict is Verdict.ALLOW and not says_what(rule):
        return f"allows everything, which is too wide; add at least one of {', '.join(_WHAT)}"
    if rule.command is not None and rule.path is not None:
        return "has a command and a path, but paths in a command are not judged; remove one"
    return ""


def same(one: Rule, other: Rule) -> bool:
    """Whether two rules mean the same, wherever they are written."""
    keys = ("verdict", *FIELDS)
    return all(getattr(one, key) == getattr(other, key) for key in keys)


def specificity(rule: Rule) -> tuple[int, int, int]:
    """Which of two rules with the same verdict is named: the greater one."""
    given = sum(getattr(rule, key) is not None for key in FIELDS)
    return given, len(rule.command or "") + len(rule.path or ""), _SCOPES.index(rule.scope)


def what(rule: Rule) -> str:
    """What a rule is about, in a few words."""
    given = [rule.command] if rule.command is not None else []
    keys = ["kind", "path", "host", "tool", "agent"]
    if rule.scope not in {"project", "repository"}:
        keys.append("project")
    given += [f"{key} {value}" for key in keys if (value := getattr(rule, key)) is not None]
    return one_line(", ".join(given)) or "everything"


def named(rule: Rule) -> str:
    """A rule as it is named in a sentence: what it says and where it is written."""
    place = _PLACES[rule.scope]
    return (
        f"`{what(rule)}` ({place}, line {rule.line})" if rule.line else f"`{what(rule)}` ({place})"
    )


@lru_cache(maxsize=4096)
def words(command: str, *, generous: bool = False) -> tuple[str, ...]:
    """The words of a rule's command; none when they cannot be told apart."""
    try:
        found = shlex.split(command)
    except ValueError:
        return ()
    # "git push *" is how other programs write "with any arguments".
    while generous and found and found[-1] == "*":
        found.pop()
    return tuple(found)


def tool_matches(pattern: str, tool: str, *, generous: bool) -> bool:
    if generous:
        pattern, tool = pattern.casefold(), tool.casefold()
    return bool(tool) and fnmatchcase(tool, pattern)


def host_matches(pattern: str, host: str, *, generous: bool) -> bool:
    """`*.example.org` means what is below; a generous match of `example.org` means both."""
    pattern, host = host_name(pattern), host_name(host)
    if not host:
        return False
    if pattern in {"*", host}:
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) or (generous and host == pattern[2:])
    return generous and host.endswith("." + pattern)


_HOST: Final = re.compile(r"(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\*|[0-9a-f:.]+")
_PORT: Final = re.compile(r"(?<=[^:]):\d*\Z")


@lru_cache(maxsize=1024)
def host_name(host: str) -> str:
    """A host name as it is compared; empty when it is none."""
    host = host.strip().lower()
    if host.count(":") <= 1 or host.startswith("["):
        host = _PORT.sub("", host)
    host = host.removesuffix(".").strip("[]")
    if not host.isascii():
        try:
            host = host.encode("idna").decode()
        except UnicodeError:
            return ""
    return host if _HOST.fullmatch(host) else ""


# --- what is wrong with a value: "" or the rest of a sentence that begins with the key


def flaw(key: str, value: str) -> str:
    """Why a value can never match, and what to write instead."""
    if not value.strip():
        return "is empty; write a value or remove the key"
    if not value.isprintable():
        return "holds a control or invisible character; write it without"
    return _FLAWS[key](value) if key in _FLAWS else ""


def remark(key: str, value: str) -> str:
    """What is odd about a value that can be used all the same."""
    if key == "kind" and value not in KINDS:
        return f"is a kind that no agent is known to use; known are {', '.join(sorted(KINDS))}"
    if key == "command" and re.search(r"[*?]", _unquoted(value)):
        return "is compared word by word, * and ? stand for themselves; further words are covered"
    return ""


def _command_flaw(value: str) -> str:
    bare = _unquoted(value)
    if "'" in bare or '"' in bare or bare.endswith("\\"):
        return "has a quote that does not end; close it"
    if re.search(r"[;&|<>()`$]|(?:^|\s)#", bare) or re.search(r'"[^"]*[$`]', value):
        return (
            "can never match, it is compared with one simple command;"
            " write a rule for each command, without shell operators and variables"
        )
    if re.match(r"\s*\w+=", bare):
        return "can never match, it begins with a variable; begin with the program"
    found = words(value)
    if not found or not found[0]:
        return "names no program; begin with one"
    return ""


def _unquoted(command: str) -> str:
    """A command with its quoted parts taken out."""
    return re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", "_", command)


def _path_flaw(value: str) -> str:
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", value):
        return "is not a path; write it without the scheme"
    if ".." in value.split("/"):
        return "can never match, it is compared with resolved paths; write it without .."
    if re.match(r"~[^/]", value):
        return "begins with ~ and a name; write ~/ or the whole path"
    if re.search(r"\{[^{}/]*,[^{}/]*\}", value):
        return "has alternatives in braces, which are not understood; write a rule for each"
    return ""


def _host_flaw(value: str) -> str:
    return (
        "" if host_name(value) else "is not a host name; write it like example.org or *.example.org"
    )


def _project_flaw(value: str) -> str:
    absolute = value.startswith(("/", "~/")) or value == "~"
    return "" if absolute else "is not an absolute path; write the whole path of the folder"


_FLAWS: Final = {
    "command": _command_flaw,
    "path": _path_flaw,
    "host": _host_flaw,
    "project": _project_flaw,
}
