"""Which option answers an ask. Only kinds decide, never a position, a name or an unknown kind.

What is not a clear "allow" does not allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agentls.core.model import Option

ASK: Final = "ask"
ALLOW: Final = "allow"
REJECT: Final = "reject"

_LETTERS: Final = {
    "allow_once": "y",
    "allow_always": "a",
    "reject_once": "n",
    "reject_always": "d",
}


class Key(NamedTuple):
    """What a person types for an option: its number, or its letter if it has one."""

    number: str
    letter: str
    option: Option


def keys(options: Sequence[Option]) -> list[Key]:
    """A number for each option, and a letter for the first of each known kind."""
    found: list[Key] = []
    free = dict(_LETTERS)
    for number, option in enumerate(options, 1):
        found.append(Key(str(number), free.pop(option.kind, ""), option))
    return found


def chosen(offered: Sequence[Key], typed: str) -> Option | None:
    """The option that somebody typed the number or the letter of; anything else is none."""
    word = typed.strip().lower()
    return next((key.option for key in offered if word and word in (key.number, key.letter)), None)


def automatic(options: Sequence[Option], answer: str) -> Option | None:
    """The option for `--answer allow` or `--answer reject`; None means: cancel the ask."""
    kinds = ("allow_once", "reject_once") if answer == ALLOW else ("reject_once",)
    for kind in kinds:
        for option in options:
            if option.kind == kind:
                return option
    return None
