"""Old sessions: what it takes to show, search and list them, and what storing costs while they run.

The database is a real file; each question is put to it through a fresh connection.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agentls.core import events as ev
from agentls.core.asks import Asks
from agentls.core.model import (
    Block,
    Diff,
    Location,
    Prompt,
    Role,
    SessionId,
    State,
    ToolCallId,
    ToolCallPatch,
)
from agentls.core.session import Session
from agentls.core.store import Filter
from agentls.storage.store import Store
from bench.machine import MEGABYTE
from bench.rows import Row, Sizes

LISTED = 1_000
TALK = """
the session stores every entry of a transcript and a reader loads the first screen while another
server writes more text to the same database without waiting for anybody else parseConfig
load_entries self.transcript.entries[-1] return value error timeout café naïve
"""
WORDS = TALK.split()
QUESTIONS = ("transcript", "parse", '"first screen"', "self.transcript.entries", "the writes", "zz")


class StandingClock:
    """Timers never fire: the bench says when to store."""

    def __init__(self) -> None:
        self.time = 1_000_000.0

    def now(self) -> float:
        self.time += 0.01
        return self.time

    def later(self, seconds: float, call: Callable[[], None]) -> StandingClock:  # noqa: ARG002
        return self

    def cancel(self) -> None:
        pass


def measure(sizes: Sizes) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agentls.db")
        hot = _fill(path, sizes.old_events)
        sessions = _store(path).sessions
        old = SessionId("old")
        screen = _milliseconds(lambda: sessions.page(old, last=100))
        before = _milliseconds(lambda: sessions.page(old, last=100, before=200))
        listed = _milliseconds(lambda: sessions.summaries(limit=LISTED))
        searches = [_milliseconds(lambda q=q: sessions.search(q)) for q in QUESTIONS]
        filters = (Filter(agent="none"), Filter(file="a7.py"), Filter(project="/project/x"))
        searches += [_milliseconds(lambda f=f: sessions.search("the", f)) for f in filters]
        size = path.stat().st_size / MEGABYTE
        memory = _memory(path, "old")
        own = _memory(_own(Path(folder, "own.db"), sizes.old_events), "own")
    return [
        Row(name="recording one streamed update", value=hot, unit="µs", note="on the event loop"),
        _row(f"first screen of {sizes.old_events:,} events", screen, 100),
        _row("a screen further back", before, 100),
        _row("slowest of some searches over them", max(searches), 50),
        _row(f"a list of {LISTED:,} sessions", listed, 50),
        Row(
            name=f"memory for reopening {sizes.old_events:,} events",
            value=memory,
            unit="MB",
            limit=50,
            note=f"all of it loaded; {size:.0f} MB on the disk",
        ),
        Row(
            name=f"the same when each of {sizes.old_events:,} is an entry of its own",
            value=own,
            unit="MB",
            limit=50,
        ),
    ]


def _row(name: str, value: float, limit: float) -> Row:
    return Row(name=name, value=value, unit="ms", limit=limit)


def _milliseconds(call: Callable[[], object]) -> float:
    found = []
    for _ in range(5):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return statistics.median(found) * 1e3


def _store(path: Path, clock: StandingClock | None = None) -> Store:
    return Store(path, clock or StandingClock(), lambda: "new")


def _fill(path: Path, events: int) -> float:
    """Microseconds that one streamed update costs the event loop."""
    clock = StandingClock()
    store = _store(path, clock)
    for number in range(LISTED):
        session = _session(store, clock, f"s{number}")
        session.deliver(ev.TitleChanged(f"Session {number} about parseConfig"))
        session.deliver(_said(_text(random.Random(number), 30)))
        session.deliver(ev.StateChanged(State.CLOSED))
    session = _session(store, clock, "old")
    for event in _life(events):
        session.deliver(event)
    hot = _hot(store.observe, session)
    store.close()
    _index(path)
    return hot


def _own(path: Path, events: int) -> Path:
    """A session of which each event is an entry of its own."""
    clock = StandingClock()
    store = _store(path, clock)
    _session(store, clock, "s1")
    session = _session(store, clock, "own")
    for number in range(events):
        role = Role.AGENT if number % 2 else Role.USER
        session.deliver(ev.TextAdded(role=role, text=f"a few words, number {number} of them"))
    store.close()
    return path


def _hot(recorder: Callable[..., None], session: Session) -> float:
    event = _said("a few words of it ")
    entry = session.transcript.apply(event, 1.0)
    began = time.perf_counter()
    for _ in range(100_000):
        recorder(session, event, entry)
    return (time.perf_counter() - began) * 10


def _index(path: Path) -> None:
    from agentls.storage.database import connect
    from agentls.storage.index import index_some

    connection = connect(path)
    while index_some(connection):
        pass
    connection.close()


def _session(store: Store, clock: StandingClock, id: str) -> Session:
    session = Session(
        SessionId(id),
        "demo",
        "/project",
        clock=clock,
        asks=Asks(),
        observers=[store.observe],
        cancel_grace=1,
    )
    session.begin()
    return session


def _said(text: str) -> ev.TextAdded:
    return ev.TextAdded(role=Role.AGENT, text=text)


def _text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words)) + " "


def _life(events: int) -> list[ev.Event]:
    """What an agent does all day: talk, run commands, edit files, finish turns."""
    chance = random.Random(1)
    life: list[ev.Event] = []
    turn = 0
    while len(life) < events:
        turn += 1
        life.append(ev.TurnStarted(turn, Prompt((Block(kind="text", text=_text(chance, 12)),))))
        for step in range(4):
            life += [_said(_text(chance, 3)) for _ in range(12)]
            life += _work(chance, f"c{turn}.{step}")
        life.append(ev.TurnEnded(turn, "end_turn"))
    return life[:events]


def _work(chance: random.Random, name: str) -> list[ev.Event]:
    call = ToolCallId(name)
    path = f"/project/src/a{chance.randrange(50)}.py"
    old = "\n".join(_text(chance, 8) for _ in range(20))
    diff = Diff(path, old, old.replace("reader", "writer"))
    begun = ToolCallPatch(id=call, title=f"Edit {path}", kind="edit", input={"path": path})
    return [
        ev.ToolCallChanged(begun),
        ev.OutputAdded(call, name, _text(chance, 20)),  # type: ignore[arg-type]
        ev.OutputEnded(call, name, 0),  # type: ignore[arg-type]
        ev.ToolCallChanged(
            ToolCallPatch(
                id=call, status="completed", content=(diff,), locations=(Location(path, 3),)
            )
        ),
    ]


LOADING = """
import sys
from pathlib import Path
from agentls.core.model import SessionId
from bench.stored_sessions import _store
from bench.machine import resident
import os
sessions = _store(Path(sys.argv[1])).sessions
sessions.page(SessionId("s1"))
before = resident(os.getpid())
kept = sessions.load(SessionId(sys.argv[2]))
print(resident(os.getpid()) - before)
"""


def _memory(path: Path, session: str) -> float:
    """Megabytes for loading a whole session."""
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(path), session],
        cwd=Path(__file__).resolve().parent.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    return int(done.stdout) / MEGABYTE
