"""Sessions and entries into the database: every write can be made twice and changes nothing then.

Invariant: a blob is there exactly as long as an entry uses it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from agentls.core.model import State
from agentls.core.store import Head
from agentls.core.transcript import Ask

from .changes import EntryChange, SessionChange
from .codec import KINDS, Grown, encoded, json_of
from .packing import deflated, packed

NUMBER_BITS: Final = 32
GROWING, TO_INDEX, INDEXED = 0, 1, 2


class NotStored(Exception):
    """The database does not know a session that it should."""


def first_key(session: int) -> int:
    return session << NUMBER_BITS


def key_of(session: int, number: int) -> int:
    return first_key(session) + number


def keys_of(session: int) -> tuple[int, int]:
    """The first and the last key that an entry of the session may have."""
    return first_key(session), first_key(session + 1) - 1


def write_change(connection: sqlite3.Connection, change: SessionChange, server: str | None) -> None:
    """In a transaction of the caller."""
    query = "UPDATE session SET active = ?, entries = ? WHERE id = ? RETURNING number"
    row = connection.execute(query, (change.active, change.total, change.id)).fetchone()
    if row is None and (change.stored or change.head is None):
        raise NotStored(change.id)
    if change.head is not None:
        number = write_head(connection, change.head, change.total, server)
    else:
        number = row[0]
    for entry in change.entries:
        write_entry(connection, number, entry)
        if isinstance(entry.entry, Ask) and entry.entry.decision is not None:
            write_decision(connection, number, entry.number, entry.entry, change.active)


def write_head(connection: sqlite3.Connection, head: Head, total: int, server: str | None) -> int:
    """The number of the session. What a person said about it (name, archived) stays."""
    values = {
        "id": head.id,
        "agent": clean(head.agent),
        "agent_session": head.agent_session and clean(head.agent_session),
        "model": clean(head.model),
        "cwd": clean(head.cwd),
        "title": clean(head.title),
        "state": head.state.value,
        "policy": clean(head.policy),
        "mode": clean(head.mode),
        "created": head.created,
        "active": head.active,
        "parent": head.parent,
        "orchestrator": head.spawn.orchestrator,
        "member": clean(head.spawn.name),
        "server": None if head.state is State.CLOSED else server,
        "turns": head.turn,
        "entries": total,
        "head": json_of(head),
    }
    names = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    changed = ", ".join(f"{name} = excluded.{name}" for name in values if name != "id")
    (number,) = connection.execute(
        f"INSERT INTO session ({names}) VALUES ({marks})"
        f" ON CONFLICT (id) DO UPDATE SET {changed}, died = 0 RETURNING number",
        values,
    ).fetchone()
    return int(number)


def write_entry(connection: sqlite3.Connection, session: int, change: EntryChange) -> None:
    key, kind = key_of(session, change.number), KINDS[type(change.entry)]
    body, blobs = packed(kind, encoded(change.entry, change.texts))
    connection.execute(
        "INSERT INTO entry (key, kind, at, indexed, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, at = excluded.at,"
        " indexed = excluded.indexed, body = excluded.body",
        (key, kind, change.entry.at, GROWING if change.growing else TO_INDEX, body),
    )
    _write_parts(connection, key, change.texts)
    _write_blobs(connection, key, blobs)


def _write_parts(connection: sqlite3.Connection, key: int, texts: Grown) -> None:
    for name, text in ((clean(name), text) for name, text in texts.items()):
        if text.first == 0:  # also when all of a text was replaced by a shorter one
            connection.execute("DELETE FROM part WHERE entry = ? AND text = ?", (key, name))
        connection.executemany(
            "INSERT OR REPLACE INTO part (entry, text, number, data) VALUES (?, ?, ?, ?)",
            (
                (key, name, number, deflated(part.encode("utf-8", "replace")))
                for number, part in enumerate(text.parts, text.first)
            ),
        )


def _write_blobs(connection: sqlite3.Connection, key: int, blobs: dict[str, bytes]) -> None:
    query = "SELECT blob FROM blob_use WHERE entry = ?"
    before = {row[0] for row in connection.execute(query, (key,))}
    if not blobs and not before:
        return
    now = {_blob(connection, name, text) for name, text in blobs.items()}
    connection.executemany(
        "INSERT INTO blob_use (entry, blob) VALUES (?, ?)", ((key, id) for id in now - before)
    )
    gone = before - now
    connection.executemany(
        "DELETE FROM blob_use WHERE entry = ? AND blob = ?", ((key, id) for id in gone)
    )
    delete_unused(connection, gone)


def _blob(connection: sqlite3.Connection, name: str, text: bytes) -> int:
    row = connection.execute("SELECT id FROM blob WHERE hash = ?", (name,)).fetchone()
    if row is None:
        query = "INSERT INTO blob (hash, data) VALUES (?, ?) RETURNING id"
        row = connection.execute(query, (name, deflated(text))).fetchone()
    return int(row[0])


def delete_unused(connection: sqlite3.Connection, blobs: Iterable[int]) -> None:
    connection.executemany(
        "DELETE FROM blob WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM blob_use WHERE blob = ?1)",
        ((id,) for id in blobs),
    )


def write_decision(
    connection: sqlite3.Connection, session: int, number: int, ask: Ask, at: float
) -> None:
    decision = ask.decision
    assert decision is not None, "only decided ones are rows"
    option = decision.option
    texts = (ask.ask, ask.title, ask.shown)
    connection.execute(
        "INSERT OR IGNORE INTO decision (at, session, agent, folder, ask, title, shown, allowed,"
        " option, kind, by, why, remembered, entry)"
        " SELECT ?, id, agent, cwd, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM session WHERE number = ?",
        (
            at,
            *(clean(text) for text in texts),
            decision.allows,
            clean(option.id) if option else None,
            clean(option.kind) if option else None,
            clean(decision.by),
            clean(ask.why),
            clean(decision.remembered),
            number,
            session,
        ),
    )


def clean(text: str) -> str:
    """Half characters cannot be written down."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
