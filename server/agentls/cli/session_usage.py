"""`agentls sessions usage`: what agents used, by day."""

from __future__ import annotations

import argparse

from agentls.core.printable import one_line
from agentls.core.spending import DayUsage
from agentls.core.store import SessionStore

from .session_words import filter_of


def show_usage(store: SessionStore, wanted: argparse.Namespace) -> None:
    days = store.usage(filter_of(wanted))[: wanted.limit]
    if wanted.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(days)).decode())
    elif not days:
        print("No turn has ended in such sessions.")
    else:
        _print(days)


def _print(days: list[DayUsage]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, header_style="dim")
    for name in ("day", "agent", "turns", "tokens in", "tokens out", "cost"):
        table.add_column(
            name, no_wrap=True, justify="left" if name in {"day", "agent"} else "right"
        )
    for one in days:
        numbers = (one.turns, one.input_tokens, one.output_tokens)
        cost = f"{one.cost:.2f} {one.currency}".strip() if one.cost else ""
        table.add_row(
            one.day, one_line(one.agent), *(f"{n:,}" if n else "" for n in numbers), one_line(cost)
        )
    Console(highlight=False).print(table)
