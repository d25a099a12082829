"""Finds the simple commands of a line in its words and operators, whatever they are nested in.

Invariant: every word of the line ends up in a statement, as a harmless keyword, or in a doubt;
so whether each statement is allowed can be judged without knowing which branches will run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .tables import names
from .variables import Loop, filled_in, has_variable
from .words import Operator, Unreadable, Word, tokens

MOST_STATEMENTS = 200


class Opened(NamedTuple):
    """A redirection: the operator without its descriptor, and the file or descriptor."""

    operator: str
    target: Word


class Statement(NamedTuple):
    words: list[Word]
    assignments: list[Word]
    opened: list[Opened]
    # It may run more than once, or read into the variable of its loop.
    looped: bool = False
    reads: bool = False
    # What comes after it.
    then: str = ""


_OPENING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_CLOSING = frozenset({"fi", "done", "}"})
_REFUSED = frozenset({"case", "esac", "select", "function", "]]", "coproc", "in", "foreach"})
_SEPARATORS = frozenset({";", "&", "&&", "||", "|", "|&"})
_JOINING = frozenset({"&&", "||", "|", "|&"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=", re.ASCII)
# Others are special to some shell: `for path in …` sets PATH in zsh.
_LOOP_NAMES = names(
    "a b c d e f g h i j k l m n o p q r s t u v w x y z file dir name item line num idx index test"
    " word pkg mod src branch commit arg svc service url ext ver version pattern repo entry fn row"
)
_SPLIT_AT = re.compile(r"IFS=(?:[,:;|=/ ]|\Z)")

_START, _WORDS, _SEALED, _CLOSED = range(4)


class _Finder:
    def __init__(self, line: str) -> None:
        self.line = line
        self.state = _START
        self.joining = False
        self.found: list[Statement] = []
        self.loops: list[Loop] = []
        self.branches = False
        self._fresh()

    def _fresh(self) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.opened: list[Opened] = []
        self.after_group = False

    def run(self) -> list[Statement]:
        """Everything up to the end."""
        stream = tokens(self.line)
        for token in stream:
            if isinstance(token, Word):
                self._word(token, stream)
            elif token.text in _SEPARATORS:
                self._separator(token.text)
            elif token.text == "\n":
                self._finish()
            elif token.text in "()":
                self._parenthesis(token.text)
            else:
                self._redirection(token, stream)
        self._finish()
        if self.joining:
            raise Unreadable("it ends where another command has to follow")
        return self.found

    def _word(self, word: Word, stream: Iterator[Word | Operator]) -> None:
        if self.state == _WORDS:
            if word.text in "{}" and word.bare:
                raise Unreadable("it uses braces, which the shell expands to other words")
            self.words.append(word)
            return
        if self.state != _START:
            raise Unreadable(f"it is not written as a shell line is: {word.text[:40]}")
        prefixed = bool(self.assignments or self.opened)
        if word.bare and not prefixed and self._keyword(word, stream):
            return
        if _ASSIGNMENT.match(self.line, word.start):
            self.assignments.append(word)
            return
        self.joining = False
        self.words.append(word)
        self.state = _WORDS
        if word.bare and word.text == "[[":
            self._test(stream)

    def _test(self, stream: Iterator[Word | Operator]) -> None:
        """Up to `]]` there are only words: a shell that does not know it would run the rest."""
        for token in stream:
            if not isinstance(token, Word) or has_variable(token):
                break
            self.words.append(token)
            if token.bare and token.text == "]]":
                self.state = _CLOSED
                return
        raise Unreadable("it uses `[[` in a way that is not looked into")

    def _keyword(self, word: Word, stream: Iterator[Word | Operator]) -> bool:
        if word.text in _OPENING:
            self.joining = True
            if word.text in {"while", "until"}:
                self.loops.append(Loop({}, started=False))
            elif word.text == "do":
                self._start_loop()
        elif word.text in _CLOSING:
            self._close()
            if word.text == "done":
                self._start_loop()
                self.loops.pop()
        elif word.text == "for":
            self._for(stream)
        elif word.text in _REFUSED:
            raise Unreadable(f"it uses `{word.text}`, which is not looked into")
        else:
            return False
        self.branches = True
        return True

    def _start_loop(self) -> None:
        if not self.loops:
            raise Unreadable("it has a loop that is not written as usual")
        self.loops[-1] = self.loops[-1]._replace(started=True)

    def _for(self, stream: Iterator[Word | Operator]) -> None:
        name, keyword = next(stream, None), next(stream, None)
        if not isinstance(name, Word) or not name.bare or not self._is_free(name.text):
            raise Unreadable("it has a loop that sets a variable which may matter to programs")
        if not isinstance(keyword, Word) or not (keyword.bare and keyword.text == "in"):
            raise Unreadable("it has a loop over values that are not written out")
        values: list[Word] = []
        for token in stream:
            if isinstance(token, Word):
                if token.fixed or has_variable(token):
                    break
                values.append(token)
                continue
            if token.text not in {";", "\n"}:
                break
            self.joining = True
            self.loops.append(Loop({name.text: values}, started=False))
            return
        raise Unreadable("it has a loop that is not written as usual")

    def _is_free(self, name: str) -> bool:
        """Whether a loop may set it: no other loop does, and no program looks at it."""
        return name in _LOOP_NAMES and not any(name in loop.values for loop in self.loops)

    def _reads(self) -> bool:
        """`while read -r line`: what it reads is only known when it runs."""
        if not self.loops or self.loops[-1].started:
            return False
        first, *rest = self.words
        named = [word.text for word in rest if word.text != "-r"]
        split = all(_SPLIT_AT.fullmatch(word.text) for word in self.assignments)
        plain = all(word.bare for word in (first, *rest)) and split and bool(named)
        if first.text != "read" or not plain or not all(map(self._is_free, named)):
            return False
        self.loops[-1].values.update(dict.fromkeys(named))
        return True

    def _separator(self, operator: str) -> None:
        if self.state == _START and not self.words and not self.opened:
            raise Unreadable(f"it has nothing to run before `{operator}`")
        self.branches = self.branches or operator in {"||", "&"}
        self._finish(operator)
        self.joining = operator in _JOINING

    def _parenthesis(self, which: str) -> None:
        self.branches = True
        if which == ")":
            self._finish()
            self._close()
        elif self.state != _START or self.assignments or self.opened:
            raise Unreadable("it defines a function or has a pattern with parentheses")
        else:
            self.joining = True

    def _redirection(self, token: Operator, stream: Iterator[Word | Operator]) -> None:
        operator = token.text.lstrip("0123456789")
        if operator.startswith("<<"):
            raise Unreadable("it feeds text to a command (here-document)")
        if operator.endswith("(") or operator in {";;", ";&", ";;&"}:
            raise Unreadable(f"it uses `{operator}`, which is not looked into")
        target = next(stream, None)
        if not isinstance(target, Word) or target.fixed or has_variable(target):
            raise Unreadable("it redirects to something that is not plainly a file")
        if self.state == _SEALED:
            raise Unreadable("it has a redirection that is not written as usual")
        self.opened.append(Opened(operator, target))
        if operator.startswith("&"):
            # Other shells take `&>` for the end of the command: the next word would be run.
            self.state = _SEALED

    def _close(self) -> None:
        self.state = _CLOSED
        self.after_group = True
        self.joining = False

    def _finish(self, then: str = "") -> None:
        if self.words or self.assignments or self.opened:
            if not self.words and (self.assignments or not self.after_group):
                raise Unreadable("it sets a variable or opens a file without running a command")
            if any(map(has_variable, self.assignments)):
                raise Unreadable("it sets a variable to a value that is computed when it runs")
            reads = bool(self.words) and self._reads()
            assignments = [] if reads else self.assignments
            for words in filled_in(self.words, self.loops):
                self.found.append(
                    Statement(words, assignments, self.opened, bool(self.loops), reads, then)
                )
            if len(self.found) > MOST_STATEMENTS:
                raise Unreadable(f"it has more than {MOST_STATEMENTS} commands")
        self._fresh()
        self.state = _START


class Line(NamedTuple):
    """The statements of a line, nested ones too."""

    statements: list[Statement]
    # Each of them runs, unless one before it fails.
    straight: bool


def statements(line: str) -> Line:
    """What a line consists of; raises `Unreadable`."""
    finder = _Finder(line)
    return Line(finder.run(), not finder.branches)
