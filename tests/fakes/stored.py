"""Sessions on a real store: a clock that stands still, a real thread, a real file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.family.spawn import Spawn
from agentls.core.growing import GrowingText
from agentls.core.model import (
    Block,
    Decision,
    Option,
    Prompt,
    Role,
    SessionId,
    State,
    ToolCallPatch,
)
from agentls.core.past import Past
from agentls.core.session import Session
from agentls.core.transcript import Transcript
from agentls.runtime import new_id
from agentls.storage.store import Store
from fakes.core import FakeClock

ALLOW = Option("once", "Allow", "allow_once")
_WAIT = 20.0


class Desk:
    """A server without agents: its store, its sessions, and what it was told."""

    def __init__(self, path: Path, time: float = 1000.0) -> None:
        self.path = path
        self.clock = FakeClock(time)
        self.problems: list[str] = []
        self.store = Store(path, self.clock, new_id, problem=self.problems.append)

    def session(
        self,
        id: str = "s1",
        agent: str = "demo",
        cwd: str = "/project",
        *,
        begin: bool = True,
        past: Past | None = None,
        parent: str = "",
        spawn: Spawn | None = None,
    ) -> Session:
        session = Session(
            SessionId(id),
            agent,
            cwd,
            clock=self.clock,
            asks=Asks(),
            observers=[self.store.observe],
            cancel_grace=1,
            past=past,
            parent=SessionId(parent) if parent else None,
            spawn=spawn,
        )
        if begin:
            session.begin()
        return session

    def flush(self) -> None:
        """Have everything stored; fails when that takes too long."""
        recorder = self.store.recorder
        for _ in range(1000):
            self.clock.advance(0.2)
            if recorder._flight is not None:
                done = recorder._flight[0].done.wait(_WAIT)
                assert done, f"a batch was not stored within {_WAIT} s"
            elif not any(feed.behind for feed in recorder._feeds.values()):
                return
        raise AssertionError("the sessions were never stored")

    def indexed(self) -> None:
        """Have everything stored and indexed."""
        from agentls.storage.database import connect
        from agentls.storage.index import index_some

        self.flush()
        connection = connect(self.path)
        try:
            while index_some(connection):
                pass
        finally:
            connection.close()


@contextmanager
def desk(path: Path, time: float = 1000.0) -> Iterator[Desk]:
    found = Desk(path, time)
    try:
        yield found
    finally:
        found.store.close()


def said(text: str, role: Role = Role.AGENT, message: str = "") -> ev.TextAdded:
    return ev.TextAdded(role=role, text=text, message=message)


def turn(number: int, text: str) -> ev.TurnStarted:
    return ev.TurnStarted(number, Prompt((Block(kind="text", text=text),)))


def call(id: str, **patch: Any) -> ev.ToolCallChanged:
    return ev.ToolCallChanged(ToolCallPatch(id=id, **patch))  # type: ignore[arg-type]


def ask(id: str, call: str = "c1", decision: Decision | None = None) -> ev.AskOpened:
    return ev.AskOpened(
        ask=id,  # type: ignore[arg-type]
        tool_call=call,  # type: ignore[arg-type]
        title=f"run {id}",
        options=(ALLOW,),
        shown=f"make {id}",
        why="no rule covers it",
        decision=decision,
    )


def close(session: Session) -> None:
    session.deliver(ev.StateChanged(State.CLOSED))


def plain(transcript: Transcript) -> dict[str, Any]:
    """All that a transcript is, also what it keeps to itself, to compare."""

    def text(value: Any) -> Any:
        assert isinstance(value, GrowingText), value
        return str(value)

    kept = {name: value for name, value in vars(transcript).items() if name != "_apply"}
    kinds = [type(entry).__name__ for entry in transcript.entries]
    return {"kinds": kinds, **msgspec.to_builtins(kept, enc_hook=text)}


def until(condition: Callable[[], bool], what: str, seconds: float = _WAIT) -> None:
    """Wait for something that another thread or process does."""
    import time

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.005)
