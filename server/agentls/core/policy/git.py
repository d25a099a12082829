"""Which uses of git a rule covers.

Invariant: no option that writes a file, runs a program, takes another repository or throws work
away is covered unless the rule itself names it; a rule `git` covers reading, and adding.
"""

from __future__ import annotations

import posixpath
import re

from .launchers import BETWEEN
from .options import parse
from .programs import HARMLESS_USES
from .tables import names
from .writers import is_near, is_plain_folder

_EVERYWHERE = parse(
    "--output --output-directory --exec --exec-path --upload-pack --receive-pack --extcmd --tool"
    " --open-files-in-pager --config --config-env --template --separate-git-dir --git-dir --repo"
    " --work-tree --ext-diff --textconv --edit-description --force --force-with-lease"
    " --force-if-includes --hard --delete --mirror --unsafe-paths --directory --strategy --filters"
    " --discard-changes --gui --web --info --reference --prompt --super-prefix --symlinks = --text"
)
_LETTERS = {
    "add": parse("-e"),
    "archive": parse("-o --remote"),
    "branch": parse("-d -D -f -m -M -c -C --move --copy"),
    "checkout": parse("-f -B -p --patch --ours --theirs --pathspec-from-file | b"),
    "clean": parse("-f -X"),
    "clone": parse("-c -u -o | bj"),
    "difftool": parse("-x -t"),
    "fetch": parse("-f | jo"),
    "format-patch": parse("-o"),
    "grep": parse("-O | efABCm"),
    "help": parse("-w -i"),
    "ls-remote": parse("-u"),
    "merge": parse("-s | mX"),
    "mv": parse("-f"),
    "pull": parse("-s -f | X"),
    "push": parse("-f -d --prune | o"),
    "rebase": parse("-x -s | X"),
    "revert": parse("-s | mX"),
    "cherry-pick": parse("-s | mX"),
    "reset": parse("--merge --keep"),
    "rm": parse("-f"),
    "switch": parse("-f -C | c"),
    "tag": parse("-d -f | mFu"),
    "worktree": parse("-f -B | b"),
}
# What follows the subcommand: never covered by a rule that does not say it.
_WORDS = {
    "bisect": {"run", "visualize", "view"},
    "notes": {"prune", "remove"},
    "reflog": {"expire", "delete"},
    "stash": {"drop", "clear"},
    "submodule": {"foreach", "add", "deinit", "set-url"},
    "worktree": {"add", "move", "remove", "prune"},
    "remote": {"add", "rename", "set-url", "remove", "rm", "prune", "update"},
    "bundle": {"create"},
    "lfs": {"install", "update", "migrate", "prune", "uninstall"},
    "sparse-checkout": {"disable"},
}
# Where one subcommand reads and writes: how the reading goes on. None is for nothing at all.
_READING: dict[str, set[str | None]] = {
    "remote": {None, "-v", "--verbose", "show", "get-url"},
    "stash": {"list", "show"},
    "reflog": {None, "show", "-n"},
    "worktree": {"list"},
    "submodule": {None, "status", "summary"},
    "var": {"-l", "GIT_EDITOR", "GIT_PAGER", "GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"},
    "tag": {None, "-l", "--list", "-n"},
    "branch": {None, "-a", "-r", "-v", "-vv", "-l", "--list", "--all", "--show-current", "-av"}
    | {"--remotes", "--merged", "--no-merged", "--contains", "-avv", "--verbose", "--sort"},
}
_GLOBAL_WITH_VALUE = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace"})
_CONFIG_READS = {"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"}
_CONFIG_FLAGS = {"--global", "--local", "--system", "--show-origin", "--name-only", "-z", "--null"}
_CONFIG_FLAGS |= {"--show-scope", "--bool", "--int", "--path", "--type=bool", "--type=int"}
# ext:: runs a command as a transport; a host that starts with a dash is an option to ssh.
_TRANSPORT = re.compile(r"(?:--?[a-z-]+=)?[A-Za-z0-9+.-]+::|ssh://-|.*@-")
_EXCHANGE = frozenset({"push", "pull", "fetch"})
_ADDRESS = re.compile(r"[./~]|.*://|[^:/]*@[^:/]*:")
_EXCHANGE_WITH_VALUE = names(
    "--depth --deepen -j --jobs --shallow-since --shallow-exclude -o --push-option --refmap"
    " --negotiation-tip -X --strategy-option --server-option -b --branch --origin --filter"
)
_USUAL_REMOTES = names("origin upstream fork github gitlab bitbucket")
_HIDDEN_REPOSITORY = re.compile(r"(?:^|[/:])\.[^/]*/*$")
_REMOTE = names("archive clone fetch ls-remote pull push remote submodule")


