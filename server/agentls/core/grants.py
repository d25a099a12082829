"""What was allowed just now, so that nobody is asked twice for the same thing.

An agent asks for permission in its own words and then wants us to act: it is the same thing only if
the very same command would run in the very same folder, or the very same file would be written.
"""

from __future__ import annotations

import re
import shlex
from posixpath import basename, join, normpath

from msgspec import Struct

from .model import ToolCallId
from .policy.verdicts import Subject

_PLAIN = re.compile(r"(?:[\w@%+:,./ -]|'[^']*')+", re.ASCII)
"""A line that is nothing but words, whatever the shell."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
_GOING_SOMEWHERE = re.compile(r"cd (?P<folder>'[^']*'|\"[^\"$`\\]*\"|[\w@%+=:,./-]+) && ")


class Grant(Struct, frozen=True):
    """Something that was allowed, by whom or what, in the ask about which tool call."""

    subject: Subject
    call: ToolCallId
    by: str


def same_wish(granted: Subject, wanted: Subject) -> bool:
    """Whether what is wanted is nothing but what was granted."""
    if wanted.command is not None:
        return (
            granted.command is not None
            and not wanted.also
            and _what_and_where(granted) == _what_and_where(wanted)
        )
    if granted.command is not None or not wanted.paths:
        return False
    allowed = {(join(granted.cwd, use.path), use.write) for use in granted.paths}
    return all(
        (join(wanted.cwd, use.path), use.write) in allowed
        or (not use.write and (join(wanted.cwd, use.path), True) in allowed)
        for use in wanted.paths
    )


def _what_and_where(subject: Subject) -> tuple[tuple[str, ...], str]:
    """What runs, as words where no shell is needed to tell, and its folder; agents wrap both in
    their own way."""
    folder = subject.cwd
    line = _line(subject)
    if line is None:
        assert isinstance(subject.command, tuple)
        return subject.command, normpath(folder)
    if going := _GOING_SOMEWHERE.match(line):
        folder = join(folder, shlex.split(going["folder"])[0])
        line = line[going.end() :].strip()
    words = tuple(shlex.split(line)) if _PLAIN.fullmatch(line) else ("sh", "-c", line)
    return words, normpath(folder)


def _line(subject: Subject) -> str | None:
    """The shell line; None when it is words for no shell."""
    command = subject.command
    if isinstance(command, str):
        return command.strip()
    assert command is not None, "only of subjects that run something"
    if len(command) == 3 and basename(command[0]) in _SHELLS and command[1] in {"-c", "-lc"}:
        return command[2].strip()
    return None
