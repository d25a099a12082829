"""Terminals as records: who may use them, who is told what, in which order, and what is kept."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import terminals as module
from agentls.core.errors import TerminalError, TerminalFailed, TerminalRefused, UnknownTerminal
from agentls.core.model import SessionId, TerminalId
from agentls.core.terminals import (
    OUTPUT_LIMIT,
    Exit,
    NoTerminals,
    Snapshot,
    Source,
    Terminal,
    Terminals,
    TerminalSink,
    TerminalSpec,
)
from agentls.runtime import LoopClock, new_id
from agentls.terminal.hosted import HostedTerminals
from agentls.warden import Warden
from fakes.core import START, FakeClock

S1, S2 = SessionId("s1"), SessionId("s2")
SECONDS = 10.0


class FakeHandle:
    """Implements `TerminalHandle`, and does nothing by itself."""

    def __init__(self, sink: TerminalSink, source: Source) -> None:
        self.sink = sink
        self.source = source
        self.calls: list[Any] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def resize(self, columns: int, rows: int) -> None:
        self.calls.append((columns, rows))

    def kill(self) -> None:
        self.calls.append("kill")

    def release(self) -> None:
        """What is asked of a command is in `calls`; this asks for nothing."""

    def pause(self) -> None:
        self.calls.append("pause")

    def resume(self) -> None:
        self.calls.append("resume")


class FakeBackend:
    """Implements `TerminalBackend`."""

    def __init__(self) -> None:
        self.handles: list[FakeHandle] = []
        self.source = Source.HOSTED
        self.error: TerminalError | None = None
        self.early: list[bytes | Exit] = []
        """What comes before the start is known to have worked."""
        self.gate = asyncio.Event()
        self.gate.set()

    async def start(self, terminal: Terminal, spec: TerminalSpec, sink: TerminalSink) -> FakeHandle:
        for event in self.early:
            if isinstance(event, Exit):
                sink.exited(event)
            else:
                sink.data(event)
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.handles.append(FakeHandle(sink, self.source))
        return self.handles[-1]


class Seen:
    """Implements `TerminalObserver`."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def opened(self, terminal: Terminal) -> None:
        self.all.append(("opened", terminal.command))

    def grew(self, terminal: Terminal) -> None:
        self.all.append(("grew", terminal.tail.text()))

    def exited(self, terminal: Terminal) -> None:
        self.all.append(("exited", terminal.exit))


class World:
    def __init__(self) -> None:
        self.backend = FakeBackend()
        self.clock = FakeClock()
        self.seen = Seen()
        self._ids = 0
        self.terminals = Terminals(self.backend, self.clock, self._new_id)
        self.terminals.observers.append(self.seen)

    def _new_id(self) -> str:
        self._ids += 1
        return f"t{self._ids}"

    async def create(self, session: SessionId = S1, **more: Any) -> Terminal:
        return await self.terminals.create(session, spec("make"), **more)

    @property
    def handle(self) -> FakeHandle:
        return self.backend.handles[-1]


@pytest.fixture
def world() -> World:
    return World()


def spec(command: str, *args: str) -> TerminalSpec:
    return TerminalSpec(command=command, args=args, cwd="/project")


# -- the command for people


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("make -k | tee log",), "make -k | tee log"),
        (("npm", "run", "a b"), "npm run 'a b'"),
        (("/bin/bash", "-c", "cd /x && make"), "cd /x && make"),
        (("sh", "-lc", "make"), "make"),
        (("bash", "-x", "file"), "bash -x file"),
        (("bash", "-c", "echo $0", "zero"), "bash -c 'echo $0' zero"),
        (("python", "-c", "print()"), "python -c 'print()'"),
    ],
)
def test_the_command_is_shown_as_a_person_would_type_it(words: tuple[str, ...], shown: str) -> None:
    assert spec(*words).shown == shown


# -- what an agent does


async def test_a_command_from_its_start_to_its_end(world: World) -> None:
    terminal = await world.create()
    assert world.terminals.output(terminal) == Snapshot("", False, None)
    world.handle.sink.data(b"one ")
    world.handle.sink.data(b"two")
    world.clock.advance(5)
    world.handle.sink.exited(Exit(3))
    snapshot = Snapshot("one two", False, Exit(3))
    assert world.terminals.output(terminal) == snapshot
    assert world.terminals.output(terminal) == snapshot
    assert world.seen.all == [
        ("opened", "make"),
        ("grew", "one "),
        ("grew", "one two"),
        ("exited", Exit(3)),
    ]
    assert (terminal.created, terminal.ended) == (START, START + 5)
    assert not terminal.running


