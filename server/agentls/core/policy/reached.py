"""What the arguments of programs that write really reach.

A rule for such a program covers files that are plainly below the current folder, by their names. A
link on the way makes another file of such a name. Invariant: where a literal argument leads out of
the workspace, or to a hidden or protected place, only because of a link, that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename, join, normpath
from typing import Final

from ..errors import AgentlsError
from ..printable import one_line
from . import paths as places
from .case import Resolve, shown
from .shell import SimpleCommand, read_argv, read_shell
from .tables import names
from .verdicts import Subject
from .writers import WRITERS

_WRITERS: Final = WRITERS | names("sed perl patch sponge tar bsdtar unzip cpio 7z ar pushd cd")
_MAY_WRITE: Final = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(_WRITERS)))})\b|\bgit\b.*-C", re.DOTALL
)
_MOST_FOLDERS: Final = 8


def reached(subject: Subject, root: str, resolve: Resolve, protected: Sequence[str]) -> str:
    """Where a command writes that its rule does not cover; empty when there is no such place."""
    line = subject.command
    if line is None or not _MAY_WRITE.search(line if isinstance(line, str) else " ".join(line)):
        return ""
    reading = read_shell(line) if isinstance(line, str) else read_argv(line)
    commands = reading.commands + reading.harmless
    folders = _folders(subject.cwd or root, commands)
    for command in commands:
        for word in _arguments(command):
            for folder in folders:
                if place := _through_a_link(word, folder, root, resolve, protected):
                    return f"{shown(word)} leads to {shown(place.removeprefix(root + '/'))}"
    return ""


def _folders(start: str, commands: Sequence[SimpleCommand]) -> list[str]:
    """The folders that a line may be in, in whatever order it goes there."""
    folders = [start]
    for command in commands:
        if command.words[0] in {"cd", "pushd"}:
            folders += [join(folders[-1], word) for word in command.words[1:2]]
    return list(dict.fromkeys(folders))[:_MOST_FOLDERS]


def _arguments(command: SimpleCommand) -> Iterator[str]:
    """The words that may be files, and the parts of options that may: of=FILE, --to=FILE, -tDIR."""
    program = basename(command.words[0])
    if program == "git":
        at = [i for i, word in enumerate(command.words[:-1]) if word == "-C"]
        yield from (command.words[i + 1] for i in at)
    if program not in _WRITERS:
        return
    for word in command.words[1:]:
        if not word.startswith("-"):
            yield word
        elif len(word) > 2 and word[1] != "-":
            yield word[2:]
        if "=" in word:
            yield word.partition("=")[2] or "."


def _through_a_link(
    word: str, folder: str, root: str, resolve: Resolve, protected: Sequence[str]
) -> str:
    named = normpath(join(folder, word))
    try:
        place = resolve(word, folder)
    except AgentlsError:
        # What is plainly no path, such as a script or an address, names no file.
        return "" if one_line(word) != word or "://" in word else "what cannot be judged"
    if place == named or not places.inside(named, root):
        return ""  # what the rule covers by its name
    if not places.inside(place, root):
        return place
    hidden = "/." in place[len(root) :] and "/." not in named[len(root) :]
    is_protected = places.protected(place, write=True, roots=(root,), places=protected)
    return place if hidden or is_protected else ""
