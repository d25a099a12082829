"""What goes: whole sessions at once to the eye, and from the disk in short steps; old bodies.

Invariant: whoever writes never waits for more than one short step of this.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from msgspec.structs import replace

from agentls.core.growing import GrowingText
from agentls.core.model import Block, Diff, ToolContent
from agentls.core.output import Output
from agentls.core.transcript import Attachment, Entry, ToolCall

from . import reading
from .changes import EntryChange
from .codec import json_of
from .database import transaction
from .index import unindex
from .recovery import texts_of
from .rows import NUMBER_BITS, delete_unused, keys_of, write_entry

_STEP: Final = 200
"""Entries in one transaction."""
_SHORT: Final = 2048
"""Characters up to which a text is no burden."""
_LOWER: Final = (1 << NUMBER_BITS) - 1


def doom(connection: sqlite3.Connection, session: int, *, decisions: bool) -> None:
    """From now on nobody sees it. In a transaction."""
    if decisions:
        connection.execute(
            "DELETE FROM decision WHERE session = (SELECT id FROM session WHERE number = ?)",
            (session,),
        )
    connection.execute("INSERT OR IGNORE INTO doomed VALUES (?)", (session,))
    connection.execute("DELETE FROM session WHERE number = ?", (session,))


def delete_some(connection: sqlite3.Connection) -> bool:
    """Delete some of what belongs to doomed sessions; whether there was any."""
    if connection.execute("SELECT 1 FROM doomed").fetchone() is None:
        return False
    with transaction(connection):
        row = connection.execute("SELECT session FROM doomed").fetchone()
        if row is None:
            return True
        query = "SELECT key FROM entry WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?"
        keys = [key for (key,) in connection.execute(query, (*keys_of(row[0]), _STEP))]
        for key in keys:
            unindex(connection, key)
        if keys:
            _delete_entries(connection, keys[0], keys[-1])
        else:
            connection.execute("DELETE FROM doomed WHERE session = ?", (row[0],))
    return True


def _delete_entries(connection: sqlite3.Connection, first: int, last: int) -> None:
    span = (first, last)
    query = "SELECT DISTINCT blob FROM blob_use WHERE entry BETWEEN ? AND ?"
    blobs = [blob for (blob,) in connection.execute(query, span)]
    for table, column in (("blob_use", "entry"), ("part", "entry"), ("entry", "key")):
        connection.execute(f"DELETE FROM {table} WHERE {column} BETWEEN ? AND ?", span)
    delete_unused(connection, blobs)


def compact_some(connection: sqlite3.Connection, session: int, after: int) -> int | None:
    """Lighten some entries of a past session, those after a key; the last one, None at the end."""
    with transaction(connection):
        query = "SELECT 1 FROM session WHERE number = ? AND server IS NULL"
        if connection.execute(query, (session,)).fetchone() is None:
            return None  # it lives again
        first, last = keys_of(session)
        rows = connection.execute(
            "SELECT key, kind, body FROM entry WHERE key BETWEEN ? AND ? ORDER BY key LIMIT ?",
            (max(first, after + 1), last, _STEP),
        ).fetchall()
        for number, entry in list(reading.entries_of(connection, rows)):
            light = lightened(entry)
            if light is not None:
                write_entry(connection, session, EntryChange(number, light, texts_of(light)))
        if not rows:
            connection.execute("UPDATE session SET compacted = 1 WHERE number = ?", (session,))
            return None
        return int(rows[-1][0])


def lightened(entry: Entry) -> Entry | None:
    """The entry without what is long; None when nothing is. What was said stays."""
    if isinstance(entry, Attachment):
        block = _light_block(entry.block)
        return None if block is entry.block else replace(entry, block=block)
    if not isinstance(entry, ToolCall):
        return None
    content = tuple(_light_content(item) for item in entry.content)
    terminals = {id: _light_output(output) for id, output in entry.terminals.items()}
    light = replace(
        entry,
        content=content,
        terminals=terminals,
        input=_light_value(entry.input),
        output=_light_value(entry.output),
    )
    same = (
        all(a is b for a, b in zip(content, entry.content, strict=True))
        and all(terminals[id] is entry.terminals[id] for id in terminals)
        and light.input is entry.input
        and light.output is entry.output
    )
    return None if same else light


def _light_content(item: ToolContent) -> ToolContent:
    if isinstance(item, Diff):
        size = len(item.old or "") + len(item.new)
        return Block(kind="text", text=f"A change of {item.path} ({size:,} characters) {_GONE}.")
    return _light_block(item) if isinstance(item, Block) else item


def _light_block(block: Block) -> Block:
    size = len(block.data) + len(block.text)
    if not block.data and size <= _SHORT:
        return block
    note = f"({size:,} characters {_GONE})"
    return replace(block, data="", text=f"{block.text[: _SHORT // 2]} {note}".strip())


def _light_output(output: Output) -> Output:
    size = output.text.length
    if size <= _SHORT:
        return output
    kept = output.text.since(size - _SHORT // 2)
    return replace(output, text=GrowingText(f"({size:,} characters {_GONE})\n{kept}"))


def _light_value(value: Any) -> Any:
    size = 0 if value is None else len(json_of(value))
    return value if size <= _SHORT else {"note": f"{size:,} characters {_GONE}"}


_GONE: Final = "are no longer kept, because the session is old"
