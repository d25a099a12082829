"""A session as JSON for other machines, and back.

Invariant: what is taken in is what was given out, entry by entry, if the session was closed; one
that was alive is closed on its way in. Nothing that is taken in allows an agent anything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentls.core.errors import BadRequest
from agentls.core.family.spawn import Spawn
from agentls.core.model import SessionId
from agentls.core.store import Head, Stored, left_by_a_dead_server, restored
from agentls.core.transcript import Entry

from .changes import EntryChange
from .codec import KINDS, GrownText, decoded, encoded
from .database import transaction
from .recovery import closed, rewrite, texts_of
from .rows import write_entry, write_head

_FORMAT = "agentls session"
_VERSION = 1


class _Entry(Struct):
    kind: str
    body: msgspec.Raw


class _File(Struct):
    format: str
    version: int
    session: Head
    entries: list[_Entry]


def given_out(stored: Stored) -> bytes:
    entries = [_Entry(KINDS[type(e)], msgspec.Raw(_body(e))) for e in stored.transcript.entries]
    return msgspec.json.encode(_File(_FORMAT, _VERSION, stored.head, entries))


def _body(entry: Entry) -> bytes:
    texts = {
        name: GrownText(0, (), "".join((*text.parts, text.tail)))
        for name, text in texts_of(entry).items()
    }
    return encoded(entry, texts)


def read(data: bytes) -> Stored:
    """Raises `BadRequest`."""
    try:
        file = msgspec.json.decode(data, type=_File)
        if file.format != _FORMAT:
            raise BadRequest("This is not a session that agentls has exported.")
        if file.version > _VERSION:
            raise BadRequest("A newer agentls has exported this session.", hint="Update agentls.")
        entries = [
            decoded(entry.kind, number, bytes(entry.body), lambda _: "")
            for number, entry in enumerate(file.entries, 1)
        ]
    except (msgspec.MsgspecError, KeyError, RecursionError) as error:
        raise BadRequest(f"This is not a session that agentls has exported: {error}.") from None
    return Stored(head=file.session, transcript=restored(file.session, entries))


def taken_in(
    connection: sqlite3.Connection, stored: Stored, new_id: Callable[[], SessionId]
) -> SessionId:
    """Its id, which is new if it is in use."""
    closed(stored, left_by_a_dead_server)
    # What an agent may do, and which conversation it remembers, is not for a file to say.
    head = replace(
        stored.head, policy="ask", mode="", options=(), agent_session=None, spawn=Spawn()
    )
    stored = replace(stored, head=head)
    with transaction(connection):
        query = "SELECT 1 FROM session WHERE id = ?"
        if connection.execute(query, (stored.head.id,)).fetchone() is not None:
            stored = replace(stored, head=replace(stored.head, id=new_id()))
        entries = stored.transcript.entries
        number = write_head(connection, stored.head, len(entries), None)
        rewrite(connection, number, stored, {})
        for at, entry in enumerate(entries, 1):
            write_entry(connection, number, EntryChange(at, entry, texts_of(entry)))
    return stored.head.id
