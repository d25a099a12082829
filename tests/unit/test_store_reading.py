"""Stored sessions are listed with filters, read a screen at a time, renamed, and exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentls.core import events as ev
from agentls.core.errors import BadRequest, UnknownSession
from agentls.core.family.spawn import Spawn
from agentls.core.model import AgentOption, Choice, SessionId, State
from agentls.core.policy.rules import Rule
from agentls.core.policy.verdicts import Verdict
from agentls.core.store import Filter, Place, SessionStore
from agentls.core.transcript import Message, Notice
from fakes.stored import Desk, ask, call, close, desk, plain, said, turn

ID = SessionId("s1")
PRESENT = Filter()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agentls.db"


@pytest.fixture
def one(path: Path) -> Iterator[Desk]:
    with desk(path) as found:
        yield found


def fill(one: Desk, id: str, agent: str = "demo", cwd: str = "/project", title: str = "") -> None:
    """A past session."""
    session = one.session(id, agent, cwd)
    session.deliver(ev.TitleChanged(title or f"Title of {id}"))
    session.deliver(said(f"words of {id}"))
    close(session)
    one.flush()
    one.clock.advance(10)


def ids(one: Desk, wanted: Filter = PRESENT, **more: int) -> list[str]:
    return [found.id for found in one.store.sessions.summaries(wanted, **more)]


def test_the_store_is_what_the_core_asks_for(one: Desk) -> None:
    store: SessionStore = one.store.sessions
    assert store.summaries() == []


def test_a_summary_says_all_that_a_list_shows(one: Desk) -> None:
    session = one.session()
    session.agent_session = "their-id"  # type: ignore[assignment]
    session.deliver(turn(1, "do it"))
    session.deliver(ev.TitleChanged("A title"))
    session.deliver(ev.PolicyChanged("trust"))
    session.deliver(ev.ModeChanged("plan"))
    choices = (Choice("big", "Big"),)
    model = AgentOption(
        id="m", name="Model", kind="select", value="big", category="model", choices=choices
    )
    session.deliver(ev.OptionsChanged((model,)))
    session.deliver(ev.StateChanged(State.RUNNING))
    one.flush()
    (found,) = one.store.sessions.summaries()
    assert (found.id, found.agent, found.agent_session) == ("s1", "demo", "their-id")
    assert (found.model, found.cwd, found.title) == ("big", "/project", "A title")
    assert (found.state, found.place, found.died) == (State.RUNNING, Place.HERE, False)
    assert (found.policy, found.mode, found.turns, found.entries) == ("trust", "plan", 1, 1)
    assert (found.created, found.active) == (1000.0, session.last_sign)
    assert not found.archived
    assert one.store.sessions.get(ID) == found


def test_a_list_is_newest_first_and_comes_in_pages(one: Desk) -> None:
    for number in range(7):
        fill(one, f"s{number}")
    assert ids(one) == [f"s{number}" for number in reversed(range(7))]
    pages = []
    after = None
    while page := one.store.sessions.summaries(limit=3, after=after):
        pages.append([found.id for found in page])
        after = page[-1]
    assert pages == [["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]


def test_sessions_of_the_same_moment_are_all_in_the_pages(one: Desk) -> None:
    for number in range(5):
        close(one.session(f"s{number}"))
    one.flush()
    first = one.store.sessions.summaries(limit=2)
    rest = one.store.sessions.summaries(after=first[-1])
    assert len({found.id for found in first + rest}) == 5


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(agent="claude"), ["b"]),
        (Filter(project="/projects/one"), ["b", "a"]),
        (Filter(project="/projects/one/"), ["b", "a"]),
        (Filter(project="/projects"), ["d", "c", "b", "a"]),
        (Filter(project="/"), ["e", "d", "c", "b", "a"]),
        (Filter(title="PARSER"), ["a"]),
        (Filter(title="100%"), ["c"]),
        (Filter(title="1__%"), []),
        (Filter(states=(State.CLOSED,)), ["d", "c", "b", "a"]),
        (Filter(states=(State.IDLE, State.RUNNING)), ["e"]),
        (Filter(places=(Place.PAST,)), ["d", "c", "b", "a"]),
        (Filter(places=(Place.HERE,)), ["e"]),
        (Filter(places=(Place.ELSEWHERE,)), []),
        (Filter(archived=True), ["f"]),
        (Filter(archived=None), ["f", "e", "d", "c", "b", "a"]),
        (Filter(session=SessionId("c")), ["c"]),
        (Filter(agent="demo", project="/projects/one"), ["a"]),
    ],
)
def test_a_list_shows_what_is_wanted(one: Desk, wanted: Filter, expected: list[str]) -> None:
    fill(one, "a", cwd="/projects/one", title="Mend the parser")
    fill(one, "b", "claude", cwd="/projects/one/deeper")
    fill(one, "c", cwd="/projects/one-more", title="100% done")
    fill(one, "d", cwd="/projects/100x")
    one.session("e", cwd="/elsewhere").deliver(ev.StateChanged(State.IDLE))
    one.flush()
    one.clock.advance(10)
    fill(one, "f", "claude", title="PARSER, put away")
    one.store.sessions.archive(SessionId("f"))
    assert ids(one, wanted) == expected


def test_a_list_can_be_of_a_time(one: Desk) -> None:
    for id in "abc":
        fill(one, id)
    times = {found.id: found.active for found in one.store.sessions.summaries()}
    assert ids(one, Filter(since=times[SessionId("b")])) == ["c", "b"]
    assert ids(one, Filter(until=times[SessionId("b")])) == ["b", "a"]


def test_the_first_screen_is_the_end_and_the_rest_follows_backwards(one: Desk) -> None:
    session = one.session()
    for number in range(1, 26):
        session.deliver(said(f"message {number}", message=str(number)))
    one.flush()
    sessions = one.store.sessions
    screen = sessions.page(ID, last=10)
    assert (screen.first, screen.total, len(screen.entries)) == (16, 25, 10)
    assert [e.id for e in screen.entries] == [f"e{n}" for n in range(16, 26)]
    earlier = sessions.page(ID, last=10, before=screen.first)
    first = sessions.page(ID, last=10, before=earlier.first)
    assert [earlier.first, first.first, len(first.entries)] == [6, 1, 5]
    assert sessions.page(ID, last=10, before=1).entries == []
    texts = [str(e.text) for e in first.entries if isinstance(e, Message)]
    assert texts == [f"message {n}" for n in range(1, 6)]


def test_a_name_that_a_person_gave_stays_whatever_the_agent_says(one: Desk) -> None:
    session = one.session()
    session.deliver(ev.TitleChanged("the agent's"))
    one.flush()
    one.store.sessions.rename(ID, "  mine ")
    session.deliver(ev.TitleChanged("the agent's second"))
    one.flush()
    assert one.store.sessions.get(ID).title == "mine"
    assert one.store.sessions.load(ID).head.title == "the agent's second"
    one.store.sessions.rename(ID, "")
    assert one.store.sessions.get(ID).title == "the agent's second"


def test_what_is_archived_stays_so_while_it_goes_on(one: Desk) -> None:
    session = one.session()
    one.flush()
    one.store.sessions.archive(ID)
    session.deliver(ev.ModeChanged("x"))
    one.flush()
    assert one.store.sessions.get(ID).archived
    one.store.sessions.archive(ID, False)
    assert not one.store.sessions.get(ID).archived


@pytest.mark.parametrize("method", ["get", "page", "load", "claim", "delete", "export", "archive"])
def test_a_session_that_is_not_there_is_said_so(one: Desk, method: str) -> None:
    use: Callable[[SessionId], object] = getattr(one.store.sessions, method)
    with pytest.raises(UnknownSession, match="nobody"):
        use(SessionId("nobody"))


# --- JSON

HEAD = (
    b'{"format":"agentls session",'
    b'"session":{"id":"a","agent":"b","cwd":"/","created":1,"active":1},'
)


def life(one: Desk) -> None:
    session = one.session(spawn=Spawn(orchestrates=True, allow=(Rule(verdict=Verdict.ALLOW),)))
    session.deliver(turn(1, "do it"))
    session.deliver(said("long " * 5000))
    session.deliver(call("c1", title="run", input={"command": "make"}, status="completed"))
    session.deliver(ask("a1"))
    session.deliver(ev.TurnEnded(1, "end_turn"))
    one.flush()


def test_what_is_exported_and_taken_in_elsewhere_is_the_same(one: Desk, tmp_path: Path) -> None:
    life(one)
    with desk(one.path) as other:  # the first has not closed it, but gives it out all the same
        living = other.store.sessions.export(ID)
    one.store.close()
    past = one.store.sessions.export(ID)
    with desk(tmp_path / "elsewhere" / "agentls.db") as two:
        assert two.store.sessions.take_in(living) == "s1"
        (found,) = two.store.sessions.summaries()
        assert (found.place, found.state, found.died) == (Place.PAST, State.CLOSED, False)
        loaded = two.store.sessions.load(ID)
        assert loaded.transcript.open_asks() == []
        assert loaded.head.spawn == Spawn(), "a file gives nobody any rights"
        again = two.store.sessions.export(ID)
        second = two.store.sessions.take_in(again)
        assert second != ID
        first, copy = two.store.sessions.load(ID), two.store.sessions.load(second)
        assert plain(copy.transcript) == plain(first.transcript)
        assert two.store.sessions.export(second).replace(second.encode(), b"s1") == again
        assert {hit.session for hit in two.store.sessions.search("long")} == {ID, second}
    assert len(past) > 25_000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"{}",
        b'{"format":"something else","version":1,"session":{},"entries":[]}',
        HEAD + b'"version":1,"entries":[{"kind":"unknown","body":{}}]}',
        HEAD + b'"version":2,"entries":[]}',
    ],
)
def test_what_is_no_session_is_not_taken_in(one: Desk, data: bytes) -> None:
    with pytest.raises(BadRequest, match="exported"):
        one.store.sessions.take_in(data)
    assert ids(one, Filter(archived=None)) == []


def test_an_entry_that_was_lost_has_a_notice_in_its_place(one: Desk) -> None:
    import sqlite3

    life(one)
    connection = sqlite3.connect(one.path)
    with connection:
        connection.execute("DELETE FROM entry WHERE key & 0xFFFFFFFF = 2")
    connection.close()
    entries = one.store.sessions.load(ID).transcript.entries
    assert [e.id for e in entries] == ["e1", "e2", "e3", "e4", "e5"]
    assert isinstance(entries[1], Notice)
    assert "lost" in entries[1].text