async def test_what_comes_before_the_start_is_known_to_have_worked_comes_after_it(
    world: World,
) -> None:
    world.backend.early = [b"early", Exit(0)]
    terminal = await world.create()
    assert world.seen.all == [("opened", "make"), ("grew", "early"), ("exited", Exit(0))]
    assert terminal.exit == Exit(0)


async def test_nothing_is_seen_of_a_command_that_could_not_be_started(world: World) -> None:
    world.backend.early = [b"noise", Exit(1)]
    world.backend.error = TerminalFailed("It is broken.")
    with pytest.raises(TerminalFailed, match="It is broken"):
        await world.create()
    assert world.seen.all == []
    assert world.terminals.of(S1) == []
    with pytest.raises(UnknownTerminal):
        world.terminals.get(S1, TerminalId("t1"))


async def test_who_runs_it_says_who_it_is(world: World) -> None:
    world.backend.source = Source.EDITOR
    terminal = await world.create()
    assert terminal.source is Source.EDITOR
    assert not terminal.writable


async def test_output_beyond_the_limit_is_cut_from_the_front(world: World) -> None:
    terminal = await world.create(limit=10)
    world.handle.sink.data("0123456789€".encode())
    assert world.terminals.output(terminal) == Snapshot("3456789€", True, None)


async def test_without_a_limit_a_megabyte_is_kept_and_never_more_than_sixteen(
    world: World,
) -> None:
    usual, greedy = await world.create(), await world.create(limit=1 << 40)
    for handle in world.backend.handles:
        handle.sink.data(b"x" * (17 << 20))
    assert len(usual.tail) == OUTPUT_LIMIT
    assert len(greedy.tail) == 16 << 20


async def test_everybody_who_waits_hears_of_the_end_once(world: World) -> None:
    terminal = await world.create()
    heard: list[tuple[int, Exit]] = []

    def hears(number: int) -> Callable[[Exit], None]:
        return lambda exit: heard.append((number, exit))

    offs = [world.terminals.wait(terminal, hears(number)) for number in range(50)]
    offs[7]()
    offs[7]()
    assert heard == []
    world.handle.sink.exited(Exit(0))
    world.handle.sink.exited(Exit(1))
    assert heard == [(n, Exit(0)) for n in range(50) if n != 7]
    offs[8]()
    world.terminals.wait(terminal, hears(99))()
    assert heard[-1] == (99, Exit(0))
    assert len(heard) == 50


async def test_the_view_sees_the_end_before_the_agent_does(world: World) -> None:
    terminal = await world.create()
    world.terminals.wait(terminal, lambda _: world.seen.all.append("agent"))
    world.handle.sink.exited(Exit(0))
    assert world.seen.all[-2:] == [("exited", Exit(0)), "agent"]


async def test_one_who_fails_does_not_keep_the_others_from_hearing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("broken")

    world.terminals.observers.insert(0, observer := Seen())
    observer.grew = broken  # type: ignore[method-assign, assignment]
    terminal = await world.create()
    heard: list[Exit] = []
    world.terminals.wait(terminal, broken)
    world.terminals.wait(terminal, heard.append)
    with caplog.at_level(logging.CRITICAL):
        world.handle.sink.data(b"x")
        world.handle.sink.exited(Exit(0))
    assert heard == [Exit(0)]
    assert world.seen.all[-1] == ("exited", Exit(0))


async def test_a_waiter_may_call_off_another(world: World) -> None:
    terminal = await world.create()
    heard: list[str] = []
    offs: list[Any] = []
    world.terminals.wait(terminal, lambda _: offs[0]())
    offs.append(world.terminals.wait(terminal, lambda _: heard.append("off")))
    world.terminals.wait(terminal, lambda _: heard.append("on"))
    world.handle.sink.exited(Exit(0))
    assert heard == ["on"]


