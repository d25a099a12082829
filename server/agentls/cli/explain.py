"""`agentls rules explain`: what would be decided about a command or a file, and why.

Invariant: it is decided by the very function that decides about a live ask. What cannot be
understood is answered with "ask"; nothing is run, read or written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentls.agent.convert import tool_call_patch
from agentls.core.errors import AgentlsError, BadRequest
from agentls.core.events import ToolCallChanged
from agentls.core.policy.gate import SessionPolicy
from agentls.core.policy.rules import FIELDS, Rule
from agentls.core.policy.verdicts import PathUse, Ruling, Subject, Verdict
from agentls.core.printable import one_line
from agentls.core.transcript import ToolCall, Transcript
from agentls.storage.paths import config_folder, protected_places, resolve
from agentls.storage.rules import RuleBook

ABOUT = """\
Say what would be decided about a command, by which rule, and why. Nothing is run.
One word is a shell line; several words are the arguments of one command, as they are.
With --jsonl each line of stdin is an object, and each is answered with one on stdout:
  {"command": "git status"}   {"command": ["git", "status"]}
  {"op": "read", "path": "src/main.py"}   {"op": "write", "path": "/etc/hosts"}
  further keys: kind, agent, host, tool, cwd
  {"toolCall": {"kind": "edit", "rawInput": {…}}}   a tool call as an agent sends it, and
  {"toolCall": {…}, "before": {…}}   what the agent said about it before it asked
--rules FILE is read instead of your own rules; what the repository of --root denies or asks about
in its .agentls/rules.toml still counts.
"""


class _Line(Struct, rename="camel"):
    """What a line of stdin may say; other keys are the business of whoever wrote it."""

    command: str | tuple[str, ...] | None = None
    op: str | None = None
    path: str | None = None
    kind: str | None = None
    agent: str | None = None
    host: str = ""
    tool: str = ""
    cwd: str = ""
    tool_call: dict[str, Any] | None = None
    before: dict[str, Any] | None = None


class Explainer:
    """Decides as a session in the folder would."""

    def __init__(self, root: str, agent: str, only: Path | None) -> None:
        self._root = resolve(root, os.getcwd())  # noqa: PTH109 - text is what is needed
        self._agent = agent
        self._protected = protected_places(os.environ)
        self._book = RuleBook(config_folder(os.environ), (self._root,), only=only)

    def problems(self) -> list[str]:
        return self._book.problems()

    def line(self, text: bytes) -> Ruling:
        """The decision about a line of JSON."""
        try:
            line = msgspec.json.decode(text, type=_Line)
            if line.tool_call is not None:
                return self._call(line, line.tool_call)
            return self.subject(self._subject(line))
        except msgspec.MsgspecError as error:
            return _asked(f"the line cannot be read: {error}")
        except UnicodeDecodeError:
            return _asked("the line cannot be read: it is not UTF-8")
        except RecursionError:
            return _asked("the line cannot be read: it is too deeply nested")
        except AgentlsError as error:
            return _asked(str(error))
        except Exception as error:  # a mistake of ours must not end the stream, nor allow
            return _asked(f"it could not be judged: {error!r}")

    def command(self, words: tuple[str, ...]) -> Ruling:
        command = words[0] if len(words) == 1 else words
        return self.subject(
            Subject(agent=self._agent, kind="execute", command=command, cwd=self._root)
        )

    def subject(self, subject: Subject) -> Ruling:
        return self._policy(subject.agent).ruling(subject)

    def _call(self, line: _Line, raw: dict[str, Any]) -> Ruling:
        if line.command is not None or line.op is not None or line.path is not None:
            raise BadRequest("A line has either a tool call, or a command, or op and path.")
        policy = self._policy(self._agent if line.agent is None else line.agent)
        if line.before is None:
            return policy.judge(_tool_call(raw)).ruling
        return policy.judge(_tool_call(line.before, raw), _tool_call(line.before)).ruling

    def _policy(self, agent: str) -> SessionPolicy:
        return SessionPolicy(
            agent, self._root, book=self._book, resolve=resolve, protected=self._protected
        )

    def _subject(self, line: _Line) -> Subject:
        if line.command is not None and (line.op is not None or line.path is not None):
            raise BadRequest("A line has either a command, or op and path.")
        paths: tuple[PathUse, ...] = ()
        usual = "other" if line.command is None else "execute"
        if line.op is not None or line.path is not None:
            if line.op not in {"read", "write"} or line.path is None:
                raise BadRequest('A path needs "op": "read" or "op": "write".')
            write = line.op == "write"
            paths = (PathUse(line.path, write),)
            usual = "edit" if write else "read"
        elif line.command is None and not (line.host or line.tool or line.kind):
            raise BadRequest("The line says neither a command nor a path.")
        elif line.host:
            usual = "fetch" if line.command is None else usual
        return Subject(
            agent=self._agent if line.agent is None else line.agent,
            kind=line.kind or usual,
            command=line.command,
            cwd=line.cwd or self._root,
            paths=paths,
            host=line.host,
            tool=line.tool,
        )


def explain(wanted: argparse.Namespace) -> int:
    if wanted.jsonl == bool(wanted.command):
        raise BadRequest(
            "Name a command, or use --jsonl to read lines from stdin.",
            hint="As in: agentls rules explain git status",
        )
    only = Path(wanted.rules) if wanted.rules else None
    if only is not None and not only.exists():
        raise BadRequest(f"There is no file {wanted.rules}.", hint="Name another with --rules.")
    if not Path(wanted.root).is_dir():
        raise BadRequest(f"There is no folder {wanted.root}.", hint="Name another with --root.")
    explainer = Explainer(wanted.root, wanted.agent, only)
    for problem in explainer.problems():
        print(f"agentls: {problem}", file=sys.stderr)
    if wanted.jsonl:
        _answer_lines(explainer, sys.stdin.buffer)
        return 0
    ruling = explainer.command(tuple(wanted.command))
    print(_json(ruling).decode() if wanted.json else _in_words(ruling))
    return 0


def _answer_lines(explainer: Explainer, lines: Iterable[bytes]) -> None:
    out = sys.stdout.buffer
    for line in lines:
        out.write(_json(explainer.line(line)) + b"\n")
        out.flush()


def _tool_call(*messages: dict[str, Any]) -> ToolCall:
    """A call after what an agent said about it, in order."""
    transcript = Transcript()
    for raw in messages:
        patch = tool_call_patch({**raw, "toolCallId": "explained"})
        call = transcript.apply(ToolCallChanged(patch), 0.0)
    assert isinstance(call, ToolCall)
    return call


def _asked(why: str) -> Ruling:
    return Ruling(verdict=Verdict.ASK, why=f"asked: {one_line(why)}")


def _json(ruling: Ruling) -> bytes:
    rule = None if ruling.rule is None else rule_facts(ruling.rule)
    answer = {"verdict": ruling.verdict, "rule": rule, "why": one_line(ruling.why)}
    return msgspec.json.encode(answer)


def rule_facts(rule: Rule) -> dict[str, Any]:
    """A rule as JSON: what it says, and where it is written."""
    keys = ("verdict", *FIELDS, "scope", "source", "line")
    facts = {key: getattr(rule, key) for key in keys}
    return {key: value for key, value in facts.items() if value is not None}


def _in_words(ruling: Ruling) -> str:
    text = f"{ruling.verdict.value}: {one_line(ruling.why)}"
    rule = ruling.rule
    return text if rule is None else f"{text}\n  {rule.source}:{rule.line}"
