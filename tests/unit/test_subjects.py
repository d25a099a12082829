"""Tool calls of all shapes, as agents send them and as nobody should, and what is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import Verdict
from agentls.storage.paths import resolve
from fakes.calls import Book, Json, call_after, diff, judge, project, run


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("calls"))


ORDINARY: list[Json] = [
    {
        "kind": "read",
        "rawInput": {"file_path": "ROOT/src/a.py", "limit": 5},
        "locations": [{"path": "ROOT/src/a.py", "line": 1}],
    },
    {"kind": "read", "rawInput": {"filePath": "ROOT/src/a.py"}},
    {"kind": "read", "rawInput": {"uri": "file://ROOT/src/a.py"}},
    {"kind": "read", "rawInput": {"path": "a.py", "cwd": "ROOT/src"}},
    {"kind": "search", "rawInput": {"pattern": "**/*.py"}},
    {"kind": "search", "rawInput": {"pattern": "src/**/*.py", "path": "ROOT"}},
    {
        "kind": "search",
        "name": "Grep",
        "rawInput": {"pattern": "/api/v1", "path": "src", "glob": "*.{ts,tsx}", "-n": True},
    },
    {"kind": "search", "rawInput": {"pattern": "a.*b", "dir_path": "src", "include": "*.py"}},
    {
        "kind": "edit",
        "rawInput": {"file_path": "ROOT/a.py", "old_string": "/etc/x", "new_string": "~/.ssh"},
        "content": [diff("ROOT/a.py")],
    },
    {
        "kind": "edit",
        "rawInput": {"filepath": "ROOT/a", "diff": "Index: ROOT/a\n--- ROOT/a\n+++ ROOT/a\n+x"},
    },
    {"kind": "edit", "rawInput": {"changes": {"ROOT/a": {"type": "add", "content": "../x"}}}},
    {"kind": "think", "name": "TodoWrite", "rawInput": {"todos": [{"content": "look"}]}},
    {"kind": "think", "rawInput": {"thought": "what if"}},
    {"kind": "fetch", "rawInput": {"url": "https://good.example/x", "prompt": "sum it up"}},
    run("ls -l", cwd="ROOT", description="Look around"),
    run("ls", workdir="src", timeout=1000),
    run(["ls", "-l"], cwd="ROOT/src"),
    run("cp src/a src/b"),
    run("go test ./..."),
    {**run("cat src/a"), "locations": [{"path": "ROOT/src/a"}]},
]


@pytest.mark.parametrize("message", ORDINARY, ids=str)
def test_ordinary_calls_need_nobody(root: Path, message: Json) -> None:
    ruling = judge(root, message, mode=Mode.ACCEPT_EDITS).ruling
    assert ruling.verdict is Verdict.ALLOW, ruling.why


ELSEWHERE: list[tuple[Json, str]] = [
    # searches
    ({"kind": "search", "rawInput": {"pattern": "/home/ada/.ssh/*"}}, ".ssh"),
    ({"kind": "search", "rawInput": {"paths": ["src", "/etc"]}}, "outside"),
    ({"kind": "search", "rawInput": {"path": "~/.ssh"}}, ".ssh"),
    ({"kind": "search", "rawInput": {"path": "~root"}}, "home folder"),
    ({"kind": "search", "rawInput": {"pattern": "x", "glob": "../**"}}, "outside"),
    ({"kind": "search", "rawInput": {"pattern": "x", "glob": "**/.env"}}, "secrets"),
    ({"kind": "search", "rawInput": {"pattern": "x", "include": "{src,../..}/*"}}, "also says"),
    ({"kind": "search", "rawInput": {"pattern": "x", "include": ["{/etc,src}/*"]}}, "also says"),
    ({"kind": "search", "rawInput": {"pattern": "x", "dir_path": "/etc"}}, "outside"),
    ({"kind": "search", "rawInput": {"pattern": "x", "in": {"any": [["/etc"]]}}}, "outside"),
    ({"kind": "search", "rawInput": {"pattern": "x", "path": "out"}}, "outside"),
    ({"kind": "search", "rawInput": {"pattern": "out/*"}}, "outside"),
    ({"kind": "search", "rawInput": {"query": "weather"}}, "elsewhere"),
    ({"kind": "search", "name": "WebSearch", "rawInput": {"pattern": "x"}}, "elsewhere"),
    ({"kind": "search", "title": "Searching the web for: x"}, "where it searches"),
    ({"kind": "search", "rawInput": {}}, "where it searches"),
    # reading
    ({"kind": "read", "title": "Read a.py"}, "which file"),
    ({"kind": "read", "rawInput": {"path": "a"}, "locations": [{"path": "/etc/x"}]}, "outside"),
    ({"kind": "read", "rawInput": {"path": "a", "extra": "/etc/x"}}, "outside"),
    ({"kind": "read", "rawInput": {"path": "a", "extra": "words"}}, "also says extra"),
    ({"kind": "read", "rawInput": {"path": "a", "run": "rm x"}}, "may be a command"),
    ({"kind": "read", "rawInput": {"path": "a", "do": {"command": "x"}}}, "may be a command"),
    ({"kind": "read", "rawInput": {"path": "a", "command": "rm x"}}, "`rm x`"),
    ({"kind": "read", "rawInput": {"path": "a", "command": "ls"}}, "more than that: path"),
    ({"kind": "read", "rawInput": "/etc/x", "locations": [{"path": "a"}]}, "outside"),
    ({"kind": "read", "rawInput": ["/etc/x"], "locations": [{"path": "a"}]}, "outside"),
    ({"kind": "read", "rawInput": "words", "locations": [{"path": "a"}]}, "also says"),
    ({"kind": "read", "rawInput": {"path": "x", "cwd": "/etc"}}, "outside"),
    ({"kind": "read", "rawInput": {"path": "x", "workingDirectory": "/etc"}}, "outside"),
    ({"kind": "read", "rawInput": {"path": "x", "cwd": ["/etc"]}}, "outside"),
    ({"kind": "read", "rawInput": {"path": "x", "cwd": 5}}, "folder that cannot be read"),
    ({"kind": "read", "rawInput": {"path": "a", "url": "https://evil.example"}}, "evil.example"),
    ({"kind": "read", "rawInput": {"path": "a"}, "content": [diff("ROOT/a")]}, "writes to a"),
    ({"kind": "read", "rawInput": {"path": "a"}, "content": [diff(["a"])]}, "not only read"),
    (
        {
            "kind": "read",
            "rawInput": {"path": "a"},
            "content": [{"type": "terminal", "terminalId": "t"}],
        },
        "not only read",
    ),
    ({"kind": "read", "name": "Bash", "rawInput": {"path": "a"}}, "Bash does not only read"),
    ({"kind": "search", "name": "write_file", "rawInput": {"path": "a"}}, "does not only search"),
    (
        {
            "kind": "read",
            "rawInput": {"path": "a"},
            "content": [
                {"type": "content", "content": {"type": "resource_link", "uri": "file:///etc/x"}}
            ],
        },
        "outside",
    ),
    # names of files
    ({"kind": "read", "rawInput": {"uri": "file:///etc/x"}}, "outside"),
    ({"kind": "read", "rawInput": {"uri": "file://host/etc/x"}}, "not on this machine"),
    ({"kind": "read", "rawInput": {"path": "file://ROOT/%2e%2e/x"}}, "outside"),
    ({"kind": "read", "rawInput": {"path": "%2e%2e/%2E%2e/etc/x"}}, "two meanings"),
    ({"kind": "read", "rawInput": {"path": "..%2fx"}}, "two meanings"),
    ({"kind": "read", "rawInput": {"path": "C:\\x"}}, "two meanings"),
    ({"kind": "read", "rawInput": {"path": "..\\..\\x"}}, "two meanings"),
    ({"kind": "read", "rawInput": {"path": "a\0b"}}, "control character"),
    ({"kind": "read", "rawInput": {"path": "https://evil.example/x"}}, "not a file"),
    ({"kind": "read", "rawInput": {"path": "a" * 5000}}, "too long"),
    # changes
    ({"kind": "edit", "title": "Edit a.py"}, "which file"),
    ({"kind": "edit", "content": [diff("/etc/x")]}, "outside"),
    ({"kind": "edit", "rawInput": {"path": "a"}, "content": [diff("/etc/x")]}, "outside"),
    (
        {"kind": "edit", "content": [diff("ROOT/a"), diff("ROOT/.git/config"), diff("ROOT/b")]},
        "protected (.git)",
    ),
    ({"kind": "edit", "rawInput": {"path": "hooks/pre-commit"}}, "protected (.git)"),
    ({"kind": "edit", "rawInput": {"path": "out/x"}}, "outside"),
    ({"kind": "edit", "rawInput": {"path": "file"}}, "outside"),
    ({"kind": "edit", "rawInput": {"path": "config", "cwd": ".git"}}, "protected (.git)"),
    ({"kind": "edit", "rawInput": {"files": [{"filePath": "a", "movePath": "/x"}]}}, "outside"),
    ({"kind": "edit", "rawInput": {"changes": {"a": {}, "/etc/x": {}}}}, "outside"),
    ({"kind": "edit", "rawInput": {"path": "a", "patch": "*** Move to: ../x\n"}}, "outside"),
    (
        {"kind": "edit", "rawInput": {"path": "a", "input": "*** Add File: .git/hooks/x\n+x"}},
        "protected (.git)",
    ),
    ({"kind": "edit", "rawInput": {"path": "a", "diff": "--- a/x\n+++ /etc/x\n"}}, "outside"),
    ({"kind": "edit", "rawInput": {"path": "a", "then": {"exec": "rm"}}}, "may be a command"),
    ({"kind": "edit", "rawInput": {"paths": [f"p{i}" for i in range(1000)]}}, "looked through"),
    ({"kind": "edit", "rawInput": {"path": "a", "x": [0] * 30_000}}, "looked through"),
    ({"kind": "move", "rawInput": {"source": "a", "destination": "/etc/x"}}, "writes to a"),
    ({"kind": "edit", "rawInput": {"path": "a", "destination": "/etc/x"}}, "outside"),
    # kinds
    ({"kind": "banana", "rawInput": {"path": "a"}}, "writes to a"),
    ({"kind": "", "rawInput": {"path": "a"}}, "writes to a"),
    ({"kind": 5, "rawInput": {"path": "a"}}, "writes to a"),
    ({"rawInput": {"path": "a"}}, "writes to a"),
    ({"kind": "switch_mode", "rawInput": {"plan": "x"}}, "switch_mode"),
    ({"kind": "think", "title": "Delegating to another agent"}, "only think"),
    ({"kind": "think", "name": "Task", "rawInput": {"prompt": "x"}}, "only think"),
    ({"kind": "think", "rawInput": {"description": "x", "subagent_type": "y"}}, "only think"),
    ({"kind": "think", "rawInput": {"thought": "x", "path": "src"}}, "writes to src"),
    ({"kind": "think", "rawInput": {"thought": "x", "url": "https://evil.example"}}, "evil"),
    ({"kind": "think", "title": "mcp__x__y", "rawInput": {"thought": "x"}}, "mcp__x__y"),
    ({"kind": "fetch", "title": "Fetch"}, "fetch"),
    ({"kind": "fetch", "rawInput": {"url": "https://good.example", "path": "/etc/x"}}, "outside"),
    (
        {"kind": "fetch", "rawInput": {"urls": ["https://good.example", "https://evil.example"]}},
        "another host (evil.example)",
    ),
]


@pytest.mark.parametrize(("message", "part"), ELSEWHERE, ids=str)
def test_what_is_not_clearly_harmless_is_asked(root: Path, message: Json, part: str) -> None:
    ruling = judge(root, message, mode=Mode.ACCEPT_EDITS).ruling
    assert ruling.verdict is Verdict.ASK
    assert part in ruling.why


COMMANDS: list[tuple[Json, str]] = [
    ({"kind": "execute", "title": "ls"}, "title"),
    ({"kind": "execute", "title": "mcp.server.tool"}, "no rule allows the tool mcp.server.tool"),
    ({"kind": "execute", "title": "mcp.server.tool; ls"}, "`mcp.server.tool`"),
    (run("ls", description={"env": "x"}), "description"),
    (run("ls", timeout=["x"]), "timeout"),
    ({"kind": "execute", "title": "ls", "rawInput": {"script": "rm"}}, "which command"),
    (run("ls", dangerouslyDisableSandbox=True), "dangerouslyDisableSandbox"),
    (run("ls", Command="rm x"), "another command (rm x)"),
    (run({"x": "ls"}), "which command"),
    (run(["ls", 5]), "which command"),
    ({"kind": "execute", "rawInput": [{"command": "ls"}, {"command": "rm"}]}, "another command"),
    (run("ls", cwd=["/etc"]), "folder that cannot be read"),
    (run("ls", cwd="ROOT", workdir="/etc"), "another folder (/etc)"),
    (run("ls", cwd="/etc"), "outside"),
    (run("ls", cwd="out"), "outside"),
    (run("ls", cwd="file:///etc"), "outside"),
    (run("git status", cwd="hooks"), "hidden folder"),
    (run("git status", cwd=".hidden"), "hidden folder"),
    ({**run("ls"), "content": [diff("a")]}, "a change of files"),
    ({**run("ls"), "kind": "edit"}, "a change of files"),
    ({**run("cat x"), "locations": [{"path": "ROOT/.env"}]}, "secrets"),
]


@pytest.mark.parametrize(("message", "part"), COMMANDS, ids=str)
def test_a_rule_for_a_command_covers_nothing_else(root: Path, message: Json, part: str) -> None:
    ruling = judge(root, message).ruling
    assert ruling.verdict is Verdict.ASK
    assert part in ruling.why


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "search", "rawInput": {"pattern": "x", "path": "private"}},
        {"kind": "search", "rawInput": {"pattern": "private/*"}},
        {"kind": "edit", "rawInput": {"path": "../private/x", "cwd": "src"}},
        {"kind": "edit", "rawInput": {"path": "a"}, "content": [diff("private/x")]},
        {"kind": "other", "rawInput": {"deep": [{"er": {"file": "private/x"}}]}},
        {**run("cat x"), "locations": [{"path": "ROOT/private/x"}]},
        run("ls", path="private/x"),
        {"kind": "execute", "title": "shutdown now"},
        {"kind": "execute", "title": "shutdown now..."},
        {"kind": "read", "rawInput": {"cmd": ["shutdown"]}},
    ],
    ids=str,
)
def test_what_is_denied_is_found_wherever_the_agent_says_it(root: Path, message: Json) -> None:
    assert judge(root, message, mode=Mode.TRUST).ruling.verdict is Verdict.DENY


def test_trust_and_rules_allow_what_the_kind_alone_does_not(root: Path) -> None:
    searches: Json = {"kind": "search", "rawInput": {"query": "weather"}}
    delegates: Json = {"kind": "think", "title": "Delegating"}
    for message in (searches, delegates):
        assert judge(root, message, mode=Mode.TRUST).ruling.verdict is Verdict.ALLOW
        by_kind = Book(Rule(verdict=Verdict.ALLOW, kind=message["kind"]))
        policy = SessionPolicy("x", str(root), book=by_kind, resolve=resolve)
        assert policy.judge(call_after(message)).ruling.verdict is Verdict.ALLOW


def test_a_tool_of_somebody_else_is_allowed_by_its_name_and_only_as_what_it_is(root: Path) -> None:
    book = Book(Rule(verdict=Verdict.ALLOW, tool="mcp.server.tool"))
    started: Json = {"kind": "execute", "title": "mcp.server.tool", "rawInput": {"server": "x"}}
    for agent, ask, verdict in (
        ("codex", {"title": "Allow it?"}, Verdict.ALLOW),
        ("codex", {"title": "Allow it?", "rawInput": {"command": "ls"}}, Verdict.ASK),
        ("codex", {"title": "Allow it?", "rawInput": {"path": "/etc/x"}}, Verdict.ASK),
        ("gemini", {"title": "Allow it?"}, Verdict.ASK),
    ):
        policy = SessionPolicy(agent, str(root), book=book, resolve=resolve)
        judged = policy.judge(call_after(started, ask), call_after(started))
        assert judged.ruling.verdict is verdict, (agent, ask, judged.ruling.why)
