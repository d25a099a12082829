"""All sessions there are: listed in pages, found under one id, taken up once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core.lasting import Lasting
from agentls.core.model import AgentSessionId, State
from agentls.core.session import Session
from agentls.core.store import Cursor, Filter, Place
from fakes.core import Core, text
from fakes.stored import Desk, desk

_T = TypeVar("_T")


async def at_once(work: Callable[[], _T]) -> _T:
    return work()


class House:
    """Live and stored sessions together; nothing is stored before `flush`."""

    def __init__(self, one: Desk) -> None:
        self.desk = one
        self.core = Core(clock=one.clock, store=one.store)
        self.sessions = self.core.sessions
        self.lasting = Lasting(
            self.sessions,
            self.core.host,
            one.store,
            off_loop=at_once,
            new_signal=asyncio.Event,
        )

    async def opened(self, *, after: float = 1.0) -> Session:
        self.desk.clock.time += after  # without letting anything be stored
        return await self.core.opened()

    async def ids(self, limit: int = 100, **wanted: object) -> list[str]:
        found, _ = await self.lasting.listed(Filter(**wanted), limit=limit)  # type: ignore[arg-type]
        return [one.id for one in found]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with desk(tmp_path / "agentls.db") as one:
        yield House(one)


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_pages_have_every_session_once_whatever_leaves_for_the_store_between_them(
    data: st.DataObject,
) -> None:
    async def read(house: House) -> None:
        all: list[Session] = []
        for number in range(data.draw(st.integers(1, 8), "sessions")):
            session = await house.opened(after=data.draw(st.sampled_from([0.0, 1.0])))
            if number and data.draw(st.booleans(), "stored as it began"):
                house.desk.flush()
            if data.draw(st.booleans(), "closed"):
                house.desk.clock.time += 0.5
                session.close()
            all.append(session)
        limit = data.draw(st.integers(1, 4), "limit")
        pages: list[str] = []
        times: list[float] = []
        after: Cursor | None = None
        for _ in range(20):
            found, after = await house.lasting.listed(Filter(), limit=limit, after=after)
            assert len(found) <= limit
            pages += [one.id for one in found]
            times += [o.last_sign if isinstance(o, Session) else o.active for o in found]
            if after is None:
                break
            if data.draw(st.booleans(), "stored between pages"):
                house.desk.flush()
        assert sorted(pages) == sorted(session.id for session in all)
        assert times == sorted(times, reverse=True)

    with TemporaryDirectory() as folder, desk(Path(folder, "agentls.db")) as one:
        asyncio.run(read(House(one)))


async def test_a_list_knows_of_what_is_here_where_it_is_and_whether_it_is_archived(
    house: House,
) -> None:
    live, over = await house.opened(), await house.opened()
    over.close()
    assert await house.ids(places=(Place.HERE,)) == [live.id]
    assert await house.ids(places=(Place.PAST,)) == [over.id]
    house.desk.flush()
    await house.lasting.archive(live.id, True)
    assert live.archived
    assert await house.ids() == [over.id]
    assert await house.ids(archived=True) == [live.id]
    assert await house.ids(archived=None) == [over.id, live.id]


async def test_what_was_archived_stays_so_when_it_is_taken_up(house: House) -> None:
    session = await house.opened()
    session.close()
    house.desk.flush()
    await house.lasting.archive(session.id, True)
    again = await house.lasting.resume(session.id)
    assert again is not session
    assert await house.ids() == []
    assert again.archived


@pytest.mark.parametrize("where", ["open here", "closed here", "stored"])
async def test_a_session_that_the_agent_names_is_the_one_we_know(house: House, where: str) -> None:
    session = await house.opened()
    named = session.agent_session
    assert named is not None
    if where != "open here":
        session.close()
    if where == "stored":
        house.desk.flush()
        assert house.sessions.find(session.id) is None
    loading = asyncio.gather(
        house.lasting.load("fake", "/project", named), house.lasting.load("fake", "/other", named)
    )
    for _ in range(50):
        await asyncio.sleep(0)
        house.desk.flush()
    one, two = await loading
    assert one is two
    assert (one.id, one.cwd) == (session.id, "/project")
    assert [s.id for s in house.sessions] == [session.id]


async def test_a_session_that_only_the_agent_knows_is_loaded_once(house: House) -> None:
    past = AgentSessionId("theirs")
    load = house.lasting.load
    one, two = await asyncio.gather(load("fake", "/p", past), load("fake", "/p", past))
    assert one is two
    other = await load("another", "/p", past)
    assert other is not one, "another agent's session of the same name is another session"


async def test_prompts_that_wait_when_a_session_is_closed_are_said_and_never_sent(
    house: House,
) -> None:
    session = await house.opened()
    session.prompt(text("first"))
    session.prompt(text("second"))
    session.close()
    house.desk.flush()
    again = await house.lasting.resume(session.id)
    await house.core.tasks.settle()
    assert again.state is State.IDLE
    assert [prompt.text for prompt in house.core.agent.prompts] == ["first"]
    assert any("second" in str(getattr(e, "text", "")) for e in again.transcript.entries)
