"""Sessions and entries out of the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import msgspec

from agentls.core.errors import UnknownSession
from agentls.core.model import SessionId, State
from agentls.core.store import (
    Cursor,
    Filter,
    Head,
    Page,
    Place,
    SessionSummary,
    Stored,
    restored,
    without_gaps,
)
from agentls.core.transcript import Entry

from .codec import decoded
from .packing import inflated, unpacked
from .rows import NUMBER_BITS, keys_of

_COLUMNS: Final = (
    "id, agent, agent_session, model, cwd, coalesce(nullif(name, ''), title) AS title, state,"
    " server, died, policy, mode, created, active, archived, compacted, parent, turns, entries,"
    " name, orchestrator, member"
)
_LOWER: Final = (1 << NUMBER_BITS) - 1

WhereIs = Callable[[str | None], Place]
"""Where the server of that name is, if it lives."""


def number_of(connection: sqlite3.Connection, id: SessionId) -> int:
    row = connection.execute("SELECT number FROM session WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise UnknownSession(
            f"There is no stored session {id!r}.", hint="List the sessions to see which there are."
        )
    return int(row[0])


def summaries(
    connection: sqlite3.Connection,
    wanted: Filter,
    where_is: WhereIs,
    limit: int,
    after: SessionSummary | Cursor | None,
) -> list[SessionSummary]:
    """Newest first."""
    conditions, values = conditions_of(wanted)
    if after is not None:
        conditions.append("(active, id) < (?, ?)")
        values += [after.active, after.id]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT {_COLUMNS} FROM session {where} ORDER BY active DESC, id DESC"
    found: list[SessionSummary] = []
    for row in connection.execute(query, values):
        summary = _summary(row, where_is)
        if wanted.places and summary.place not in wanted.places:
            continue
        found.append(summary)
        if len(found) >= limit:
            break
    return found


def summary_of(connection: sqlite3.Connection, id: SessionId, where_is: WhereIs) -> SessionSummary:
    number = number_of(connection, id)
    query = f"SELECT {_COLUMNS} FROM session WHERE number = ?"
    return _summary(connection.execute(query, (number,)).fetchone(), where_is)


def _summary(row: tuple[Any, ...], where_is: WhereIs) -> SessionSummary:
    (id, agent, agent_session, model, cwd, title, state, server, died, policy, mode) = row[:11]
    created, active, archived, compacted, parent, turns, entries, name = row[11:19]
    place = where_is(server)
    return SessionSummary(
        id=id,
        agent=agent,
        agent_session=agent_session,
        model=model,
        cwd=cwd,
        title=title,
        named=bool(name),
        state=State(state),
        place=place,
        died=bool(died) or (server is not None and place is Place.PAST),
        policy=policy,
        mode=mode,
        created=created,
        active=active,
        archived=bool(archived),
        compacted=bool(compacted),
        parent=parent,
        orchestrator=row[19],
        member=row[20],
        turns=turns,
        entries=entries,
    )


def conditions_of(wanted: Filter) -> tuple[list[str], list[Any]]:
    """What can be asked of the table of sessions: all but `places` and `file`."""
    conditions: list[str] = []
    values: list[Any] = []

    def ask(condition: str, *given: Any) -> None:
        conditions.append(condition)
        values.extend(given)

    if wanted.session is not None:
        ask("session.id = ?", wanted.session)
    if wanted.agent:
        ask("agent = ?", wanted.agent)
    if wanted.agent_session is not None:
        ask("agent_session = ?", wanted.agent_session)
    if wanted.project:
        folder = wanted.project.rstrip("/") or "/"
        below = folder.rstrip("/") + "/"
        ask("(cwd = ? OR substr(cwd, 1, ?) = ?)", folder, len(below), below)
    if wanted.states:
        marks = ", ".join("?" * len(wanted.states))
        ask(f"state IN ({marks})", *(state.value for state in wanted.states))
    if wanted.archived is not None:
        ask("archived = ?", int(wanted.archived))
    if wanted.since is not None:
        ask("active >= ?", wanted.since)
    if wanted.until is not None:
        ask("active <= ?", wanted.until)
    if wanted.title:
        pattern = wanted.title.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        title = "coalesce(nullif(name, ''), title)"
        ask(rf"{title} LIKE ? ESCAPE '\'", f"%{pattern}%")
    return conditions, values


def head_of(connection: sqlite3.Connection, number: int) -> Head:
    query = "SELECT head, active FROM session WHERE number = ?"
    head, active = connection.execute(query, (number,)).fetchone()
    found = msgspec.json.decode(head, type=Head)
    return msgspec.structs.replace(found, active=active)


def page(connection: sqlite3.Connection, id: SessionId, last: int, before: int | None) -> Page:
    number = number_of(connection, id)
    first, end = keys_of(number)
    if before is not None:
        end = first + before - 1
    rows = connection.execute(
        "SELECT key, kind, body FROM entry WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?",
        (first, end, max(0, last)),
    ).fetchall()
    entries = [entry for _, entry in entries_of(connection, reversed(rows))]
    (total,) = connection.execute(
        "SELECT entries FROM session WHERE number = ?", (number,)
    ).fetchone()
    start = rows[-1][0] & _LOWER if rows else 1
    return Page(entries=entries, first=start, total=total)


def load(connection: sqlite3.Connection, id: SessionId) -> Stored:
    number = number_of(connection, id)
    head = head_of(connection, number)
    entries = without_gaps(all_entries(connection, number))
    return Stored(head=head, transcript=restored(head, entries))


def all_entries(connection: sqlite3.Connection, session: int) -> Iterator[tuple[int, Entry]]:
    rows = connection.execute(
        "SELECT key, kind, body FROM entry WHERE key BETWEEN ? AND ? ORDER BY key",
        keys_of(session),
    )
    return entries_of(connection, rows)


def entries_of(
    connection: sqlite3.Connection, rows: Iterable[tuple[int, str, bytes]]
) -> Iterator[tuple[int, Entry]]:
    """Numbers and entries; a long text is only read where there is one."""
    blob = partial(_blob, connection)
    for key, kind, body in rows:
        number = key & _LOWER
        whole = unpacked(kind, body, blob)
        yield number, decoded(kind, number, whole, partial(_parts, connection, key))


def entry_at(connection: sqlite3.Connection, key: int) -> Entry | None:
    query = "SELECT key, kind, body FROM entry WHERE key = ?"
    found = list(entries_of(connection, connection.execute(query, (key,)).fetchall()))
    return found[0][1] if found else None


def _blob(connection: sqlite3.Connection, name: str) -> str:
    row = connection.execute("SELECT data FROM blob WHERE hash = ?", (name,)).fetchone()
    return inflated(row[0]).decode() if row is not None else ""


def _parts(connection: sqlite3.Connection, key: int, text: str) -> str:
    rows = connection.execute(
        "SELECT data FROM part WHERE entry = ? AND text = ? ORDER BY number", (key, text)
    )
    return "".join(inflated(row[0]).decode() for row in rows)


def session_of(key: int) -> int:
    return key >> NUMBER_BITS
