"""Variables in the words of a command: the values that a loop gives them, or that they are unknown.

Invariant: a word with a variable comes out once for each value that it can have, or, where the
value is not written in the line, as a pattern that stands for any words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .tables import names
from .words import COMPUTED, END, QUOTED, SPLIT, Unreadable, Word


class Loop(NamedTuple):
    """What a loop sets, to which values; None when they are not known."""

    values: dict[str, list[Word] | None]
    started: bool


# They tell where one is and hold no secrets; everything else a person is to look at.
_KNOWN = names(
    "HOME PWD OLDPWD PATH USER LOGNAME SHELL LANG LC_ALL TERM HOSTNAME TMPDIR VIRTUAL_ENV NODE_ENV"
    " GOPATH GOROOT JAVA_HOME CARGO_HOME RUSTUP_HOME PYTHONPATH CONDA_PREFIX CONDA_DEFAULT_ENV"
    " EDITOR PAGER DISPLAY CI TZ UID SHLVL BASH_VERSION ZSH_VERSION RANDOM SECONDS COLUMNS LINES"
    " XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR"
)
_MOST = 32
_VARIABLE = re.compile(f"([{QUOTED}{SPLIT}])([^{END}]*){END}")
_ONE_WORD = re.compile(r"[A-Za-z0-9_./:@%+,=^-]+")


def has_variable(word: Word) -> bool:
    return END in word.text


def filled_in(words: list[Word], loops: Sequence[Loop]) -> Iterator[list[Word]]:
    """The words, once for every combination of the values of their variables."""
    used = {name for word in words for _, name in _VARIABLE.findall(word.text)}
    if not used:
        yield words
        return
    values = {name: _values(name, loops) for name in sorted(used)}
    for count, chosen in enumerate(itertools.product(*values.values()), 1):
        if count > _MOST:
            raise Unreadable(f"it has a loop that runs a command in more than {_MOST} ways")
        given = dict(zip(values, chosen, strict=True))
        yield [_filled(word, given) if has_variable(word) else word for word in words]


def _values(name: str, loops: Sequence[Loop]) -> Sequence[Word | None]:
    for loop in loops:
        if name in loop.values:
            return loop.values[name] or [None]
    if name in _KNOWN:
        return [None]
    raise Unreadable(f"{COMPUTED}: ${name}")


def _filled(word: Word, given: dict[str, Word | None]) -> Word:
    glob = word.glob
    for mark, name in _VARIABLE.findall(word.text):
        value = given[name]
        split = mark == SPLIT and value is not None and not _ONE_WORD.fullmatch(value.text)
        if value is None or split:
            return Word(f"${name}", word.start, False, True)
        glob = glob or value.glob
    text = _VARIABLE.sub(lambda found: getattr(given[found.group(2)], "text", ""), word.text)
    return Word(text, word.start, False, glob)
