"""`agentls doctor`: does each agent start, shake hands and open a session; and if not, what to do.

Nothing of it is left: the agents are stopped, the sessions are deleted where the agent can, and the
folder that they were opened in was made for them.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from agentls.agent.catalog import Catalog
from agentls.agent.checkup import Finding, examine
from agentls.core.errors import UnknownAgent
from agentls.core.printable import one_line, printable

from .agents import add_registry, catalog_for
from .codes import BY_SIGNAL, DONE, FAILED
from .help import usage_error

_ABOUT = """\
Start each agent that is installed, or those that you name, and open a session in an empty folder:
no prompt is sent and nothing is spent. Shows how long it takes, what the agent can do, whether it
wants a login, and what to do. Ends with 1 when something is wrong.
"""
_SECONDS = 30.0
_UNBROKEN = 100_000


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agentls doctor", description=_ABOUT, allow_abbrev=False)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help="only these; else all installed")
    parser.add_argument("--json", action="store_true", help="one JSON object with everything")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=_SECONDS,
        metavar="S",
        help=f"how long an agent may take for each step ({_SECONDS:g})",
    )
    add_registry(parser)
    return parser


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)
    catalog = catalog_for(wanted.registry)
    try:
        names = [catalog.get(name).name for name in dict.fromkeys(wanted.agents)]
    except UnknownAgent as error:
        return usage_error(str(error))
    names = names or [spec.name for spec in catalog if catalog.installed(spec)]
    show = (lambda _: None) if wanted.json else _printer(max(map(len, names)))
    findings, stopped = asyncio.run(_examined(catalog, names, wanted.timeout, show))
    if wanted.json:
        _print_json(findings, catalog)
    for problem in [] if wanted.json else catalog.problems:
        print(f"agentls: {problem}", file=sys.stderr)
    if stopped:
        return BY_SIGNAL + stopped
    return DONE if all(f.ok for f in findings) and not catalog.problems else FAILED


async def _examined(
    catalog: Catalog, names: Sequence[str], seconds: float, show: Callable[[Finding], None]
) -> tuple[list[Finding], int]:
    """What was found, and the signal that ended it early."""
    findings: list[Finding] = []
    stopped = 0

    async def work() -> None:
        async for finding in examine(catalog, names, seconds):
            findings.append(finding)
            show(finding)

    task = asyncio.ensure_future(work())

    def stop(number: int) -> None:
        nonlocal stopped
        stopped = number
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop, number)
    with suppress(asyncio.CancelledError):
        await task
    return findings, stopped


def _print_json(findings: Sequence[Finding], catalog: Catalog) -> None:
    import msgspec

    found = {
        "ok": all(f.ok for f in findings) and not catalog.problems,
        "agents": findings,
        "problems": catalog.problems,
    }
    print(msgspec.json.format(msgspec.json.encode(found)).decode())


def _printer(width: int) -> Callable[[Finding], None]:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    # Without a terminal lines are as long as they are, for whoever searches in them.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _UNBROKEN)

    def show(finding: Finding) -> None:
        mark = Text("✓ ", "green") if finding.ok else Text("✗ ", "red")
        name = (f"{finding.name:<{width}}  ", "bold")
        about = one_line(f"{finding.title} {finding.version}")
        console.print(Text.assemble(mark, name, about))
        for label, text, style in _lines(finding):
            line = Text.assemble((f"{label:<10}", "dim"), (printable(text), style))
            console.print(Padding(line, (0, 0, 0, 4), expand=False))

    return show


def _lines(finding: Finding) -> list[tuple[str, str, str]]:
    lines = []
    if finding.handshake is not None:
        time = f"handshake {_milliseconds(finding.handshake)}"
        if finding.session is not None:
            time += f", session {_milliseconds(finding.session)}"
        lines.append(("time", time, ""))
        can = ", ".join(name.replace("_", " ") for name in finding.abilities)
        lines.append(("can", can or "only talk", ""))
    if finding.login:
        lines.append(("login", _LOGIN[finding.login], "" if finding.ok else "yellow"))
    if finding.login == "needed":
        said = [f"{m.id}: {m.description or m.name}" for m in finding.methods]
        lines += [("", one_line(line), "dim") for line in said]
    if finding.problem:
        lines.append(("problem", finding.problem, "red"))
    if finding.advice:
        lines.append(("do", finding.advice, "bold"))
    return lines


_LOGIN = {"fine": "logged in, or none is needed", "needed": "needed"}


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("must be more than 0")
    return seconds
