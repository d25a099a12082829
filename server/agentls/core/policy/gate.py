"""Asks the rules about a tool call, on behalf of one session.

Whatever goes wrong on the way to a decision, the answer is never "allow".
"""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from ..errors import AgentlsError, BadRequest
from ..model import ToolCallId
from ..printable import one_line
from ..transcript import ToolCall
from .rules import Mode, Rule, Scope
from .verdicts import PathUse, Ruling, Subject, Verdict

if TYPE_CHECKING:
    from .suggest import Suggestion

log = logging.getLogger(__name__)

Resolve = Callable[[str, str], str]
"""A path and the folder it is relative to; the real place, at this moment."""
_MOST_ASKED = 32
_CHANGING = frozenset({"edit", "delete", "move"})


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
        review_first: bool = False,
    ) -> None:
        self.mode = Mode.ASK
        self._review_first = review_first
        self.person_mode: Mode | None = None
        """The mode that a person has chosen for this very session, if one has."""
        self._agent = agent
        self._root = root
        self._book = book
        self._resolve = resolve
        self._protected = protected
        self._own: list[Rule] = []
        """What a person has decided for this session."""
        self._above: _Above | None = None
        self._asked: dict[ToolCallId, _Asked] = {}
        """The calls that were asked about lately."""

    @classmethod
    def without_rules(cls, agent: str, root: str) -> SessionPolicy:
        """A policy that remembers nothing: the person is asked about everything."""
        return cls(agent, root, book=_NoRules(), resolve=_unresolvable)

    def stay_within(
        self,
        above: SessionPolicy,
        *,
        allow: Sequence[Rule] = (),
        deny: Sequence[Rule] = (),
        moved: tuple[str, str] | None = None,
    ) -> None:
        """Allow nothing that another policy would not: that of the session which started this one.

        What that session passes on (`allow`) counts only as far as it may do the same itself. What
        a person decides for this session counts on top. `moved` says which folder stands for which:
        work in a copy is judged as work in the original.
        """
        self._above = _Above(policy=above, rules=(*allow, *deny), moved=moved)

    def judge(self, call: ToolCall, before: ToolCall | None = None) -> Judgement:
        """What the policy says about a call that the agent asks about.

        `before` is a copy of the call without the ask: an ask may say less than what came before,
        and what it leaves out is judged too.
        """
        if before is not None and (last := self._asked.get(call.call)) is not None:
            # What an earlier ask said instead was judged then.
            before = last.before if before.input is last.input else before
        if before is not None and call.input is not None:
            self._asked.pop(call.call, None)
            self._asked[call.call] = _Asked(input=call.input, before=before)
            if len(self._asked) > _MOST_ASKED:
                del self._asked[next(iter(self._asked))]
        try:
            from .subjects import subject_of  # noqa: PLC0415 - as in _ruling

            subject = subject_of(call, self._agent, self._root, before)
        except Exception as error:
            ruling = _failed(error, call.title)
            unread = Subject(agent=self._agent, kind=call.kind, also="what could not be read")
            return Judgement(ruling=ruling, subject=unread, shown=call.title)
        return self.judge_subject(subject)

    def judge_subject(self, subject: Subject) -> Judgement:
        shown = _shown(subject)
        try:
            resolved = self._resolved(subject)
            ruling = self._ruling(resolved)
            offered = self._suggestions(resolved) if ruling.verdict is Verdict.ASK else ()
        except Exception as error:
            ruling = _failed(error, shown)
            offered = ()
        return Judgement(ruling=ruling, subject=subject, shown=shown, suggestions=offered)

    def ruling(self, subject: Subject) -> Ruling:
        """The ruling of `judge_subject` alone."""
        try:
            return self._ruling(self._resolved(subject))
        except Exception as error:
            return _failed(error, _shown(subject))

    def remember(self, suggestion: Suggestion, scope: Scope) -> None:
        for rule in suggestion.rules:
            named = msgspec.structs.replace(rule, agent=self._agent)
            if scope == "session":
                self._own.append(msgspec.structs.replace(named, scope=scope))
                continue
            self._book.add(named, scope)
            if self._above is not None:  # it was said to this session: it is not asked again
                self._own.append(msgspec.structs.replace(named, scope="session"))

    def _ruling(self, subject: Subject, *more: Rule) -> Ruling:
        """By all that holds here, and with `more` that a person would add."""
        ruling = self._alone(subject, more, self.mode)
        if self._above is None or ruling.verdict is Verdict.DENY:
            return ruling
        limit = self._above.policy._limit(
            self._above.seen(subject), (*self._own, *more), self.person_mode
        )
        return limit if _STRICTNESS[limit.verdict] > _STRICTNESS[ruling.verdict] else ruling

    def _limit(self, subject: Subject, given: Sequence[Rule], mode: Mode | None) -> Ruling:
        """What is allowed at most to a session that this one started, to which a person has given
        those rules and that mode."""
        try:
            ours = msgspec.structs.replace(subject, agent=self._agent)
            added = [msgspec.structs.replace(rule, agent=None) for rule in given]
            ruling = self._alone(self._resolved(ours), added, _wider(self.mode, mode))
            if self._above is not None and ruling.verdict is not Verdict.DENY:
                seen = self._above.seen(ours)
                limit = self._above.policy._limit(seen, (*self._own, *added), mode)
                if _STRICTNESS[limit.verdict] > _STRICTNESS[ruling.verdict]:
                    ruling = limit
        except Exception as error:
            ruling = _failed(error, _shown(subject))
        why = f"{ruling.why} (so it is for the agent that started this one)"
        return msgspec.structs.replace(ruling, why=why)

    def _alone(self, subject: Subject, more: Sequence[Rule], mode: Mode) -> Ruling:
        # Here, because knowing the shell takes 12 ms to load, and a server starts without asks.
        from .decide import decide  # noqa: PLC0415

        root = self._resolve(self._root, "/")
        rules = [*self._rules(), *more]
        ruling = decide(
            subject,
            rules,
            roots=(root,),
            protected=self._protected,
            mode=mode,
            resolve=self._resolve,
        )
        if ruling.verdict is Verdict.ALLOW and (doubt := self._doubt(subject, ruling, root, mode)):
            return Ruling(verdict=Verdict.ASK, why=f"asked: {doubt}")
        if ruling.verdict is Verdict.ALLOW and self._to_review(subject, mode):
            return Ruling(verdict=Verdict.ASK, why="asked: you review changes before they happen")
        return ruling

    def _to_review(self, subject: Subject, mode: Mode) -> bool:
        writes = subject.kind in _CHANGING or any(use.write for use in subject.paths)
        alone = subject.command is None
        return self._review_first and writes and alone and mode is not Mode.TRUST

    def _rules(self) -> list[Rule]:
        passed_on = self._above.rules if self._above else ()
        return [*self._own, *passed_on, *self._book.rules()]

    def _doubt(self, subject: Subject, ruling: Ruling, root: str, mode: Mode) -> str:
        """Rules are about commands, files and hosts: more than that needs a person."""
        if subject.also and not self._trusts_blindly(mode):
            return f"it wants more than that: {one_line(subject.also)}"
        if subject.unproven and ruling.rule is None and mode is not Mode.TRUST:
            return subject.unproven
        if subject.command is None:
            return ""
        from .paths import inside  # noqa: PLC0415 - as in _ruling

        if inside(subject.cwd, root) and "/." in subject.cwd[len(root) :]:
            return "it runs in a hidden folder"
        if ruling.rule is None or ruling.rule.command is None:
            return ""  # all commands are allowed, whatever they write to
        from .reached import reached  # noqa: PLC0415 - as in _ruling

        return reached(subject, root, self._resolve, self._protected)

    def _trusts_blindly(self, mode: Mode) -> bool:
        """Everything is allowed, and no rule might say otherwise about what cannot be judged."""
        return mode is Mode.TRUST and all(rule.verdict is Verdict.ALLOW for rule in self._rules())

    def _suggestions(self, subject: Subject) -> tuple[Suggestion, ...]:
        """Only rules that would really have allowed it: nobody is asked again after "always"."""
        from .suggest import suggestions  # noqa: PLC0415 - as in _ruling

        return tuple(
            s
            for s in suggestions(subject, self._resolve(self._root, "/"))
            if self._ruling(subject, *s.rules).verdict is Verdict.ALLOW
        )

    def _resolved(self, subject: Subject) -> Subject:
        folder = self._resolve(subject.cwd or self._root, self._root)
        return msgspec.structs.replace(
            subject,
            cwd=folder,
            paths=tuple(PathUse(self._resolve(p.path, folder), p.write) for p in subject.paths),
        )


