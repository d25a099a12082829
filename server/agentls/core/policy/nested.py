"""What `find -exec` runs: commands of their own, each of which needs a rule.

Invariant: a part is only taken out where every find ends it at the same word.
"""

from __future__ import annotations

from .commands import SimpleCommand

# Any file, hidden ones too; it never looks like an option.
_SOME_FILE = "./.*"


def what_find_runs(command: SimpleCommand) -> list[SimpleCommand] | None:
    """The find without its -exec parts, then what they run; None when that is not plain."""
    words = command.words
    if "-exec" not in words or any(words[index][:1] in "*?[{$" for index in command.globs):
        return None
    rest: list[int] = []
    found: list[SimpleCommand] = []
    at = 0
    while at < len(words):
        if words[at] != "-exec":
            rest.append(at)
            at += 1
            continue
        end = _end(words, at)
        if end is None or any(at < index <= end for index in command.globs):
            return None
        inner = words[at + 1 : end]
        if "{}" in inner[0]:
            return None
        found.append(_with_files(inner, command.under + words[: at + 1]))
        at = end + 1
    globs = tuple(rest.index(index) for index in command.globs)
    outer = SimpleCommand(tuple(words[index] for index in rest), globs, command.under)
    return [outer, *found]


def _end(words: tuple[str, ...], start: int) -> int | None:
    """The word that ends -exec: `;`, or the `+` of `{} +`."""
    for at in range(start + 2, len(words)):
        if words[at] == ";" or (words[at] == "+" and words[at - 1] == "{}"):
            return at
        if words[at] == "+":
            return None
    return None


def _with_files(words: tuple[str, ...], under: tuple[str, ...]) -> SimpleCommand:
    globs = tuple(index for index, word in enumerate(words) if "{}" in word)
    filled = tuple(_SOME_FILE if w == "{}" else "*" if "{}" in w else w for w in words)
    return SimpleCommand(filled, globs, under, words if filled != words else ())
