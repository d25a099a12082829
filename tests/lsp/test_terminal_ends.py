"""No command outlives its session, its agent, its editor or the server."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.commands import WAIT, begin, create, exited, ids, opened, pid_in, play, trusted
from fakes.conversation import ended
from fakes.processes import until_gone

Json = dict[str, Any]


TRICKY = {
    "ignores TERM": "trap '' TERM; echo $$ > pid; sleep 600 & wait; sleep 600",
    "daemonises": "setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600",
    "leaves a grandchild": "(sleep 600 & echo $! > pid); sleep 600",
    "is stopped": "echo $$ > pid; kill -STOP $$; sleep 600",
}


@pytest.mark.parametrize("how", list(TRICKY))
async def test_a_killed_command_takes_everything_with_it(bench: Bench, how: str) -> None:
    editor, session = await trusted(bench)
    await begin(editor, session, create("bash", "-c", TRICKY[how]), WAIT)
    terminal = await opened(editor)
    pid = await pid_in(bench.workspace / "pid")
    listed = await editor.request("agentls/terminal/kill", ids(terminal))
    await until_gone(pid)
    assert (await exited(editor, terminal))["running"] is False
    await ended(editor, session)
    assert len(listed["terminals"]) <= 1


async def test_cancelling_a_turn_ends_its_commands_even_if_the_agent_does_not(
    bench: Bench,
) -> None:
    editor, session = await trusted(bench)
    line = "echo $$ > pid; exec sleep 600"
    await begin(editor, session, {"stubborn": True}, create("sh", "-c", line), WAIT)
    pid = await pid_in(bench.workspace / "pid")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await until_gone(pid)
    await ended(editor, session)


async def test_a_background_command_outlives_its_turn_visibly_and_can_be_ended(
    bench: Bench,
) -> None:
    editor, session = await trusted(bench)
    await play(editor, session, create("sh", "-c", "echo $$ > pid; exec sleep 600"))
    pid = await pid_in(bench.workspace / "pid")
    listed = await editor.request("agentls/terminal/list", {"running": True})
    (job,) = listed["terminals"]
    assert job["command"] == "echo $$ > pid; exec sleep 600"
    assert job["created"] > 0
    result = await editor.request("agentls/terminal/killAll", {"sessionId": session})
    assert result == {}
    await until_gone(pid)


@pytest.mark.parametrize("how", ["session closed", "agent killed", "editor gone"])
async def test_nothing_survives_its_owner(bench: Bench, how: str) -> None:
    editor, session = await trusted(bench)
    line = "trap '' TERM HUP; echo $$ > pid; while :; do sleep 1; done"
    await play(editor, session, create("sh", "-c", line))
    pid = await pid_in(bench.workspace / "pid")
    if how == "session closed":
        await editor.request("agentls/session/close", {"sessionId": session})
    elif how == "agent killed":
        (agent,) = [p for p, command in bench.processes().items() if "puppet" in command]
        os.kill(agent, signal.SIGKILL)
    else:
        await editor.close()
    await until_gone(pid)


async def test_a_killed_server_leaves_no_command_and_no_agent(bench: Bench) -> None:
    editor, session = await trusted(bench)
    line = "trap '' TERM HUP; (setsid sleep 600 & echo $! > daemon); echo $$ > pid; sleep 600"
    await play(editor, session, create("bash", "-c", line))
    command = await pid_in(bench.workspace / "pid")
    daemon = await pid_in(bench.workspace / "daemon")
    (agent,) = [p for p, command in bench.processes().items() if "puppet" in command]
    os.kill(editor.process.pid, signal.SIGKILL)
    await editor.gone()
    for pid in (command, daemon, agent):
        await until_gone(pid)