class _Above(Struct, frozen=True, kw_only=True):
    """What a session may do at most that another one has started."""

    policy: SessionPolicy
    rules: tuple[Rule, ...]
    moved: tuple[str, str] | None

    def seen(self, subject: Subject) -> Subject:
        """The same wish, in the folders of the other session."""
        if self.moved is None:
            return subject
        return msgspec.structs.replace(
            subject,
            cwd=self._place(subject.cwd),
            paths=tuple(PathUse(self._place(use.path), use.write) for use in subject.paths),
        )

    def _place(self, path: str) -> str:
        assert self.moved is not None, "asked for only then"
        copy, original = self.moved
        inside = path == copy or path.startswith(copy + "/")
        return original + path[len(copy) :] if inside else path


_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}
_WIDTH = {Mode.READ_ONLY: 0, Mode.ASK: 1, Mode.ACCEPT_EDITS: 2, Mode.TRUST: 3}


def _wider(mode: Mode, given: Mode | None) -> Mode:
    """The mode of a session, or a wider one that a person gave to one below it."""
    if given is None or mode is Mode.READ_ONLY:
        return mode
    return max(mode, given, key=lambda each: _WIDTH[each])


class _Asked(Struct, frozen=True):
    """What an ask said instead of what was said before."""

    input: Any
    before: ToolCall


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


def _failed(error: Exception, shown: str) -> Ruling:
    if isinstance(error, AgentlsError):
        return Ruling(verdict=Verdict.ASK, why=f"asked: {one_line(str(error))}")
    log.error("the policy failed for %s", shown, exc_info=error)
    return Ruling(verdict=Verdict.ASK, why="asked: it could not be judged; see the log")


def _shown(subject: Subject) -> str:
    if isinstance(subject.command, str):
        return subject.command
    if subject.command is not None:
        return shlex.join(subject.command)
    return ", ".join(p.path for p in subject.paths) or subject.host or subject.tool
