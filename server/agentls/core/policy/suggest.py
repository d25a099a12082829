"""Rules that would allow something from now on, spelled out, for a person to choose from."""

from __future__ import annotations

import shlex

from msgspec import Struct

from .paths import inside, literal_glob
from .rules import Rule
from .shell import read_argv, read_shell
from .verdicts import Subject, Verdict

_SUBCOMMANDS = frozenset(
    {
        "apt",
        "brew",
        "bun",
        "bundle",
        "cargo",
        "conda",
        "composer",
        "deno",
        "docker",
        "dotnet",
        "gem",
        "gh",
        "git",
        "glab",
        "go",
        "gradle",
        "helm",
        "hg",
        "just",
        "kubectl",
        "make",
        "mise",
        "mix",
        "mvn",
        "nix",
        "npm",
        "pip",
        "pipx",
        "pnpm",
        "poetry",
        "podman",
        "rustup",
        "rye",
        "systemctl",
        "task",
        "terraform",
        "uv",
        "yarn",
    }
)
"""Programs whose first word says what they do: a rule for one names it too."""
_DEEPER = {("docker", "compose"), ("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run")}
_PLAIN = frozenset(
    {
        *("awk", "basename", "cat", "cp", "cut", "date", "df", "diff", "dirname", "du", "echo"),
        *("file", "find", "fd", "grep", "head", "jq", "ls", "mkdir", "mv", "printf", "pwd", "rg"),
        *("sed", "sort", "stat", "tail", "test", "touch", "tr", "tree", "true", "uniq", "wc"),
        *("which", "eslint", "jest", "mypy", "prettier", "pytest", "ruff", "tsc", "vitest"),
    }
)
"""Programs whose arguments are what they work on: a rule for one names it alone."""
_LONGEST = 4


class Suggestion(Struct, frozen=True, kw_only=True):
    """What "always" would mean."""

    id: str
    label: str
    rules: tuple[Rule, ...]


def suggestions(subject: Subject, root: str) -> list[Suggestion]:
    """The one that people usually mean first. Whether one is enough is for the caller to try."""
    if subject.command is not None:
        return _for_command(subject)
    if subject.paths:
        # What is elsewhere is asked about each time, unless somebody writes a rule by hand.
        here = all(p.write and inside(p.path, root) for p in subject.paths)
        return _for_files(subject, root) if here else []
    if subject.host:
        return [_one("host", f"fetching from {subject.host}", host=subject.host, kind=subject.kind)]
    if subject.tool:
        return [_one("tool", f"the tool {subject.tool}", tool=subject.tool, kind=subject.kind)]
    return []


def _for_command(subject: Subject) -> list[Suggestion]:
    command = subject.command
    assert command is not None
    reading = read_shell(command) if isinstance(command, str) else read_argv(command)
    if reading.doubts or not reading.commands:
        return []
    found: dict[str, Suggestion] = {}
    for id, pick in (("command", _usual), ("exact", _all_words)):
        rules = {}
        if pick is _all_words and any(simple.written for simple in reading.commands):
            continue  # xargs and find put in what nobody knows yet
        for simple in reading.commands:
            words = shlex.join(pick(simple.words))
            rules[words] = Rule(verdict=Verdict.ALLOW, command=words)
        label = "Always allow " + ", ".join(f"`{words}`" for words in rules)
        if len(rules) <= _LONGEST and label not in {s.label for s in found.values()}:
            found[id] = Suggestion(id=id, label=label, rules=tuple(rules.values()))
    return list(found.values())


def _usual(words: tuple[str, ...]) -> tuple[str, ...]:
    """The program, and what it is asked to do where its first words say so."""
    if words[:2] in _DEEPER:
        return words[:3]
    if words[0] == "gh":
        return words[:3]
    if words[0] in _SUBCOMMANDS or (words[0] not in _PLAIN and _says_what(words[1:2])):
        return words[:2] if words[1:2] and not words[1].startswith("-") else words[:1]
    return words[:1]


def _says_what(word: tuple[str, ...]) -> bool:
    """Whether an argument looks like the name of a subcommand, and not like a file or a value."""
    return bool(word) and word[0].replace("-", "").replace(":", "").isalpha()


def _all_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return words


def _for_files(subject: Subject, root: str) -> list[Suggestion]:
    everything = _one(
        "project", f"every {subject.kind} in this project", kind=subject.kind, path="**"
    )
    if len(subject.paths) > 1:
        return [everything] if subject.kind == "edit" else []
    path = subject.paths[0].path
    name = path.removeprefix(root.rstrip("/") + "/")
    glob = literal_glob(path)
    one = _one("file", f"every {subject.kind} of {name}", kind=subject.kind, path=glob)
    # "Always" after an edit means edits; after a deletion nobody means all files.
    return [everything, one] if subject.kind == "edit" else [one]


def _one(id: str, what: str, **fields: str) -> Suggestion:
    return Suggestion(
        id=id,
        label=f"Always allow {what}",
        rules=(Rule(verdict=Verdict.ALLOW, **fields),),  # type: ignore[arg-type]
    )
