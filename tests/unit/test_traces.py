"""Fifty recorded conversations of four real agents, replayed through the real agent edge.

Each becomes a transcript in which nothing is lost, and which reads as tests/golden/traces says.
Set AGENTLS_WRITE_GOLDEN=1 to write the golden files anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentls.agent.connection import Connection
from agentls.agent.replay import Action, outline
from agentls.agent.spec import AgentSpec
from agentls.core.asks import Asks
from agentls.core.errors import AgentError
from agentls.core.markdown import transcript_markdown
from agentls.core.model import AgentSessionId, Block, Prompt, SessionId
from agentls.core.session import Session
from agentls.core.transcript import Message, Other, ToolCall
from agentls.runtime import LoopClock
from fakes.processes import NoWarden

HERE = Path(__file__).parent.parent
TRACES = sorted((HERE / "traces").glob("*.jsonl"))
GOLDEN = HERE / "golden" / "traces"
Json = dict[str, Any]


class CountingConnection(Connection):
    """Lets the driver wait until the agent has said what it had said in the recording."""

    def __init__(self, spec: AgentSpec) -> None:
        super().__init__(spec, version="test", timeout=20, warden=NoWarden())
        self.frames: list[Json] = []
        self.news = asyncio.Event()

    def _line(self, line: bytes) -> None:
        self.frames.append(json.loads(line))
        super()._line(line)
        self.news.set()


class Replay:
    """Does what the recorded client did, but with our own connection and sessions."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asks = Asks()
        self.sessions: dict[str, Session] = {}
        self.all: list[Session] = []
        self.frames: list[Json] = []
        self.connection: CountingConnection | None = None
        self.before: dict[int, int] = {}
        self.in_segment: list[int] = []
        self.segment = 0
        self._count_frames()

    def _count_frames(self) -> None:
        """How many frames of its segment came from the agent before each line."""
        for number, text in enumerate(self.path.read_text().splitlines(), 1):
            frame = json.loads(text)
            if frame["dir"] == "out" and frame["msg"].get("method") == "initialize":
                self.in_segment.append(0)
            self.before[number] = self.in_segment[-1] if self.in_segment else 0
            if frame["dir"] == "in":
                self.in_segment[-1] += 1

    async def run(self) -> None:
        for action in outline(self.path):
            if action.method == "initialize":
                await self._start(action.segment)
            else:
                await self._come(self.before[action.line])
                await self._do(action)
        await self._stop()

    async def _start(self, segment: int) -> None:
        if self.connection is not None:
            await self._stop()
        self.segment = segment
        command = (sys.executable, "-m", "agentls.agent.replay", str(self.path))
        spec = AgentSpec(
            name=self.path.stem, title="Replay", command=(*command, "--segment", str(segment))
        )
        self.connection = CountingConnection(spec)
        await self.connection.start(str(HERE))

    async def _stop(self) -> None:
        assert self.connection is not None
        await self._come(self.in_segment[self.segment])
        for id in self.sessions:
            self.connection.forget(AgentSessionId(id))
        await self.connection.stop()
        self.frames += self.connection.frames

    async def _come(self, frames: int) -> None:
        connection = self.connection
        assert connection is not None

        async def wait() -> None:
            while len(connection.frames) < frames:
                connection.news.clear()
                await connection.news.wait()

        try:
            await asyncio.wait_for(wait(), 20)
        except TimeoutError:
            got = len(connection.frames)
            raise AssertionError(f"{self.path.stem}: {got} of {frames} frames came") from None

    async def _do(self, action: Action) -> None:
        params = action.params
        match action.method:
            case "session/new" | "session/load" | "session/resume" | "session/fork":
                await self._open(action)
            case "session/prompt":
                blocks = tuple(Block(kind="text", text=b["text"]) for b in params["prompt"])
                self.sessions[params["sessionId"]].prompt(Prompt(blocks))
            case "session/cancel":
                self.sessions[params["sessionId"]].cancel()
            case "session/request_permission":
                self._decide(action)
            case "session/list" | "session/close":
                await self._tolerate(self._plain_call(action))
            case _:
                assert action.kind == "response", f"the driver does not know {action.method}"

    async def _plain_call(self, action: Action) -> None:
        assert self.connection is not None
        if action.method == "session/list":
            await self.connection.list_sessions(action.params.get("cwd"))
        else:
            await self.connection.close_session(AgentSessionId(action.params["sessionId"]))

    async def _tolerate(self, call: Any) -> None:
        try:
            await call
        except AgentError as error:
            assert str(error), "an error has words"  # noqa: PT017

    async def _open(self, action: Action) -> None:
        assert self.connection is not None
        session = Session(
            SessionId(f"s{len(self.all)}"),
            self.path.stem.split("-")[0],
            action.params["cwd"],
            clock=LoopClock(),
            asks=self.asks,
            observers=[],
            cancel_grace=60,
        )
        past = AgentSessionId(action.params.get("sessionId", ""))
        cwd = action.params["cwd"]
        connect = self.connection
        opening = {
            "session/new": lambda: connect.new_session(cwd, session),
            "session/load": lambda: connect.load_session(past, cwd, session),
            "session/resume": lambda: connect.resume_session(past, cwd, session),
            "session/fork": lambda: connect.fork_session(past, cwd, session),
        }[action.method]
        try:
            setup = await opening()
        except AgentError:
            return
        session.opened(connect, setup)
        self.sessions[setup.id] = session
        self.all.append(session)

    def _decide(self, action: Action) -> None:
        """Answer as the recorded person did; some answers are cancelled by the turn."""
        outcome = action.answer["result"]["outcome"]
        call = action.params["toolCall"]["toolCallId"]
        for ask in self.asks.pending():
            if ask.request.patch.id == call:
                if outcome["outcome"] == "selected":
                    self.asks.decide(ask.id, outcome["optionId"], "you")
                else:
                    self.asks.withdraw(ask.id, "you")

    # -- what the frames said, read independently of the product's converter

    def said(self, role: str) -> dict[str, str]:
        texts: dict[str, str] = defaultdict(str)
        for params in self._updates():
            if params["update"]["sessionUpdate"] == role:
                texts[params["sessionId"]] += params["update"]["content"]["text"]
        return texts

    def tool_calls(self) -> set[tuple[str, str]]:
        asked = [
            (f["params"]["sessionId"], f["params"]["toolCall"]["toolCallId"])
            for f in self.frames
            if f.get("method") == "session/request_permission"
        ]
        told = [
            (p["sessionId"], p["update"]["toolCallId"])
            for p in self._updates()
            if p["update"]["sessionUpdate"] in {"tool_call", "tool_call_update"}
        ]
        return {*asked, *told}

    def output(self) -> str:
        return "".join(
            meta[key]["data"]
            for p in self._updates()
            for meta in [p["update"].get("_meta") or {}]
            for key in ("terminal_output", "terminal_output_delta")
            if key in meta
        )

    def _updates(self) -> list[Json]:
        return [f["params"] for f in self.frames if f.get("method") == "session/update"]


