"""Requests about sessions wherever they are: listed, read, taken up, renamed, searched, exported.

See `handlers` for how such a function works. What is open here is answered at once, in the order of
the messages; what is stored is read on a thread.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ..core.errors import BadRequest
from ..core.lasting import Lasting
from ..core.model import Block, Diff, SessionId, TerminalId
from ..core.printable import on_screen
from ..core.session import Session
from ..core.sessions import Sessions
from ..core.transcript import Entry, Message, ToolCall
from . import convert, past
from . import protocol as p
from .publisher import Publisher

_PAGE = 200
"""Entries of a past session that are read at a time when nobody says how many."""


class PastHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(
        self,
        sessions: Sessions,
        lasting: Lasting,
        publisher: Publisher,
    ) -> None:
        self._sessions = sessions
        self._lasting = lasting
        self._publisher = publisher

    async def session_list(self, params: p.SessionListParams) -> p.SessionListResult:
        after = past.cursor(params.after)
        found, end = await self._lasting.listed(
            past.wanted(params), limit=params.limit, after=after
        )
        remembered = []
        if params.from_agents and after is None:
            remembered = await self._lasting.of_agents(params.agent, params.cwd)
        return p.SessionListResult(
            sessions=[
                convert.head(s) if isinstance(s, Session) else past.summary_head(s) for s in found
            ],
            next=past.cursor_text(end),
            remembered=[past.remembered(agent, session) for agent, session in remembered],
        )

    def session_snapshot(
        self, params: p.SnapshotParams
    ) -> p.SnapshotResult | Awaitable[p.SnapshotResult]:
        before = past.entry_number(params.before)
        session = self._sessions.find(SessionId(params.session_id))
        if session is not None:
            return self._publisher.snapshot(session, params.last, before)
        return self._page(SessionId(params.session_id), params.last, before)

    async def _page(self, id: SessionId, last: int | None, before: int | None) -> p.SnapshotResult:
        summary, head, page = await self._lasting.page(id, last=last or _PAGE, before=before)
        session = self._sessions.find(id)
        if session is not None:  # it was taken up meanwhile
            return self._publisher.snapshot(session, last, before)
        return p.SnapshotResult(
            seq=self._publisher.seq(id),
            session=past.whole_head(summary, head),
            entries=[convert.entry(entry) for entry in page.entries],
            total=page.total,
        )

    async def session_resume(self, params: p.SessionParams) -> p.SessionResult:
        return self._result(await self._lasting.resume(SessionId(params.session_id)))

    def session_fork(self, params: p.ForkParams) -> p.SessionResult | Awaitable[p.SessionResult]:
        id = SessionId(params.session_id)
        if not params.agent and self._lasting.live(id) is not None:
            return self._result(self._sessions.fork(id))
        return self._duplicate(id, params.agent)

    async def _duplicate(self, id: SessionId, agent: str) -> p.SessionResult:
        return self._result(await self._lasting.duplicate(id, agent))

    async def session_rename(self, params: p.RenameParams) -> p.Nothing:
        await self._lasting.rename(SessionId(params.session_id), params.title)
        return p.Nothing()

    async def session_archive(self, params: p.ArchiveParams) -> p.Nothing:
        await self._lasting.archive(SessionId(params.session_id), params.archived)
        return p.Nothing()

    async def session_delete(self, params: p.SessionParams) -> p.Nothing:
        await self._lasting.delete(SessionId(params.session_id))
        return p.Nothing()

    async def session_export(self, params: p.ExportParams) -> p.ExportResult:
        id = SessionId(params.session_id)
        if params.format is p.ExportFormat.JSON:
            return p.ExportResult(markdown="", json=(await self._lasting.export(id)).decode())
        return p.ExportResult(markdown=await self._lasting.markdown(id))

    async def session_import(self, params: p.ImportParams) -> p.SessionResult:
        id = await self._lasting.take_in(params.json.encode("utf-8", "replace"))
        summary, head, _ = await self._lasting.page(id, last=1, before=None)
        return p.SessionResult(session=past.whole_head(summary, head))

    async def search(self, params: p.SearchParams) -> p.SearchResult:
        found = await self._lasting.search(params.words, past.searched(params), limit=params.limit)
        return p.SearchResult(hits=[past.hit(hit) for hit in found])

    async def usage(self, params: p.UsageParams) -> p.UsageResult:
        return p.UsageResult(days=await past.days_of(self._lasting, params))

    async def session_body(self, params: p.BodyParams) -> p.BodyResult:
        session = self._sessions.find(SessionId(params.session_id))
        number = past.entry_number(params.entry_id) or 0
        if session is not None:
            entries = session.transcript.entries
            found = entries[number - 1 : number]
        else:
            id = SessionId(params.session_id)
            _, _, page = await self._lasting.page(id, last=1, before=number + 1)
            found = [entry for entry in page.entries if entry.id == params.entry_id]
        if not found:
            raise BadRequest(f"The entry {params.entry_id!r} has no long text.")
        return p.BodyResult(text=_long_text(found[0], params.part, params.side))

    def _result(self, session: Session) -> p.SessionResult:
        return p.SessionResult(session=convert.head(session))


def _long_text(entry: Entry, part: int | str, side: str) -> str:
    if isinstance(entry, Message):
        return str(entry.text)
    if not isinstance(entry, ToolCall):
        raise BadRequest(f"The entry {entry.id!r} has no long text.")
    return _part(entry, part, side)


def _part(call: ToolCall, part: int | str, side: str) -> str:
    if isinstance(part, str):
        output = call.terminals.get(TerminalId(part))
        if output is None:
            raise BadRequest(f"The tool call has no terminal {part!r}.")
        return on_screen(str(output.text))
    if not 0 <= part < len(call.content):
        raise BadRequest(f"The tool call has no part {part}.")
    content = call.content[part]
    if isinstance(content, Diff):
        return content.new if side == "new" else content.old or ""
    return content.text if isinstance(content, Block) else ""
