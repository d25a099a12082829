"""What the demo agent understands; everything else it answers with a tour or a true sentence.

A first prompt that is no command, and any prompt with the word "tour" in it, gets the tour.

    /tour                the tour of this folder
    /read PATH           read a file and say what is in it
    /run COMMAND         run a command in the folder (asks first)
    /edit PATH OLD NEW   replace the first OLD in a file by NEW (asks first; quote as in a shell)
    /say N               N numbered chunks, "word1 word2 ...", as fast as they can be sent
    /slow N              the same with 50 ms before each chunk
    /think               a thought, then an answer
    /plan                a plan, step by step
    /family              start three other agents and direct them, where the client allows it
    /ask                 ask the agent that started this one
    /fail                the prompt fails with an error
    /crash               the process writes two lines to stderr and exits with code 3
    /hang                the prompt is never answered, and cancelling it has no effect
    /help                this list
"""

from __future__ import annotations

import asyncio
import re
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from acp import RequestError
from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    UnstructuredCommandInput,
)

from agentls.core.errors import AgentError, BadRequest
from agentls.demo.facts import code, describe, spoken
from agentls.demo.family import ask, directs, family
from agentls.demo.files import edit_file, read_file
from agentls.demo.shell import run_command
from agentls.demo.tour import tour
from agentls.demo.turn import Turn

# A path such as /etc/hosts at the start of a sentence is no command.
_COMMAND_LINE = re.compile(r"/(?P<name>\w+)(?:\s+(?P<argument>.*))?", re.DOTALL)
_FROM_ANOTHER = "\n(You are “"
"""Here begins what a client adds to the task that another agent gives."""
_SLOW_CHUNK = 0.05
_INTERNAL_ERROR = -32603
_PLAN = ("Think of a plan", "Follow it", "Be done")


class Crash(Exception):
    """The person asked for the process to die."""


@dataclass(frozen=True)
class _Command:
    run: Callable[[Turn, str], Awaitable[None]]
    description: str
    hint: str = ""


async def answer(turn: Turn, prompt: str, attached: Sequence[str]) -> None:
    """Do what the prompt asks for; what goes wrong on the way is said to the person."""
    command = _COMMAND_LINE.fullmatch(prompt.partition(_FROM_ANOTHER)[0].strip())
    try:
        if command is not None:
            await _run(turn, command["name"], command["argument"] or "")
        elif turn.session.turns == 1 and await directs(turn):
            await family(turn)
        elif turn.session.turns == 1 or re.search(r"\btour\b", prompt, re.IGNORECASE):
            await tour(turn, attached)
        else:
            await _converse(turn, attached)
    except (AgentError, BadRequest) as error:
        await turn.say(str(error))


def ignores_cancel(prompt: str) -> bool:
    """Whether cancelling has no effect on this prompt, known before the turn has begun."""
    command = _COMMAND_LINE.fullmatch(prompt.strip())
    return command is not None and command["name"] == "hang"


def offered_commands() -> AvailableCommandsUpdate:
    """Return the update that tells the client which commands there are."""
    commands = [
        AvailableCommand(
            name=name,
            description=command.description,
            input=AvailableCommandInput(root=UnstructuredCommandInput(hint=command.hint))
            if command.hint
            else None,
        )
        for name, command in _COMMANDS.items()
    ]
    return AvailableCommandsUpdate(
        session_update="available_commands_update", available_commands=commands
    )


async def _run(turn: Turn, name: str, argument: str) -> None:
    command = _COMMANDS.get(name)
    if command is None:
        raise BadRequest(f"There is no command {code('/' + name)}.", hint="`/help` lists them.")
    if command.hint and not argument:
        raise _usage(name)
    await command.run(turn, argument)


def _usage(name: str) -> BadRequest:
    return BadRequest(f"Write it as {code(f'/{name} {_COMMANDS[name].hint}')}.")


async def _converse(turn: Turn, attached: Sequence[str]) -> None:
    session = turn.session
    parts = [f"This is message {session.turns} of our conversation."]
    if attached:
        parts.append(f"You attached {spoken([code(name) for name in attached])}.")
    allowed = [code(decision.what) for decision in session.decisions if decision.allowed]
    rejected = [code(decision.what) for decision in session.decisions if not decision.allowed]
    if allowed:
        parts.append(f"You allowed {spoken(allowed)}.")
    if rejected:
        parts.append(f"You rejected {spoken(rejected)}.")
    if not session.decisions:
        parts.append("I have not asked you for any permission yet.")
    if session.always:
        parts.append(f"You always allow {spoken(sorted(session.always))} in this session.")
    parts.append("I am a demo and know no more than that; `/tour` and `/help` show what I can do.")
    await turn.say(" ".join(parts))
    await turn.wrap_up("A conversation with the demo agent")


