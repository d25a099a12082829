"""Which commands a rule that denies or asks is about: generously, whatever may run what it names.

Invariant: this only ever tightens. What a command runs as text is searched for the words of a rule;
text that computes what it runs is said to be opaque, so that no rule counts as excluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from .commands import SimpleCommand
from .glimpse import likely_commands
from .launchers import INTERPRETERS, LAUNCHERS, VERSION_FLAGS, WHOLE
from .options import folded
from .programs import READERS
from .scripts import awk_only_prints, sed_only_prints
from .tables import names
from .wrappers import EVALUATORS

_LONGEST_PREFIX = 3
_RUNNERS = LAUNCHERS | WHOLE
_RUN_BY_OPTION = names("find gfind fd fdfind rg tar gtar bsdtar git make gmake rsync hg jj")
_MOST_PLACES = 64
_RUNS = re.compile(
    r"--?(?:exec|ok|to-|pre(?![a-z])|use-|checkpoint|rsh|eval|config|extcmd|rsync-path|tool|ssh)"
    r"|-[cxXI]"
)
_RUNS_OVER_THERE = re.compile(r"-[A-Za-z]*e|--rs")
_SCRIPTED = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk_only_prints),
    **dict.fromkeys(("sed", "gsed"), sed_only_prints),
}
"""Programs with a language of their own, and whether a script of it is harmless."""
# Options that name a program, in whatever program they are.
_EXECUTES = names(
    "exec execbatch compressprogram usecompressprogram tocommand checkpointaction rsh rsyncpath"
    " toolexec vettool extcmd uploadpack receivepack scriptshell filter command pager config editor"
    " openfilesinpager shell unzipcommand wrapper rununder eval"
)
# The same in some programs: what is glued to it, and the next word.
_EXECUTES_HERE = re.compile(
    r"(?:man|less|more) (?:-P|\+)|zip -TT|git (?:-O|foreach\b|run\b)|\w+ [A-Z][A-Z_]+="
)
_TEXT = re.compile(r"[\s;&|()<>=!]")
_BETWEEN = re.compile(r"[\s;&|(){}<>=!,`$\[\]'\"]+")
_COMPUTES = re.compile(r"[$`\\'\"*?\[{]")
_INLINE = re.compile(
    r"-[A-Za-z]*[ceErpRx]|--(?:eval|print|command|execute|run|exec)(?:=.*)?", re.DOTALL
)


def touches(rule_words: Sequence[str], command: SimpleCommand) -> bool:
    """Whether a command may be what a rule that denies or asks is about."""
    rule = tuple(rule_words)
    written = command.written or command.words
    words = command.under + written
    if not rule or not words:
        return False
    first = _plain_name(rule[0])
    places = (0, *range(_inner(words), len(words)))
    found = (at for at in places if _plain_name(words[at]) == first)
    if any(_goes_on(rule[1:], words[at + 1 :]) for at in islice(found, _MOST_PLACES)):
        return True
    return first != "" and any(_in_text(first, rule, text) for text in _texts(written))


def hides(command: SimpleCommand) -> str:
    """What a command runs that may turn out to be anything; empty when all of it can be seen."""
    words = command.words
    name = _plain_name(words[0])
    inner = _inner(words)
    if INTERPRETERS.fullmatch(name):
        operands = [word for word in words[1:] if not word.startswith("-")]
        if not operands and not VERSION_FLAGS.intersection(words[1:2]):
            return f"{name} runs what it reads"
        if not any(map(_INLINE.fullmatch, words[1:])):
            return ""
    if name == "git" and any("alias." in word for word in words[inner:]):
        return "git is given another name for a command"
    if name in {"at", "batch"}:
        return f"{name} runs what it reads"
    for at in command.globs:
        if inner <= at:
            return f"{words[0]} runs a program that is only known then"
    for text in _texts(words):
        if _TEXT.search(text) and _COMPUTES.search(text) and not _only_prints(name, text):
            return f"{words[0]} runs a text that is not looked into: {text[:40]}"
    return ""


def _only_prints(name: str, text: str) -> bool:
    check = _SCRIPTED.get(name)
    return check is not None and check(text)


def _texts(words: tuple[str, ...]) -> Iterator[str]:
    """The words that may be run as a text."""
    name = _plain_name(words[0])
    if name in READERS:
        return
    inner = 1 if name in _SCRIPTED else _inner(words)
    yield from islice(words, inner, inner + _MOST_PLACES)
    for at, word in enumerate(words[1:inner], 1):
        if word.startswith("-") and folded(word) in _EXECUTES:
            yield word.partition("=")[2]
            yield from words[at + 1 : at + 2]
        elif found := _EXECUTES_HERE.match(f"{name} {word}"):
            yield word[found.end() - len(name) - 1 :]
            yield from words[at + 1 : at + 2]


def _in_text(first: str, rule: tuple[str, ...], text: str) -> bool:
    """Whether a text has the words of a rule in it, in any kind of quotes."""
    if len(text) < len(first):
        return False
    plain = text.replace("\\", "").replace("''", "").replace('""', "")
    if first not in plain.casefold():
        return any(
            _plain_name(part[0]) == first and _goes_on(rule[1:], part[1:])
            for part in islice(likely_commands(text), _MOST_PLACES)
        )
    parts = tuple(filter(None, _BETWEEN.split(plain)))
    found = (at for at, part in enumerate(parts) if _plain_name(part) == first)
    return any(_goes_on(rule[1:], parts[at + 1 :]) for at in islice(found, _MOST_PLACES))


def _inner(words: tuple[str, ...]) -> int:
    """From where on another program may be named."""
    name = _plain_name(words[0])
    if name in _RUN_BY_OPTION:
        runs = _RUNS_OVER_THERE if name == "rsync" else _RUNS
        options = (at for at, word in enumerate(words) if runs.match(word))
        return next(options, len(words))
    assigned = next((at for at, word in enumerate(words) if "=" not in word), len(words))
    leading = (name, *words[1:_LONGEST_PREFIX])
    if any(leading[:length] in _RUNNERS for length in range(1, _LONGEST_PREFIX + 1)):
        return 1
    if name in EVALUATORS or INTERPRETERS.fullmatch(name):
        return 1
    return assigned or len(words)


def _plain_name(word: str) -> str:
    return word.rpartition("/")[2].casefold().removesuffix(".exe")


def _goes_on(rule: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether a rule goes on like this: its options anywhere, its other words in order, with
    nothing but options and their values between them."""
    letters = {letter for word in words if _is_cluster(word) for letter in word[1:]}
    at, after_option = 0, False
    for expected in rule:
        if expected.startswith("-"):
            if not _has_option(expected, words, letters):
                return False
            continue
        while at < len(words) and _plain_name(words[at]) != _plain_name(expected):
            if not after_option and not words[at].startswith("-"):
                return False
            after_option = words[at].startswith("-")
            at += 1
        if at == len(words):
            return False
        at, after_option = at + 1, False
    return True


def _has_option(expected: str, words: tuple[str, ...], letters: set[str]) -> bool:
    if _is_cluster(expected) and letters.issuperset(expected[1:]):
        return True
    given = {word.partition("=")[0] for word in words if word.startswith("-")}
    return expected.partition("=")[0] in given or any(
        len(word) > 3 and expected.startswith(word) for word in given
    )


def _is_cluster(word: str) -> bool:
    return word[:1] == "-" and word[1:2] not in {"", "-"}
