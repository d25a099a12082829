"""Sessions of servers that died: found, closed as they should have been, and marked.

Invariant: no ask is forgotten and none stays open; what was decided is taken from the notes that
the dead server left.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

from agentls.core import events as ev
from agentls.core.model import SessionId
from agentls.core.store import Stored, left_by_a_dead_server
from agentls.core.transcript import Ask, Entry, Message, ToolCall, Transcript

from . import reading
from .changes import EntryChange
from .codec import TEXT, GrownText, decoded, whole_text
from .database import transaction
from .rows import GROWING, TO_INDEX, key_of, keys_of, write_decision, write_entry, write_head
from .servers import Note, bury, dead_servers, is_alive, notes_of


def recover(connection: sqlite3.Connection, folder: Path) -> list[SessionId]:
    """The sessions that were found dead."""
    query = "SELECT DISTINCT server FROM session WHERE server IS NOT NULL"
    named = [server for (server,) in connection.execute(query).fetchall()]
    dead = {server for server in named if not is_alive(folder, server)}
    found: list[SessionId] = []
    for server in sorted(dead | set(dead_servers(folder))):
        for note in notes_of(folder, server):
            _take_note(connection, note, server)
        query = "SELECT number, id FROM session WHERE server = ?"
        for number, id in connection.execute(query, (server,)).fetchall():
            _close(connection, number, id, server)
            found.append(id)
        bury(folder, server)
    return found


def _take_note(connection: sqlite3.Connection, note: Note, server: str) -> None:
    ask = decoded("ask", note.number, bytes(note.body), lambda _: "")
    assert isinstance(ask, Ask), "only those are noted"
    with transaction(connection):
        query = "SELECT number FROM session WHERE id = ?"
        row = connection.execute(query, (note.head.id,)).fetchone()
        number = row[0] if row else write_head(connection, note.head, note.number, server)
        there = reading.entry_at(connection, key_of(number, note.number))
        if isinstance(there, Ask) and there.decision is not None:
            return
        write_entry(connection, number, EntryChange(note.number, ask, {}))
        write_decision(connection, number, note.number, ask, note.head.active)
        connection.execute(
            "UPDATE session SET entries = max(entries, ?) WHERE number = ?", (note.number, number)
        )


def _close(connection: sqlite3.Connection, number: int, id: SessionId, server: str) -> None:
    stored = reading.load(connection, id)
    changed = closed(stored, left_by_a_dead_server)
    with transaction(connection):
        query = "SELECT 1 FROM session WHERE number = ? AND server = ?"
        if connection.execute(query, (number, server)).fetchone() is None:
            return  # another server was faster
        rewrite(connection, number, stored, changed)
        connection.execute("UPDATE session SET died = 1 WHERE number = ?", (number,))
        connection.execute(
            f"UPDATE entry SET indexed = {TO_INDEX} WHERE indexed = {GROWING}"
            " AND key BETWEEN ? AND ?",
            keys_of(number),
        )


def closed(stored: Stored, left: Callable[[Transcript], Iterable[ev.Event]]) -> dict[int, Entry]:
    """Let happen what ends a session; the entries that it changed, by number."""
    transcript = stored.transcript
    changed: dict[int, Entry] = {}
    for event in list(left(transcript)):
        entry = transcript.apply(event, stored.head.active)
        if entry is not None:
            changed[int(entry.id[1:])] = entry
    return changed


def rewrite(
    connection: sqlite3.Connection, number: int, stored: Stored, changed: dict[int, Entry]
) -> None:
    """The head and some entries of a session that nobody writes to. In a transaction."""
    from msgspec.structs import replace  # noqa: PLC0415 - only here

    transcript = stored.transcript
    head = replace(
        stored.head,
        state=transcript.state,
        detail=transcript.detail,
        turn_running=transcript.turn_running,
        queue=tuple(transcript.queue),
    )
    write_head(connection, head, len(transcript.entries), None)
    for at, entry in changed.items():
        write_entry(connection, number, EntryChange(at, entry, texts_of(entry)))
        if isinstance(entry, Ask) and entry.decision is not None:
            write_decision(connection, number, at, entry, stored.head.active)


def texts_of(entry: Entry) -> dict[str, GrownText]:
    """All of the texts of an entry that grow."""
    if isinstance(entry, Message):
        return {TEXT: whole_text(str(entry.text))}
    if isinstance(entry, ToolCall):
        return {id: whole_text(str(output.text)) for id, output in entry.terminals.items()}
    return {}
