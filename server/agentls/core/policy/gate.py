"""Asks the rules about a tool call, on behalf of one session.

Whatever goes wrong on the way to a decision, the answer is never "allow".
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Struct

from ..errors import AgentlsError, BadRequest
from ..transcript import ToolCall
from .rules import Mode, Rule, Scope
from .subjects import subject_of
from .verdicts import PathUse, Ruling, Subject, Verdict

if TYPE_CHECKING:
    from .suggest import Suggestion

log = logging.getLogger(__name__)

Resolve = Callable[[str, str], str]
"""A path and the folder it is relative to; the real place, at this moment."""


class RuleBook(Protocol):
    """The remembered rules for one project."""

    def rules(self) -> Sequence[Rule]: ...

    def problems(self) -> Sequence[str]: ...

    def add(self, rule: Rule, scope: Scope) -> Rule: ...

    def remove(self, rule: Rule) -> None: ...


class Judgement(Struct, frozen=True, kw_only=True):
    """What the policy says about a tool call."""

    ruling: Ruling
    subject: Subject = Subject()
    """What was judged. It is judged again when rules change, whatever the agent says later."""
    shown: str = ""
    """What was judged, as a person should see it: the command line, or the paths."""
    suggestions: tuple[Suggestion, ...] = ()
    """Rules that would allow it from now on."""


class SessionPolicy:
    """The policy as it holds for one session."""

    def __init__(
        self,
        agent: str,
        root: str,
        *,
        book: RuleBook,
        resolve: Resolve,
        protected: Sequence[str] = (),
    ) -> None:
        self.mode = Mode.ASK
        self._agent = agent
        self._root = root
        self._book = book
        self._resolve = resolve
        self._protected = protected
        self._own: list[Rule] = []

    @classmethod
    def without_rules(cls, agent: str, root: str) -> SessionPolicy:
        """A policy that remembers nothing: the person is asked about everything."""
        return cls(agent, root, book=_NoRules(), resolve=_unresolvable)

    def judge(self, call: ToolCall) -> Judgement:
        return self.judge_subject(subject_of(call, self._agent, self._root))

    def judge_subject(self, subject: Subject) -> Judgement:
        shown = _shown(subject)
        try:
            resolved = self._resolved(subject)
            ruling = self._with_doubts(resolved, self._decide(resolved))
            offered = () if ruling.verdict is Verdict.DENY else self._suggestions(resolved)
        except AgentlsError as error:
            ruling = Ruling(verdict=Verdict.ASK, why=str(error))
            offered = ()
        except Exception:
            log.exception("the policy failed for %s", shown)
            ruling = Ruling(verdict=Verdict.ASK, why="It could not be judged; see the log.")
            offered = ()
        return Judgement(ruling=ruling, subject=subject, shown=shown, suggestions=offered)

    def remember(self, suggestion: Suggestion, scope: Scope) -> None:
        for rule in suggestion.rules:
            named = msgspec.structs.replace(rule, agent=self._agent)
            if scope == "session":
                self._own.append(msgspec.structs.replace(named, scope=scope))
            else:
                self._book.add(named, scope)

    def _decide(self, subject: Subject, *more: Rule) -> Ruling:
        # Here, because knowing the shell takes 12 ms to load, and a server starts without asks.
        from .decide import decide  # noqa: PLC0415

        return decide(
            subject,
            [*self._own, *self._book.rules(), *more],
            roots=(self._resolve(self._root, "/"),),
            protected=self._protected,
            mode=self.mode,
            resolve=self._resolve,
        )

    def _with_doubts(self, subject: Subject, ruling: Ruling) -> Ruling:
        """Rules are about commands, files and hosts: more than that needs a person."""
        if ruling.verdict is not Verdict.ALLOW:
            return ruling
        if subject.also:
            return Ruling(
                verdict=Verdict.ASK, why=f"asked: it wants more than that: {subject.also}"
            )
        root = self._resolve(self._root, "/")
        below = subject.cwd.removeprefix(root) if subject.cwd.startswith(root) else ""
        if subject.command is not None and "/." in below:
            return Ruling(verdict=Verdict.ASK, why="asked: it runs in a hidden folder")
        return ruling

    def _suggestions(self, subject: Subject) -> tuple[Suggestion, ...]:
        """Only rules that would really have allowed it: nobody is asked again after "always"."""
        from .suggest import suggestions  # noqa: PLC0415 - as in _decide

        return tuple(
            s
            for s in suggestions(subject, self._resolve(self._root, "/"))
            if self._with_doubts(subject, self._decide(subject, *s.rules)).verdict is Verdict.ALLOW
        )

    def _resolved(self, subject: Subject) -> Subject:
        folder = self._resolve(subject.cwd or self._root, self._root)
        return msgspec.structs.replace(
            subject,
            cwd=folder,
            paths=tuple(PathUse(self._resolve(p.path, folder), p.write) for p in subject.paths),
        )


class _NoRules:
    def rules(self) -> Sequence[Rule]:
        return ()

    def problems(self) -> Sequence[str]:
        return ()

    def add(self, rule: Rule, scope: Scope) -> Rule:
        raise BadRequest(f"Nothing is remembered here, neither {rule.verdict} in {scope}.")

    def remove(self, rule: Rule) -> None:
        raise BadRequest(f"Nothing is remembered here, nor {rule.verdict}.")


def _unresolvable(path: str, folder: str) -> str:
    raise BadRequest(f"Nothing is known about {path} in {folder}.")


def _shown(subject: Subject) -> str:
    if isinstance(subject.command, str):
        return subject.command
    if subject.command is not None:
        return " ".join(subject.command)
    return ", ".join(p.path for p in subject.paths) or subject.host or subject.tool
