"""What was allowed just now, so that nobody is asked twice for the same thing.

An agent asks for permission in its own words and then wants us to act: it is the same thing only if
the very same command would run in the very same folder, or the very same file would be written, and
with the text that was shown, if any was.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from posixpath import basename, join, normpath

from msgspec import Struct

from .model import Diff, ToolCallId
from .policy.verdicts import Subject
from .text import line_end, with_line_end, with_newlines

_PLAIN = re.compile(r"(?:[\w@%+:,./ -]|'[^']*')+", re.ASCII)
"""A line that is nothing but words, whatever the shell."""
_MOST_PLACES = 100
_SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
_GOING_SOMEWHERE = re.compile(r"cd (?P<folder>'[^']*'|\"[^\"$`\\]*\"|[\w@%+=:,./-]+) && ")


class Grant(Struct, frozen=True):
    """Something that was allowed, by whom or what, in the ask about which tool call."""

    subject: Subject
    call: ToolCallId
    by: str
    shown: tuple[Diff, ...] = ()
    """The changes that could be seen when it was allowed."""


class Change(Struct, frozen=True, kw_only=True):
    """What writing a file would really do."""

    diff: Diff
    """From what is there now to what would be."""
    seen: str | None
    """What was there when the agent looked at it."""
    text: str
    """What the agent sent, or the person made of it."""
    proposed: str | None = None
    """What the agent sent, if the person edited it."""

    def is_as(self, shown: Sequence[Diff]) -> bool:
        """Whether it does nothing but what somebody has seen."""
        return any(as_shown(shown, old, self.text) for old in {self.seen, self.diff.old})


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


def shown_for(grant: Grant, wanted: Subject) -> list[Diff]:
    """The changes that were shown of the files that are wanted."""
    paths = {join(wanted.cwd, use.path) for use in wanted.paths}
    return [diff for diff in grant.shown if join(grant.subject.cwd, diff.path) in paths]


def as_shown(shown: Sequence[Diff], old: str | None, new: str) -> bool:
    """Whether changes of one file, in their order, make the new text out of the old one.

    Some agents show whole files and some only the part that changes.
    """
    text, wanted = with_newlines(old or ""), with_newlines(new)
    for diff in shown:
        before, after = with_newlines(diff.old or ""), with_newlines(diff.new)
        if before in {"", text} or (len(shown) == 1 and before not in text):
            text = after  # all of the file, maybe as it was a moment ago
        elif len(shown) == 1 and wanted in _with_one_replaced(text, before, after):
            return True
        elif before in text:
            text = text.replace(before, after)
        else:
            return False
    return text == wanted


def applied(shown: Sequence[Diff], old: str | None) -> str | None:
    """What changes of one file, in their order, make of it; None if that is not clear."""
    text = with_newlines(old or "")
    for diff in shown:
        before, after = with_newlines(diff.old or ""), with_newlines(diff.new)
        if before in {"", text}:
            text = after
        elif text.count(before) == 1:
            text = text.replace(before, after)
        else:
            return None
    return with_line_end(text, line_end(old or ""))


def _with_one_replaced(text: str, before: str, after: str) -> Iterator[str]:
    at = text.find(before)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        yield f"{text[:at]}{after}{text[at + len(before) :]}"
        at = text.find(before, at + 1)


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
