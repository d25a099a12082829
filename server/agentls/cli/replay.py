"""`agentls replay`: a recording played as if it were an agent, on stdin and stdout."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

_ABOUT = """\
Play a recording as if it were an agent, on stdin and stdout. A program talks to it; to talk to it
yourself, make it an agent in agents.toml: command = ["agentls", "replay", "/path/to/FILE"]
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "agentls replay", description=_ABOUT, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", metavar="FILE", help="what agentls record has saved")
    parser.add_argument(
        "--segment", type=int, default=0, metavar="K", help="which start of the agent; the first: 0"
    )
    return parser


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)
    from agentls.agent.replay import main

    return main([wanted.file, "--segment", str(wanted.segment)])
