"""`agentls serve`: the language server on stdin and stdout."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import SERVER_FLAGS
from .codes import USAGE

_HELP = """\
usage: agentls [serve] [--stdio]

The language server on stdin and stdout. An editor starts it; agentls --help shows how
to tell yours.
It logs to a file in your state folder; AGENTLS_LOG=debug, info or warning says how much.
"""
_TERMINAL = """\
agentls: an editor starts this and talks to it; there is nothing to type here.
See agentls --help: how to set up your editor, and how to talk to an agent here.
"""


def command(args: Sequence[str]) -> int:
    if "--help" in args or "-h" in args:
        print(_HELP, end="")
        return 0
    for arg in args:
        if not arg.startswith(SERVER_FLAGS):
            from .help import usage_error

            return usage_error(f"serve does not know {arg!r}; agentls serve --help says more.")
    if sys.stdin.isatty():
        sys.stderr.write(_TERMINAL)
        return USAGE
    import asyncio

    from agentls import log
    from agentls.serving import serve

    log.setup(0, to_file=True)
    return asyncio.run(serve())
