"""`agentls decisions`: what was allowed and rejected, by whom, and when."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence

from agentls.core.printable import one_line

from .codes import DONE

_ABOUT = "What agents asked for lately, what was decided, and who or what decided it; newest first."


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agentls decisions", description=_ABOUT)
    parser.add_argument("--last", type=int, default=20, metavar="N", help="how many (20)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)

    import msgspec

    from agentls.storage.audit import decisions
    from agentls.storage.paths import database_file

    rows = list(decisions(database_file(os.environ), max(0, wanted.last)))
    if wanted.json:
        for row in rows:
            print(msgspec.json.encode(row).decode())
        return DONE
    if not rows:
        print("No agent has asked for anything yet.")
    for row in rows:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.at))
        verdict = "allowed " if row.allowed else "rejected"
        what = one_line(row.shown or row.title)
        print(f"{when}  {verdict}  {row.agent}: {what}  ({one_line(row.by)})")
    return DONE
