"""The tree of errors, and how they read."""

from __future__ import annotations

import inspect

import pytest

from agentls.core import errors

CLASSES = [
    c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__
]


def drawn() -> dict[str, str]:
    """The tree in the docstring: the name of each class and of the one it is drawn under."""
    parents: dict[str, str] = {}
    path: list[str] = []
    lines = (errors.__doc__ or "").split("\n")
    for line in lines[lines.index("AgentlsError") :]:
        if not line.strip():
            continue
        name = line.lstrip("│├└─ ").split()[0]
        depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
        del path[depth:]
        parents[name] = path[-1] if path else "Exception"
        path.append(name)
    return parents


def test_every_error_is_drawn_where_it_stands_in_the_tree() -> None:
    assert drawn() == {c.__name__: c.__bases__[0].__name__ for c in CLASSES}


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_says_what_it_is(error: type[errors.AgentlsError]) -> None:
    assert error.__doc__
    assert error.__doc__ != error.__bases__[0].__doc__


@pytest.mark.parametrize("error", CLASSES)
def test_the_hint_follows_the_sentence(error: type[errors.AgentlsError]) -> None:
    told = error("It broke.", hint="Mend it.")
    assert (told.message, told.hint, str(told)) == ("It broke.", "Mend it.", "It broke. Mend it.")
    assert str(error("It broke.")) == "It broke."


def test_what_an_agent_answered_keeps_its_code() -> None:
    assert errors.AgentFailed("No.", code=400).code == 400
    assert errors.AgentFailed("No.").code == 0