async def test_a_killed_command_keeps_its_record(world: World) -> None:
    terminal = await world.create()
    world.handle.sink.data(b"before")
    world.terminals.kill(terminal)
    assert terminal.running, "until it has ended"
    world.handle.sink.exited(Exit(signal="SIGTERM"))
    assert world.terminals.of_agent(S1, terminal.id) is terminal
    assert world.terminals.output(terminal) == Snapshot("before", False, Exit(signal="SIGTERM"))
    world.terminals.kill(terminal)
    assert world.handle.calls == ["kill", "kill"], "what it left behind ends too"


async def test_a_released_command_ends_and_only_the_agent_forgets_it(world: World) -> None:
    terminal = await world.create()
    world.handle.sink.data(b"shown")
    heard: list[Exit] = []
    world.terminals.wait(terminal, heard.append)
    world.terminals.release(terminal)
    world.terminals.release(terminal)
    assert world.handle.calls == ["kill"]
    world.handle.sink.exited(Exit(signal="SIGTERM"))
    assert heard == [Exit(signal="SIGTERM")]
    with pytest.raises(UnknownTerminal, match="has been released"):
        world.terminals.of_agent(S1, terminal.id)
    assert world.terminals.get(S1, terminal.id).tail.text() == "shown"
    assert world.terminals.of(S1) == [terminal]


async def test_releasing_one_that_has_ended_kills_nothing(world: World) -> None:
    terminal = await world.create()
    world.handle.sink.exited(Exit(0))
    world.terminals.release(terminal)
    world.terminals.release(terminal)
    assert world.handle.calls == []


async def test_what_a_forgotten_session_ran_is_forgotten_when_it_has_ended(world: World) -> None:
    over, running, other = await world.create(), await world.create(), await world.create(S2)
    first, second = world.backend.handles[:2]
    first.sink.data(b"long ago")
    first.sink.exited(Exit(0))
    world.terminals.end_session(S1)
    world.terminals.forget(S1)
    assert world.terminals.of(S1) == [running]
    assert not world.terminals.knows(S1, over.id)
    second.sink.data(b"last words")
    second.sink.exited(Exit(signal="SIGTERM"))
    assert world.seen.all[-2:] == [("grew", "last words"), ("exited", Exit(signal="SIGTERM"))]
    assert (world.terminals.of(S1), world.terminals.of(S2)) == ([], [other])
    assert (len(world.terminals._past), world.terminals._past_size) == (0, 0)
    world.terminals.resume(over)
    world.terminals.resize(running, 80, 24)


async def test_ids_belong_to_their_session(world: World) -> None:
    terminal = await world.create(S1)
    with pytest.raises(UnknownTerminal, match=r"no terminal 't1' in this session\. List"):
        world.terminals.get(S2, terminal.id)
    with pytest.raises(UnknownTerminal):
        world.terminals.of_agent(S1, TerminalId("nonsense"))
    assert world.terminals.of(S2) == []


async def test_where_there_are_no_terminals_that_is_said(world: World) -> None:
    terminals = Terminals(NoTerminals(), world.clock, world._new_id)
    with pytest.raises(TerminalRefused, match="No commands can be run here, so 'make' was not"):
        await terminals.create(S1, spec("make"))


# -- what a person does


async def test_typing_resizing_and_waiting_reach_whoever_runs_it(world: World) -> None:
    terminal = await world.create()
    world.terminals.write(terminal, "jä\ud800\n")
    world.terminals.resize(terminal, 90, 25)
    world.terminals.resize(terminal, -1, 1 << 20)
    world.terminals.pause(terminal)
    world.terminals.resume(terminal)
    assert world.handle.calls == ["jä?\n".encode(), (90, 25), (1, 65535), "pause", "resume"]


async def test_nothing_is_typed_into_what_others_run(world: World) -> None:
    world.backend.source = Source.EDITOR
    of_editor = await world.create()
    mirrored = world.terminals.mirror(S1, TerminalId("m"), command="npm test")
    for terminal in (of_editor, mirrored):
        with pytest.raises(TerminalRefused, match="Nothing can be typed into"):
            world.terminals.write(terminal, "y\n")
        assert not terminal.writable
    world.terminals.resize(mirrored, 10, 10)
    world.terminals.pause(mirrored)
    world.terminals.resume(mirrored)


