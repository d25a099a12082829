"""A subject with all that can be seen of it, and how rules and built-in caution bear on it.

Invariant: what cannot be seen is said in `unclear` and never left out; what tightens is matched
with everything the subject may be, not only with what the agent calls it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..errors import AgentlsError
from ..printable import one_line
from . import paths as places
from .paths import Located
from .rules import Rule, host_matches, host_name, tool_matches, words
from .shell import Redirect, SimpleCommand, read_argv, read_shell, touches
from .verdicts import Subject, Verdict

Resolve = Callable[[str, str], str]
"""A path as it is written and the folder it is relative to; raises `AgentlsError`."""

READING: Final = frozenset({"read", "search"})
WRITING: Final = frozenset({"edit", "delete", "move"})
_MOVERS: Final = frozenset({"cd", "pushd", "popd", "chdir"})
_EXPANDED: Final = re.compile(r"\A~|[*?\[{$`\\]")


class Case:
    """What is judged."""

    def __init__(
        self,
        subject: Subject,
        *,
        roots: Sequence[str],
        protected: Sequence[str],
        resolve: Resolve | None,
    ) -> None:
        self.subject = subject
        self.roots = [root.rstrip("/") or "/" for root in roots if root.startswith("/")]
        self.protected = protected
        self.is_command = subject.command is not None
        self.foreign_tool = subject.tool.lower().startswith("mcp")
        """Made by somebody else than the agent: what it says of itself counts for nothing."""
        self.commands: tuple[SimpleCommand, ...] = ()
        """Those that need a rule to be allowed."""
        self.all_commands: tuple[SimpleCommand, ...] = ()
        self.doubts: list[str] = []
        self.opaque: tuple[str, ...] = ()
        """What it runs as a text that was not looked into."""
        writes = subject.kind in WRITING
        self.uses = [Located(use.path, write=use.write or writes) for use in subject.paths]
        """What the subject itself names."""
        self.redirects: list[Located] = []
        """What its command redirects to or from."""
        if subject.command is not None:
            self._read_command(subject.command, resolve)
        self.all_uses = self.uses + self.redirects
        self.kinds = self._kinds()

    def _read_command(self, command: str | tuple[str, ...], resolve: Resolve | None) -> None:
        reading = read_shell(command) if isinstance(command, str) else read_argv(command)
        self.commands = reading.commands
        self.all_commands = reading.commands + reading.harmless
        self.doubts += reading.doubts
        self.opaque = reading.opaque
        moves = any(c.words and c.words[0].rpartition("/")[2] in _MOVERS for c in self.all_commands)
        for redirect in reading.redirects:
            self._add_redirect(redirect, moves, resolve)

    def _add_redirect(self, redirect: Redirect, moves: bool, resolve: Resolve | None) -> None:
        path = redirect.path
        does = f"it {'writes to' if redirect.write else 'reads'} {shown(path)}"
        if _EXPANDED.search(path):
            self.doubts.append(f"{does}, which the shell may expand")
        elif moves and redirect.write and not path.startswith("/"):
            self.doubts.append(f"{does} after it changes the folder")
        if resolve is None:
            self.doubts.append(f"{does}, which was not resolved")
        else:
            try:
                path = resolve(path, self.subject.cwd)
            except AgentlsError as error:
                self.doubts.append(f"{does}, which cannot be judged: {one_line(error.message)}")
        self.redirects.append(Located(path, write=redirect.write))

    def _kinds(self) -> frozenset[str]:
        """All that it may be called; an agent says only one of them."""
        kinds = {self.subject.kind}
        if self.is_command:
            kinds.add("execute")
        if self.subject.host:
            kinds.add("fetch")
        kinds.update("edit" if use.write else "read" for use in self.all_uses)
        return frozenset(kinds)

    @property
    def only_reads(self) -> bool:
        subject = self.subject
        if self.is_command or self.foreign_tool or subject.host:
            return False
        if subject.kind == "think":
            return not self.uses
        return subject.kind in READING and not any(use.write for use in self.uses)

    @property
    def unsaid(self) -> str:
        """What an agent has to say about such a thing and did not; empty when it did."""
        if self.is_command:
            blank = not any(part.strip() for part in self.subject.command or ())
            return "it does not say which command it runs" if blank else ""
        if self.subject.kind in WRITING and not self.uses and not self.foreign_tool:
            return "it does not say which file it changes"
        return ""

    @property
    def unclear(self) -> str:
        """What of it cannot be seen; empty when all can."""
        if self.doubts:
            return self.doubts[0]
        if self.is_command and not self.commands:
            return "it holds no command that can be read"
        if self.subject.host and not host_name(self.subject.host):
            return f"it reaches {shown(self.subject.host)}, which is no host name"
        return ""

    def concerned(self, rules: Iterable[Rule]) -> tuple[list[Rule], list[Rule]]:
        """The rules for this agent and this project: those that allow, those that tighten."""
        agent = self.subject.agent
        allowing, tightening = [], []
        for rule in rules:
            if rule.agent is not None and rule.agent != agent:
                continue
            if rule.project is not None and not self.anchors(rule):
                continue
            if rule.verdict is not Verdict.ALLOW:
                tightening.append(rule)
            elif rule.scope != "repository":  # which only tightens, wherever a rule comes from
                allowing.append(rule)
        return allowing, tightening

    def anchors(self, rule: Rule) -> list[str]:
        """The folders that a rule is for."""
        project = rule.project
        if project is None:
            return self.roots
        anchors = [root for root in self.roots if places.inside(root, project)]
        if not anchors and places.inside_any(project, self.roots):
            anchors.append(project)
        return anchors

    def touched(self, rule: Rule) -> bool:
        """Whether a rule that tightens is about any part of this."""
        if rule.kind is not None and rule.kind not in self.kinds:
            return False
        if rule.host is not None and not host_matches(rule.host, self.subject.host, generous=True):
            return False
        if rule.tool is not None and not tool_matches(rule.tool, self.subject.tool, generous=True):
            return False
        if rule.command is not None:
            ours = words(rule.command, generous=True)
            return bool(ours) and any(touches(ours, command) for command in self.all_commands)
        if rule.path is None:
            return True
        return self._touched_use(rule, rule.path)

    def _touched_use(self, rule: Rule, glob: str) -> bool:
        kind, anchors = rule.kind, self.anchors(rule)
        for use in self.all_uses:
            is_meant = kind in {None, self.subject.kind, "edit" if use.write else "read"}
            if is_meant and use.touched(glob, anchors):
                return True
        return False

    def caution(self) -> str:
        """Why it is asked whatever the rules and the mode allow; empty when there is no reason."""
        cwd = self.subject.cwd
        if cwd and not places.is_resolved(cwd):
            return f"it runs in {shown(cwd)}, which is not a whole path"
        for use in self.all_uses:
            path = shown(self.relative(use.path))
            if not places.is_resolved(use.path):
                return f"it {'writes to' if use.write else 'reads'} {path}, which is no whole path"
            if use.write and (name := self.protected_as(use)):
                return f"it writes to {path}, which is protected ({name})"
            if not use.write and (name := places.secret(use.path)):
                return f"it reads {path}, which may hold secrets ({name})"
        return self.unsaid

    def protected_as(self, use: Located) -> str:
        return places.protected(use.path, write=use.write, roots=self.roots, places=self.protected)

    def relative(self, path: str) -> str:
        """A path as a person in the project calls it."""
        root = next((root for root in self.roots if places.inside(path, root)), None)
        return path if root is None else path[len(root) :].lstrip("/") or path


def shown(text: str) -> str:
    """Text of an agent, short and safe enough for a sentence."""
    text = one_line(text)
    return text if len(text) <= 100 else f"{text[:99]}…"
