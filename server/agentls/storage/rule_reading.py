"""Tables of a rule file to rules, with a sentence for each thing that is wrong.

Invariant: a mistake never widens anything. An allow rule with anything wrong in it is left out;
what denies or asks stays in force as far as it can be understood, and one that cannot be
understood in part asks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agentls.core.policy.paths import literal_glob
from agentls.core.policy.rules import FIELDS, Rule, Scope, flaw, misfit, remark, what
from agentls.core.policy.verdicts import Verdict

from .rule_file import Mistake, Table, read

KEYS: Final = ("verdict", *FIELDS)
_VERDICTS: Final = {verdict.value: verdict for verdict in Verdict}


class Origin(Struct, frozen=True):
    """Which file it is."""

    source: str
    scope: Scope
    root: str = ""
    """The project it is for, if it is for one."""


class Reading(Struct):
    """What a file says."""

    entries: list[tuple[Table, Rule]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    mistake: Mistake | None = None
    """It is not valid TOML; the entries are what could be saved of it."""


def read_rules(text: str, origin: Origin) -> Reading:
    tables, mistake = read(text)
    reading = Reading(mistake=mistake)
    if mistake is not None:
        reading.problems.append(
            f"{origin.source}:{mistake.line}:{mistake.column}: correct the TOML here, until then"
            f" no rule of this file allows anything: {mistake.text}."
        )
    for table in tables:
        reader = _TableReader(table, origin)
        if (rule := reader.rule()) is not None:
            reading.entries.append((table, rule))
        if mistake is None:
            reading.problems += reader.problems
    return reading


class _TableReader:
    """Reads one table."""

    def __init__(self, table: Table, origin: Origin) -> None:
        self._table = table
        self._origin = origin
        self._wrong: list[tuple[str, str]] = []
        self._odd: list[tuple[str, str]] = []

    @property
    def problems(self) -> list[str]:
        places = [(self._table.place(key), text) for key, text in self._wrong + self._odd]
        return [f"{self._origin.source}:{at[0]}:{at[1]}: {text}." for at, text in sorted(places)]

    def rule(self) -> Rule | None:
        """The rule; None when it is left out."""
        rule = self._rule()
        left_out = "it is left out" if rule is None else f"it counts as {_described(rule)}"
        self._wrong = [(key, f"{text}; until then {left_out}") for key, text in self._wrong]
        return rule

    def _rule(self) -> Rule | None:
        table, verdict = self._table, _VERDICTS.get(str(self._table.values.get("verdict")))
        if table.name != "rule" and "verdict" not in table.values:
            self._wrong.append(("", f"{table.name} is not known here, write [[rule]]"))
            return None
        if verdict is None:
            self._wrong.append(("verdict", 'verdict must be "allow", "ask" or "deny"'))
        elif verdict is Verdict.ALLOW and self._origin.scope == "repository":
            self._odd.append(("verdict", "a repository may only deny or ask, this rule is ignored"))
            return None
        if not table.whole:
            self._wrong.append(("", "write this rule as a [[rule]] table"))
        good = self._good_fields()
        if verdict is Verdict.ALLOW:
            return None if self._wrong else self._allowing(good)
        return self._tightening(good, verdict)

    def _good_fields(self) -> dict[str, str]:
        good = {}
        for key, value in self._table.values.items():
            if key in FIELDS:
                if wrong := self._flaw(key, value):
                    self._wrong.append((key, f"{key} {wrong}"))
                else:
                    good[key] = str(value)
            elif key not in KEYS:
                self._wrong.append((key, f"{_quoted(key)} is not a key of a rule, {_meant(key)}"))
        return good

    def _flaw(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            return 'must be text, as in "text"'
        if wrong := flaw(key, value):
            return wrong
        if key == "project" and self._origin.root:
            same = _real(value) == self._origin.root
            return "" if same else "is not the project of this file, remove it"
        if odd := remark(key, value):
            self._odd.append((key, f"{key} {odd}"))
        return ""

    def _allowing(self, good: dict[str, str]) -> Rule | None:
        rule = self._made(Verdict.ALLOW, good)
        if wrong := misfit(rule):
            self._wrong.append(("", f"this rule {wrong}"))
            return None
        return rule

    def _tightening(self, good: dict[str, str], verdict: Verdict | None) -> Rule | None:
        values = self._table.values
        unusable = verdict is None or any(key in FIELDS and key not in good for key in values)
        unknown = any(key not in KEYS for key in values)
        if unusable and not good:
            return None
        # What it is meant to stop is not quite known: all that it may be is asked about.
        if verdict is None or unusable or (unknown and not good):
            verdict = Verdict.ASK
        rule = self._made(verdict, good)
        if wrong := misfit(rule):
            self._wrong.append(("", f"this rule {wrong}"))
        return rule

    def _made(self, verdict: Verdict, good: dict[str, str]) -> Rule:
        rule = Rule(verdict=verdict, line=self._table.line, **good)  # type: ignore[arg-type]
        return prepared(rule, self._origin)


def _described(rule: Rule) -> str:
    return f"{rule.verdict.value} {what(rule)}"


def _quoted(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else repr(key)


def _meant(key: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    meant = next(iter(get_close_matches(key, KEYS, n=1)), "")
    return f"did you mean {meant}" if meant else f"known are {', '.join(KEYS)}"


# --- between a rule and what is written


def prepared(rule: Rule, origin: Origin) -> Rule:
    """A rule as it is when it is read from this file, but for its line."""
    path, project = rule.path, rule.project
    if path is not None and path.startswith("~/"):
        path = literal_glob(_real("~")) + path[1:]
    if origin.root:
        project = origin.root
    elif project is not None:
        project = _real(project)
    return replace(rule, path=path, project=project, scope=origin.scope, source=origin.source)


def _real(path: str) -> str:
    return os.path.realpath(Path(path).expanduser())


def table_of(rule: Rule, origin: Origin) -> dict[str, str]:
    """What is written for a rule. Which project it is for, the file of a project says itself."""
    left_out = {"project"} if origin.root else set()
    given = {key: getattr(rule, key) for key in KEYS if key not in left_out}
    return {key: str(value) for key, value in given.items() if value is not None}


def in_force(rules: Iterable[Rule], roots: Sequence[str]) -> list[Rule]:
    """The rules; one that tightens counts for the place that a link leads to as well."""
    found = []
    for rule in rules:
        found.append(rule)
        if rule.verdict is not Verdict.ALLOW and rule.path is not None:
            anchors = roots if rule.project is None else [rule.project]
            found += [replace(rule, path=real) for real in _real_globs(rule.path, anchors)]
    return found


def _real_globs(glob: str, anchors: Sequence[str]) -> set[str]:
    """A glob with the links in its beginning followed, where there are any."""
    literal = re.match(r"[^*?[]*(?=/|\Z)", glob)
    start = literal[0] if literal else ""
    starts = [start] if glob.startswith("/") else [f"{anchor}/{start}" for anchor in anchors]
    rest = glob[len(start) :]
    real = {os.path.realpath(start): start.rstrip("/") for start in starts if start}
    return {literal_glob(to) + rest for to, start in real.items() if to != start}
