"""Options that make a program write a file or run another one, known ones and likely ones.

Invariant: an option is judged by its name also when it is abbreviated, glued to its value or in a
cluster of letters; `--` ends nothing here, because it may be the value of the option before it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from .tables import names

_NOT_NAME = re.compile(r"[^a-z0-9*]")
_CLUSTER = re.compile(r"-[A-Za-z0-9?#]+")


class Options(NamedTuple):
    """The risky options of a program, from a line such as `-o --output = --out-of-date | kt`."""

    letters: frozenset[str]
    names: tuple[str, ...]
    harmless: frozenset[str]
    # Letters that take a value: what follows them in the same word is no option.
    valued: frozenset[str]
    # Beginnings that are risky whatever follows.
    beginnings: tuple[str, ...]
    # Options have one dash and a long name, as those of find and go.
    one_dash: bool

    def risky(self, word: str) -> bool:
        if word == "-" or word in self.harmless or word.partition("=")[0] in self.harmless:
            return False
        if self.beginnings and word.startswith(self.beginnings):
            return True
        if not word.startswith("-"):
            return False
        if word.startswith("--") or self.one_dash:
            given = folded(word)
            return bool(given) and any(name.startswith(given) for name in self.names)
        for letter in word[1:]:
            if letter in self.letters:
                return True
            if letter in self.valued:
                return False
        # Many programs take a long name after one dash as well.
        given = folded(word)
        return len(given) > 3 and any(name.startswith(given) for name in self.names)

    def not_covered(self, word: str) -> bool:
        """Whether it is risky, or likely to be for all that is known."""
        if self.risky(word):
            return True
        known = word in self.harmless or word.partition("=")[0] in self.harmless
        return not known and word.startswith("--") and likely_risky(word)


def folded(option: str) -> str:
    """An option's name without what programs are lenient about: case, dashes, the value."""
    return _NOT_NAME.sub("", option.partition("=")[0].lower())


def parse(line: str, *, one_dash: bool = False) -> Options:
    """Reads a line of the tables."""
    risky, _, valued = line.partition("|")
    risky, _, harmless = risky.partition(" = ")
    words = risky.split()
    singles = [] if one_dash else [w for w in words if len(w) == 2 and w[0] == "-"]
    rest = [word for word in words if word not in singles]
    return Options(
        letters=frozenset(word[1] for word in singles),
        names=tuple(folded(word) for word in rest if not word.endswith("*")),
        harmless=frozenset(harmless.split()),
        valued=frozenset(valued.strip()),
        beginnings=tuple(word[:-1] for word in rest if word.endswith("*")),
        one_dash=one_dash,
    )


# --- programs that are not in any table

_LIKELY = names(
    "exec execute execdir command commands cmd shell eval evaluate expression code script scripts"
    " hook hooks plugin plugins preload require import loader load output out outfile outdir"
    " outputfile outputdir dest destination target write save dump record config conf cfg rc"
    " rcfile configfile configuration settings program prog executable binary interpreter python"
    " editor pager browser askpass rsh ssh wrapper runner inplace chdir cwd workdir rootdir root"
    " prefix run call delete remove purge upload post pre fix apply install overwrite force sudo"
    " privileged init setup bootstrap extension extensions module modules lib library kubeconfig"
    " template directory makefile userconfig logfile tracefile to log logs file files filelist"
    " tool difftool mergetool viewer opener handler preprocessor compiler linker agent helper"
    " classpath basedir tempdir cachedir dribble secret secrets node arg args argfile options"
    " specs sql outputs userdata datadir env environment set define property trace diag"
    " reporter formatter resolver callback pidfile emit tee append startup macro backup reset drop"
    " kill erase wipe destroy export"
)
# Only with a value that may name a file.
_LIKELY_WITH_VALUE = names("report html xml store archive generate database with create update")
_ABOUT = names(
    "format style mode color colour colors level only limit timeout size count width type version"
    " depth length lines warnings pattern match names ext extensions"
)
_FILES = frozenset({"dir", "path", "folder", "location"})
_WRITTEN = names(
    "log logs trace profile report reports cache state pid result results coverage snapshot lock"
    " junit cookie history temp tmp store data home install build out target"
)
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_LETTERS = frozenset("oOexXcC")
_SETTING = re.compile(r"[A-Z][A-Z0-9_]+\+?=|/[A-Za-z]+:")


def likely_risky(word: str) -> bool:
    """Whether a word may make a program that is not known write a file or run a program."""
    if not word.startswith("-"):
        return _SETTING.match(word) is not None
    if word in {"-", "--"}:
        return False
    name, equals, _ = word.partition("=")
    name = name.lstrip("-")
    if not word.startswith("--"):
        if name[:1] in _LETTERS:
            return True
        if len(name) <= 3 and _CLUSTER.fullmatch(word) and not _LETTERS.isdisjoint(name):
            return True
    parts = [part.lower() for part in _PARTS.findall(name)]
    while equals and parts[:1] == ["no"]:
        parts.pop(0)
    if not parts or parts[0] == "no" or parts[-1] in _ABOUT:
        return False
    if parts[-1] in _FILES and not _WRITTEN.isdisjoint(parts):
        return True
    if equals and not _LIKELY_WITH_VALUE.isdisjoint(parts):
        return True
    return not _LIKELY.isdisjoint(parts) or _abbreviates(parts[-1], given=bool(equals))


def _abbreviates(part: str, *, given: bool) -> bool:
    """Whether the end of an option is short for something risky, as `--outp=` is for output."""
    if len(part) < (1 if given else 3) or part in _NOT_SHORT:
        return False
    return any(len(name) > 4 and name.startswith(part) for name in _LIKELY)


_NOT_SHORT = names("all bin dir diff ext env int lib mod pro rec reg set sec tag dep out")


def may_become_option(words: Sequence[str], globs: Sequence[int], start: int) -> str:
    """A pattern that a file with a well-chosen name could turn into an option; "" without one."""
    for index in globs:
        word = words[index]
        if index < start:
            continue
        if word[0] in "*?[$" or (word[0] == "-" and _open_name(word)):
            return word
        if any(each[:1] in {"-", "*", "?", "["} for each in alternatives(word)):
            return word
    return ""


def alternatives(word: str) -> list[str]:
    """What a word with braces such as a{b,c} stands for; the word itself without any."""
    pieces = _CHOICE.split(word)
    if len(pieces) == 1:
        return pieces
    if len(pieces) > _MOST_PIECES:
        return ["-"]
    # Every second piece is the inside of a pair of braces.
    choices = [each.split(",") if at % 2 else [each] for at, each in enumerate(pieces)]
    return ["".join(parts) for parts in itertools.islice(itertools.product(*choices), _MOST_WORDS)]


_CHOICE = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_MOST_PIECES, _MOST_WORDS = 9, 4096


def _open_name(option: str) -> bool:
    name, equals, _ = option.partition("=")
    return not equals or any(character in name for character in "*?[{")