async def _tour(turn: Turn, _: str) -> None:
    await tour(turn)


async def _read(turn: Turn, argument: str) -> None:
    path = turn.session.cwd / argument
    text = await read_file(turn, path)
    await turn.say(f"{code(path.name)} has {describe(path, text)}.")


async def _run_line(turn: Turn, argument: str) -> None:
    result = await run_command(turn, argument)
    if result is None:
        await turn.say(f"You rejected {code(argument)}, so I did not run it.")
    else:
        await turn.say(f"{code(argument)}: {result}.")


async def _edit(turn: Turn, argument: str) -> None:
    try:
        name, old, new = shlex.split(argument)
    except ValueError:
        raise _usage("edit") from None
    path = turn.session.cwd / name
    text = await read_file(turn, path)
    if not old or old not in text:
        raise BadRequest(f"{code(path.name)} does not contain {code(old)}; nothing was changed.")
    line = text[: text.index(old)].count("\n") + 1
    if await edit_file(turn, path, old=text, new=text.replace(old, new, 1), line=line):
        await turn.say(f"Changed line {line} of {code(path.name)}.")
    else:
        await turn.say(f"You rejected the edit, so {code(path.name)} stays as it is.")


def _number(name: str, argument: str) -> int:
    if not argument.isdecimal():
        raise _usage(name)
    return int(argument)


async def _say(turn: Turn, argument: str) -> None:
    for number in range(1, _number("say", argument) + 1):
        await turn.chunk(_numbered_word(number))


async def _slow(turn: Turn, argument: str) -> None:
    for number in range(1, _number("slow", argument) + 1):
        await asyncio.sleep(_SLOW_CHUNK)
        await turn.chunk(_numbered_word(number))


def _numbered_word(number: int) -> str:
    return f"word{number}" if number == 1 else f" word{number}"


async def _think(turn: Turn, _: str) -> None:
    await turn.think("You asked me to think. I have no model to think with, so this is all.")
    await turn.say("I have thought about it.")


async def _plan(turn: Turn, _: str) -> None:
    await turn.show_plan(_PLAN, done=0, working=False)
    for done, step in enumerate(_PLAN):
        await turn.show_plan(_PLAN, done=done)
        await turn.say(f"{step}.\n")
    await turn.show_plan(_PLAN, done=len(_PLAN))


async def _fail(_: Turn, __: str) -> None:
    raise RequestError(
        _INTERNAL_ERROR, "The demo agent failed because /fail asked it to; send anything to go on."
    )


async def _crash(_: Turn, __: str) -> None:
    sys.stderr.write("demo agent: /crash was asked for\ndemo agent: exiting with code 3\n")
    sys.stderr.flush()
    raise Crash


async def _hang(turn: Turn, _: str) -> None:
    await turn.say("This will never be answered.")
    await asyncio.Event().wait()


async def _help(turn: Turn, _: str) -> None:
    lines = [
        f"- {code(f'/{name} {command.hint}'.strip())}: {command.description}"
        for name, command in _COMMANDS.items()
    ]
    await turn.say("I understand these commands:\n\n" + "\n".join(lines) + "\n")


_COMMANDS = {
    "tour": _Command(_tour, "A tour of this folder: read, edit, run"),
    "read": _Command(_read, "Read a file and say what is in it", "PATH"),
    "run": _Command(_run_line, "Run a command in this folder; asks first", "COMMAND"),
    "edit": _Command(_edit, "Replace OLD by NEW in a file; asks first", "PATH OLD NEW"),
    "say": _Command(_say, "Stream N words as fast as possible", "N"),
    "slow": _Command(_slow, "Stream N words, one every 50 ms", "N"),
    "think": _Command(_think, "Show a thought, then answer"),
    "plan": _Command(_plan, "Show a plan and follow it"),
    "family": _Command(family, "Start three other agents and direct them"),
    "ask": _Command(ask, "Ask the agent that started this one"),
    "fail": _Command(_fail, "Fail this prompt with an error"),
    "crash": _Command(_crash, "End the agent's process with exit code 3"),
    "hang": _Command(_hang, "Never answer, not even when cancelled"),
    "help": _Command(_help, "List the commands"),
}
