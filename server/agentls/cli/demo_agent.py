"""`agentls demo-agent`: the agent that needs no account and no network, on stdin and stdout."""

from __future__ import annotations

from collections.abc import Sequence

_HELP = """\
usage: agentls demo-agent

An ACP agent on stdin and stdout for trying things out: it reads a file, proposes an edit and runs a
command, all for real. A program talks to it; to talk to it yourself:
  agentls run --agent demo "Tour this project"
"""


def command(args: Sequence[str]) -> int:
    if "--help" in args or "-h" in args:
        print(_HELP, end="")
        return 0
    if args:
        from .help import usage_error

        return usage_error("demo-agent takes no arguments.")
    from agentls.demo.agent import main

    return main()