@pytest.fixture(params=TRACES, ids=lambda p: p.stem)
async def replayed(request: pytest.FixtureRequest) -> Replay:
    replay = Replay(request.param)
    await replay.run()
    return replay


def everything(replay: Replay, pick: Callable[[Any], Any]) -> list[Any]:
    return [x for s in replay.all for e in s.transcript.entries if (x := pick(e)) is not None]


async def test_a_recorded_conversation_becomes_a_transcript_with_nothing_lost(
    replayed: Replay,
) -> None:
    for kind, role in (("agent_message_chunk", "agent"), ("agent_thought_chunk", "thought")):
        shown: dict[str, str] = defaultdict(str)
        for session in replayed.all:
            for entry in session.transcript.entries:
                if isinstance(entry, Message) and entry.role == role:
                    shown[str(session.agent_session)] += str(entry.text)
        assert shown == replayed.said(kind), f"{role} text differs or is out of order"
    calls = {
        (s.agent_session, e.call)
        for s in replayed.all
        for e in s.transcript.entries
        if isinstance(e, ToolCall)
    }
    assert calls == replayed.tool_calls()
    outputs = everything(
        replayed,
        lambda e: (
            "".join(str(o.text) for o in e.terminals.values()) if isinstance(e, ToolCall) else None
        ),
    )
    assert sorted("".join(outputs)) == sorted(replayed.output()), "command output differs"
    assert not everything(replayed, lambda e: e if isinstance(e, Other) else None)
    for session in replayed.all:
        assert session.transcript.open_calls() == [], "a tool call was left open after its turn"
        assert session.transcript.open_asks() == []
        assert not session.transcript.turn_running
        assert session.transcript.queue == []

    text = "\n\n".join(
        transcript_markdown(s.transcript, title=s.title, agent=s.agent_name, cwd=s.cwd)
        for s in replayed.all
    )
    golden = GOLDEN / f"{replayed.path.stem}.md"
    if os.environ.get("AGENTLS_WRITE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text(), f"{golden.name} is stale; AGENTLS_WRITE_GOLDEN=1 rewrites it"


def test_there_are_fifty_recordings() -> None:
    assert len(TRACES) == 50
