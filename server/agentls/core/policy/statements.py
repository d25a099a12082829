"""Finds the simple commands of a line in its words and operators, whatever they are nested in.

Invariant: every word of the line ends up in a statement, as a harmless keyword, or in a doubt;
so whether each statement is allowed can be judged without knowing which branches will run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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


_OPENING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_CLOSING = frozenset({"fi", "done", "}"})
_REFUSED = frozenset({"case", "esac", "select", "function", "[[", "]]", "coproc", "in", "foreach"})
_SEPARATORS = frozenset({";", "&", "&&", "||", "|", "|&"})
_JOINING = frozenset({"&&", "||", "|", "|&"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=", re.ASCII)
# Others are special to some shell: `for path in …` sets PATH in zsh.
_LOOP_NAME = re.compile(r"[a-z]|file|dir|name|item|line|num|idx|index|test|word")

_START, _WORDS, _SEALED, _CLOSED = range(4)


class _Finder:
    def __init__(self, line: str) -> None:
        self.line = line
        self.state = _START
        self.joining = False
        self.found: list[Statement] = []
        self._fresh()

    def _fresh(self) -> None:
        self.words: list[Word] = []
        self.assignments: list[Word] = []
        self.opened: list[Opened] = []
        self.after_group = False

    def run(self) -> list[Statement]:
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

    def _keyword(self, word: Word, stream: Iterator[Word | Operator]) -> bool:
        if word.text in _OPENING:
            self.joining = True
        elif word.text in _CLOSING:
            self._close()
        elif word.text == "for":
            self._for(stream)
        elif word.text in _REFUSED:
            raise Unreadable(f"it uses `{word.text}`, which is not looked into")
        else:
            return False
        return True

    def _for(self, stream: Iterator[Word | Operator]) -> None:
        name, keyword = next(stream, None), next(stream, None)
        if not isinstance(name, Word) or not name.bare or not _LOOP_NAME.fullmatch(name.text):
            raise Unreadable("it has a loop that sets a variable which may matter to programs")
        if not isinstance(keyword, Word) or not (keyword.bare and keyword.text == "in"):
            raise Unreadable("it has a loop over values that are not written out")
        for token in stream:
            if isinstance(token, Operator):
                if token.text not in {";", "\n"}:
                    break
                self.joining = True
                return
        raise Unreadable("it has a loop that is not written as usual")

    def _separator(self, operator: str) -> None:
        if self.state == _START and not self.words and not self.opened:
            raise Unreadable(f"it has nothing to run before `{operator}`")
        self._finish()
        self.joining = operator in _JOINING

    def _parenthesis(self, which: str) -> None:
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
        if not isinstance(target, Word) or self.state == _SEALED:
            raise Unreadable("it has a redirection that is not written as usual")
        self.opened.append(Opened(operator, target))
        if operator.startswith("&"):
            # Other shells take `&>` for the end of the command: the next word would be run.
            self.state = _SEALED

    def _close(self) -> None:
        self.state = _CLOSED
        self.after_group = True
        self.joining = False

    def _finish(self) -> None:
        if self.words or self.assignments or self.opened:
            if not self.words and (self.assignments or not self.after_group):
                raise Unreadable("it sets a variable or opens a file without running a command")
            self.found.append(Statement(self.words, self.assignments, self.opened))
            if len(self.found) > MOST_STATEMENTS:
                raise Unreadable(f"it has more than {MOST_STATEMENTS} commands")
        self._fresh()
        self.state = _START


def statements(line: str) -> list[Statement]:
    """The statements of a line, nested ones too; raises `Unreadable`."""
    return _Finder(line).run()
