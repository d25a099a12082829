"""What an attacker would try is never allowed by harmless rules; what is ordinary always is."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentls.core.policy.shell import allowed, objection, read_shell

CORPUS = Path(__file__).parents[1] / "corpus"


def entries(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def verdict(entry: dict[str, Any]) -> tuple[bool, str]:
    return allowed(entry["command"], [shlex.split(rule) for rule in entry["rules"]])


HOSTILE, ORDINARY = entries("hostile"), entries("ordinary")


def test_there_are_enough_lines_of_every_class() -> None:
    assert len(HOSTILE) >= 300
    assert len(ORDINARY) >= 150
    assert min(Counter(entry["class"] for entry in HOSTILE).values()) >= 2
    assert len({(entry["command"], *entry["rules"]) for entry in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("kind", sorted({entry["class"] for entry in HOSTILE}))
def test_no_hostile_line_is_allowed(kind: str) -> None:
    lines = [entry for entry in HOSTILE if entry["class"] == kind]
    assert [entry["command"] for entry in lines if verdict(entry)[0]] == []


def test_every_refusal_says_why() -> None:
    assert all(verdict(entry)[1] for entry in HOSTILE)


def test_every_ordinary_line_is_allowed() -> None:
    refused = {entry["command"]: verdict(entry)[1] for entry in ORDINARY if not verdict(entry)[0]}
    assert refused == {}


def test_no_ordinary_line_is_allowed_without_its_rules() -> None:
    for entry in ORDINARY:
        assert not allowed(entry["command"], [])[0]
        assert not allowed(entry["command"], [["other"]])[0]


def test_a_rule_that_names_the_whole_command_covers_it() -> None:
    """Otherwise "always allow" would be asked again."""
    for entry in ORDINARY:
        for command in read_shell(entry["command"]).commands:
            if not command.globs:
                assert objection(command.words, command) == "", command.words
