"""A change to a file as lines that a person can read: numbered, with little around it."""

from __future__ import annotations

import re
from functools import lru_cache

from agentls.core.markdown import unified_diff
from agentls.core.model import Diff
from agentls.core.printable import printable

_CONTEXT = 2
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
_STYLES = {"+": "added", "-": "removed", " ": "dim"}


def diff_lines(diff: Diff, limit: int | None) -> list[tuple[str, str, str]]:
    """(lead, text, style) of each line; beyond `limit` lines only their number is told."""
    width = len(str(max(1, diff.new.count("\n"), (diff.old or "").count("\n"))))
    found: list[tuple[str, str, str]] = []
    old = new = 0
    for line in _unified(diff)[2:]:
        if at := _HUNK.match(line):
            old, new = int(at[1]), int(at[2])
            if found:
                found.append((f"  {'':>{width}} ", "⋯", "dim"))
            continue
        sign, text = line[0], printable(line[1:]).expandtabs(4)
        if sign == "\\":
            found.append((f"  {'':>{width}} ", line, "dim"))
            continue
        number = str(old if sign == "-" else new)
        found.append((f"  {number:>{width}} ", f"{sign} {text}", _STYLES[sign]))
        old += sign in "- "
        new += sign in "+ "
    if limit is not None and len(found) > limit:
        more = len(found) - limit
        found[limit:] = [(f"  {'':>{width}} ", f"… {more:,} more line{'s' * (more > 1)}", "dim")]
    return found


def change_counts(diff: Diff) -> tuple[int, int]:
    """How many lines were added and removed."""
    signs = [line[0] for line in _unified(diff)[2:] if not line.startswith("@@")]
    return signs.count("+"), signs.count("-")


@lru_cache(maxsize=8)
def _unified(diff: Diff) -> list[str]:
    return unified_diff(diff, _CONTEXT)
