"""`agentls tools-bridge`: the tools of a session for an agent that starts MCP servers itself."""

from __future__ import annotations

from collections.abc import Sequence

_HELP = """\
usage: agentls tools-bridge

Carries MCP between an agent, on stdin and stdout, and the agentls that hosts it. agentls tells an
agent to start it; it is of no use by itself.
"""


def command(args: Sequence[str]) -> int:
    if "--help" in args or "-h" in args:
        print(_HELP, end="")
        return 0
    if args:
        from .help import usage_error

        return usage_error("tools-bridge takes no arguments.")
    from agentls.tools.bridge import main

    return main()
