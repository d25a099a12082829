"""The decision: what an agent may do, by the rules, the mode of the session and built-in caution.

Invariants: deny beats ask beats allow, in whatever order the rules come. What is not clearly
allowed is asked. No rule and no mode allows writing to a protected place or reading a secret one.
Pure: whoever does IO resolves the paths, and lends `resolve` for those that a shell line names.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import paths as places
from .case import READING, WRITING, Case, Resolve, shown
from .paths import Located
from .rules import Mode, Rule, host_matches, named, says_what, specificity, tool_matches, words
from .shell import SimpleCommand, covers, objection
from .verdicts import Ruling, Subject, Verdict


def decide(
    subject: Subject,
    rules: Sequence[Rule],
    *,
    roots: Sequence[str],
    protected: Sequence[str],
    mode: Mode,
    resolve: Resolve | None = None,
) -> Ruling:
    """What is to be done about a subject. Without `resolve` no redirection to a file is allowed."""
    case = Case(subject, roots=roots, protected=protected, resolve=resolve)
    allowing, tightening = case.concerned(rules)
    touched = [rule for rule in tightening if case.touched(rule)]
    if denying := [rule for rule in touched if rule.verdict is Verdict.DENY]:
        return _by(Verdict.DENY, "denied by", denying)
    if mode is Mode.READ_ONLY and not case.only_reads:
        return Ruling(verdict=Verdict.DENY, why="denied: this session may only read")
    if touched:
        return _by(Verdict.ASK, "asked because of", touched)
    if caution := case.caution():
        return _asked(caution)
    if case.unclear and any(rule.command or rule.path or rule.host for rule in tightening):
        return _asked(f"{case.unclear}, so the rules that deny or ask cannot be excluded")
    if case.opaque and any(rule.command for rule in tightening):
        named_ones = [rule for rule in allowing if rule.command]
        ruling = _command(case, named_ones, Mode.ASK)
        unseen = f"{case.opaque[0]}, so the rules that deny or ask cannot be excluded"
        return ruling if ruling.verdict is Verdict.ALLOW else _asked(unseen)
    if mode is Mode.TRUST:
        return _allowed("everything is trusted in this session")
    return (_command if case.is_command else _parts)(case, allowing, mode)


def _asked(why: str) -> Ruling:
    return Ruling(verdict=Verdict.ASK, why=f"asked: {why}")


def _allowed(why: str) -> Ruling:
    return Ruling(verdict=Verdict.ALLOW, why=f"allowed: {why}")


def _by(verdict: Verdict, lead: str, rules: Sequence[Rule]) -> Ruling:
    rule = _most_specific(rules)
    return Ruling(verdict=verdict, why=f"{lead} the rule {named(rule)}", rule=rule)


def _most_specific(rules: Sequence[Rule]) -> Rule:
    if len(rules) == 1:
        return rules[0]
    return max(rules, key=lambda rule: (specificity(rule), rule.source, -rule.line))


def _allowed_by(rules: Sequence[Rule]) -> Ruling:
    """Allowed by all of these together."""
    if len(rules) == 1:
        return _by(Verdict.ALLOW, "allowed by", rules)
    names = [named(rule) for rule in rules[:3]]
    if len(rules) > 3:
        names.append(f"{len(rules) - 3} more")
    why = f"allowed by the rules {', '.join(names[:-1])} and {names[-1]}"
    return Ruling(verdict=Verdict.ALLOW, why=why, rule=rules[0])


# --- commands


def _command(case: Case, rules: list[Rule], mode: Mode) -> Ruling:
    """A command is allowed when every simple command and every redirection in it is."""
    for_commands = [rule for rule in rules if _is_for_commands(rule, case)]
    if any_command := [rule for rule in for_commands if rule.command is None]:
        return _by(Verdict.ALLOW, "allowed by", any_command)
    if case.unclear:
        return _asked(case.unclear)
    cwd = case.subject.cwd
    if cwd and not places.inside_any(cwd, case.roots):
        return _asked(f"it runs in {shown(cwd)}, which is outside the workspace")
    used: dict[Rule, None] = {}
    for command in case.commands:
        by = [rule for rule in for_commands if _covers(rule, command)]
        if not by:
            return _asked(_not_covered(command, for_commands))
        used[_most_specific(by)] = None
    for use in case.redirects:
        ruling = _use(case, use, "edit" if use.write else "read", rules, mode)
        if ruling.verdict is not Verdict.ALLOW:
            return ruling
    return _allowed_by(list(used))


def _is_for_commands(rule: Rule, case: Case) -> bool:
    """A rule for commands says `command`, or that it is for anything that is executed."""
    if rule.path is not None or (rule.command is None and rule.kind != "execute"):
        return False
    if rule.kind not in {None, "execute"} or not _meets(rule, case):
        return False
    if rule.host is not None and not host_matches(rule.host, case.subject.host, generous=False):
        return False
    cwd = case.subject.cwd
    return rule.project is None or not cwd or places.inside_any(cwd, case.anchors(rule))


def _meets(rule: Rule, case: Case) -> bool:
    """Whether a rule that allows is for this tool: one from outside has to be named."""
    if rule.tool is None:
        return not case.foreign_tool
    return tool_matches(rule.tool, case.subject.tool, generous=False)


def _covers(rule: Rule, command: SimpleCommand) -> bool:
    ours = words(rule.command or "")
    starts = ours[:1] in {command.words[:1], command.under[:1]}
    return bool(ours) and starts and covers(ours, command)


def _not_covered(command: SimpleCommand, rules: Sequence[Rule]) -> str:
    line = shown(" ".join(command.written or command.words))
    for rule in rules:
        ours = words(rule.command or "")
        if ours and command.words[: len(ours)] == ours:
            why = shown(objection(ours, command))
            return f"the rule {named(rule)} does not cover `{line}`: {why}"
    return f"no rule allows `{line}`"


# --- everything else


def _parts(case: Case, rules: list[Rule], mode: Mode) -> Ruling:
    """What is no command is allowed when each path and the host of it are."""
    subject = case.subject
    rules = [
        rule
        for rule in rules
        if rule.command is None and rule.kind in {None, subject.kind} and _meets(rule, case)
    ]
    rulings = [_use(case, use, subject.kind, rules, mode) for use in case.uses]
    if subject.host:
        rulings.append(_host(case, rules))
    if not rulings:
        rulings.append(_bare(case, rules))
    for ruling in rulings:
        if ruling.verdict is not Verdict.ALLOW:
            return ruling
    used = {ruling.rule: None for ruling in rulings if ruling.rule is not None}
    return _allowed_by(list(used)) if used else rulings[0]


def _use(case: Case, use: Located, kind: str, rules: Sequence[Rule], mode: Mode) -> Ruling:
    """A path that is read or written. Protected places were looked for before."""
    by = [rule for rule in rules if _allows_use(case, rule, use, kind)]
    if by:
        return _by(Verdict.ALLOW, "allowed by", by)
    path = shown(case.relative(use.path))
    does = f"it {'writes to' if use.write else 'reads'} {path}"
    if not places.inside_any(use.path, case.roots):
        return _asked(f"{does}, which is outside the workspace")
    if use.write and use.path in case.roots:
        return _asked(f"{does}, which is the workspace itself")
    if case.foreign_tool:
        return _asked(f"no rule allows the tool {shown(case.subject.tool)}")
    if not use.write and kind in READING:
        if name := case.protected_as(use):
            return _asked(f"{does}, which is protected ({name})")
        return _allowed("it only reads inside the workspace")
    if mode is Mode.ACCEPT_EDITS and use.write and kind == "edit":
        return _allowed("edits inside the workspace are accepted in this session")
    return _asked(f"no rule allows this: {does}")


def _allows_use(case: Case, rule: Rule, use: Located, kind: str) -> bool:
    if rule.command is not None or rule.host is not None or not _meets(rule, case):
        return False
    if rule.kind is None and rule.tool is None and kind not in READING | WRITING:
        return False
    if rule.kind is not None and (rule.kind != kind or (use.write and kind in READING)):
        return False
    anchors = case.anchors(rule)
    if rule.path is not None:
        return use.matches(rule.path, anchors)
    return says_what(rule) and _strictly_inside(use, anchors)


def _strictly_inside(use: Located, folders: Sequence[str]) -> bool:
    """Whoever writes to the folder itself moves or deletes it."""
    return places.inside_any(use.path, folders) and not (use.write and use.path in folders)


def _host(case: Case, rules: Sequence[Rule]) -> Ruling:
    host = case.subject.host
    by = [
        rule
        for rule in rules
        if rule.path is None
        and (
            host_matches(rule.host, host, generous=False)
            if rule.host is not None
            else rule.kind == "fetch" or rule.tool is not None
        )
    ]
    return _by(Verdict.ALLOW, "allowed by", by) if by else _asked(f"no rule allows {shown(host)}")


def _bare(case: Case, rules: Sequence[Rule]) -> Ruling:
    """All that is known is the kind and the tool."""
    subject = case.subject
    by = [rule for rule in rules if rule.path is None and rule.host is None and says_what(rule)]
    if by and (case.foreign_tool or subject.kind != "read"):
        return _by(Verdict.ALLOW, "allowed by", by)
    if case.foreign_tool:
        return _asked(f"no rule allows the tool {shown(subject.tool)}")
    if subject.kind == "think":
        return _allowed("it only thinks")
    if subject.kind == "search" and places.inside_any(subject.cwd, case.roots):
        return _allowed("it only searches inside the workspace")
    if subject.kind == "read":
        return _asked("it does not say which file it reads")
    return _asked(f"no rule allows the kind {shown(subject.kind)}")
