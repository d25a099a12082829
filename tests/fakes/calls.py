"""A project full of links, usual rules, and tool calls as agents send them, to be judged."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentls.agent.convert import tool_call_patch
from agentls.core import events as ev
from agentls.core.policy.gate import Judgement, SessionPolicy
from agentls.core.policy.rules import Mode, Rule, Scope
from agentls.core.policy.verdicts import Verdict
from agentls.core.transcript import ToolCall, Transcript
from agentls.storage.paths import resolve

Json = dict[str, Any]
_ALLOWED = ("ls", "cat", "git status", "cp", "tee", "go test")


class Book:
    """Rules that nobody changes by accident."""

    def __init__(self, *rules: Rule) -> None:
        self._rules = list(rules)

    def rules(self) -> Sequence[Rule]:
        return self._rules

    def problems(self) -> Sequence[str]:
        return ()

    def add(self, rule: Rule, scope: Scope) -> Rule:
        self._rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        self._rules.remove(rule)


def usual_rules() -> Book:
    return Book(
        *(Rule(verdict=Verdict.ALLOW, command=words) for words in _ALLOWED),
        Rule(verdict=Verdict.ALLOW, host="good.example"),
        Rule(verdict=Verdict.DENY, path="private/**"),
        Rule(verdict=Verdict.DENY, command="shutdown"),
    )


def project(base: Path) -> Path:
    """A project with links that lead out of it and into a protected place."""
    base = Path(os.path.realpath(base))
    root = base / "project"
    for folder in ("src", ".git/hooks", "private", ".hidden"):
        (root / folder).mkdir(parents=True)
    (root / "out").symlink_to(base)
    (root / "hooks").symlink_to(".git/hooks")
    (root / "file").symlink_to(base / "elsewhere")
    return root


def call_after(*messages: Json) -> ToolCall:
    transcript = Transcript()
    for message in messages:
        patch = tool_call_patch({"toolCallId": "c", **message})
        entry = transcript.apply(ev.ToolCallChanged(patch), 0.0)
    assert isinstance(entry, ToolCall)
    return entry


def judge(root: Path, *messages: Json, agent: str = "claude", mode: Mode = Mode.ASK) -> Judgement:
    """What is decided about the last message, an ask, after the others."""
    policy = SessionPolicy(agent, str(root), book=usual_rules(), resolve=resolve)
    policy.mode = mode
    *earlier, ask = (_in(root, message) for message in messages)
    before = call_after(*earlier) if earlier else None
    return policy.judge(call_after(*earlier, ask), before)


def _in(root: Path, message: Json) -> Json:
    """The message with ROOT replaced by the folder."""
    found: Json = json.loads(json.dumps(message).replace("ROOT", str(root)))
    return found


def run(command: Any, **more: Any) -> Json:
    return {"kind": "execute", "rawInput": {"command": command, **more}}


def diff(path: Any) -> Json:
    return {"type": "diff", "path": path, "oldText": "a", "newText": "b"}


def words(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
