"""`agentls rules`: what agents may do without asking. List, add, remove and explain the rules."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agentls.core.errors import AgentlsError, BadRequest
from agentls.core.policy.rules import FIELDS, Rule, what
from agentls.core.policy.verdicts import Verdict
from agentls.storage.paths import config_folder
from agentls.storage.rules import RuleBook

from .codes import DONE, USAGE
from .explain import ABOUT as EXPLAIN
from .explain import explain, rule_facts

_ABOUT = """\
What agents may do without asking you, for every agent and in every editor. Your rules are in
{file}; a repository's own .agentls/rules.toml may only deny or ask.
Deny beats ask, ask beats allow.
"""
_EXAMPLES = """\
examples:
  agentls rules add --command "git status"
  agentls rules add --verdict deny --path "secrets/**"
  agentls rules add --project . --kind edit --path "docs/**" --agent claude
  agentls rules remove 2
  agentls rules explain "git log --oneline | head"
"""
_HELP = {
    "kind": "what is done: read, edit, delete, move, search, execute, fetch, ...",
    "command": "the first words of a command; further words are covered, risky options are not",
    "path": "a file, relative to the project or absolute; * and ** as usual",
    "host": "a host name; *.example.org for all below",
    "tool": "the name of an MCP tool; * as usual",
    "agent": "only for this agent",
}


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)
    try:
        wanted.do(wanted)
    except AgentlsError as error:
        print(f"agentls: {error}", file=sys.stderr)
        return USAGE
    return DONE


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "agentls rules",
        description=_ABOUT.format(file=config_folder(os.environ) / "rules.toml"),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(required=True, metavar="list|add|remove|explain")

    listing = actions.add_parser("list", help="the rules that hold here", allow_abbrev=False)
    listing.add_argument("--json", action="store_true", help="one JSON object with everything")
    _add_root(listing)
    listing.set_defaults(do=_list)

    adding = actions.add_parser("add", help="write a rule down", allow_abbrev=False)
    adding.add_argument("--verdict", choices=list(Verdict), default=Verdict.ALLOW)
    adding.add_argument("--project", metavar="DIR", help="only in this project")
    _add_fields(adding)
    adding.set_defaults(do=_add)

    removing = actions.add_parser("remove", help="take a rule away", allow_abbrev=False)
    removing.add_argument("number", nargs="?", type=int, help="the number that list shows")
    removing.add_argument("--verdict", choices=list(Verdict))
    removing.add_argument("--project", metavar="DIR", help="the project it is for")
    _add_fields(removing)
    _add_root(removing)
    removing.set_defaults(do=_remove)

    explaining = actions.add_parser(
        "explain",
        help="what would be decided, and why",
        description=EXPLAIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = explaining.add_argument
    add("--rules", metavar="FILE", help="use this file instead of your own rules")
    add("--json", action="store_true", help="one JSON object")
    add("--jsonl", action="store_true", help="read one JSON object a line from stdin")
    add("--agent", default="", metavar="NAME", help="as if this agent wanted to do it")
    _add_root(explaining)
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="options come before it")
    explaining.set_defaults(do=explain)
    return parser


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", default=".", metavar="DIR", help="the project; this folder")


def _add_fields(parser: argparse.ArgumentParser) -> None:
    for key, text in _HELP.items():
        parser.add_argument(f"--{key}", metavar=key.upper(), help=text)


def _book(root: str) -> RuleBook:
    if not Path(root).is_dir():
        raise BadRequest(f"There is no folder {root}.", hint="Name one that exists.")
    return RuleBook(config_folder(os.environ), (root,))


def _written(book: RuleBook) -> list[Rule]:
    """The rules as they are in the files: one that counts for two places is written once."""
    return list({(rule.source, rule.line): rule for rule in reversed(book.rules())}.values())[::-1]


def _list(wanted: argparse.Namespace) -> None:
    book = _book(wanted.root)
    rules = _written(book)
    if wanted.json:
        import msgspec

        facts = [{"number": n, **rule_facts(rule)} for n, rule in enumerate(rules, 1)]
        found = {"rules": facts, "problems": book.problems()}
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
        return
    rows = [
        (str(n), rule.verdict.value, what(rule), rule.scope, f"{rule.source}:{rule.line}")
        for n, rule in enumerate(rules, 1)
    ]
    if not rows:
        print('There are no rules. Add one as in: agentls rules add --command "git status"')
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    for problem in book.problems():
        print(f"agentls: {problem}", file=sys.stderr)


def _fields(wanted: argparse.Namespace) -> dict[str, str]:
    given = {key: getattr(wanted, key) for key in FIELDS}
    if given["project"] is not None:
        given["project"] = os.path.realpath(given["project"])
    return {key: value for key, value in given.items() if value is not None}


def _add(wanted: argparse.Namespace) -> None:
    book = _book(wanted.project or ".")
    rule = Rule(verdict=Verdict(wanted.verdict), **_fields(wanted))  # type: ignore[arg-type]
    added = book.add(rule, "project" if wanted.project else "user")
    print(f"{added.verdict.value} {what(added)}\n  {added.source}:{added.line}")


def _remove(wanted: argparse.Namespace) -> None:
    book = _book(wanted.project or wanted.root)
    rules = _written(book)
    given = _fields(wanted)
    if (wanted.number is None) == (not given and wanted.verdict is None):
        raise BadRequest("Name a rule by its number or by what it says.", hint="See rules list.")
    if wanted.number is not None:
        found = rules[wanted.number - 1 : wanted.number] if wanted.number > 0 else []
    else:
        found = [rule for rule in rules if _says(rule, given, wanted.verdict)]
    if len(found) != 1:
        numbers = ", ".join(str(rules.index(rule) + 1) for rule in found)
        many = f"The rules {numbers} say that." if found else "There is no such rule."
        raise BadRequest(many, hint="Name one by its number in: agentls rules list")
    book.remove(found[0])
    print(f"removed: {found[0].verdict.value} {what(found[0])}")


def _says(rule: Rule, given: dict[str, str], verdict: str | None) -> bool:
    """Whether a rule says this and nothing else. Only a project's file implies its project."""
    says = {key: value for key in FIELDS if (value := getattr(rule, key)) is not None}
    if "project" not in given and rule.scope == "project":
        del says["project"]
    return says == given and verdict in {None, rule.verdict.value}
