"""Stored sessions as the editor sees them: heads, pages and hits, from what the store gives."""

from __future__ import annotations

import msgspec

from ..core.errors import BadRequest
from ..core.lasting import Lasting
from ..core.model import PastSession, SessionId, State
from ..core.policy.rules import Mode
from ..core.store import Cursor, Filter, Head, Hit, Place, SessionSummary
from . import convert
from . import protocol as p


def summary_head(summary: SessionSummary) -> p.SessionHead:
    """A line of a list. What is nowhere alive is closed, whatever it was doing last."""
    state = State.CLOSED if summary.place is Place.PAST else summary.state
    return p.SessionHead(
        id=summary.id,
        agent=summary.agent,
        title=summary.title,
        cwd=summary.cwd,
        state=p.SessionState(state.value),
        created=summary.created,
        last_sign=summary.active,
        turn=summary.turns,
        mode=summary.mode,
        policy=_policy(summary.policy),
        place=p.SessionPlace(summary.place.value),
        died=summary.died,
        archived=summary.archived,
        parent=summary.parent or "",
        orchestrator=summary.orchestrator,
        name=summary.member,
    )


def whole_head(summary: SessionSummary, head: Head) -> p.SessionHead:
    """All that is known of a session that is not open here."""
    found = summary_head(summary)
    found.detail = head.detail
    found.modes = [
        p.SessionMode(id=m.id, name=m.name, description=m.description) for m in head.modes
    ]
    found.options = [convert.option(option) for option in head.options]
    found.commands = [
        p.SessionCommand(name=c.name, description=c.description, hint=c.hint) for c in head.commands
    ]
    found.usage = convert.usage(head.usage)
    return found


def hit(value: Hit) -> p.SearchHit:
    return p.SearchHit(
        session_id=value.session,
        title=value.title,
        agent=value.agent,
        cwd=value.cwd,
        entry_id=value.entry,
        kind=value.kind,
        at=value.at,
        snippet=value.snippet,
        marks=[list(mark) for mark in value.marks],
    )


def remembered(agent: str, past: PastSession) -> p.RememberedSession:
    return p.RememberedSession(
        agent=agent,
        agent_session_id=past.id,
        cwd=past.cwd,
        title=past.title,
        updated=past.updated,
    )


def wanted(params: p.SessionListParams) -> Filter:
    return Filter(
        agent=params.agent,
        project=params.cwd,
        states=tuple(State(state.value) for state in params.states),
        places=tuple(Place(place.value) for place in params.places),
        archived=params.archived,
        since=params.since,
        until=params.until,
        title=params.title,
    )


def searched(params: p.SearchParams) -> Filter:
    return Filter(
        agent=params.agent,
        project=params.cwd,
        archived=None,
        since=params.since,
        until=params.until,
        file=params.file,
        session=SessionId(params.session_id) if params.session_id else None,
    )


async def days_of(lasting: Lasting, params: p.UsageParams) -> list[p.DayUsage]:
    wanted = Filter(
        agent=params.agent,
        project=params.cwd,
        archived=None,
        since=params.since,
        until=params.until,
    )
    found = await lasting.usage(wanted)
    return [p.DayUsage(**msgspec.structs.asdict(day)) for day in found]


def cursor(text: str) -> Cursor | None:
    if not text:
        return None
    active, _, id = text.partition("/")
    try:
        return Cursor(float(active), SessionId(id))
    except ValueError:
        raise BadRequest("`after` is not the `next` of a page.") from None


def cursor_text(value: Cursor | None) -> str:
    return f"{value.active!r}/{value.id}" if value is not None else ""


def entry_number(id: str) -> int | None:
    if not id:
        return None
    if not id.startswith("e") or not id[1:].isdecimal():
        raise BadRequest(f"{id!r} is not the id of an entry.")
    return int(id[1:])


def _policy(name: str) -> p.PolicyMode:
    return p.PolicyMode(name) if name in list(Mode) else p.PolicyMode.ASK
