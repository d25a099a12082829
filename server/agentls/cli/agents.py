"""`agentls agents`: which agents there are, which are installed, how to install the others."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from agentls.agent.catalog import AgentSpec, Catalog, program, user_file_path

_NARROW = 72
_ABOUT = "List the agents that agentls knows: the built-in ones and those of your agents.toml."


def command(args: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("agentls agents", description=_ABOUT)
    parser.add_argument("--json", action="store_true", help="one JSON object with everything")
    wanted = parser.parse_args(args)
    path = user_file_path(os.environ)
    catalog = Catalog.load(path)
    if wanted.json:
        import msgspec

        found = {"agents": [_facts(spec) for spec in catalog], "problems": catalog.problems}
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
        return 0
    if sys.stdout.isatty():
        _print_table(catalog)
    else:
        _print_lines(catalog)
    for problem in catalog.problems:
        print(f"agentls: {problem}", file=sys.stderr)
    return 0


def _facts(spec: AgentSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "installed": Catalog.installed(spec),
        "program": program(spec),
        "command": spec.command,
        "install": spec.install,
        "login": spec.login,
        "homepage": spec.homepage,
        "source": spec.source,
    }


def _how(spec: AgentSpec) -> str:
    return spec.install or f"put {spec.command[0]} on your PATH"


def _print_lines(catalog: Catalog) -> None:
    names = max(len(spec.name) for spec in catalog)
    titles = max(len(spec.title) for spec in catalog)
    for spec in catalog:
        found = program(spec)
        state = f"installed: {found}" if found else f"missing: {_how(spec)}"
        print(f"{spec.name:<{names}}  {spec.title:<{titles}}  {state}")


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
        there = Catalog.installed(spec)
        mark = Text("✓ ", "green") if there else Text("· ", "dim")
        name = Text.assemble(mark, (spec.name, "bold" if there else "dim"))
        title = Text(spec.title, "" if there else "dim")
        how = Text(_beside(spec, default) if there else _how(spec), "dim")
        if narrow:
            console.print(Text.assemble(name, "  ", title), Padding(how, (0, 0, 0, 4)))
        else:
            table.add_row(name, title, how)
    if not narrow:
        console.print(table)
    console.print(Text('\nTalk to one with: agentls run --agent NAME "Your question"', "dim"))


def _beside(spec: AgentSpec, default: str) -> str:
    return "installed, and used when you name no other" if spec.name == default else "installed"
