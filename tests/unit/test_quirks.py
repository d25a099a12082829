"""What must be done for one agent when a session is loaded, and not for the others."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentls.agent import connection as edge
from agentls.agent.connection import Connection
from agentls.agent.spec import AgentSpec, Quirks
from agentls.core import events as ev
from agentls.core.model import AgentSessionId
from fakes.processes import NoWarden

PUPPET = Path(__file__).parents[1] / "fakes" / "puppet.py"


class Listener:
    """A session that only listens."""

    cwd = "/"
    workplace = None
    door = None

    def __init__(self) -> None:
        self.events: list[ev.Event] = []

    def deliver(self, event: ev.Event) -> None:
        self.events.append(event)

    def ask(self, request: Any) -> Any:
        raise AssertionError("nobody asks here")

    def withdraw(self, ask: Any) -> None:
        raise AssertionError("nobody asks here")

    def agent_gone(self, error: Exception) -> None:
        """It is stopped at the end of each test."""


async def started(quirks: Quirks) -> Connection:
    spec = AgentSpec(
        name="puppet", title="Puppet", command=(sys.executable, str(PUPPET)), quirks=quirks
    )
    connection = Connection(spec, version="1", timeout=20.0, warden=NoWarden())
    await connection.start("/")
    return connection


def sent(connection: Connection) -> list[str]:
    frames = [json.loads(line) for line in connection.ring.dump("puppet")]
    out = [frame["msg"] for frame in frames if frame.get("dir") == "out"]
    return [message["method"] for message in out if "method" in message]


@pytest.mark.parametrize("closes", [True, False])
async def test_a_session_that_is_open_is_closed_before_it_is_loaded_where_that_leaks(
    closes: bool,
) -> None:
    connection = await started(Quirks(close_before_load=closes))
    try:
        setup = await connection.new_session("/", Listener())
        connection.forget(setup.id)
        await connection.load_session(setup.id, "/", Listener())
        await connection.load_session(AgentSessionId("never open here"), "/", Listener())
        expected = ["session/close"] if closes else []
        assert sent(connection)[1:] == ["session/new", *expected, "session/load", "session/load"]
    finally:
        await connection.stop()


async def test_a_session_is_not_loaded_in_the_minute_it_was_made_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(edge, "pause", sleep)
    connection = await started(Quirks(load_waits_a_minute=True))
    listener = Listener()
    try:
        id = AgentSessionId("s")
        await connection.load_session(id, "/", listener, made=time.time() - 2 * edge.LOAD_PAUSE)
        assert slept == []
        await connection.load_session(id, "/", listener, made=time.time())
        assert [0 < seconds <= edge.LOAD_PAUSE for seconds in slept] == [True]
        (notice,) = listener.events
        assert isinstance(notice, ev.NoticeShown)
        assert "seconds to wait" in notice.text
    finally:
        await connection.stop()
