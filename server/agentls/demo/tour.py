"""The tour: read a file of the folder, propose an edit, run a command, and sum it up.

Every step goes on when the one before was rejected or failed, and says only what is true.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentls.core.errors import AgentError
from agentls.demo.facts import code, counted, describe, fenced, line_count, spoken
from agentls.demo.files import edit_file, read_file
from agentls.demo.repairs import find_repair
from agentls.demo.shell import Result, run_command
from agentls.demo.turn import Turn

NOTE = "agentls-demo.md"
_NOTE_HEADING = "# Notes of the agentls demo agent\n\n"
_PLAN = ("Read a file", "Propose an edit", "Run a command", "Sum up")
_READABLE = (".py", ".md", ".toml", ".txt", ".json", ".js", ".ts", ".go", ".rs", ".c", ".h", ".lua")
_LARGEST_FILE = 256 * 1024
_LINES_SHOWN = 8


@dataclass(frozen=True)
class _Proposal:
    path: Path
    old: str | None
    new: str
    line: int
    why: str
    effect: str


async def tour(turn: Turn, attached: Sequence[str] = ()) -> None:
    """Give the tour of the session's folder."""
    cwd = turn.session.cwd
    await turn.say(_welcome(turn, attached))
    await turn.show_plan(_PLAN, done=0, working=False)
    summary: list[str] = []

    await turn.show_plan(_PLAN, done=0)
    path = _file_to_read(cwd)
    text = await _read_step(turn, path, summary)

    await turn.show_plan(_PLAN, done=1)
    await _edit_step(turn, path, text, summary)

    await turn.show_plan(_PLAN, done=2)
    command = _command_for(cwd)
    result = await _command_step(turn, command, summary)

    await turn.show_plan(_PLAN, done=3)
    await turn.say(_summary(summary, command, result))
    await turn.show_plan(_PLAN, done=4)
    await turn.wrap_up(f"Tour of {cwd.name or cwd}")


async def _read_step(turn: Turn, path: Path | None, summary: list[str]) -> str | None:
    if path is None:
        summary.append("Read nothing: there is no text file at the top of this folder.")
        await turn.say("There is no text file here to read, so I start with an empty page.\n\n")
        return None
    try:
        text = await read_file(turn, path)
    except AgentError as error:
        summary.append(f"Could not read {code(path.name)}.")
        await turn.say(f"{error}\n\n")
        return None
    about = describe(path, text)
    summary.append(f"Read {code(path.name)}: {about}.")
    await turn.say(f"{code(path.name)} has {about}.\n\n")
    return text


async def _edit_step(turn: Turn, path: Path | None, text: str | None, summary: list[str]) -> None:
    try:
        proposal = _repair_of(path, text) or await _note(turn, path, text)
        await turn.say(f"{proposal.why}\n\n")
        name = code(proposal.path.name)
        if await edit_file(
            turn, proposal.path, old=proposal.old, new=proposal.new, line=proposal.line
        ):
            summary.append(
                f"{'Created' if proposal.old is None else 'Changed'} {name}: {proposal.effect}."
            )
            await turn.say(f"Done: {proposal.effect}.\n\n")
        else:
            summary.append(f"Left {name} as it was, because you rejected the edit.")
            await turn.say(f"You rejected the edit, so {name} stays as it is.\n\n")
    except AgentError as error:
        summary.append("Could not make the edit.")
        await turn.say(f"{error}\n\n")


async def _command_step(turn: Turn, command: str, summary: list[str]) -> Result | None:
    await turn.say(f"Now a command in this folder: {code(command)}.\n\n")
    try:
        result = await run_command(turn, command)
    except AgentError as error:
        summary.append(f"Could not run {code(command)}.")
        await turn.say(f"{error}\n\n")
        return None
    if result is None:
        summary.append(f"Did not run {code(command)}, because you rejected it.")
        await turn.say("You rejected the command, so I did not run it.\n\n")
    else:
        summary.append(f"Ran {code(command)}: {result}.")
    return result


def _welcome(turn: Turn, attached: Sequence[str]) -> str:
    promise = (
        "This session is in the mode `auto`, so I will not ask before I do it."
        if turn.session.mode == "auto"
        else "I ask before I change or run anything."
    )
    thanks = f"You attached {spoken([code(name) for name in attached])}. " if attached else ""
    folder = code(turn.session.cwd.name or str(turn.session.cwd))
    return (
        f"Hello! I am the **demo agent** of agentls. {thanks}I am a small program, not a language "
        f"model: no account, no network. I will read one file in {folder}, propose one edit, and "
        f"run one command. {promise}\n\n"
    )


def _file_to_read(folder: Path) -> Path | None:
    """Choose by name: a Python module first, then a README, then any other text file."""
    try:
        found = [path for path in folder.iterdir() if _is_readable(path)]
    except OSError:
        return None

    def rank(path: Path) -> tuple[bool, bool, str]:
        is_module = path.suffix == ".py" and not path.name.startswith(("test", "conftest", "setup"))
        return (not is_module, not path.name.lower().startswith("readme"), path.name)

    return min(found, key=rank, default=None)


def _is_readable(path: Path) -> bool:
    return (
        path.suffix in _READABLE
        and not path.name.startswith(("_", ".", NOTE))
        and not path.is_symlink()
        and path.is_file()
        and path.stat().st_size <= _LARGEST_FILE
    )


def _repair_of(path: Path | None, text: str | None) -> _Proposal | None:
    if path is None or text is None or path.suffix != ".py":
        return None
    repair = find_repair(text)
    if repair is None:
        return None
    why = f"I found something to repair in line {repair.line}: {repair.problem}."
    return _Proposal(path, text, repair.text, repair.line, why, repair.remedy)


async def _note(turn: Turn, read: Path | None, text: str | None) -> _Proposal:
    """Propose a note in a file of our own, where there is nothing to repair."""
    path = turn.session.cwd / NOTE
    old = await read_file(turn, path) if path.exists() else None
    body = old or _NOTE_HEADING
    if not body.endswith("\n"):
        body += "\n"
    about = (
        "there was no text file to read"
        if read is None or text is None
        else f"{code(read.name)} had {counted(line_count(text), 'line')}"
    )
    new = f"{body}- Tour {body.count('- Tour ') + 1}: {about}.\n"
    why = f"I have nothing to repair, so I propose a line in {code(NOTE)} instead."
    return _Proposal(path, old, new, line_count(new), why, "it has a line about this tour")


def _command_for(folder: Path) -> str:
    if shutil.which("python3") and any(folder.glob("test*.py")):
        # Without -B a stale cache could hide an edit made within the same second.
        return "python3 -B -m unittest -q"
    return "ls -l"


def _summary(done: Sequence[str], command: str, result: Result | None) -> str:
    steps = "\n".join(f"- {step}" for step in done)
    if result is not None:
        last_lines = "\n".join(result.output.rstrip().splitlines()[-_LINES_SHOWN:])
        block = f"The end of what the command printed:\n\n{fenced(last_lines, 'text')}"
    else:
        block = f"You can run the command yourself:\n\n{fenced(command, 'sh')}"
    return f"### What happened\n\n{steps}\n\n{block}\n\nTry `/help` to see what else I can do.\n"
