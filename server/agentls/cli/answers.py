"""Which option answers an ask. Only kinds decide, never a position, a name or an unknown kind.

What is not a clear "allow" does not allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from agentls.core.model import Option
from agentls.core.transcript import Ask

ASK: Final = "ask"
ALLOW: Final = "allow"
REJECT: Final = "reject"

_LETTERS: Final = {
    "allow_once": "y",
    "allow_always": "a",
    "reject_once": "n",
    "reject_always": "d",
}


_OFFER: Final = "agentls-rule:"


class Answer(NamedTuple):
    """What somebody said to an ask."""

    option: Option
    reason: str = ""
    """Why it is rejected, in their words."""


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


def choices(ask: Ask) -> tuple[Option, ...]:
    """The agent's options, and the first rule that we offer where the agent has no "always"."""
    if not ask.always or any(option.kind == "allow_always" for option in ask.options):
        return ask.options
    offer = ask.always[0]
    return (*ask.options, Option(_OFFER + offer.id, offer.label, "allow_always"))


def offered_rule(option: Option) -> str:
    """The id of the rule that an option of ours stands for; empty for the agent's own."""
    return option.id.removeprefix(_OFFER) if option.id.startswith(_OFFER) else ""


def chosen(offered: Sequence[Key], typed: str) -> Answer | None:
    """What was typed: a number or a letter, and after a rejection the reason, in any words."""
    word, _, rest = typed.strip().partition(" ")
    for key in offered:
        if word and word.lower() in (key.number, key.letter):
            reason = rest.strip()
            if reason and not key.option.kind.startswith("reject"):
                return None  # an answer with an "if" in it is not a clear yes
            return Answer(key.option, reason)
    return None


def automatic(options: Sequence[Option], answer: str) -> Option | None:
    """The option for `--answer allow` or `--answer reject`; None means: cancel the ask."""
    kinds = ("allow_once", "reject_once") if answer == ALLOW else ("reject_once",)
    for kind in kinds:
        for option in options:
            if option.kind == kind:
                return option
    return None