async def test_killing_all_of_a_session_leaves_the_others_and_names_what_is_not_ours(
    world: World,
) -> None:
    terminals = world.terminals
    ours, ended, other = await world.create(), await world.create(), await world.create(S2)
    world.backend.handles[1].sink.exited(Exit(0))
    theirs = terminals.mirror(S1, TerminalId("m"))
    terminals.mirror(S1, TerminalId("over"), exit=Exit(0))
    assert terminals.kill_all(S1) == [theirs]
    assert [handle.calls for handle in world.backend.handles] == [["kill"], ["kill"], []]
    assert [ours.released, ended.released, other.released] == [False] * 3


async def test_the_end_of_a_session_ends_everything_of_it(world: World) -> None:
    terminals = world.terminals
    ours, ended = await world.create(), await world.create()
    world.backend.handles[1].sink.exited(Exit(0))
    theirs = terminals.mirror(S1, TerminalId("m"))
    terminals.end_session(S1)
    assert theirs.exit == Exit(), "nobody will ever know how it ended"
    assert "kill" in world.backend.handles[0].calls
    assert ours.released
    assert ended.released
    world.backend.handles[0].sink.exited(Exit(signal="SIGTERM"))
    assert ours.exit == Exit(signal="SIGTERM")
    terminals.end_session(S1)
    assert len(terminals.of(S1)) == 3


async def test_a_command_whose_session_ends_while_it_starts_is_killed(world: World) -> None:
    world.backend.gate.clear()
    creating = asyncio.create_task(world.create())
    await asyncio.sleep(0)
    world.terminals.end_session(S1)
    assert world.seen.all == []
    world.backend.gate.set()
    terminal = await creating
    assert world.handle.calls == ["kill"]
    assert terminal.released


async def test_a_creation_that_is_called_off_leaves_nothing(world: World) -> None:
    world.backend.gate.clear()
    creating = asyncio.create_task(world.create())
    await asyncio.sleep(0)
    creating.cancel()
    await asyncio.gather(creating, return_exceptions=True)
    assert world.terminals._entries == {}


# -- what an agent only reports


def test_a_reported_command_becomes_a_terminal_when_it_is_first_named(world: World) -> None:
    mirror = world.terminals.mirror
    terminal = mirror(S1, TerminalId("c1"))
    assert mirror(S1, TerminalId("c1"), command="npm test", cwd="/p") is terminal
    mirror(S1, TerminalId("c1"), data="one\n", command="npm test")
    mirror(S1, TerminalId("c1"), data="one\n")
    mirror(S1, TerminalId("c1"), data="two", exit=Exit(1))
    mirror(S1, TerminalId("c1"), exit=Exit(2))
    assert world.seen.all == [
        ("opened", ""),
        ("opened", "npm test"),
        ("grew", "one\n"),
        ("grew", "one\none\n"),
        ("grew", "one\none\ntwo"),
        ("exited", Exit(1)),
    ]
    assert (terminal.command, terminal.cwd) == ("npm test", "/p")
    assert terminal.source is Source.MIRRORED


def test_late_output_of_a_reported_command_is_kept(world: World) -> None:
    terminal = world.terminals.mirror(S1, TerminalId("c1"), data="a", exit=Exit(0))
    world.terminals.mirror(S1, TerminalId("c1"), data="b")
    assert terminal.tail.text() == "ab"


def test_the_same_name_in_another_session_is_another_terminal(world: World) -> None:
    one = world.terminals.mirror(S1, TerminalId("c1"), data="one")
    two = world.terminals.mirror(S2, TerminalId("c1"), data="two")
    assert (one.tail.text(), two.tail.text()) == ("one", "two")


def test_output_that_is_told_again_and_again_is_taken_once(world: World) -> None:
    text, terminal = "", world.terminals.mirror(S1, TerminalId("c1"))
    place = 0
    for number in range(100):
        text += f"line {number}\n"
        world.terminals.mirror(S1, terminal.id, data=text, whole=True)
        part = terminal.tail.since(place)
        assert (part.text, part.lost) == (f"line {number}\n", False)
        place = part.end
    world.terminals.mirror(S1, terminal.id, data=text, whole=True)
    assert terminal.tail.text() == text
    assert terminal.tail.end == len(text)


def test_an_agent_cannot_use_what_it_only_reported_and_nobody_can_kill_it(world: World) -> None:
    terminal = world.terminals.mirror(S1, TerminalId("c1"))
    with pytest.raises(UnknownTerminal, match="was never created"):
        world.terminals.of_agent(S1, terminal.id)
    with pytest.raises(TerminalRefused, match=r"runs this command itself\. Cancel the turn"):
        world.terminals.kill(terminal)
    world.terminals.mirror(S1, terminal.id, exit=Exit(0))
    world.terminals.kill(terminal)


