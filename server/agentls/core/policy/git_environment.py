"""The environment in which git does not take files of a workspace for a repository to obey.

A folder with the files HEAD, objects, refs and config is a bare repository to git, wherever it is,
and its config can name programs to run, as core.fsmonitor does. Such a folder can be part of any
repository. Invariant: what git reads in the environment already stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_KEY: Final = "safe.bareRepository"
_VALUE: Final = "explicit"
_COUNT: Final = "GIT_CONFIG_COUNT"
_ENTRY: Final = re.compile("GIT_CONFIG_KEY_(0|[1-9][0-9]{0,8})")
_NUMBER: Final = re.compile(r"[ \t\n\v\f\r]*\+?([0-9]{1,9})|")


def git_safety(environ: Mapping[str, str]) -> dict[str, str]:
    """What to add to an environment so that git uses a bare repository only when it is named.

    That is by --git-dir or GIT_DIR. Nothing is added where the environment says something about
    that already, or where git will refuse to run because the count in it cannot be read.
    """
    number = _NUMBER.fullmatch(environ.get(_COUNT, ""))
    if number is None:
        return {}
    count = int(number[1] or 0)
    if any(_says_so(name, value, count) for name, value in environ.items()):
        return {}
    return {
        _COUNT: str(count + 1),
        f"GIT_CONFIG_KEY_{count}": _KEY,
        f"GIT_CONFIG_VALUE_{count}": _VALUE,
    }


def _says_so(name: str, value: str, count: int) -> bool:
    """Whether this variable is one of those that git reads, and about bare repositories."""
    at = _ENTRY.fullmatch(name)
    return at is not None and int(at[1]) < count and value.lower() == _KEY.lower()
