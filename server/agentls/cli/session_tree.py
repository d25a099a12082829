"""`agentls sessions tree`: which sessions started which."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from agentls.core.printable import one_line
from agentls.core.store import Cursor, Filter, SessionStore, SessionSummary

from .session_words import filter_of, named, state_words, title_words, when

_PAGE = 1000
_BRANCHES = ("├─ ", "└─ ")
_GAPS = ("│  ", "   ")

Below = dict[str, list[SessionSummary]]


def show_tree(store: SessionStore, wanted: argparse.Namespace) -> None:
    below, found = _families(store, filter_of(wanted))
    if wanted.id:
        tops: list[SessionSummary] = [named(store, wanted.id)]
    else:
        known = {summary.id for summary in found}
        tops = [s for s in found if below.get(s.id) and s.orchestrator not in known]
    tops = tops[: wanted.limit]
    if wanted.json:
        import msgspec

        facts = [_facts(top, below) for top in tops]
        print(msgspec.json.format(msgspec.json.encode(facts)).decode("utf-8", "replace"))
    elif not tops:
        print("No agent has started another one.")
    for top in tops if not wanted.json else ():
        print(_line(top))
        for line in _lines(top, below):
            print(line)


def _families(store: SessionStore, wanted: Filter) -> tuple[Below, list[SessionSummary]]:
    """The sessions below each, oldest first, and all of them, newest first."""
    found: list[SessionSummary] = []
    after: Cursor | None = None
    while page := store.summaries(wanted, limit=_PAGE, after=after):
        found += page
        after = Cursor(page[-1].active, page[-1].id)
    below: Below = {}
    for summary in sorted(found, key=lambda summary: summary.created):
        if summary.orchestrator:
            below.setdefault(summary.orchestrator, []).append(summary)
    return below, found


def _lines(top: SessionSummary, below: Below) -> Iterator[str]:
    children: Sequence[SessionSummary] = below.get(top.id, ())
    for number, child in enumerate(children, 1):
        last = number == len(children)
        yield _BRANCHES[last] + _line(child)
        yield from (_GAPS[last] + line for line in _lines(child, below))


def _line(summary: SessionSummary) -> str:
    name = f"{one_line(summary.member)}: " if summary.member else ""
    return (
        f"{name}{title_words(summary)}  ({summary.id}, {one_line(summary.agent)},"
        f" {state_words(summary)}, {when(summary.active)})"
    )


def _facts(summary: SessionSummary, below: Below) -> dict[str, Any]:
    import msgspec

    facts: dict[str, Any] = msgspec.to_builtins(summary)
    facts["children"] = [_facts(child, below) for child in below.get(summary.id, ())]
    return facts
