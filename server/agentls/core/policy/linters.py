"""Programs that check the code of a project: values of their options, and where the code is.

Invariant: what such a program is told to look at may be run, as tests and settings beside them are;
so a place that is not plainly below the current folder is named, for whoever knows the workspace.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from .programs import RISKY
from .tables import names
from .uses import Use, risk

_RUNS_WHAT_IT_FINDS = names(
    "pytest py.test eslint prettier stylelint jest vitest mocha pylint go ava tox nox"
)
_FORMATTERS = names("stylish json compact unix html json-with-metadata checkstyle junit tap")
_PROJECT = re.compile(r"(?:\./)?(?:\w[\w@-]*/)*tsconfig(?:\.\w[\w-]*)*\.json|\./?")


def code_places(words: Sequence[str], folders: Sequence[str]) -> Iterator[str]:
    """The files and folders elsewhere whose code a command may run, seen from each folder."""
    name = posixpath.basename(words[0])
    if name.startswith("python") and "-m" in words:
        name = next(iter(words[words.index("-m") + 1 :]), "")
    if name not in _RUNS_WHAT_IT_FINDS and not (name == "node" and "--test" in words):
        return
    for word in words[1:]:
        path = word.partition("::")[0]
        if path.startswith("/"):
            yield path
        elif path.startswith("~") or ".." in path.split("/"):
            yield from (posixpath.join(folder, path) for folder in folders)


def _with_values(
    name: str, options: frozenset[str], value: Callable[[str], bool]
) -> Callable[[Use], str]:
    """As the table says, but these options may have harmless values."""

    def check(use: Use) -> str:
        words = iter(use.further)
        for word in words:
            if word in options:
                if not value(next(words, "")):
                    return risk(word, use.name)
            elif RISKY[name].not_covered(word):
                option, equals, given = word.partition("=")
                if not (equals and option in options and value(given)):
                    return risk(word, use.name)
        return ""

    return check


CHECKS = {
    "eslint": _with_values("eslint", names("-f --format"), _FORMATTERS.__contains__),
    "tsc": _with_values("tsc", names("-p --project"), lambda v: bool(_PROJECT.fullmatch(v))),
}