def objection(words: tuple[str, ...], start: int) -> str:
    """Why the words from `start` on are not covered."""
    at = _subcommand(words)
    index = start
    while index < at:
        after = skip_global(words, index)
        if after == index:
            return f"{words[index]} makes git work elsewhere, or run something"
        index = after
    if at >= len(words):
        return ""
    name, arguments = words[at], words[at + 1 :]
    further = words[max(start, at + 1) :]
    if start <= at and (name not in HARMLESS_USES["git"] or not _only_reads(name, arguments)):
        return f"the rule does not say `git {name}`"
    if name == "rev-parse":
        return ""
    loose = start <= at + 1 or any(word.startswith("-") for word in further)
    if name == "config" and loose and not _reads_config(arguments):
        return "setting git's configuration can make it run programs"
    if further and words[start - 1] in {"run", "foreach"}:
        return f"the rule does not say what git {name} is to run"
    return _arguments(name, further) or _places(name, arguments, further)


def skip_global(words: tuple[str, ...], at: int) -> int:
    """Behind an option before the subcommand that changes nothing, or names a whole path: whoever
    reads the command sees to it that it is in the workspace."""
    if at < len(words) and BETWEEN["git"].fullmatch(words[at]):
        return at + 1
    folder = words[at + 1] if words[at : at + 1] == ("-C",) and at + 1 < len(words) else ""
    here = folder in {".", "./"} or (folder.startswith("/") and is_plain_folder(folder))
    return at + 2 if here else at


def folders(words: tuple[str, ...]) -> list[str]:
    """The folders that git is told to go to before it does anything."""
    found, at = "", 1
    while at < _subcommand(words):
        if words[at] == "-C" and at + 1 < len(words):
            found = posixpath.join(found, words[at + 1])
        at += 2 if words[at] in _GLOBAL_WITH_VALUE else 1
    return [posixpath.normpath(found)] if found and posixpath.normpath(found) != "." else []


def _arguments(name: str, further: tuple[str, ...]) -> str:
    letters = _LETTERS.get(name)
    for word in further:
        if _EVERYWHERE.risky(word) or (letters is not None and letters.risky(word)):
            return f"{word} can make git {name} write, run or throw away something"
        if word in _WORDS.get(name, ()):
            return f"the rule does not say `git {name} {word}`"
        if name in _REMOTE and _TRANSPORT.match(word):
            return f"{word} can make git run a program"
        if name in _EXCHANGE and word.startswith((":", "+")):
            return f"{word} makes git overwrite or delete a branch"
    return ""


def _places(name: str, arguments: tuple[str, ...], further: tuple[str, ...]) -> str:
    """Other repositories than those that have a name, and folders elsewhere, are not covered."""
    operands = [
        word
        for before, word in zip(("", *arguments), arguments, strict=False)
        if not word.startswith("-") and before not in _EXCHANGE_WITH_VALUE
    ]
    for index, word in enumerate(operands if name in _EXCHANGE else ()):
        if word in further and (_ADDRESS.match(word) or (index == 0 and ":" in word)):
            return f"{word} is none of the named remotes"
    remote = operands[0] if name == "push" and operands[:1] else "origin"
    if remote in further and remote not in _USUAL_REMOTES:
        return f"{remote} may be a folder, and the hooks in it would run"
    if name == "clone" and operands[:1] and _HIDDEN_REPOSITORY.search(operands[0]):
        return f"{operands[0]} makes a hidden folder"
    if name == "checkout" and ("--" in further or any(word in further for word in (".", "./"))):
        return "git checkout with paths throws away what was changed in them"
    nearby = operands[1:] if name == "clone" else operands if name in {"mv", "init"} else []
    if far := [word for word in nearby if word in further and not is_near(word)]:
        return f"{far[0]} is not plainly a folder below the current one"
    return ""


def _subcommand(words: tuple[str, ...]) -> int:
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in HARMLESS_USES["git"]:
        at += 2 if words[at] in _GLOBAL_WITH_VALUE else 1
    return at


def _only_reads(name: str, further: tuple[str, ...]) -> bool:
    ways = _READING.get(name)
    return ways is None or (further[0].partition("=")[0] if further else None) in ways


def _reads_config(further: tuple[str, ...]) -> bool:
    rest = [word for word in further if word not in _CONFIG_FLAGS]
    if not rest or any(mark in word for word in rest for mark in "*?[{"):
        return False  # a pattern may become two words, and the second one is a value
    if rest[0] in _CONFIG_READS:
        return not any(word.startswith("-") for word in rest[1:])
    return len(rest) == 1 and not rest[0].startswith("-") and "." in rest[0]
