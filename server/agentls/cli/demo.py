"""`agentls demo`: the demo agent at work in a copy of a small sample project."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_HELP = """\
usage: agentls demo

Shows what agentls does, without an account and without a network: the demo agent reads, mends and
tests a copy of a small project. In a terminal it asks you; without one, everything is allowed.
"""
_PROMPT = "Tour this project"


def command(args: Sequence[str]) -> int:
    if "--help" in args or "-h" in args:
        print(_HELP, end="")
        return 0
    if args:
        from .help import usage_error

        return usage_error("demo takes no arguments.")
    from agentls.demo.sample_project import copy_sample

    from .run import command as run

    with tempfile.TemporaryDirectory(prefix="agentls-demo-") as folder:
        project = Path(folder) / "sample"
        copy_sample(project)
        before = (project / "greet.py").read_text()
        asks = sys.stdin.isatty() and sys.stdout.isatty()
        how = "you are asked before anything happens" if asks else "everything it asks is allowed"
        print(f"The demo agent works in a copy of a sample project; {how}.\n", flush=True)
        answer = "ask" if asks else "allow"
        code = run(["--agent", "demo", "--cwd", str(project), "--answer", answer, _PROMPT])
        changed = (project / "greet.py").read_text() != before
        print(f"\ngreet.py {'was mended' if changed else 'is as it was'}; the copy is gone now.")
        print('Next: agentls agents, then agentls run --agent NAME "your prompt".')
    return code
