"""The gate: a tool call, the rules and the real places on disk come together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.model import Decision, Diff, SessionId, ToolCallId, ToolCallPatch
from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import Verdict
from agentls.core.ports import AskRequest
from agentls.core.session import Session
from agentls.core.transcript import ToolCall, Transcript
from agentls.storage.paths import resolve
from agentls.storage.rules import RuleBook
from fakes.core import ALLOW, REJECT, FakeClock


def policy(root: Path, config: Path) -> SessionPolicy:
    book = RuleBook(config, (str(root),))
    return SessionPolicy("claude", str(root), book=book, resolve=resolve)


def call(**fields: Any) -> ToolCall:
    transcript = Transcript()
    patch = ToolCallPatch(id=ToolCallId("c"), **fields)
    entry = transcript.apply(ev.ToolCallChanged(patch), 0.0)
    assert isinstance(entry, ToolCall)
    return entry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_a_workspace_behind_a_symlink_is_the_workspace(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    gate = policy(link, tmp_path / "config")
    gate.mode = Mode.ACCEPT_EDITS
    edit = call(kind="edit", input={"file_path": str(link / "a.py")})
    assert gate.judge(edit).ruling.verdict is Verdict.ALLOW
    outside = call(kind="edit", input={"file_path": str(tmp_path / "a.py")})
    assert gate.judge(outside).ruling.verdict is Verdict.ASK


def test_what_is_offered_as_always_is_enough(root: Path, tmp_path: Path) -> None:
    gate = policy(root, tmp_path / "config")
    for asked in (
        call(kind="execute", input={"command": "npm test && git status"}),
        call(kind="execute", input={"command": ["touch", "a b"]}),
        call(kind="edit", input={"file_path": str(root / "app/[slug]/page.tsx")}),
        call(kind="fetch", input={"url": "https://example.org/x"}),
    ):
        judged = gate.judge(asked)
        assert judged.ruling.verdict is Verdict.ASK
        assert judged.suggestions, asked.input
        for offer in judged.suggestions:
            fresh = policy(root, tmp_path / f"config-{offer.id}-{asked.kind}")
            fresh.remember(offer, "project")
            assert fresh.judge(asked).ruling.verdict is Verdict.ALLOW, offer.label


def test_what_cannot_be_remembered_is_not_offered(root: Path, tmp_path: Path) -> None:
    gate = policy(root, tmp_path / "config")
    for asked in (
        call(kind="execute", input={"command": "echo $(date)"}),
        call(kind="edit", input={"file_path": str(root / ".git/config")}),
        call(kind="edit", input={"file_path": "/etc/passwd"}),
        call(kind="other", title="Set 3 todos"),
    ):
        judged = gate.judge(asked)
        assert judged.ruling.verdict is Verdict.ASK
        assert judged.suggestions == ()


def test_a_command_is_judged_wherever_the_agent_puts_it(root: Path, tmp_path: Path) -> None:
    gate = policy(root, tmp_path / "config")
    RuleBook(tmp_path / "config", (str(root),)).add(
        Rule(verdict=Verdict.DENY, command="rm"), "user"
    )
    for asked in (
        call(kind="execute", input={"command": "rm x"}),
        call(kind="think", input={"command": "rm x"}),
        call(kind="read", input={"cmd": ["rm", "x"]}),
        call(kind="execute", title="rm x"),
        call(kind="other", input={"command": ["bash", "-lc", "ls && rm x"]}),
    ):
        assert gate.judge(asked).ruling.verdict is Verdict.DENY, asked


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "execute", "input": {"command": "ls", "url": "https://evil.example"}},
        {"kind": "execute", "input": {"command": "ls", "additionalPermissions": {"net": True}}},
        {"kind": "execute", "input": {"command": "ls", "env": {"LD_PRELOAD": "x"}}},
        {"kind": "execute", "input": {"command": "ls", "args": ["-l"]}},
        {"kind": "execute", "input": {"command": "ls", "cmd": "rm x"}},
        {"kind": "edit", "input": {"command": "ls", "path": ".git/hooks/pre-commit"}},
        {"kind": "execute", "title": "ls", "input": {"script": "rm -rf ~"}},
        {"kind": "execute", "title": "ls", "input": "rm -rf ~"},
        {"kind": "read", "content": (Diff("a.py", "x", "y"),)},
        {"kind": "execute", "input": {"command": "ls", "cwd": ".git"}},
    ],
)
def test_rules_and_reading_cover_nothing_beside_what_they_name(
    root: Path, tmp_path: Path, fields: dict[str, Any]
) -> None:
    (root / ".git").mkdir()
    gate = policy(root, tmp_path / "config")
    RuleBook(tmp_path / "config", (str(root),)).add(
        Rule(verdict=Verdict.ALLOW, command="ls"), "user"
    )
    plain = call(kind="execute", input={"command": "ls", "description": "look around"})
    assert gate.judge(plain).ruling.verdict is Verdict.ALLOW
    assert gate.judge(call(**fields)).ruling.verdict is Verdict.ASK


@pytest.mark.parametrize(
    "url", ["https://evil.com\\@good.com/", "https:evil.com/x", "file://good.com/etc/passwd"]
)
def test_an_address_that_can_be_read_in_two_ways_is_asked(
    root: Path, tmp_path: Path, url: str
) -> None:
    gate = policy(root, tmp_path / "config")
    book = RuleBook(tmp_path / "config", (str(root),))
    for host in ("good.com", "evil.com"):
        book.add(Rule(verdict=Verdict.ALLOW, host=host), "user")
    good = call(kind="fetch", input={"url": "https://good.com/x"})
    assert gate.judge(good).ruling.verdict is Verdict.ALLOW
    assert gate.judge(call(kind="fetch", input={"url": url})).ruling.verdict is Verdict.ASK


def test_always_names_what_a_program_is_asked_to_do(root: Path, tmp_path: Path) -> None:
    gate = policy(root, tmp_path / "config")
    for line, label in (
        ("echo hello", "Always allow `echo`"),
        ("npm run lint", "Always allow `npm run lint`"),
        ("git status -s", "Always allow `git status`"),
    ):
        offers = gate.judge(call(kind="execute", input={"command": line})).suggestions
        assert offers[0].label == label


def test_an_ask_under_the_name_of_a_finished_call_is_judged_alone(
    root: Path, tmp_path: Path
) -> None:
    RuleBook(tmp_path / "config", (str(root),)).add(
        Rule(verdict=Verdict.ALLOW, command="ls"), "user"
    )
    asks = Asks()
    session = Session(
        SessionId("s"),
        "claude",
        str(root),
        clock=FakeClock(),
        asks=asks,
        observers=[],
        cancel_grace=1,
        policy=policy(root, tmp_path / "config"),
    )
    done = ToolCallPatch(
        id=ToolCallId("c"), kind="execute", input={"command": "ls"}, status="completed"
    )
    session.deliver(ev.ToolCallChanged(done))
    answers: list[Decision] = []
    again = ToolCallPatch(id=ToolCallId("c"), kind="execute", title="rm -rf src")
    session.ask(AskRequest(again, (ALLOW, REJECT), answers.append))
    assert answers == []
    assert [ask.judgement.shown for ask in asks.pending()] == ["rm -rf src"]


def test_a_broken_rule_book_never_allows(root: Path) -> None:
    class Broken:
        def rules(self) -> list[Rule]:
            raise RuntimeError("the disk is gone")

        problems = add = remove = rules

    gate = SessionPolicy("x", str(root), book=Broken(), resolve=resolve)  # type: ignore[arg-type]
    gate.mode = Mode.TRUST
    judged = gate.judge(call(kind="execute", input={"command": "ls"}))
    assert judged.ruling.verdict is Verdict.ASK
