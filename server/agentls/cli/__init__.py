"""The command line. What was typed decides which module is imported: nothing else is.

An editor that starts the server pays for no argument parser and no terminal library.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from .codes import INTERRUPTED, PIPE_CLOSED

COMMANDS = {
    "serve": "serve",
    "run": "run",
    "record": "record",
    "replay": "replay",
    "agents": "agents",
    "doctor": "doctor",
    "login": "login",
    "sessions": "sessions",
    "rules": "rules",
    "decisions": "decisions",
    "completion": "completion",
    "demo": "demo",
    "demo-agent": "demo_agent",
    "tools-bridge": "tools_bridge",
}
"""What a person types, and the module that does it with `command(args)`."""
SERVER_FLAGS = ("--stdio", "--clientProcessId")
"""Some editors add them to the command of every server."""


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say; the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0].startswith(SERVER_FLAGS):
        args = ["serve", *args]
    try:
        code = _command(args)
        sys.stdout.flush()
    except SystemExit as leaving:  # the way argparse ends
        return int(leaving.code or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return pipe_closed()
    return code


def pipe_closed() -> int:
    """Whoever read our output has seen enough: nothing is written there any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return PIPE_CLOSED


def _command(args: list[str]) -> int:
    name = COMMANDS.get(args[0])
    if name is None:
        from .help import top_level

        return top_level(args)
    return int(import_module(f"agentls.cli.{name}").command(args[1:]))
