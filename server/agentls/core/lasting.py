"""All sessions that there are, live here, live elsewhere or past: listed, read, taken up again.

Invariant: a session goes on in one server at a time, and in one object. Whoever asks for a past one
while it is being taken up waits for that same object.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct

from .errors import AgentError, AgentlsError, BadRequest, SessionNotReady, StoreError
from .markdown import transcript_markdown
from .model import AgentSessionId, PastSession, Prompt, SessionId, State
from .ports import AgentHost, OffLoop, Signal
from .session import Session
from .sessions import Sessions
from .spending import DayUsage
from .store import (
    Cursor,
    Filter,
    Head,
    Hit,
    Page,
    Place,
    SessionMemory,
    SessionStore,
    SessionSummary,
    Stored,
)

_T = TypeVar("_T")


class _TakingUp(Struct):
    """A past session on its way back."""

    done: Signal
    session: Session | None = None
    error: AgentlsError | None = None


class Lasting:
    """On top of the live sessions and the stored ones."""

    def __init__(
        self,
        sessions: Sessions,
        agents: AgentHost,
        memory: SessionMemory,
        *,
        off_loop: OffLoop,
        new_signal: Callable[[], Signal],
    ) -> None:
        self._sessions = sessions
        self._agents = agents
        self._memory = memory
        self._off_loop = off_loop
        self._new_signal = new_signal
        self._coming: dict[SessionId, _TakingUp] = {}

    # -- which there are

    async def recover(self) -> None:
        """Mark what servers that died have left, so that nobody takes it for alive."""
        await self._stored(lambda store: store.recover())

    def live(self, id: SessionId) -> Session | None:
        """The session if it is open here."""
        session = self._sessions.find(id)
        return None if session is None or session.state is State.CLOSED else session

    async def listed(
        self, wanted: Filter, *, limit: int, after: Cursor | None = None
    ) -> tuple[list[Session | SessionSummary], Cursor | None]:
        """Newest first: a session object for what is here, and where the page ended.

        What is here has its place by what it knows of itself, whether or not the store knows it
        yet. So nothing comes twice when it leaves for the store between two pages; what goes on
        between them moves up to the pages that were read already.
        """
        here = {session.id: (session.last_sign, session) for session in self._sessions}
        some = limit + len(here)  # as many of what is found may be here
        try:
            found = await self._stored(lambda s: s.summaries(wanted, limit=some, after=after))
        except StoreError:
            found = []  # what is here can be listed all the same
        places: list[tuple[Cursor, Session | SessionSummary]] = [
            (Cursor(s.active, s.id), self._sessions.find(s.id) or s)
            for s in found
            if s.id not in here
        ]
        for active, session in here.values():
            place = Cursor(active, session.id)
            if _matches(session, wanted) and (after is None or _key(place) < _key(after)):
                places.append((place, session))
        places.sort(key=lambda listed: _key(listed[0]), reverse=True)
        page = places[:limit]
        return [listed for _, listed in page], page[-1][0] if len(places) > limit else None

    async def of_agents(self, agent: str, cwd: str) -> list[tuple[str, PastSession]]:
        """What the running agents remember and we do not."""
        found: list[tuple[str, PastSession]] = []
        for running in self._agents.running():
            name = running.info.name
            if running.info.abilities.list and agent in {"", name}:
                try:
                    remembered = await running.list_sessions(cwd or None)
                except AgentError:
                    continue  # it is a list of what can be had
                found += [(name, past) for past in remembered]
        ours = await self._stored(
            lambda store: store.summaries(Filter(agent=agent, archived=None), limit=10_000)
        )
        known = {(s.agent, s.agent_session) for s in ours}
        known |= {(s.agent_name, s.agent_session) for s in self._sessions}
        return [(name, past) for name, past in found if (name, past.id) not in known]

    # -- reading

    async def page(
        self, id: SessionId, *, last: int, before: int | None
    ) -> tuple[SessionSummary, Head, Page]:
        """Some entries of a session that is not open here."""
        await self._settled(id)

        def read(store: SessionStore) -> tuple[SessionSummary, Head, Page]:
            summary = _closed(store, id)
            return summary, store.head(id), store.page(id, last=last, before=before)

        return await self._stored(read)

    async def whole(self, id: SessionId) -> Stored:
        """All of a session that is not open here."""
        await self._settled(id)
        return await self._stored(lambda store: (_closed(store, id), store.load(id))[1])

    async def search(self, words: str, wanted: Filter, *, limit: int) -> list[Hit]:
        if not words.strip():
            raise BadRequest("There is nothing to search for.", hint="Say at least one word.")
        return await self._stored(lambda store: store.search(words, wanted, limit=limit))

    async def usage(self, wanted: Filter) -> list[DayUsage]:
        for session in self._sessions:
            await self._settled(session.id)
        return await self._stored(lambda store: store.usage(wanted))

    async def markdown(self, id: SessionId) -> str:
        session = self._sessions.find(id)
        if session is not None:
            return transcript_markdown(
                session.transcript, title=session.title, agent=session.agent_name, cwd=session.cwd
            )
        stored = await self.whole(id)
        head = stored.head
        return await self._off_loop(
            lambda: transcript_markdown(
                stored.transcript, title=head.title, agent=head.agent, cwd=head.cwd
            )
        )

    async def export(self, id: SessionId) -> bytes:
        """All of it, as JSON."""
        await self._settled(id)
        return await self._stored(lambda store: store.export(id))

    # -- going on

    async def resume(self, id: SessionId) -> Session:
        """The session, open here: as it is, or taken up again with its agent."""
        session = self.live(id)
        if session is not None:
            return self._sessions.restart(id) if session.state is State.FAILED else session
        coming = self._coming.get(id)
        if coming is None:
            coming = self._coming[id] = _TakingUp(self._new_signal())
            try:
                coming.session = await self._take_up(id)
            except AgentlsError as error:
                coming.error = error
            finally:
                del self._coming[id]
                coming.done.set()
        else:
            await coming.done.wait()
        if coming.error is not None:
            raise coming.error
        if coming.session is None:
            raise SessionNotReady("The session could not be taken up.", hint="Try again.")
        return coming.session

    async def load(self, agent: str, cwd: str, past: AgentSessionId) -> Session:
        """The session that the agent calls by that name: ours, if we know it, in one object."""
        wanted = Filter(agent=agent, agent_session=past, archived=None)
        try:
            known = [s.id for s in await self._stored(lambda s: s.summaries(wanted, limit=1))]
        except StoreError:
            known = []
        here = [s.id for s in self._sessions if (s.agent_name, s.agent_session) == (agent, past)]
        for id in (*here, *known):
            return await self.resume(id)
        return self._sessions.load(agent, cwd, past)

    async def prompt(self, id: SessionId, prompt: Prompt) -> tuple[Session, int]:
        """Say something to a session, whichever it is; a past one is taken up for it."""
        session = self.live(id) or await self.resume(id)
        return session, self._sessions.prompt(id, prompt)

    async def duplicate(self, id: SessionId, agent: str) -> Session:
        """A new session that is told what was said in this one."""
        session = self._sessions.find(id)
        if session is None:
            stored = await self.whole(id)
            head, transcript = stored.head, stored.transcript
        else:
            transcript = session.transcript
            head = Head(
                id=id,
                agent=session.agent_name,
                cwd=session.cwd,
                created=session.created,
                active=session.last_sign,
                title=session.title,
            )
        return self._sessions.duplicate(head, transcript, agent or head.agent)

    async def _take_up(self, id: SessionId) -> Session:
        await self._settled(id)
        if self._sessions.find(id) is not None:  # it was closed, and cannot be stored
            return self._sessions.reopen(id)
        stored, line = await self._stored(lambda store: (store.claim(id), store.get(id)))
        return self._sessions.adopt(stored, named=line.named, archived=line.archived)

    # -- changing

    async def rename(self, id: SessionId, title: str) -> None:
        title = " ".join(title.split())
        session = self.live(id)
        if session is not None:
            session.rename(title)
        await self._settled(id)
        await self._stored(lambda store: store.rename(id, title))

    async def archive(self, id: SessionId, archived: bool) -> None:
        await self._settled(id)
        await self._stored(lambda store: store.archive(id, archived))
        session = self._sessions.find(id)
        if session is not None:
            session.archived = archived

    async def delete(self, id: SessionId) -> None:
        """For good, and only when it is not open."""
        if self.live(id) is not None or id in self._coming:
            raise SessionNotReady("The session is open.", hint="Close it first.")
        await self._settled(id)
        head = await self._stored(lambda store: store.head(id))
        await self._stored(lambda store: store.delete(id))
        self._memory.recorder.forget(id)
        self._sessions.forget(id)
        await self._delete_at_agent(head.agent, head.agent_session)

    async def _delete_at_agent(self, name: str, past: AgentSessionId | None) -> None:
        """Where it runs and can: none is started to forget."""
        for agent in self._agents.running():
            if past is not None and agent.info.name == name and agent.info.abilities.delete:
                with suppress(AgentError):  # it may not know the session any more
                    await agent.delete_session(past)
                return

    async def take_in(self, data: bytes) -> SessionId:
        """An exported session, as a past one."""
        return await self._stored(lambda store: store.take_in(data))

    # -- the store

    async def _settled(self, id: SessionId) -> None:
        """What happened in it until now is stored, if that is possible."""
        if self._sessions.find(id) is not None:
            stored = self._new_signal()
            self._memory.recorder.when_stored(id, stored.set)
            await stored.wait()

    async def _stored(self, work: Callable[[SessionStore], _T]) -> _T:
        # The store itself is made on the thread too: it takes a while to load.
        return await self._off_loop(lambda: work(self._memory.sessions))


def _closed(store: SessionStore, id: SessionId) -> SessionSummary:
    """A session that is not open here; if its server has just died, nothing in it goes on."""
    summary = store.get(id)
    if summary.place is Place.PAST and summary.state is not State.CLOSED:
        store.recover()
        summary = store.get(id)
    return summary


def _key(place: Cursor) -> tuple[float, str]:
    return place.active, place.id


def _matches(session: Session, wanted: Filter) -> bool:
    """The same as the store would say of it."""
    below = wanted.project.rstrip("/") + "/"
    place = Place.PAST if session.state is State.CLOSED else Place.HERE
    return (
        wanted.agent in {"", session.agent_name}
        and (not wanted.project or f"{session.cwd}/".startswith(below))
        and (not wanted.states or session.state in wanted.states)
        and (not wanted.places or place in wanted.places)
        and wanted.archived in {None, session.archived}
        and (wanted.since is None or session.last_sign >= wanted.since)
        and (wanted.until is None or session.last_sign <= wanted.until)
        and wanted.title.lower() in session.title.lower()
        and wanted.session in {None, session.id}
        and wanted.agent_session in {None, session.agent_session}
    )