async def test_what_an_agent_says_about_a_terminal_of_ours_changes_nothing(world: World) -> None:
    terminal = await world.create()
    same = world.terminals.mirror(
        S1, terminal.id, command="rm", data="forged", whole=True, exit=Exit(0)
    )
    assert same is terminal
    assert (terminal.command, terminal.tail.text(), terminal.exit) == ("make", "", None)


# -- what is kept


async def test_old_output_makes_room_when_nobody_but_people_wants_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAST_LIMIT", 100)
    made = []
    for _ in range(5):
        made.append(await world.create())
        world.handle.sink.data(b"x" * 40)
        world.handle.sink.exited(Exit(0))
    assert [len(t.tail) for t in made] == [40] * 5, "the agent may still ask"
    for terminal in made:
        world.terminals.release(terminal)
    assert [len(t.tail) for t in made] == [0, 0, 0, 40, 40]
    assert made[0].tail.truncated
    world.terminals.mirror(S1, TerminalId("c1"), data="y" * 40, exit=Exit(0))
    assert [len(t.tail) for t in made] == [0, 0, 0, 0, 40]
    assert len(world.terminals.of(S1)) == 6


steps = st.lists(
    st.sampled_from(["data", "exit", "kill", "release", "end", "wait", "off", "output"]),
    max_size=12,
)


@settings(deadline=None)
@given(steps, st.booleans())
def test_whatever_happens_in_whatever_order_is_told_once_and_in_order(
    todo: list[str], early: bool
) -> None:
    asyncio.run(_whatever(todo, early))


async def _whatever(todo: list[str], early: bool) -> None:
    world, waiting = World(), 0
    heard: list[Exit] = []
    world.backend.early = [b"early"] if early else []
    terminal = await world.create()
    sink = world.handle.sink
    written = "early" if early else ""
    for step in todo:
        if step == "data":
            sink.data(b"x")
            written += "x"
        elif step == "exit":
            sink.exited(Exit(0))
        elif step == "kill":
            world.terminals.kill(terminal)
        elif step == "release":
            world.terminals.release(terminal)
        elif step == "end":
            world.terminals.end_session(S1)
        elif step == "wait":
            world.terminals.wait(terminal, heard.append)
            waiting += 1
        elif step == "off":
            world.terminals.wait(terminal, lambda _: None)()
        else:
            assert world.terminals.output(terminal).output == written
    sink.exited(Exit(1))
    assert len(heard) == waiting
    kinds = [event[0] for event in world.seen.all]
    assert kinds.count("opened") == kinds.count("exited") == 1
    assert kinds[0] == "opened"
    assert terminal.tail.text() == written


# -- with real ones


async def test_a_real_command_through_all_of_it(tmp_path: Path) -> None:
    class Person(Seen):
        def grew(self, terminal: Terminal) -> None:
            if self.all[-1][0] == "opened":
                terminals.write(terminal, "\n")
            super().grew(terminal)

    warden = Warden()
    backend = HostedTerminals(warden, os.environ, grace=0.25)
    terminals = Terminals(backend, LoopClock(), new_id)
    terminals.observers.append(person := Person())
    line = r"stty -echo; printf 'h\303'; read x; printf '\251 \377\0 \033[1mbold'; exit 5"
    terminal = await terminals.create(S1, TerminalSpec(command=line, cwd=str(tmp_path)))
    ends = [asyncio.get_running_loop().create_future() for _ in range(20)]
    for end in ends:
        terminals.wait(terminal, end.set_result)
    async with asyncio.timeout(SECONDS):
        assert await asyncio.gather(*ends) == [Exit(5)] * 20
    assert person.all[1] == ("grew", "h"), "half a character is none"
    assert terminals.output(terminal) == Snapshot("hé \ufffd\0 \x1b[1mbold", False, Exit(5))
    terminals.release(terminal)
    running = await terminals.create(S1, TerminalSpec(command="sleep 1000", cwd=str(tmp_path)))
    terminals.end_session(S1)
    async with asyncio.timeout(SECONDS):
        await backend.close()
    assert running.exit == Exit(signal="SIGTERM")
    warden.close()
