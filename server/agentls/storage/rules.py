"""The rule files: the user's, the project's (both in the user's configuration), the repository's.

Invariant: a mistake in a file never widens anything. While a file cannot be read, none of its
allow rules count, and the rules that deny or ask which it had last stay in force.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from agentls.core.errors import SettingsError
from agentls.core.policy.rules import Rule, Scope, same
from agentls.core.policy.verdicts import Verdict

from .files import Signature, locked, read_text, replace_text, signature
from .rule_file import with_rule, without_table
from .rule_reading import Origin, Reading, in_force, prepared, read_rules, table_of

_ABOUT = """\
# What agents may do{about}. agentls reads this again when it changes.
# verdict = "allow", "ask" or "deny": deny beats ask, ask beats allow.
# The other keys say what it is about: command, path, kind, host, tool, agent, project.
"""


class RuleBook:
    """The rules for some workspace roots, as they are written at this moment."""

    def __init__(
        self, config: Path, roots: Sequence[str] = (), *, only: Path | None = None
    ) -> None:
        """`only` is read instead of the files in the configuration folder."""
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._user = _RuleFile(only or config / "rules.toml", "user")
        self._projects = [
            _RuleFile(project_file(config, root), "project", root)
            for root in self._roots
            if only is None
        ]
        repositories = [
            _RuleFile(Path(root, ".agentls", "rules.toml"), "repository", root)
            for root in self._roots
        ]
        self._files = [self._user, *self._projects, *repositories]
        self._rules: list[Rule] = []

    def rules(self) -> list[Rule]:
        """All rules that are in force; a file that has changed is read again."""
        changed = [file for file in self._files if file.refresh()]
        if changed:
            written = [rule for file in self._files for rule in file.rules]
            self._rules = in_force(written, self._roots)
        return self._rules.copy()

    def problems(self) -> list[str]:
        """What is wrong with the files, a sentence each."""
        self.rules()
        return [problem for file in self._files for problem in file.problems]

    def add(self, rule: Rule, scope: Scope) -> Rule:
        """Write a rule down, unless it is written already. Raises `SettingsError`."""
        if scope == "user":
            return self._user.add(rule)
        if scope != "project":
            raise SettingsError(f"A rule of the scope {scope!r} is not kept in a file.")
        root = None if rule.project is None else os.path.realpath(rule.project)
        for file in self._projects:
            if root in {None, file.origin.root}:
                return file.add(rule)
        raise SettingsError(
            "The rule is for a project that is not open.", hint="Open the folder of the project."
        )

    def remove(self, rule: Rule) -> None:
        """Take a rule out of its file. Raises `SettingsError`."""
        for file in (self._user, *self._projects):
            if file.origin.source == rule.source:
                file.remove(rule)
                return
        raise SettingsError(
            f"The rule `{rule.source}`, line {rule.line} is not one of yours.",
            hint="Change that file by hand.",
        )


def project_file(config: Path, root: str) -> Path:
    """Where the user's rules for one project are: never inside the project."""
    from hashlib import sha256  # noqa: PLC0415 - only when a session begins

    real = os.path.realpath(root)
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(real).name).strip(".-")[:40]
    digest = sha256(os.fsencode(real)).hexdigest()[:16]
    return config / "projects" / f"{readable or 'root'}-{digest}.toml"


class _RuleFile:
    """One file, and the rules that are in force because of it."""

    def __init__(self, path: Path, scope: Scope, root: str = "") -> None:
        self._path = path
        self.origin = Origin(os.fsencode(path).decode("utf-8", "replace"), scope, root)
        self.rules: list[Rule] = []
        self.problems: list[str] = []
        self._signature: Signature | None = ()

    def refresh(self) -> bool:
        """Read the file if it has changed; whether it had."""
        try:
            found = signature(self._path)
            if found == self._signature:
                return False
            self._signature = found
            if found is None:
                self.rules, self.problems = [], []
            else:
                text, self._signature = read_text(self._path)
                self._take(read_rules(text, self.origin))
        except OSError as error:
            self._give_up(error.strerror or "it cannot be opened")
        except ValueError as error:
            self._give_up(str(error))
        return True

    def _take(self, reading: Reading) -> None:
        rules = [rule for _, rule in reading.entries]
        if reading.mistake is not None:
            rules = self._tightening() + [rule for rule in rules if rule not in self.rules]
        self.rules, self.problems = rules, reading.problems

    def _give_up(self, reason: str) -> None:
        self.rules = self._tightening()
        say = f"make this file readable, until then no rule of it allows anything: {reason}"
        self.problems = [f"{self.origin.source}:1:1: {say}."]

    def _tightening(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.verdict is not Verdict.ALLOW]

    def add(self, rule: Rule) -> Rule:
        values = table_of(rule, self.origin)
        rule = prepared(rule, self.origin)
        self._check(values, rule)
        with locked(self._path.parent):
            text, reading = self._now()
            if (there := _find(reading, rule)) is not None:
                return there
            text = with_rule(text or self._beginning(), values, self.origin.source)
            self._write(text)
        added = _find(read_rules(text, self.origin), rule)
        assert added is not None
        return added

    def remove(self, rule: Rule) -> None:
        with locked(self._path.parent):
            text, reading = self._now()
            found = [(t, r) for t, r in reading.entries if same(r, rule)]
            found.sort(key=lambda entry: entry[0].line != rule.line)
            if not found:
                raise SettingsError(f"{self.origin.source} has no such rule any more.")
            self._write(without_table(text, found[0][0], self.origin.source))

    def _check(self, values: dict[str, str], rule: Rule) -> None:
        """Never write what would not be read back."""
        reading = read_rules(with_rule("", values, self.origin.source), self.origin)
        if _find(reading, rule) is None:
            why = reading.problems[0].split(": ", 1)[1] if reading.problems else "it is not valid."
            raise SettingsError(f"The rule cannot be written: {why}")

    def _now(self) -> tuple[str, Reading]:
        """What the file says while nobody else changes it."""
        try:
            text = read_text(self._path)[0]
        except FileNotFoundError:
            text = ""
        except (OSError, ValueError) as error:
            raise SettingsError(f"{self.origin.source} cannot be read: {error}.") from None
        reading = read_rules(text, self.origin)
        if reading.mistake is not None:
            raise SettingsError(reading.problems[0])
        return text, reading

    def _write(self, text: str) -> None:
        try:
            replace_text(self._path, text)
        except OSError as error:
            raise SettingsError(
                f"{self.origin.source} cannot be written: {error.strerror}."
            ) from None

    def _beginning(self) -> str:
        root = self.origin.root
        return _ABOUT.format(about=f" in {root!r}" if root else "")


def _find(reading: Reading, rule: Rule) -> Rule | None:
    return next((found for _, found in reading.entries if same(found, rule)), None)
