"""`agentls agents`: which agents there are, which are installed, how to install the others."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentls.agent.catalog import Catalog, user_file_path
from agentls.agent.installed import installed_version
from agentls.agent.spec import AgentSpec, program
from agentls.core.printable import one_line

from .help import usage_error

_NARROW = 72
_ABOUT = """\
List the agents that agentls knows: the built-in ones, those of your agents.toml, and those of a
file in the format of the public ACP registry, if you have one. Nothing is downloaded.
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agentls agents", description=_ABOUT, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="one JSON object with everything")
    add_registry(parser)
    return parser


def add_registry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--registry",
        metavar="FILE",
        help='agents of this registry file; always, with registry = "/path" in agents.toml',
    )


def catalog_for(registry: str | None) -> Catalog:
    """All agents, with those of a registry file that was named on the command line."""
    path = Path(registry).expanduser().absolute() if registry else None
    return Catalog.load(user_file_path(os.environ), path)


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)
    if wanted.registry and not Path(wanted.registry).expanduser().is_file():
        return usage_error(f"There is no file {wanted.registry}.")
    catalog = catalog_for(wanted.registry)
    if wanted.json:
        import msgspec

        facts = [_facts(spec, catalog) for spec in catalog]
        found = {"agents": facts, "problems": catalog.problems}
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
        return 0
    if sys.stdout.isatty():
        _print_table(catalog)
    else:
        _print_lines(catalog)
    for problem in catalog.problems:
        print(f"agentls: {problem}", file=sys.stderr)
    return 0


def _facts(spec: AgentSpec, catalog: Catalog) -> dict[str, Any]:
    found = program(spec)
    return {
        "name": spec.name,
        "title": spec.title,
        "installed": found is not None,
        "program": found,
        "version": installed_version(spec, found) if found else "",
        "newest": catalog.newest.get(spec.name, ""),
        "command": spec.command,
        "install": spec.install,
        "login": spec.login,
        "homepage": spec.homepage,
        "source": spec.source,
    }


def _how(spec: AgentSpec) -> str:
    return one_line(spec.install) or f"put {spec.command[0]} on your PATH"


def _version(spec: AgentSpec, found: str, catalog: Catalog) -> str:
    """The version that is installed, and the newest if that is another one."""
    have, newest = installed_version(spec, found), catalog.newest.get(spec.name, "")
    if newest and have and newest != have:
        return f"{have} (newest {newest})"
    return have


def _print_lines(catalog: Catalog) -> None:
    names = max(len(spec.name) for spec in catalog)
    titles = max(len(one_line(spec.title)) for spec in catalog)
    for spec in catalog:
        found = program(spec)
        if found:
            state = f"installed: {found}  {_version(spec, found, catalog)}".rstrip()
        else:
            state = f"missing: {_how(spec)}"
        print(f"{spec.name:<{names}}  {one_line(spec.title):<{titles}}  {state}")


def _print_table(catalog: Catalog) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    narrow = console.width < _NARROW
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    default = catalog.default(None).name
    for spec in catalog:
        there = program(spec)
        mark = Text("✓ ", "green") if there else Text("· ", "dim")
        name = Text.assemble(mark, (spec.name, "bold" if there else "dim"))
        title = Text(one_line(spec.title), "" if there else "dim")
        how = Text(_beside(spec, there, catalog, default) if there else _how(spec), "dim")
        if narrow:
            console.print(Text.assemble(name, "  ", title), Padding(how, (0, 0, 0, 4)))
        else:
            table.add_row(name, title, how)
    if not narrow:
        console.print(table)
    console.print(Text('\nTalk to one with: agentls run --agent NAME "Your question"', "dim"))
    console.print(Text("See whether they work with: agentls doctor", "dim"))


def _beside(spec: AgentSpec, found: str, catalog: Catalog, default: str) -> str:
    have = " ".join(word for word in ("installed", _version(spec, found, catalog)) if word)
    return f"{have}, and used when you name no other" if spec.name == default else have
