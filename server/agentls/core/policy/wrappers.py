"""Programs that run another program: which of them are harmless themselves, and what they run.

Invariant: a wrapper with an option that is not known here is not unwrapped, so that it needs a
rule of its own; nothing is ever taken off a command that changes what the rest of it does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .commands import SimpleCommand
from .tables import names

SHELLS = frozenset({"bash", "sh", "dash", "zsh"})
_SHELL_FOLDERS = frozenset({"/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"})
_SHELL_OPTIONS = re.compile(r"-[ceilux]*c[eilux]*")
_SHELL_SETTING = re.compile("-[eux]*o")
_SHELL_FLAGS = re.compile(r"-[eilux]+|--login")

# What they do to the shell changes the meaning of later commands, or they run text as a command.
EVALUATORS = names(
    ". alias autoload bind bindkey builtin coproc compgen complete compopt declare disown dirs"
    " emulate enable eval exec export fc functions getopts hash history integer let local logout"
    " mapfile nocorrect noglob popd print pushd read readarray readonly repeat sched set setopt"
    " shopt source suspend trap typeset ulimit umask unalias unset unsetopt vared zle zmodload"
    " zstyle compdef rehash zcompile foreach end begin and or not"
)

_VALUE = re.compile(r"[A-Za-z0-9_.@:,+-]*")
_VARIABLES = {
    **dict.fromkeys(
        names(
            "LANG LANGUAGE NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE CI COLUMNS LINES TERM"
            " PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED RUST_BACKTRACE"
            " CARGO_TERM_COLOR GIT_TERMINAL_PROMPT PIP_DISABLE_PIP_VERSION_CHECK PY_COLORS"
        ),
        _VALUE,
    ),
    "TZ": re.compile(r"(?:[A-Za-z0-9+-]+(?:/[A-Za-z0-9_+-]+)*)?"),
    "NODE_ENV": re.compile("test|development"),
    "PAGER": re.compile("cat|"),
    "GIT_PAGER": re.compile("cat|"),
    "MANPAGER": re.compile("cat|"),
}
_LOCALE = re.compile(r"LC_[A-Z]+")
_NONE = re.compile(r"(?!)")


def harmless_variable(name: str, value: str) -> bool:
    """Whether a program may get this in its environment without a question."""
    allowed = _VARIABLES.get(name) or (_VALUE if _LOCALE.fullmatch(name) else None)
    return allowed is not None and allowed.fullmatch(value) is not None


class Wrapper(NamedTuple):
    """How the words in front of the inner program look."""

    flags: re.Pattern[str] = _NONE
    # Flags whose value is the next word.
    values: re.Pattern[str] = _NONE
    # A word that has to come before the inner program.
    operand: re.Pattern[str] | None = None


_DURATION = r"\d+(?:\.\d+)?[smhd]?"
_HARMLESS = {
    "timeout": Wrapper(
        re.compile(
            rf"--foreground|--preserve-status|-v|--verbose|--kill-after={_DURATION}"
            rf"|-k{_DURATION}|--signal=[A-Z0-9]+|-s[A-Z0-9]+"
        ),
        re.compile("-k|-s|--kill-after|--signal"),
        re.compile(_DURATION),
    ),
    "nice": Wrapper(re.compile(r"-n?-?\d+|--adjustment=-?\d+"), re.compile("-n|--adjustment")),
    "ionice": Wrapper(re.compile(r"-c[0-3]|-n[0-7]|-t"), re.compile("-c|-n")),
    "stdbuf": Wrapper(
        re.compile(r"-[ioe][L0-9][0-9KM]*|--(?:input|output|error)=[L0-9][0-9KM]*"),
        re.compile("-[ioe]"),
    ),
    "nohup": Wrapper(),
    "time": Wrapper(re.compile("-p")),
    "command": Wrapper(),
    "env": Wrapper(),
}
_HARMLESS["gtimeout"] = _HARMLESS["timeout"]
_XARGS = Wrapper(
    re.compile(
        r"-[0rtx]+|-[nPL]\d+|-d.|-0?I[{}%@]+|--null|--no-run-if-empty|--verbose"
        r"|--max-(?:args|procs|lines)=\d+|--delimiter=.{1,2}"
    ),
    re.compile("-n|-P|-L|-d|-0?I|--max-args|--max-procs|--delimiter"),
)
_XARGS_PLACE = re.compile(r"-0?I([{}%@]*)")
# They cancel -I: the input is then added at the end all the same.
_XARGS_APPENDS = re.compile(r"-[nL]|--max-(?:args|lines)")


def shell_line(words: tuple[str, ...]) -> str | None:
    """The line that `bash -lc LINE` runs; None when it is not written like that."""
    folder, slash, name = words[0].rpartition("/")
    if name not in SHELLS or (slash and folder + slash not in _SHELL_FOLDERS):
        return None
    at = 1
    while at < len(words) - 1:
        if _SHELL_OPTIONS.fullmatch(words[at]):
            return words[at + 1] if at + 2 == len(words) else None
        if _SHELL_SETTING.fullmatch(words[at]) and words[at + 1] == "pipefail":
            at += 2
        elif _SHELL_FLAGS.fullmatch(words[at]):
            at += 1
        else:
            return None
    return None


def some_shell_line(words: tuple[str, ...]) -> str | None:
    """The line that a shell with other options or arguments seems to run; None without one."""
    if words[0].rpartition("/")[2] not in _OTHER_SHELLS:
        return None
    for at, word in enumerate(words[1:-1], 1):
        if _RUNS_LINE.fullmatch(word):
            return next((each for each in words[at + 1 :] if each[:1] not in {"-", "+"}), None)
    return None


_OTHER_SHELLS = SHELLS | {"ksh", "mksh", "ash", "rbash", "fish", "yash"}
_RUNS_LINE = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*|--command")


def unwrapped(command: SimpleCommand) -> SimpleCommand | None:
    """What a harmless wrapper runs; None when this is none, or not certainly."""
    name = command.words[0]
    if name == "xargs":
        return _what_xargs_runs(command)
    wrapper = _HARMLESS.get(name)
    if wrapper is None:
        return None
    at = _inner(wrapper, command)
    if name == "env":
        while at is not None and at < len(command.words) and "=" in command.words[at]:
            if not harmless_variable(*command.words[at].split("=", 1)):
                return None
            at += 1
    return _from(command, at)


def _inner(wrapper: Wrapper, command: SimpleCommand) -> int | None:
    """Where the inner program is named."""
    words, at = command.words, 1
    while at < len(words) and words[at].startswith("-"):
        if wrapper.flags.fullmatch(words[at]):
            at += 1
        elif wrapper.values.fullmatch(words[at]):
            at += 2
        else:
            return None
    if wrapper.operand is not None:
        if at >= len(words) or not wrapper.operand.fullmatch(words[at]):
            return None
        at += 1
    return at


def _from(command: SimpleCommand, at: int | None) -> SimpleCommand | None:
    if at is None or at >= len(command.words) or any(glob <= at for glob in command.globs):
        return None
    return SimpleCommand(
        command.words[at:],
        tuple(glob - at for glob in command.globs),
        command.under + command.words[:at],
    )


def _what_xargs_runs(command: SimpleCommand) -> SimpleCommand | None:
    """The inner command with a pattern for each word that comes from the input."""
    at = _inner(_XARGS, command)
    inner = _from(command, at)
    if inner is None or at is None:
        return None
    place = ""
    for option, value in zip(command.words[1:at], command.words[2 : at + 1], strict=True):
        if found := _XARGS_PLACE.fullmatch(option):
            place = found.group(1) or value
    if not place:
        words = (*inner.words, "*")
        return SimpleCommand(words, (*inner.globs, len(words) - 1), inner.under, inner.words)
    if place in inner.words[0] or any(map(_XARGS_APPENDS.match, command.words[1:at])):
        return None
    words = tuple("*" if place in word else word for word in inner.words)
    globs = {index for index, word in enumerate(inner.words) if place in word}
    places = tuple(sorted(globs | set(inner.globs)))
    return SimpleCommand(words, places, inner.under, inner.words)
