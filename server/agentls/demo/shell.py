"""Running a command: in a terminal of the client when it offers one, as our own process otherwise.

No command starts without permission, runs longer than a time-out, or leaves a process behind.
"""

from __future__ import annotations

import asyncio
import codecs
import os
import shlex
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from acp import Client, RequestError, text_block, tool_content, tool_terminal_ref
from acp.schema import ToolCallStatus

from agentls.core.errors import AgentError
from agentls.demo.facts import fenced
from agentls.demo.toolcall import ToolCall
from agentls.demo.turn import Turn, asking_client

_TIMEOUT = 30.0
_RELEASE_TIMEOUT = 1.0
_READ_SIZE = 16 * 1024
_OUTPUT_LIMIT = 64 * 1024
_SHELL_SYNTAX = frozenset("|&;<>()$`*?[]#~={}!\n")


@dataclass(frozen=True)
class Result:
    """How a command ended, and the end of what it printed."""

    output: str
    exit_code: int | None
    signal: str | None = None
    timed_out: bool = False

    @property
    def status(self) -> ToolCallStatus:
        """Only a command that ended well is a completed tool call."""
        return "completed" if self.exit_code == 0 and not self.timed_out else "failed"

    def __str__(self) -> str:
        if self.timed_out:
            return f"stopped after {_TIMEOUT:.0f} seconds"
        return f"ended by {self.signal}" if self.signal else f"exit code {self.exit_code}"


async def run_command(turn: Turn, command: str) -> Result | None:
    """Ask, run the command in the session's folder, and return how it ended; None if rejected."""
    cwd = turn.session.cwd
    mirrored = turn.abilities.shows_terminal_output and not turn.abilities.runs_terminals
    call = ToolCall(turn, command, "execute", raw_input={"command": command, "cwd": str(cwd)})
    if mirrored:
        call.content = [tool_terminal_ref(call.id)]
        call.meta = {"terminal_info": {"terminal_id": call.id, "cwd": str(cwd)}}
        call.meta_when_unfinished = _terminal_exit(call.id, None, None)
    async with call:
        if not await call.allowed():
            return None
        if turn.abilities.runs_terminals:
            return await _run_in_terminal(call, command, cwd)
        return await (_run_mirrored if mirrored else _run_as_text)(call, command, cwd)


async def _run_in_terminal(call: ToolCall, command: str, cwd: Path) -> Result:
    client, session_id = call.turn.client, call.turn.session.id
    program, *arguments = _argv(command)
    with asking_client("run the command"):
        created = await client.create_terminal(
            session_id, program, arguments, cwd=str(cwd), output_byte_limit=_OUTPUT_LIMIT
        )
        try:
            await call.update("in_progress", content=[tool_terminal_ref(created.terminal_id)])
            result = await _watch_terminal(client, session_id, created.terminal_id)
        finally:
            # Releasing also ends a command that still runs; a client that does not answer must
            # not hold up a cancelled turn.
            with suppress(RequestError, OSError):
                async with asyncio.timeout(_RELEASE_TIMEOUT):
                    await client.release_terminal(session_id, created.terminal_id)
    await call.update(result.status)
    return result


async def _watch_terminal(client: Client, session_id: str, terminal_id: str) -> Result:
    try:
        async with asyncio.timeout(_TIMEOUT):
            ended = await client.wait_for_terminal_exit(session_id, terminal_id)
    except TimeoutError:
        await client.kill_terminal(session_id, terminal_id)
        seen = await client.terminal_output(session_id, terminal_id)
        return Result(seen.output, None, timed_out=True)
    seen = await client.terminal_output(session_id, terminal_id)
    return Result(seen.output, ended.exit_code, ended.signal)


async def _run_mirrored(call: ToolCall, command: str, cwd: Path) -> Result:
    async def show(text: str) -> None:
        await call.update(meta={"terminal_output": {"terminal_id": call.id, "data": text}})

    await call.update("in_progress")
    result = await _run_process(command, cwd, show)
    await call.update(
        result.status,
        meta=_terminal_exit(call.id, result.exit_code, result.signal),
    )
    return result


async def _run_as_text(call: ToolCall, command: str, cwd: Path) -> Result:
    async def show(_: str) -> None:
        """Nothing: sending the whole text again for every piece would cost more than it shows."""

    await call.update("in_progress")
    result = await _run_process(command, cwd, show)
    content = tool_content(text_block(fenced(result.output, "console")))
    await call.update(result.status, content=[content])
    return result


async def _run_process(command: str, cwd: Path, show: Callable[[str], Awaitable[None]]) -> Result:
    try:
        process = await asyncio.create_subprocess_exec(
            *_argv(command),
            cwd=cwd,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise AgentError(f"Cannot run {command}: {error.strerror}.") from error
    output, timed_out = "", False
    try:
        async with asyncio.timeout(_TIMEOUT):
            async for text in _output(process):
                output = (output + text)[-_OUTPUT_LIMIT:]
                await show(text)
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        _kill_group(process)
    code = await process.wait()
    name = signal.Signals(-code).name if code < 0 else None
    return Result(output, None if name else code, name, timed_out)


async def _output(process: Process) -> AsyncIterator[str]:
    assert process.stdout is not None
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while data := await process.stdout.read(_READ_SIZE):
        if text := decoder.decode(data):
            yield text


def _kill_group(process: Process) -> None:
    # The group lives on when the command left something running in the background.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _terminal_exit(
    terminal_id: str, code: int | None, name: str | None
) -> dict[str, dict[str, str | int | None]]:
    return {"terminal_exit": {"terminal_id": terminal_id, "exit_code": code, "signal": name}}


def _argv(command: str) -> list[str]:
    """Return a plain program call as its words, so that no shell is between; else a shell's."""
    with suppress(ValueError):
        words = shlex.split(command)
        if _SHELL_SYNTAX.isdisjoint(command) and words and shutil.which(words[0]):
            return words
    return ["sh", "-c", command]
