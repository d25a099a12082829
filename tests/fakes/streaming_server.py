"""A server that streams and asks until it is killed, and says on stdout what it has done.

    python streaming_server.py DATABASE SESSION

A line is `text N TIME` when the N-th piece was delivered, or `answered ASK TIME` when the agent
got the answer to an ask, or `stored N TIME` when all up to the N-th piece is stored.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.model import Block, Decision, Option, Prompt, Role, SessionId, ToolCallId
from agentls.core.model import ToolCallPatch as Patch
from agentls.core.ports import AskRequest
from agentls.core.session import Session
from agentls.runtime import LoopClock, new_id
from agentls.storage.store import Store

OPTIONS = (Option("once", "Allow", "allow_once"), Option("no", "Reject", "reject_once"))
LONGEST = 60.0


def say(*words: object) -> None:
    sys.stdout.write(" ".join(str(word) for word in words) + "\n")
    sys.stdout.flush()


async def main(path: str, id: str) -> None:
    clock, asks = LoopClock(), Asks()
    store = Store(Path(path), clock, new_id)
    session = Session(
        SessionId(id),
        "demo",
        "/project",
        clock=clock,
        asks=asks,
        observers=[store.observe],
        cancel_grace=1,
    )
    session.begin()
    session.deliver(ev.TurnStarted(1, Prompt((Block(kind="text", text="go on for ever"),))))
    session.prompt(Prompt((Block(kind="text", text="and then this"),)))
    # Left open: nobody will answer it.
    session.ask(AskRequest(Patch(id=ToolCallId("open"), title="rm"), OPTIONS, lambda _: None))
    end = time.monotonic() + LONGEST
    number = 0
    while time.monotonic() < end:
        number += 1
        session.deliver(ev.TextAdded(Role.AGENT, f"piece {number}; "))
        say("text", number, time.time())
        if number % 20 == 0:
            call = ToolCallId(f"c{number}")

            def answered(decision: Decision, call: str = call) -> None:
                say("answered", call, time.time())

            ask = session.ask(AskRequest(Patch(id=call, title=f"run {call}"), OPTIONS, answered))
            asks.decide(ask, "once", "you")
            store.recorder.when_stored(session.id, lambda n=number: say("stored", n, time.time()))
        await asyncio.sleep(0.001)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
