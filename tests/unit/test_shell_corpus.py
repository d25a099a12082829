"""What an attacker would try is never allowed by harmless rules; what is ordinary always is.

A rule that denies holds in whatever a command runs as a text, also where everything is allowed.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentls.core.policy.decide import decide
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.shell import allowed, objection, read_shell
from agentls.core.policy.verdicts import Subject, Verdict

CORPUS = Path(__file__).parents[1] / "corpus"


def entries(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def verdict(entry: dict[str, Any]) -> tuple[bool, str]:
    rules = [shlex.split(rule) for rule in entry["rules"]]
    return allowed(entry["command"], rules, root="/project")


HOSTILE, ORDINARY = entries("hostile"), entries("ordinary")
DENIED, NOT_DENIED = entries("denied"), entries("not_denied")


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


def with_denying_rules(entry: dict[str, Any], mode: Mode) -> Verdict:
    rules = [Rule(verdict=Verdict.ALLOW, kind="execute", scope="user")]
    rules += [Rule(verdict=Verdict.DENY, command=words, scope="user") for words in entry["denied"]]
    subject = Subject(kind="execute", command=entry["command"], cwd="/project")
    ruling = decide(
        subject,
        rules,
        roots=("/project",),
        protected=(),
        mode=mode,
        resolve=lambda path, cwd: f"{cwd}/{path}",
    )
    return ruling.verdict


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.TRUST])
def test_a_denied_command_is_never_allowed_in_any_disguise(mode: Mode) -> None:
    verdicts = {entry["command"]: with_denying_rules(entry, mode) for entry in DENIED}
    assert [line for line, verdict in verdicts.items() if verdict is Verdict.ALLOW] == []
    assert list(verdicts.values()).count(Verdict.DENY) > 0.75 * len(verdicts)


def test_a_rule_that_denies_leaves_other_commands_alone() -> None:
    verdicts = {entry["command"]: with_denying_rules(entry, Mode.ASK) for entry in NOT_DENIED}
    assert [line for line, verdict in verdicts.items() if verdict is not Verdict.ALLOW] == []
