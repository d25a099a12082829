"""The decision: what an agent may do without asking, and the sentence that says why."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.errors import BadRequest
from agentls.core.policy.decide import decide
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import PathUse, Ruling, Subject, Verdict

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
ROOT = "/w"
PROTECTED = ("/home/u/.config", "/home/u/.bashrc")


def rule(verdict: Verdict = ALLOW, **fields: Any) -> Rule:
    place = {"scope": "user", "source": "/c/rules.toml", "line": 3}
    return Rule(verdict=verdict, **{**place, **fields})


def lexical(path: str, cwd: str) -> str:
    """As `storage.paths.resolve` does where there are no links."""
    if "\0" in path:
        raise BadRequest("The path holds a control character.")
    return path if path.startswith("/") else f"{cwd}/{path}"


def judged(subject: Subject, *rules: Rule, mode: Mode = Mode.ASK, roots: Any = (ROOT,)) -> Ruling:
    return decide(subject, rules, roots=roots, protected=PROTECTED, mode=mode, resolve=lexical)


def runs(command: str | tuple[str, ...], **fields: Any) -> Subject:
    return Subject(
        **{"kind": "execute", "command": command, "cwd": ROOT, "agent": "claude"} | fields
    )


def reads(*paths: str, kind: str = "read", **fields: Any) -> Subject:
    return Subject(kind=kind, paths=tuple(PathUse(p, write=False) for p in paths), **fields)


def writes(*paths: str, kind: str = "edit", **fields: Any) -> Subject:
    return Subject(kind=kind, paths=tuple(PathUse(p, write=True) for p in paths), **fields)


# --- without any rule


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (reads("/w/src/x.py"), ALLOW),
        (reads("/w"), ALLOW),
        (reads("/w/x", "/etc/passwd"), ASK),
        (reads("/etc/passwd"), ASK),
        (reads("/w/.env"), ASK),
        (reads("/w/.git/config"), ASK),
        (reads(), ASK),
        (reads("/w/src", kind="search"), ALLOW),
        (reads("/", kind="search"), ASK),
        (Subject(kind="search", cwd="/w/src"), ALLOW),
        (Subject(kind="search", cwd="/elsewhere"), ASK),
        (Subject(kind="search"), ASK),
        (Subject(kind="think"), ALLOW),
        (Subject(kind="switch_mode"), ASK),
        (Subject(kind="other"), ASK),
        (Subject(kind="a_new_kind"), ASK),
        (Subject(kind="fetch", host="example.org"), ASK),
        (Subject(kind="read", host="example.org"), ASK),
        (Subject(kind="think", command="rm x", cwd=ROOT), ASK),
        (Subject(kind="read", command="cat x", cwd=ROOT), ASK),
        (Subject(kind="read", tool="mcp__files__read", paths=(PathUse("/w/x", False),)), ASK),
        (Subject(kind="read", paths=(PathUse("/w/x", True),)), ASK),
        (writes("/w/src/x.py"), ASK),
        (Subject(kind="edit", paths=(PathUse("/w/x", False),)), ASK),
        (runs("ls"), ASK),
        (runs(""), ASK),
    ],
)
def test_without_rules_only_reading_and_thinking_in_the_workspace_is_allowed(
    subject: Subject, expected: Verdict
) -> None:
    assert judged(subject).verdict is expected


def test_without_a_workspace_nothing_is_inside_it() -> None:
    assert judged(reads("/w/x"), roots=()).verdict is ASK
    assert judged(reads("x"), roots=("",)).verdict is ASK


# --- commands


def test_a_command_is_allowed_by_a_rule_for_its_first_words() -> None:
    ruling = judged(runs("git status --short"), rule(command="git status"))
    assert ruling.verdict is ALLOW
    assert ruling.why == "allowed by the rule `git status` (user rules, line 3)"
    assert ruling.rule == rule(command="git status")


def test_every_simple_command_has_to_be_allowed() -> None:
    status, head = rule(command="git status"), rule(command="head", line=9)
    both = judged(runs("git status | head -5"), status, head)
    assert both.verdict is ALLOW
    assert both.why == (
        "allowed by the rules `git status` (user rules, line 3) and `head` (user rules, line 9)"
    )
    one = judged(runs("git status && rm x"), status)
    assert (one.verdict, one.why) == (ASK, "asked: no rule allows `rm x`")


def test_an_argument_array_is_one_command_whatever_is_in_it() -> None:
    assert judged(runs(("echo", "; rm x")), rule(command="echo")).verdict is ALLOW
    assert judged(runs(("rm", "x")), rule(command="echo")).verdict is ASK


def test_an_option_that_makes_a_reader_write_is_named() -> None:
    ruling = judged(runs("git log --output=x"), rule(command="git log"))
    assert ruling.verdict is ASK
    assert "the rule `git log` (user rules, line 3) does not cover `git log --output=x`: " in (
        ruling.why
    )


def test_a_doubt_is_named_and_never_allows() -> None:
    ruling = judged(runs("$CMD x"), rule(command="git"))
    assert ruling.verdict is ASK
    assert ruling.why.startswith("asked: it ")
    assert "$CMD" in ruling.why


def test_a_rule_for_anything_executed_covers_doubts_too() -> None:
    assert judged(runs("$CMD x"), rule(kind="execute")).verdict is ALLOW


@pytest.mark.parametrize("other", [rule(DENY, command="rm"), rule(ASK, path="secrets/**")])
def test_a_doubt_is_asked_about_when_rules_that_tighten_cannot_be_excluded(other: Rule) -> None:
    ruling = judged(runs("$CMD x"), rule(kind="execute"), other)
    assert ruling.verdict is ASK
    assert "cannot be excluded" in ruling.why
    assert judged(runs("$CMD x"), other, mode=Mode.TRUST).verdict is ASK


def test_a_command_that_is_not_said_is_never_allowed() -> None:
    for command in ("", "  ", ()):
        assert judged(runs(command), rule(kind="execute"), mode=Mode.TRUST).verdict is ASK


def test_deny_beats_ask_beats_allow_for_a_part_of_a_command() -> None:
    rules = [rule(command="git"), rule(ASK, command="git push"), rule(DENY, command="git clean")]
    assert judged(runs("git status"), *rules).verdict is ALLOW
    assert judged(runs("git status && git push"), *rules).verdict is ASK
    denied = judged(runs("git push && git clean"), *rules)
    assert denied.verdict is DENY
    assert denied.why == "denied by the rule `git clean` (user rules, line 3)"


def test_what_an_agent_calls_reading_is_still_a_command() -> None:
    subject = runs("cat /etc/passwd", kind="read")
    assert judged(subject, rule(kind="read")).verdict is ASK
    assert judged(subject, rule(command="cat")).verdict is ALLOW
    assert judged(subject, rule(command="cat"), rule(DENY, kind="execute")).verdict is DENY


def test_a_path_rule_says_nothing_about_a_command() -> None:
    assert judged(runs("rm x", paths=(PathUse("/w/x", True),)), rule(path="**")).verdict is ASK


def test_a_command_and_a_path_together_allow_nothing_and_still_deny() -> None:
    assert judged(runs("rm x"), rule(command="rm", path="**")).verdict is ASK
    assert judged(runs("rm x"), rule(DENY, command="rm", path="tmp/**")).verdict is DENY


def test_a_command_that_runs_outside_the_workspace_is_asked_about() -> None:
    ruling = judged(runs("make", cwd="/tmp/x"), rule(command="make"))
    assert ruling.verdict is ASK
    assert "outside the workspace" in ruling.why
    assert judged(runs("make", cwd="/tmp/x"), rule(kind="execute")).verdict is ALLOW
    assert judged(runs("make", cwd="src"), rule(kind="execute")).verdict is ASK


def test_going_to_a_folder_of_the_workspace_needs_no_rule_and_can_be_denied() -> None:
    make = rule(command="make")
    assert judged(runs("cd src && make"), make).verdict is ALLOW
    assert judged(runs("cd /tmp && make"), make).verdict is ASK
    assert judged(runs("cd src && make"), make, rule(DENY, command="cd")).verdict is DENY
    assert judged(runs("cd src")).verdict is ASK


def test_many_rules_are_named_briefly() -> None:
    rules = [rule(command=name) for name in ("cat", "head", "sort", "uniq", "wc")]
    why = judged(runs("cat x | head | sort | uniq | wc"), *rules).why
    assert why.endswith("`sort` (user rules, line 3) and 2 more")


def test_a_hostile_command_cannot_spoil_the_sentence() -> None:
    why = judged(runs("echo \x1b[2J\n" + "x" * 500)).why
    assert "\x1b" not in why
    assert "\n" not in why
    assert len(why) < 300


# --- redirections


def test_a_redirection_is_a_write_to_its_path() -> None:
    echo = rule(command="echo")
    assert judged(runs("echo x > out.txt"), echo).why.endswith("it writes to out.txt")
    assert judged(runs("echo x > out.txt"), echo, rule(path="*.txt")).verdict is ALLOW
    assert judged(runs("echo x > out.txt"), echo, rule(path="*.txt", kind="read")).verdict is ASK
    assert judged(runs("echo x > out.txt"), echo, mode=Mode.ACCEPT_EDITS).verdict is ALLOW
    assert judged(runs("echo x > /etc/x"), echo, mode=Mode.ACCEPT_EDITS).verdict is ASK
    assert judged(runs("echo x > out.txt"), echo, rule(DENY, path="out.txt")).verdict is DENY
    assert judged(runs("echo x > out.txt"), echo, rule(DENY, kind="edit")).verdict is DENY


def test_a_harmless_redirection_needs_no_rule() -> None:
    assert judged(runs("echo x > /dev/null 2>&1"), rule(command="echo")).verdict is ALLOW
    assert judged(runs("cat < /dev/null"), rule(command="cat")).verdict is ALLOW


def test_a_redirection_from_a_file_is_reading_it() -> None:
    assert judged(runs("sort < names.txt"), rule(command="sort")).verdict is ALLOW
    assert judged(runs("sort < /etc/passwd"), rule(command="sort")).verdict is ASK
    secret = judged(runs("sort < .env"), rule(command="sort"), rule(kind="execute"))
    assert secret.why == "asked: it reads .env, which may hold secrets (.env)"


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.ACCEPT_EDITS, Mode.TRUST])
def test_a_redirection_to_a_protected_place_is_asked_about(mode: Mode) -> None:
    ruling = judged(
        runs("echo x > .git/config"), rule(kind="execute"), rule(path="/w/.git/config"), mode=mode
    )
    assert ruling.verdict is ASK
    assert ruling.why == "asked: it writes to .git/config, which is protected (.git)"


@pytest.mark.parametrize(
    "command",
    ["cd .git && echo x > config", "echo x > ~/y", "pushd a && echo x > y", "cd a && echo x > a"],
)
def test_a_redirection_whose_place_is_not_sure_is_asked_about(command: str) -> None:
    rules = [rule(command=name) for name in ("cd", "pushd", "echo")]
    assert judged(runs(command), *rules, rule(path="**")).verdict is ASK


def test_a_redirection_that_nobody_resolved_is_asked_about() -> None:
    rules = [rule(command="echo"), rule(path="**"), rule(kind="execute")]
    ruling = decide(runs("echo x > y"), rules, roots=(ROOT,), protected=(), mode=Mode.TRUST)
    assert ruling.verdict is ASK


# --- paths


def test_a_path_rule_covers_reading_and_writing_unless_it_says_otherwise() -> None:
    assert judged(writes("/w/src/x"), rule(path="src/**")).verdict is ALLOW
    assert judged(writes("/w/src/x", kind="delete"), rule(path="src/**")).verdict is ALLOW
    assert judged(reads("/etc/hosts"), rule(path="/etc/hosts")).verdict is ALLOW
    assert judged(writes("/w/src/x"), rule(path="src/**", kind="read")).verdict is ASK
    assert judged(writes("/w/src/x"), rule(path="src/**", kind="delete")).verdict is ASK
    assert judged(writes("/w/lib/x"), rule(path="src/**")).verdict is ASK
    assert judged(writes("/w/src/x", kind="other"), rule(path="src/**")).verdict is ASK


def test_every_path_has_to_be_allowed() -> None:
    rules = [rule(path="src/**"), rule(path="doc/**")]
    assert judged(writes("/w/src/x", "/w/doc/x"), *rules).verdict is ALLOW
    assert judged(writes("/w/src/x", "/w/lib/x"), *rules).verdict is ASK


def test_a_rule_for_a_kind_alone_ends_at_the_workspace() -> None:
    assert judged(writes("/w/x"), rule(kind="edit")).verdict is ALLOW
    assert judged(writes("/etc/x"), rule(kind="edit")).verdict is ASK
    whole = judged(writes("/w", kind="delete"), rule(kind="delete"))
    assert whole.why == "asked: it writes to /w, which is the workspace itself"
    assert judged(Subject(kind="edit"), rule(kind="edit"), mode=Mode.TRUST).verdict is ASK


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.ACCEPT_EDITS, Mode.TRUST])
@pytest.mark.parametrize(
    "path", ["/w/.git/config", "/w/.vscode/x", "/home/u/.bashrc", "/home/u/.config/agentls/x"]
)
def test_no_rule_and_no_mode_allows_writing_to_a_protected_place(path: str, mode: Mode) -> None:
    rules = [rule(path=path), rule(path="/**"), rule(kind="edit"), rule(path="**")]
    ruling = judged(writes(path), *rules, mode=mode)
    assert ruling.verdict is ASK
    assert "protected" in ruling.why
    assert judged(writes(path), *rules, rule(DENY, path=path), mode=mode).verdict is DENY


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.TRUST, Mode.READ_ONLY])
def test_no_rule_and_no_mode_allows_reading_secrets(mode: Mode) -> None:
    assert judged(reads("/w/.env"), rule(path="/w/.env"), mode=mode).verdict is ASK


def test_reading_a_protected_place_can_be_allowed() -> None:
    assert judged(reads("/w/.git/config"), rule(path=".git/config")).verdict is ALLOW


@pytest.mark.parametrize("path", ["src/x", "/w/../etc/x", "/w/a\nb", ""])
def test_a_path_that_was_not_resolved_is_never_allowed(path: str) -> None:
    assert judged(writes(path), rule(path="/**"), rule(path="**"), mode=Mode.TRUST).verdict is ASK


def test_an_edit_is_a_write_whatever_the_paths_say() -> None:
    subject = Subject(kind="edit", paths=(PathUse("/w/.git/config", write=False),))
    assert judged(subject, mode=Mode.TRUST).verdict is ASK


def test_a_write_that_calls_itself_reading_is_not_allowed_by_a_rule_for_reading() -> None:
    subject = Subject(kind="read", paths=(PathUse("/w/x", write=True),))
    assert judged(subject, rule(kind="read")).verdict is ASK
    assert judged(subject, rule(kind="edit")).verdict is ASK


def test_deny_rules_for_paths_are_read_generously() -> None:
    everything = rule(path="/**")
    assert judged(writes("/w/A/Secrets/x"), everything, rule(DENY, path="secrets")).verdict is DENY
    assert judged(writes("/w/a", kind="delete"), everything, rule(DENY, path="a/b")).verdict is DENY
    denied = rule(DENY, kind="edit", path="a/**")
    assert judged(writes("/w/a/b", kind="move"), everything, denied).verdict is DENY
    assert judged(reads("/w/a/b"), denied).verdict is ALLOW


# --- hosts, tools, kinds


def test_hosts_and_tools_are_allowed_by_name() -> None:
    fetch = Subject(kind="fetch", host="api.example.org")
    assert judged(fetch, rule(host="*.example.org")).verdict is ALLOW
    assert judged(fetch, rule(kind="fetch")).verdict is ALLOW
    assert judged(fetch, rule(host="example.org")).verdict is ASK
    assert judged(fetch, rule(kind="fetch"), rule(DENY, host="example.org")).verdict is DENY
    tool = Subject(kind="other", tool="mcp__db__query")
    assert judged(tool, rule(tool="mcp__db__*")).verdict is ALLOW
    assert judged(tool, rule(kind="other")).verdict is ASK
    assert judged(tool, rule(tool="mcp__db__*"), rule(ASK, tool="*query")).verdict is ASK


def test_a_download_needs_the_host_and_the_path() -> None:
    subject = Subject(kind="fetch", host="example.org", paths=(PathUse("/w/x", write=True),))
    assert judged(subject, rule(host="example.org")).verdict is ASK
    assert judged(subject, rule(host="example.org"), rule(kind="fetch")).verdict is ALLOW


def test_a_host_that_cannot_be_read_is_not_past_a_rule_that_denies_hosts() -> None:
    odd = Subject(kind="fetch", host="evil.example@x")
    assert judged(odd, rule(DENY, host="evil.example"), mode=Mode.TRUST).verdict is ASK


def test_the_kind_of_a_thing_can_be_allowed() -> None:
    assert judged(Subject(kind="switch_mode"), rule(kind="switch_mode")).verdict is ALLOW
    assert judged(Subject(kind="other"), rule(kind="switch_mode")).verdict is ASK
    assert judged(reads(), rule(kind="read")).verdict is ASK


# --- agents and projects


def test_a_rule_for_one_agent_is_for_no_other() -> None:
    subject = runs("make", agent="codex")
    assert judged(subject, rule(command="make", agent="claude")).verdict is ASK
    assert judged(subject, rule(command="make", agent="codex")).verdict is ALLOW
    denied = rule(DENY, command="make", agent="claude")
    assert judged(subject, rule(command="make"), denied).verdict is ALLOW


def test_a_rule_for_a_project_holds_only_there() -> None:
    roots = ("/w/a", "/w/b")
    make = rule(command="make", project="/w/a")
    assert judged(runs("make", cwd="/w/a/src"), make, roots=roots).verdict is ALLOW
    assert judged(runs("make", cwd="/w/b"), make, roots=roots).verdict is ASK
    assert judged(runs("make", cwd="/w/b"), make, roots=("/w/b",)).verdict is ASK
    edit = rule(kind="edit", project="/w/a")
    assert judged(writes("/w/a/x"), edit, roots=roots).verdict is ALLOW
    assert judged(writes("/w/b/x"), edit, roots=roots).verdict is ASK
    glob = rule(path="src/**", project="/w/a")
    assert judged(writes("/w/a/src/x"), glob, roots=roots).verdict is ALLOW
    assert judged(writes("/w/b/src/x"), glob, roots=roots).verdict is ASK


def test_a_project_may_hold_the_workspace_or_be_a_part_of_it() -> None:
    make = rule(command="make", project="/w")
    assert judged(runs("make", cwd="/w/a"), make, roots=("/w/a",)).verdict is ALLOW
    part = rule(command="make", project="/w/a")
    assert judged(runs("make", cwd="/w/a"), part, roots=("/w",)).verdict is ALLOW
    assert judged(runs("make", cwd="/w/b"), part, roots=("/w",)).verdict is ASK


def test_rules_that_say_only_who_or_where_allow_nothing() -> None:
    for wide in (rule(), rule(agent="claude"), rule(project="/w")):
        assert judged(runs("ls"), wide).verdict is ASK
        assert judged(writes("/w/x"), wide).verdict is ASK
        assert judged(Subject(kind="other"), wide).verdict is ASK


def test_a_repository_cannot_allow() -> None:
    assert judged(runs("ls"), rule(command="ls", scope="repository")).verdict is ASK
    assert judged(runs("ls"), rule(command="ls"), rule(DENY, scope="repository")).verdict is DENY


# --- modes


def test_accepting_edits_accepts_edits_inside_the_workspace_and_nothing_else() -> None:
    mode = Mode.ACCEPT_EDITS
    assert judged(writes("/w/x"), mode=mode).verdict is ALLOW
    assert judged(writes("/w/x", "/etc/x"), mode=mode).verdict is ASK
    assert judged(writes("/w/x", kind="delete"), mode=mode).verdict is ASK
    assert judged(runs("ls"), mode=mode).verdict is ASK
    assert judged(writes("/w/x"), rule(ASK, path="x"), mode=mode).verdict is ASK


def test_read_only_denies_all_but_reading() -> None:
    mode = Mode.READ_ONLY
    assert judged(reads("/w/x"), mode=mode).verdict is ALLOW
    assert judged(Subject(kind="search", cwd=ROOT), mode=mode).verdict is ALLOW
    assert judged(Subject(kind="think"), mode=mode).verdict is ALLOW
    assert judged(reads("/etc/x"), mode=mode).verdict is ASK
    for subject in (runs("ls"), writes("/w/x"), Subject(kind="other"), Subject(kind="fetch")):
        ruling = judged(subject, rule(command="ls"), rule(path="**"), mode=mode)
        assert (ruling.verdict, ruling.why) == (DENY, "denied: this session may only read")
    assert judged(reads("/w/x", tool="mcp__x"), mode=mode).verdict is DENY
    assert judged(Subject(kind="read", command="cat x"), mode=mode).verdict is DENY


def test_trust_allows_what_no_rule_stops() -> None:
    mode = Mode.TRUST
    for subject in (runs("rm -rf x"), runs("$X"), writes("/etc/x"), Subject(kind="other")):
        assert judged(subject, mode=mode).verdict is ALLOW
    assert judged(runs("rm x"), rule(DENY, command="rm"), mode=mode).verdict is DENY
    assert judged(runs("rm x"), rule(ASK, command="rm"), mode=mode).verdict is ASK


# --- which rule is named


def test_the_most_specific_rule_is_named() -> None:
    rules = [
        rule(command="git", scope="session", line=0),
        rule(command="git status", line=7),
        rule(command="git status", agent="claude", line=8),
        rule(command="git status", agent="claude", line=9, scope="project"),
    ]
    for order in range(4):
        turned = rules[order:] + rules[:order]
        assert judged(runs("git status"), *turned).rule == rules[3]


# --- laws

_VERDICTS = st.sampled_from([ALLOW, ASK, DENY])
_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["execute", "edit", "read", "fetch", "other"]),
        "command": st.sampled_from(["git", "git status", "rm", "echo", "ls"]),
        "path": st.sampled_from(["**", "src/**", "*.py", "/etc/**", "out", "/**"]),
        "host": st.sampled_from(["example.org", "*"]),
        "tool": st.sampled_from(["mcp__*", "Bash"]),
        "agent": st.sampled_from(["claude", "codex"]),
        "project": st.sampled_from(["/w", "/other"]),
    },
)
_SCOPES = st.sampled_from(["session", "project", "user", "repository", "built in"])
_RULES = st.builds(
    lambda verdict, fields, scope: Rule(verdict=verdict, scope=scope, **fields),
    _VERDICTS,
    _FIELDS,
    _SCOPES,
)
_USES = st.builds(
    PathUse,
    st.sampled_from(["/w/src/a.py", "/w/out", "/etc/x", "/w/.git/config", "/w/.env", "x", "/w"]),
    st.booleans(),
)
_COMMANDS = st.sampled_from(
    [None, None, "git status", "git status && rm x", "echo x > out", "ls $X", "", ("rm", "x")]
)
_SUBJECTS = st.builds(
    Subject,
    agent=st.sampled_from(["claude", "codex"]),
    kind=st.sampled_from(["execute", "edit", "read", "fetch", "other", "think", "search"]),
    command=_COMMANDS,
    cwd=st.sampled_from(["", "/w", "/tmp"]),
    paths=st.lists(_USES, max_size=2).map(tuple),
    host=st.sampled_from(["", "example.org", "odd@host"]),
    tool=st.sampled_from(["", "Bash", "mcp__x"]),
)
_MODES = st.sampled_from(list(Mode))
_ORDER = {ALLOW: 0, ASK: 1, DENY: 2}


@settings(max_examples=400, deadline=None)
@given(_SUBJECTS, st.lists(_RULES, max_size=6), _MODES, st.randoms(use_true_random=False))
def test_the_order_of_rules_changes_nothing(
    subject: Subject, rules: list[Rule], mode: Mode, chance: random.Random
) -> None:
    shuffled = rules.copy()
    chance.shuffle(shuffled)
    one, other = judged(subject, *rules, mode=mode), judged(subject, *shuffled, mode=mode)
    assert one.verdict is other.verdict
    assert one.why


@settings(max_examples=400, deadline=None)
@given(_SUBJECTS, st.lists(_RULES, max_size=5), _RULES, _MODES)
def test_a_rule_that_denies_or_asks_and_any_rule_of_a_repository_only_tightens(
    subject: Subject, rules: list[Rule], more: Rule, mode: Mode
) -> None:
    if more.verdict is ALLOW and more.scope != "repository":
        return
    before = judged(subject, *rules, mode=mode).verdict
    after = judged(subject, *rules, more, mode=mode).verdict
    assert _ORDER[after] >= _ORDER[before]


@settings(max_examples=400, deadline=None)
@given(_SUBJECTS, st.lists(_RULES, max_size=5), _RULES, _MODES)
def test_a_rule_that_allows_never_tightens_and_never_beats_one_that_does(
    subject: Subject, rules: list[Rule], more: Rule, mode: Mode
) -> None:
    if more.verdict is not ALLOW:
        return
    before = judged(subject, *rules, mode=mode)
    after = judged(subject, *rules, more, mode=mode)
    assert _ORDER[after.verdict] <= _ORDER[before.verdict]
    if before.verdict is DENY or (before.rule is not None and before.verdict is ASK):
        assert after == before


@settings(max_examples=200, deadline=None)
@given(_SUBJECTS, st.lists(_RULES, max_size=5), _MODES)
def test_the_rule_that_is_named_is_one_that_was_given_and_has_that_verdict(
    subject: Subject, rules: list[Rule], mode: Mode
) -> None:
    ruling = judged(subject, *rules, mode=mode)
    if ruling.rule is not None:
        assert ruling.rule in rules
        assert ruling.rule.verdict is ruling.verdict


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=30), st.text(max_size=30))
def test_no_subject_whatever_makes_a_decision_fail(command: str, path: str, kind: str) -> None:
    rules = [rule(command="ls"), rule(DENY, path="secret/**"), rule(ASK, host="x.org")]
    for subject in (runs(command), writes(path, kind=kind), Subject(kind=kind, host=path)):
        assert judged(subject, *rules).verdict in {ASK, DENY}


def test_a_decision_with_many_rules_is_fast() -> None:
    rules = [rule(command=f"tool{i} sub") for i in range(25)]
    rules += [rule(DENY, path=f"private{i}/**") for i in range(10)]
    rules += [rule(path=f"src{i}/**", kind="edit") for i in range(15)]
    subject = writes("/w/src7/a/b/c.py")
    times = []
    for _ in range(200):
        start = time.perf_counter()
        ruling = judged(subject, *rules)
        times.append(time.perf_counter() - start)
    assert ruling.verdict is ALLOW
    # Ten times what it takes, so that only a change of kind fails on a busy machine.
    assert sorted(times)[len(times) // 2] < 600e-6
