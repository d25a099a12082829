"""Tools that run commands in terminals which the person sees, can type into and can end.

Invariant: whether a command runs is decided where every command of an agent is, in the workplace.
"""

from __future__ import annotations

from collections.abc import Callable
from posixpath import join
from typing import Annotated

from msgspec import Meta

from ..errors import AgentlsError, ToolRefused
from ..model import TerminalId
from ..ports import Workplace
from ..printable import on_screen
from ..terminals import OUTPUT_LIMIT, Exit, Terminal, TerminalSpec
from .tool import PATIENCE, Answer, Arguments, Caller, Tool
from .waiting import Waiting

_LONGEST = 3600.0
_TAIL_LINES = 200
_TAIL = 16_000
"""Characters of output that an agent gets at most."""
_Seconds = Annotated[float, Meta(description="Seconds to wait for its end.", ge=0, le=_LONGEST)]
_Lines = Annotated[int, Meta(description="Lines of its output to return, the last ones.", ge=1)]
_Id = Annotated[str, Meta(description="The id that run_in_terminal returned.")]


class RunInTerminal(Arguments, frozen=True):
    command: Annotated[str, Meta(description="A shell command line.", min_length=1)]
    cwd: Annotated[str, Meta(description="Where it runs; the project's folder if empty.")] = ""
    timeout: _Seconds = PATIENCE
    background: Annotated[bool, Meta(description="Return at once and let it run.")] = False
    lines: _Lines = _TAIL_LINES


class ReadTerminal(Arguments, frozen=True):
    terminal: _Id
    wait: _Seconds = 0.0
    lines: _Lines = _TAIL_LINES


class KillTerminal(Arguments, frozen=True):
    terminal: _Id


def terminal_tools(waiting: Waiting) -> list[Tool]:
    tools = _TerminalTools(waiting)
    return [
        Tool(
            name="run_in_terminal",
            title="Run in terminal",
            description=(
                "Run a shell command in a terminal of the person's editor, where they can watch it,"
                " type into it and end it. Use it for servers, watchers, long builds and whatever"
                " may want input. Returns the exit code and the end of the output. What still runs"
                " after the time-out, or runs in the background, goes on: read_terminal and"
                " kill_terminal take its id."
            ),
            arguments=RunInTerminal,
            kind="execute",
            run=tools.run,
        ),
        Tool(
            name="read_terminal",
            title="Read terminal",
            description="The end of the output of a command of run_in_terminal, and how it ended.",
            arguments=ReadTerminal,
            kind="read",
            run=tools.read,
        ),
        Tool(
            name="kill_terminal",
            title="End terminal",
            description="End a command of run_in_terminal and everything that it started.",
            arguments=KillTerminal,
            kind="execute",
            run=tools.kill,
        ),
    ]


class _TerminalTools:
    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting

    async def run(self, caller: Caller, given: RunInTerminal) -> Answer:
        place, session = _workplace(caller), caller.session
        spec = TerminalSpec(command=given.command, cwd=join(session.cwd, given.cwd))

        def begin(then: Callable[[Terminal | AgentlsError], None]) -> Callable[[], None]:
            return place.run(spec, OUTPUT_LIMIT, then, caller.call)

        terminal = await self._waiting.answer(begin)
        if isinstance(terminal, AgentlsError):
            raise terminal
        if given.background:
            return _report(place, terminal.id, given.lines)
        seconds = min(given.timeout, caller.patience)
        return await self._after(place, terminal.id, seconds, given.lines)

    async def read(self, caller: Caller, given: ReadTerminal) -> Answer:
        place, id = _workplace(caller), TerminalId(given.terminal)
        place.output(id)  # or there is none
        return await self._after(place, id, min(given.wait, caller.patience), given.lines)

    async def kill(self, caller: Caller, given: KillTerminal) -> Answer:
        place, id = _workplace(caller), TerminalId(given.terminal)
        place.kill(id)
        return await self._after(place, id, PATIENCE, _TAIL_LINES)

    async def _after(self, place: Workplace, id: TerminalId, seconds: float, lines: int) -> Answer:
        def begin(then: Callable[[Exit], None]) -> Callable[[], None]:
            return place.wait(id, then)

        if seconds:
            await self._waiting.for_a_while(begin, seconds)
        return _report(place, id, lines)


def _workplace(caller: Caller) -> Workplace:
    if caller.session.workplace is None:
        raise ToolRefused("There are no terminals here.")
    return caller.session.workplace


def _report(place: Workplace, id: TerminalId, lines: int) -> Answer:
    seen = place.output(id)
    text, cut = _tail(on_screen(seen.output), lines)
    if seen.exit is None:
        state = f"Still running in terminal {id}."
    elif seen.exit.signal:
        state = f"Ended by {seen.exit.signal}."
    else:
        state = f"Exit code {seen.exit.code}."
    if cut or seen.truncated:
        state += " Only the end of the output is here."
    return Answer(f"{state}\n\n{text}" if text else state)


def _tail(text: str, lines: int) -> tuple[str, bool]:
    kept = text.rstrip("\n").split("\n")[-lines:]
    short = "\n".join(kept)[-_TAIL:]
    return short, len(short) < len(text.rstrip("\n"))
