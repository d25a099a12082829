"""What a command line of an agent would run: read with care, and judged against the words of rules.

Invariant: a line without doubts runs exactly the commands and opens exactly the files that are
listed. Two readers have to agree on that; what either of them does not know is a doubt.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ..printable import one_line
from .commands import Redirect, ShellReading, SimpleCommand
from .covering import covers, objection
from .folders import Folders
from .git import folders as git_folders
from .glimpse import likely_commands
from .linters import code_places
from .nested import what_find_runs
from .second_reader import disagrees
from .statements import Line, Opened, Statement, statements
from .tightening import hides, touches
from .words import LONGEST_LINE, Unreadable, Word, check_characters, check_word
from .wrappers import EVALUATORS, harmless_variable, shell_line, some_shell_line, unwrapped
from .writers import is_plain_folder

__all__ = [
    "Redirect",
    "ShellReading",
    "SimpleCommand",
    "allowed",
    "covers",
    "harmless_variable",
    "objection",
    "read_argv",
    "read_shell",
    "touches",
]

_DEEPEST = 3
_PROGRAM = re.compile(r"[A-Za-z0-9_./+@-]+|\[\[?|:")
_DESCRIPTOR = re.compile(r"[0-9]|-")
_SPECIAL = re.compile(r"/+(?:dev|proc|sys)(?:/|\Z)")
_SET = re.compile(r"[-+][eux]+|-[eux]*o")
_TEST = re.compile(
    r"-[adefghknoprswxzLSOGN]|-[no]t|-ef|=|==|!=|!"
    r"|(?:(?:\$(?:HOME|PWD|\?)|[A-Za-z0-9_./@%+])[A-Za-z0-9_./@%+-]*)?"
)
_NUMBERS = re.compile(r"-(?:eq|ne|lt|le|gt|ge)")
_NUMBER = re.compile(r"\d+|\$\?")


def read_shell(line: str) -> ShellReading:
    """What a line of bash, dash or zsh would do."""
    draft = _Draft()
    draft.read_line(line, 0)
    return draft.reading()


def read_argv(argv: Sequence[str]) -> ShellReading:
    """What an argument array would do, run without a shell; `bash -lc LINE` is read as a line."""
    draft = _Draft()
    words = tuple(argv)
    if not words:
        draft.doubt("it does not say which program it runs")
        return draft.reading()
    try:
        for word in words:
            check_characters(word)
            check_word(word)
    except Unreadable as doubt:
        draft.doubt(str(doubt))
    draft.add(SimpleCommand(words), 0)
    return draft.reading()


def allowed(line: str, rules: Sequence[Sequence[str]], *, root: str = "/") -> tuple[bool, str]:
    """Whether rules with these words allow a line that writes no file, and why not."""
    reading = read_shell(line)
    if reading.doubts:
        return False, reading.doubts[0]
    if not reading.commands:
        return False, "it runs no command"
    for redirect in reading.redirects:
        if redirect.write:
            return False, f"it writes to {redirect.path}"
        if not posixpath.join(root, redirect.path).startswith(root):
            return False, f"it reads {redirect.path}"
    for command in reading.commands:
        if not any(covers(rule, command) for rule in rules):
            return False, f"no rule covers {' '.join(command.words)}"
    return True, ""


def _found(line: str, depth: int) -> Line:
    if len(line) > LONGEST_LINE or depth > _DEEPEST:
        raise Unreadable("it is too long or too deeply nested to be read with care")
    check_characters(line)
    found = statements(line)
    starts = {each.words[0].start for each in found.statements if each.words}
    if disagrees(_without_fixed_text(line, found), sorted(starts)):
        raise Unreadable("it cannot be read with certainty")
    return found


def _without_fixed_text(line: str, found: Line) -> str:
    """The line with another text of the same length: the grammar does not see here-documents."""
    spans = {word.fixed for each in found.statements for word in each.words if word.fixed}
    for start, stop in spans:
        line = f'{line[:start]}"{"x" * (stop - start - 2)}"{line[stop:]}'
    return line


class _Draft:
    """A reading in the making."""

    def __init__(self) -> None:
        self.commands: list[SimpleCommand] = []
        self.harmless: list[SimpleCommand] = []
        self.redirects: list[Redirect] = []
        self.doubts: list[str] = []
        self.folders = Folders()
        self.elsewhere: list[str] = []
        self.opaque: list[str] = []
        self.opened: list[str] = []

    def reading(self) -> ShellReading:
        self._check_moves()
        # A line of nothing else is judged by its rules like any other.
        commands, harmless = self.commands or self.harmless, self.commands and self.harmless
        return ShellReading(
            commands=tuple(dict.fromkeys(commands)),
            redirects=tuple(self.redirects),
            doubts=tuple(dict.fromkeys(self.doubts)),
            harmless=tuple(harmless),
            opaque=tuple(dict.fromkeys(self.opaque)),
        )

    def doubt(self, why: str) -> None:
        self.doubts.append(one_line(why))

    def read_line(self, line: str, depth: int) -> None:
        try:
            found = _found(line, depth)
        except Unreadable as doubt:
            self.doubt(str(doubt))
            self.commands.extend(map(SimpleCommand, likely_commands(line)))
            return
        before = ""
        for statement in found.statements:
            piped = "|" in {before, statement.then} or depth > 0
            self._statement(statement, depth, certain=found.straight and not piped)
            before = statement.then[:1]
            if statement.then not in {"&&", "|", "|&"}:
                self.folders.end_chain()

    def _statement(self, statement: Statement, depth: int, *, certain: bool) -> None:
        for word in statement.assignments:
            name, _, value = word.text.partition("=")
            if word.glob or not harmless_variable(name, value):
                self.doubt(f"it sets the variable {name}, which may change what programs do")
        for opened in statement.opened:
            self._open(opened)
        words = statement.words
        if not words:
            return
        command = SimpleCommand(
            tuple(word.text for word in words),
            tuple(index for index, word in enumerate(words) if word.glob),
        )
        first = words[0]
        if first.text == "cd":
            if self._enter(words[1:], statement, certain=certain and statement.then == "&&"):
                self.harmless.append(command)
                return
        else:
            self.folders.use()
        for word in words:
            if word.fixed:
                self.harmless.append(SimpleCommand(("cat",)))
        if not first.bare or not _PROGRAM.fullmatch(first.text):
            self.doubt(f"the name of the program is not written plainly: {first.text[:40]}")
            self.commands.append(command)
        elif statement.reads or _is_harmless(command):
            self.harmless.append(command)
        else:
            self.add(command, depth)

    def add(self, command: SimpleCommand, depth: int) -> None:
        """Takes a command, or what it wraps."""
        while inner := unwrapped(command):
            command = inner
        words = command.words
        name = words[0]
        line = shell_line(words)
        if line is not None and not command.globs:
            self.read_line(line, depth + 1)
            return
        if name in {"find", "gfind"} and (parts := what_find_runs(command)):
            command, *inside = parts
            for each in inside:
                self.add(each, depth)
            words = command.words
        self.commands.append(command)
        self._look_inside(command, depth)
        if name in EVALUATORS:
            self.doubt(f"it uses `{name}`, which changes what commands mean or runs text as one")
            self.commands.extend(map(SimpleCommand, likely_commands(" ".join(words[1:]))))
        elif name == "cd":
            self.doubt("it changes the folder in a way that is not plain")
        elif not _PROGRAM.fullmatch(name):
            self.doubt(f"the name of the program is not written plainly: {name[:40]}")

    def _look_inside(self, command: SimpleCommand, depth: int) -> None:
        """What a command runs that only a rule for all of it covers: for rules that deny or ask."""
        words = command.words
        if words[0] == "git":
            self.elsewhere += git_folders(words)
        self.redirects += (Redirect(at, write=False) for at in code_places(words, self.folders.now))
        line = some_shell_line(words)
        if line is not None:
            inner = _Draft()
            inner.read_line(line, depth + 1)
            self.harmless += [*inner.commands, *inner.harmless]
            self.opaque += inner.doubts + inner.opaque
        elif hidden := hides(command):
            self.opaque.append(one_line(hidden))

    def _open(self, opened: Opened) -> None:
        operator, target = opened
        if operator in {">&", "<&"} and target.bare and _DESCRIPTOR.fullmatch(target.text):
            return
        path = target.text
        if operator in {">&", "<&"} or target.glob or path[:1] in {"", "~", "!"} or "$" in path:
            self.doubt(f"it redirects to something that is not plainly a file: {path[:40]}")
            return
        if path == "/dev/null":
            return
        if _SPECIAL.match(posixpath.normpath(path)) or _SPECIAL.match(path):
            self.doubt(f"it opens a special file: {path[:40]}")
        self.opened.append(path)
        self.redirects.append(Redirect(path, write=operator != "<"))

    def _enter(self, words: list[Word], statement: Statement, *, certain: bool) -> bool:
        """Goes to a folder: like reading it. Hidden ones hold what makes programs run."""
        if len(words) != 1 or words[0].glob:
            return False
        path = words[0].text
        if not is_plain_folder(path):
            self.doubt(f"it goes to a folder that is not plainly one of the project: {path[:40]}")
        if statement.looped and not path.startswith("/"):
            self.doubt("it changes the folder in a loop")
        if not self.folders.enter(path, certain=certain):
            self.doubt("it changes the folder too often")
        return True

    def _check_moves(self) -> None:
        """Once the folder changes, what is written relative to it is anywhere."""
        entered = self.folders.all()
        self.redirects.extend(Redirect(path, write=False) for path in entered)
        self.redirects.extend(Redirect(path, write=False) for path in self.elsewhere)
        if len(self.folders.now) == 1 and self.folders.now == [""]:
            return
        programs = [command.words[0] for command in self.commands]
        if any(not path.startswith("/") for path in self.opened + self.elsewhere) or any(
            "/" in name and not name.startswith("/") for name in programs
        ):
            self.doubt("it changes the folder and then uses a file relative to it")


def _is_harmless(command: SimpleCommand) -> bool:
    """Shell commands that do nothing by themselves, in their plainest form."""
    name, *arguments = command.words
    if name in {"true", "false", ":", "wait", "break", "continue"}:
        return not arguments
    if name == "exit":
        return not arguments or (len(arguments) == 1 and arguments[0].isdigit())
    if name == "set":
        options = [word for word in arguments if word != "pipefail"]
        return bool(options) and all(map(_SET.fullmatch, options))
    if name in _TEST_ENDS:
        end = _TEST_ENDS[name]
        closed = end is None or arguments[-1:] == [end]
        return closed and not command.globs and _only_tests(arguments[: -1 if end else None])
    return False


_TEST_ENDS = {"[": "]", "test": None, "[[": "]]"}


def _only_tests(operands: list[str]) -> bool:
    """Looks at files and texts; numbers have to be written, for some shells compute them."""
    if len(operands) == 3 and _NUMBERS.fullmatch(operands[1]):
        return all(map(_NUMBER.fullmatch, operands[::2]))
    return all(map(_TEST.fullmatch, operands))
