"""Which simple commands a rule is about: strictly for one that allows, generously for one that
denies or asks.

Invariant: a rule covers a command only if its words are the command's first words, and nothing
after them can make the program write a file or run another program. What runs other programs or
text is covered only by a rule that names what is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import checks, git
from .commands import SimpleCommand
from .launchers import (
    BETWEEN,
    BETWEEN_WITH_PART,
    INTERPRETERS,
    LAUNCHERS,
    PART,
    VERSION_FLAGS,
    WHOLE,
)
from .options import folded
from .programs import HARMLESS_USES, READERS
from .tables import names
from .uses import Use
from .writers import WRITERS, is_near

_OTHER = "the rule is for another command"
_LONGEST_PREFIX = 3
_RUNNERS = LAUNCHERS | WHOLE
# Modules and flags that say what an interpreter runs, with what comes after them.
_NAMES_WHAT = {"python": "-m", "java": "-jar"}
# Options that name a program, where they are risky at all.
_EXECUTES = names(
    "exec execdir ok okdir execbatch x e i pre extcmd compressprogram usecompressprogram tocommand"
    " checkpointaction rsh toolexec vettool command eval wrapper editor pager uploadpack"
    " receivepack shell scriptshell hook preprocessor plugin require loader"
)
_FROM_INPUT = frozenset({"-", "-s", "-i"})
_DEEPEST = 8

_ARGUMENT_FILES = frozenset(
    {"pytest", "py.test", "mypy", "dmypy", "ruff", "gcc", "g++", "cc", "clang", "javac", "rustc"}
)
"""Programs that read more arguments from a file when a word begins with @."""


def covers(rule_words: Sequence[str], command: SimpleCommand) -> bool:
    """Whether a rule that allows these words allows this command."""
    return not objection(rule_words, command)


def objection(rule_words: Sequence[str], command: SimpleCommand) -> str:
    """Why a rule that allows these words does not allow this command; empty when it does."""
    rule = tuple(rule_words)
    if not rule or not rule[0] or not command.words:
        return _OTHER
    why = _to_words(rule, command)
    under = command.under
    if why and under and rule[0] == under[0]:
        for length in {1, len(under)}:
            if rule[:length] == under[:length] and len(rule) > length:
                why = why and _to_words(rule[length:], command)
    return why


def _to_words(rule: tuple[str, ...], command: SimpleCommand) -> str:
    if command.written and any(index < len(rule) for index in command.globs):
        return _OTHER  # a rule cannot name what is only known when it runs
    return _objection(rule, command.words, command.globs)


def _objection(
    rule: tuple[str, ...], words: tuple[str, ...], globs: tuple[int, ...], depth: int = 0
) -> str:
    if rule[0] != words[0] or depth > _DEEPEST:
        return _OTHER
    name = words[0].rpartition("/")[2]
    if INTERPRETERS.fullmatch(name):
        return _interpreter(name, rule, words, globs, depth)
    if name == "command" and words[1:2] in {("-v",), ("-V",)} and rule[1:2] in {(), words[1:2]}:
        return ""
    for length in range(min(_LONGEST_PREFIX, len(words)), 0, -1):
        prefix = (name, *words[1:length])
        if prefix in LAUNCHERS:
            return _launcher(length, rule, words, globs, depth)
        if prefix in WHOLE:
            return _whole(length, rule, words, globs)
    start = _beyond(name, rule, words)
    if start is None:
        return _OTHER
    at = _skip_between(name, words, 1)
    behind = ((name, *words[at : at + count]) for count in (1, 2))
    if at > 1 and rule != words and any(prefix in _RUNNERS for prefix in behind):
        return f"{name} {words[at]} runs other programs; write it without options before it"
    return _arguments(name, rule, words, globs, start)


def _arguments(
    name: str, rule: tuple[str, ...], words: tuple[str, ...], globs: tuple[int, ...], start: int
) -> str:
    if name in READERS:
        return ""
    if name in _ARGUMENT_FILES:
        for word in words[start:]:
            if word.startswith("@"):
                return f"{word} may hold any further arguments"
    if why := _unsaid_value(name, words, start) or _unknown_words(name, words, globs, start):
        return why
    if name == "git":
        if glob := next((words[i] for i in globs if i >= start and words[i][0] in "*?[-"), ""):
            return f"a file could make {glob} an option of git; write ./{glob}"
        return git.objection(words, start)
    uses = HARMLESS_USES.get(name)
    if uses is not None and len(rule) == 1 and words[1:]:
        at = _skip_between(name, words, 1)
        if at >= len(words) or words[at] not in uses:
            return f"the rule does not say `{' '.join(words[: at + 1])}`"
        start = at + 1
    return checks.objection(Use(name, words, globs, start))


def _unknown_words(name: str, words: tuple[str, ...], globs: tuple[int, ...], start: int) -> str:
    """Values that are not known, and braces that may stand for anything but files."""
    for index in globs:
        word = words[index]
        if index >= start and word.startswith("$"):
            return f"what {word} is is only known when {name} runs"
        before, brace, _ = word.partition("{")
        if index >= start and brace and name not in WRITERS and not _NAMES_FILES.search(before):
            return f"{word} stands for several words of {name}"
    return ""


_NAMES_FILES = re.compile(r"\w/|\*")
"""What comes before braces that can only stand for files: a folder, or a pattern."""


def _unsaid_value(name: str, words: tuple[str, ...], start: int) -> str:
    """A rule that ends with a risky option does not say what is to be run, or which file far away
    is to be written."""
    option = words[start - 1]
    if start < 2 or start >= len(words) or not option.startswith("-") or "=" in option:
        return ""
    said = words[:start]
    risky = git.objection(said, start - 1) if name == "git" else ""
    if name not in {"git", "sed", "gsed"}:
        risky = checks.objection(Use(name, said, (), start - 1))
    if risky and folded(option) in _EXECUTES:
        return f"the rule does not say what {option} is to run"
    if risky and not is_near(words[start]):
        return f"the rule does not say {words[start]}, which is not below the current folder"
    return ""


def _beyond(name: str, rule: tuple[str, ...], words: tuple[str, ...]) -> int | None:
    """From where on the command goes beyond the rule; None when it does not start like it."""
    at = 1
    for expected in rule[1:]:
        if at < len(words) and words[at] != expected:
            at = _skip_between(name, words, at)
        if at >= len(words) or words[at] != expected:
            return None
        at += 1
    return at


def _skip_between(name: str, words: tuple[str, ...], at: int) -> int:
    if name == "git":
        while (after := git.skip_global(words, at)) != at:
            at = after
        return at
    between = BETWEEN.get("python" if name.startswith("python") else name)
    parts = BETWEEN_WITH_PART.get(name, ())
    while between is not None and at < len(words):
        if between.fullmatch(words[at]):
            at += 1
        elif words[at] in parts and at + 1 < len(words) and PART.fullmatch(words[at + 1]):
            at += 2
        else:
            break
    return at


def _whole(
    length: int, rule: tuple[str, ...], words: tuple[str, ...], globs: tuple[int, ...]
) -> str:
    """Only the very same command; and one that does not take its orders from the input."""
    if rule != words or globs:
        return f"{words[0]} can run anything, so only a rule with all the words covers it"
    bare = len(words) < 3 and length == 1 and words[-1] not in VERSION_FLAGS
    if bare and words not in {("env",), ("crontab", "-l")}:
        return f"{words[0]} runs what it is given, and the rule does not say what"
    return ""


def _launcher(
    length: int, rule: tuple[str, ...], words: tuple[str, ...], globs: tuple[int, ...], depth: int
) -> str:
    inner = tuple(index - length for index in globs)
    if any(index < 0 for index in inner) or rule[:length] != words[:length]:
        return _OTHER
    if len(rule) <= length or rule[length].startswith("-"):
        return f"{' '.join(words[:length])} runs another program, and the rule does not say which"
    return _objection(rule[length:], words[length:], inner, depth + 1)


def _interpreter(
    name: str, rule: tuple[str, ...], words: tuple[str, ...], globs: tuple[int, ...], depth: int
) -> str:
    """Covered are `python script.py …` and `python -m module …` when the rule names them."""
    kind = "python" if name.startswith("python") else name
    at = _skip_between(kind, rule, 1)
    start = _beyond(kind, rule, words)
    if at < len(rule) and start is not None and not any(index < start for index in globs):
        if rule[at] == _NAMES_WHAT.get(kind) and len(rule) > at + 1:
            shift = start - (len(rule) - at - 1)
            inner = tuple(index - shift for index in globs)
            return _objection(rule[at + 1 :], words[shift:], inner, depth + 1)
        if not rule[at].startswith("-"):
            return checks.objection(Use(rule[at], words, globs, start))
        if (kind, rule[at]) == ("node", "--test"):
            odd = (w for w in words[start:] if w.startswith("-") and not w.startswith("--test-"))
            return next((f"{word} may make node run something else" for word in odd), "")
    if len(words) == 2 and words[1] in VERSION_FLAGS and rule in {words[:1], words}:
        return ""
    if rule == words and len(words) > 2 and not globs and _FROM_INPUT.isdisjoint(words):
        return ""
    return f"{name} can run anything, and the rule does not say what"
