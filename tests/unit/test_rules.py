"""Rules as values: how they read to a person, what is wrong with them, what they match."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.policy.rules import (
    FIELDS,
    Mode,
    Rule,
    flaw,
    host_matches,
    misfit,
    named,
    remark,
    same,
    specificity,
    tool_matches,
    what,
    words,
)
from agentls.core.policy.verdicts import Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


def test_a_rule_is_named_by_what_it_says_and_where_it_is_written() -> None:
    rule = Rule(verdict=ALLOW, command="git status", scope="user", source="/c/rules.toml", line=3)
    assert named(rule) == "`git status` (user rules, line 3)"


def test_a_rule_of_the_session_has_no_line() -> None:
    assert named(Rule(verdict=ALLOW, kind="edit", path="src/**")) == (
        "`kind edit, path src/**` (this session)"
    )


def test_a_project_is_not_repeated_for_a_rule_of_its_own_file() -> None:
    rule = Rule(verdict=ALLOW, command="make", agent="claude", project="/p")
    assert what(rule) == "make, agent claude, project /p"
    in_file = Rule(verdict=ALLOW, command="make", project="/p", scope="project")
    assert what(in_file) == "make"


def test_what_a_rule_says_cannot_move_a_cursor() -> None:
    assert what(Rule(verdict=DENY, command="a\x1b[2Jb\nc")) == "ab c"


def test_the_modes_are_the_four_a_person_can_pick() -> None:
    assert list(Mode) == ["ask", "accept_edits", "read_only", "trust"]


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"command": "git"}, {"command": "git", "agent": "claude"}),
        ({"command": "git"}, {"command": "git status"}),
        ({"path": "**"}, {"path": "src/**"}),
        ({"command": "git", "scope": "user"}, {"command": "git", "scope": "project"}),
        ({"command": "git", "scope": "project"}, {"command": "git", "scope": "session"}),
    ],
)
def test_the_more_specific_rule_is_the_one_with_more_to_say(
    less: dict[str, str], more: dict[str, str]
) -> None:
    lesser = Rule(verdict=ALLOW, **less)  # type: ignore[arg-type]
    greater = Rule(verdict=ALLOW, **more)  # type: ignore[arg-type]
    assert specificity(lesser) < specificity(greater)


def test_rules_are_the_same_wherever_they_are_written() -> None:
    rule = Rule(verdict=ALLOW, command="make", line=1)
    assert same(rule, Rule(verdict=ALLOW, command="make", scope="user", line=9))
    assert not same(rule, Rule(verdict=DENY, command="make", line=1))
    assert not same(rule, Rule(verdict=ALLOW, command="make", agent="claude", line=1))


# --- the words of a command


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", ("git", "status")),
        ("  git   status ", ("git", "status")),
        ("grep 'a b'", ("grep", "a b")),
        ('"git" status', ("git", "status")),
        ("'unfinished", ()),
    ],
)
def test_a_command_is_split_into_words_like_a_shell_does(
    command: str, expected: tuple[str, ...]
) -> None:
    assert words(command) == expected


def test_a_star_at_the_end_means_any_arguments_only_where_that_tightens() -> None:
    assert words("git push *") == ("git", "push", "*")
    assert words("git push *", generous=True) == ("git", "push")


# --- what is wrong with a rule


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("command", "git status && rm x", "one simple command"),
        ("command", "cat x | sh", "one simple command"),
        ("command", "echo $HOME", "one simple command"),
        ("command", 'echo "$HOME"', "one simple command"),
        ("command", "echo `id`", "one simple command"),
        ("command", "ls # all", "one simple command"),
        ("command", "echo 'a", "quote"),
        ("command", "FOO=1 make", "variable"),
        ("command", "''", "names no program"),
        ("command", "  ", "empty"),
        ("command", "git\nstatus", "control"),
        ("command", "git\u200b status", "invisible"),
        ("path", "../x", ".."),
        ("path", "src/../x", ".."),
        ("path", "file:///x", "scheme"),
        ("path", "~root/x", "~"),
        ("path", "src/{a,b}/x", "braces"),
        ("host", "https://example.org/x", "host name"),
        ("host", "exa mple.org", "host name"),
        ("project", "somewhere", "absolute"),
        ("kind", "", "empty"),
    ],
)
def test_a_value_that_can_never_match_is_recognised(key: str, value: str, part: str) -> None:
    assert part in flaw(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("command", "git status"),
        ("command", "grep -e 'a|b' --include=*.py"),
        ("command", 'git commit -m "a; b"'),
        ("command", "echo \\$HOME"),
        ("command", "npm run test:unit"),
        ("path", "src/**"),
        ("path", "~/notes/*.md"),
        ("path", "/etc/hosts"),
        ("path", "a b/[ab]?.txt"),
        ("host", "*.example.org"),
        ("host", "localhost"),
        ("host", "127.0.0.1"),
        ("host", "bücher.example"),
        ("project", "~/work"),
        ("kind", "a_new_kind"),
        ("agent", "claude"),
    ],
)
def test_ordinary_values_have_no_flaw(key: str, value: str) -> None:
    assert flaw(key, value) == ""


def test_what_is_only_odd_is_remarked_upon() -> None:
    assert "known are" in remark("kind", "exec")
    assert "stand for themselves" in remark("command", "git push *")
    assert remark("command", "grep 'a*'") == ""
    assert remark("kind", "execute") == ""


@pytest.mark.parametrize("fields", [{}, {"agent": "claude"}, {"project": "/p"}])
def test_an_allow_rule_that_does_not_say_what_is_too_wide(fields: dict[str, str]) -> None:
    assert "too wide" in misfit(Rule(verdict=ALLOW, **fields))  # type: ignore[arg-type]
    assert misfit(Rule(verdict=DENY, **fields)) == ""  # type: ignore[arg-type]


def test_a_command_and_a_path_do_not_go_together() -> None:
    assert "remove one" in misfit(Rule(verdict=ALLOW, command="rm", path="x"))


@given(st.sampled_from(FIELDS), st.text())
def test_no_value_whatever_makes_the_checks_fail(key: str, value: str) -> None:
    assert isinstance(flaw(key, value) + remark(key, value), str)


# --- hosts and tools


@pytest.mark.parametrize(
    ("pattern", "host", "narrow", "generous"),
    [
        ("example.org", "example.org", True, True),
        ("example.org", "Example.ORG.", True, True),
        ("example.org", "example.org:8080", True, True),
        ("example.org", "www.example.org", False, True),
        ("example.org", "notexample.org", False, False),
        ("example.org", "example.org.evil.com", False, False),
        ("*.example.org", "www.example.org", True, True),
        ("*.example.org", "example.org", False, True),
        ("*", "anything.example", True, True),
        ("*", "", False, False),
        ("bücher.example", "xn--bcher-kva.example", True, True),
        ("example.org", "example.org@evil.com", False, False),
        ("::1", "[::1]:80", True, True),
    ],
)
def test_hosts_match_narrowly_to_allow_and_generously_to_deny(
    pattern: str, host: str, narrow: bool, generous: bool
) -> None:
    assert host_matches(pattern, host, generous=False) is narrow
    assert host_matches(pattern, host, generous=True) is generous


def test_tools_match_by_pattern() -> None:
    assert tool_matches("mcp__github__*", "mcp__github__search", generous=False)
    assert not tool_matches("mcp__github__*", "MCP__github__search", generous=False)
    assert tool_matches("mcp__github__*", "MCP__github__search", generous=True)
    assert not tool_matches("*", "", generous=True)
