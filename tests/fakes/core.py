"""In-memory ports for the core: a clock that stands still, agents that do as they are told.

Invariant: nothing here decides anything by itself; what happens, and when, is up to the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from agentls.core.asks import Asks
from agentls.core.errors import AgentError, AgentExited
from agentls.core.events import Event
from agentls.core.model import (
    Abilities,
    AgentInfo,
    AgentOption,
    AgentSessionId,
    AskId,
    Block,
    Decision,
    Mode,
    Option,
    PastSession,
    Prompt,
    SessionSetup,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.ports import AskRequest, Sink, TurnOutcome
from agentls.core.session import Session
from agentls.core.sessions import Sessions
from agentls.core.transcript import Entry
from agentls.storage.store import Store

ALLOW = Option("once", "Allow", "allow_once")
REJECT = Option("no", "Reject", "reject_once")
EVERYTHING = Abilities(load=True, resume=True, fork=True, list=True, close=True, delete=True)
START = 1000.0
# More hops than any chain of callbacks in the core has; nothing here waits for real time.
_HOPS = 30


def text(*pieces: str) -> Prompt:
    """A prompt of text blocks."""
    return Prompt(tuple(Block(kind="text", text=piece) for piece in pieces))


class FakeTimer:
    def __init__(self, due: float, call: Callable[[], None]) -> None:
        self.due = due
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Implements `core.ports.Clock`; time passes only in `advance`."""

    def __init__(self, time: float = START) -> None:
        self.time = time
        self.timers: list[FakeTimer] = []

    def now(self) -> float:
        return self.time

    def later(self, seconds: float, call: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(self.time + seconds, call)
        self.timers.append(timer)
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass; timers fire when they are due, in that order."""
        end = self.time + seconds
        while ready := [t for t in self.timers if not t.cancelled and t.due <= end]:
            timer = min(ready, key=lambda t: t.due)
            self.timers.remove(timer)
            self.time = max(self.time, timer.due)
            timer.call()
        self.time = end

    def waiting(self) -> int:
        return sum(not timer.cancelled for timer in self.timers)


class LoopTasks:
    """Implements `core.ports.Tasks` on the loop of the test."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self.failures: list[BaseException] = []

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.failures.append(error)

    async def settle(self) -> None:
        """Run until every task is over, or waits for something that only the test can do."""
        for _ in range(_HOPS):
            await asyncio.sleep(0)
        if self.failures:
            raise self.failures[0]

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class SentPrompt:
    """A prompt that an agent got, and may answer."""

    def __init__(
        self, id: AgentSessionId, blocks: Sequence[Block], done: Callable[[TurnOutcome], None]
    ) -> None:
        self.id = id
        self.text = "".join(b.text for b in blocks)
        self.blocks = tuple(blocks)
        self.answered = False
        self._done = done

    def answer(self, reason: str = "end_turn", error: AgentError | None = None) -> None:
        self.answered = True
        self._done(TurnOutcome(reason, error=error))


class SentAsk:
    """An ask that an agent put, and all the answers that it got."""

    def __init__(self) -> None:
        self.id = AskId("")
        self.answers: list[Decision] = []

    @property
    def answer(self) -> Decision:
        assert len(self.answers) == 1, f"an ask got {len(self.answers)} answers"
        return self.answers[0]


class FakeAgent:
    """Implements `core.ports.Agent`. `calls` has what was asked of it, and the answers to its
    own asks, in order."""

    def __init__(self, abilities: Abilities = EVERYTHING, name: str = "fake") -> None:
        self.info = AgentInfo(name=name, title=name.capitalize(), abilities=abilities)
        self.calls: list[tuple[Any, ...]] = []
        self.sinks: dict[AgentSessionId, Sink] = {}
        self.prompts: list[SentPrompt] = []
        self.failures: dict[str, AgentError] = {}
        """By method: what it fails with."""
        self.history: list[Event] = []
        """What it tells again before it answers load, resume and fork."""
        self.modes: tuple[Mode, ...] = ()
        self.alive = True
        self._gates: dict[str, asyncio.Event] = {}
        self._opened = 0

    # -- what a test does with it

    def hold(self, method: str) -> asyncio.Event:
        """Answer no call of that method until the event is set."""
        return self._gates.setdefault(method, asyncio.Event())

    def say(self, *events: Event) -> None:
        """Deliver to the session that was opened last."""
        for event in events:
            list(self.sinks.values())[-1].deliver(event)

    def ask(self, call: str = "c1", options: Sequence[Option] = (ALLOW, REJECT)) -> SentAsk:
        sent = SentAsk()

        def answered(decision: Decision) -> None:
            sent.answers.append(decision)
            self.calls.append(("answer", call, decision.option.id if decision.option else None))

        patch = ToolCallPatch(id=ToolCallId(call), title=f"run {call}", status="pending")
        sink = list(self.sinks.values())[-1]
        sent.id = sink.ask(AskRequest(patch, tuple(options), answered))
        return sent

    def die(self, words: str = "The fake agent ended with exit code 1.") -> AgentExited:
        """As the agent edge does it: the sessions hear of it first, then whoever waits."""
        error = AgentExited(words)
        self.alive = False
        sinks, self.sinks = self.sinks, {}
        for sink in sinks.values():
            sink.agent_gone(error)
        for prompt in self.prompts:
            if not prompt.answered:
                prompt.answer("failed", error)
        return error

    def methods(self) -> list[str]:
        return [call[0] for call in self.calls]

    # -- ports.Agent

    async def new_session(self, cwd: str, sink: Sink) -> SessionSetup:
        await self._call("new_session", cwd)
        self._opened += 1
        return self._bind(AgentSessionId(f"s{self._opened}"), sink)

    async def load_session(
        self, id: AgentSessionId, cwd: str, sink: Sink, *, made: float = 0.0
    ) -> SessionSetup:
        return await self._continue("load_session", id, cwd, sink)

    async def resume_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup:
        return await self._continue("resume_session", id, cwd, sink)

    async def fork_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup:
        await self._call("fork_session", id, cwd)
        fork = AgentSessionId(f"{id}-fork")
        setup = self._bind(fork, sink)
        self.say(*self.history)
        return setup

    async def list_sessions(self, cwd: str | None) -> list[PastSession]:
        await self._call("list_sessions", cwd)
        return []

    async def close_session(self, id: AgentSessionId) -> None:
        await self._call("close_session", id)

    async def delete_session(self, id: AgentSessionId) -> None:
        await self._call("delete_session", id)

    async def authenticate(self, method: str) -> None:
        await self._call("authenticate", method)

    async def set_mode(self, id: AgentSessionId, mode: str) -> None:
        await self._call("set_mode", id, mode)

    async def set_option(
        self, id: AgentSessionId, option: str, value: str | bool
    ) -> tuple[AgentOption, ...]:
        await self._call("set_option", id, option, value)
        return (AgentOption(id=option, name=option, kind="select", value=value),)

    def prompt(
        self, id: AgentSessionId, blocks: Sequence[Block], done: Callable[[TurnOutcome], None]
    ) -> None:
        prompt = SentPrompt(id, blocks, done)
        self.calls.append(("prompt", prompt.text))
        self.prompts.append(prompt)
        if not self.alive:
            prompt.answer("failed", AgentExited("The fake agent is gone."))

    def cancel(self, id: AgentSessionId) -> None:
        self.calls.append(("cancel", id))

    def forget(self, id: AgentSessionId) -> None:
        self.calls.append(("forget", id))
        self.sinks.pop(id, None)

    async def _continue(
        self, method: str, id: AgentSessionId, cwd: str, sink: Sink
    ) -> SessionSetup:
        self.sinks[id] = sink
        for event in self.history:
            sink.deliver(event)
        try:
            await self._call(method, id, cwd)
        except AgentError:
            self.sinks.pop(id, None)
            raise
        return self._bind(id, sink)

    async def _call(self, method: str, *params: Any) -> None:
        self.calls.append((method, *params))
        if (gate := self._gates.get(method)) is not None:
            await gate.wait()
        if (error := self.failures.get(method)) is not None:
            raise error
        if not self.alive:
            raise AgentExited("The fake agent is gone.")

    def _bind(self, id: AgentSessionId, sink: Sink) -> SessionSetup:
        self.sinks.pop(id, None)
        self.sinks[id] = sink
        mode = self.modes[0].id if self.modes else ""
        return SessionSetup(id=id, modes=self.modes, mode=mode)


class FakeHost:
    """Implements `core.ports.AgentHost`: gives out the prepared agents, then new ones."""

    def __init__(self, *agents: FakeAgent) -> None:
        self.prepared = list(agents)
        self.agents: list[FakeAgent] = []
        """Given out, oldest first."""
        self.released: list[FakeAgent] = []
        self.asked_for: list[tuple[str, str, bool]] = []
        self.error: AgentError | None = None

    async def connect(self, name: str, cwd: str, *, fresh: bool = False) -> FakeAgent:
        self.asked_for.append((name, cwd, fresh))
        await asyncio.sleep(0)  # a real process takes a while too
        if self.error is not None:
            raise self.error
        if not fresh and (running := [a for a in self.agents if self._serves(a)]):
            agent = running[-1]
        else:
            agent = self.prepared.pop(0) if self.prepared else FakeAgent()
        self.agents.append(agent)
        return agent

    def running(self) -> list[FakeAgent]:
        return [agent for agent in dict.fromkeys(self.agents) if self._serves(agent)]

    def release(self, agent: Any) -> None:
        self.released.append(agent)

    def _serves(self, agent: FakeAgent) -> bool:
        return agent.alive and self.agents.count(agent) > self.released.count(agent)

    @property
    def agent(self) -> FakeAgent:
        """The one that was given out last."""
        return self.agents[-1]


class Core:
    """The services of the core on fake ports, and everything that they tell."""

    def __init__(
        self,
        *agents: FakeAgent,
        cancel_grace: float = 10.0,
        clock: FakeClock | None = None,
        store: Store | None = None,
    ) -> None:
        self.clock = clock or FakeClock()
        self.tasks = LoopTasks()
        self.host = FakeHost(*agents)
        self.asks = Asks()
        self.sessions = Sessions(
            self.host,
            self.asks,
            self.clock,
            self.tasks,
            self._new_id,
            cancel_grace=cancel_grace,
            memory=store,
        )
        if store is not None:
            self.sessions.observers.append(store.observe)
            store.when_ended = self.sessions.forget
        self.events: list[Event] = []
        self.sessions.observers.append(self._saw)
        self._ids = 0

    def _new_id(self) -> str:
        self._ids += 1
        return f"session{self._ids}"

    def _saw(self, session: Session, event: Event, entry: Entry | None) -> None:
        self.events.append(event)

    async def opened(self) -> Session:
        """A session that is ready for prompts."""
        session = self.sessions.open("fake", "/project")
        await self.tasks.settle()
        return session

    @property
    def agent(self) -> FakeAgent:
        return self.host.agent
