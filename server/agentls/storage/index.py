"""The full-text index: kept in step with the entries a moment later, and searched.

Invariant: whatever a person types, searching finds something or nothing; it never fails.
"""

from __future__ import annotations

import re
import sqlite3
import time
from typing import Any, Final

from agentls.core.model import EntryId
from agentls.core.store import Filter, Hit

from .database import transaction
from .packing import deflated, inflated
from .passages import passages, paths, pieces
from .reading import conditions_of, entry_at
from .rows import INDEXED, NUMBER_BITS, TO_INDEX, clean
from .snippets import snippet

_SLICE: Final = 0.02
"""Seconds that others wait, at most, while entries are indexed."""
_AT_ONCE: Final = 64
_MOST_WORDS: Final = 16
_LONGEST_WORD: Final = 200
_LOWER: Final = (1 << NUMBER_BITS) - 1


def is_behind(connection: sqlite3.Connection) -> bool:
    """Whether there are entries to index."""
    query = f"SELECT 1 FROM entry WHERE indexed = {TO_INDEX} LIMIT 1"
    return connection.execute(query).fetchone() is not None


def index_some(connection: sqlite3.Connection) -> bool:
    """Index entries for a short while; whether there are more."""
    if not is_behind(connection):
        return False
    query = f"SELECT key FROM entry WHERE indexed = {TO_INDEX} LIMIT ?"
    end = time.monotonic() + _SLICE
    with transaction(connection):
        keys = [key for (key,) in connection.execute(query, (_AT_ONCE,))]
        for key in keys:
            _index(connection, key)
            if time.monotonic() > end:
                break
    return True


def _index(connection: sqlite3.Connection, key: int) -> None:
    unindex(connection, key)
    entry = entry_at(connection, key)
    if entry is not None:
        for text in map(clean, passages(entry)):
            (id,) = connection.execute(
                "INSERT INTO passage (entry, data) VALUES (?, ?) RETURNING id",
                (key, deflated(text.encode())),
            ).fetchone()
            connection.execute(
                "INSERT INTO words (rowid, text, pieces) VALUES (?, ?, ?)", (id, text, pieces(text))
            )
        connection.executemany(
            "INSERT OR IGNORE INTO touched (entry, path) VALUES (?, ?)",
            ((key, clean(path)) for path in paths(entry)),
        )
    connection.execute("UPDATE entry SET indexed = ? WHERE key = ?", (INDEXED, key))


def unindex(connection: sqlite3.Connection, key: int) -> None:
    rows = connection.execute("SELECT id, data FROM passage WHERE entry = ?", (key,)).fetchall()
    for id, data in rows:
        text = inflated(data).decode()
        connection.execute(
            "INSERT INTO words (words, rowid, text, pieces) VALUES ('delete', ?, ?, ?)",
            (id, text, pieces(text)),
        )
    if rows:
        connection.execute("DELETE FROM passage WHERE entry = ?", (key,))
    connection.execute("DELETE FROM touched WHERE entry = ?", (key,))


def merge_some(connection: sqlite3.Connection, *, begin: bool) -> bool:
    """Take words that were deleted out of the files of the index; whether there are more."""
    before = connection.total_changes
    pages = -200 if begin else 200
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before >= 2


# --- searching


def search(connection: sqlite3.Connection, typed: str, wanted: Filter, limit: int) -> list[Hit]:
    """Newest first; all words must be there, each as the beginning of one."""
    words = _words(typed)
    if not words and not wanted.file:
        return []
    conditions, values = _conditions(wanted)
    if words:
        source = "words JOIN passage ON passage.id = words.rowid"
        conditions.insert(0, "words MATCH ?")
        values.insert(0, " AND ".join(_match(word) for word in words))
        key, data, order = "passage.entry", "passage.data", "words.rowid DESC"
    else:
        source = "touched"
        key, data, order = "touched.entry", "NULL", "touched.entry DESC"
    rows = connection.execute(
        f"SELECT {key}, {data}, session.id, coalesce(nullif(name, ''), title), agent, cwd,"
        f" entry.kind, entry.at FROM {source}"
        f" CROSS JOIN session ON session.number = {key} >> {NUMBER_BITS}"
        f" CROSS JOIN entry ON entry.key = {key}"
        f" WHERE {' AND '.join(conditions)} ORDER BY {order}",
        values,
    )
    hits: dict[int, Hit] = {}
    for row in rows:
        if row[0] not in hits:
            hits[row[0]] = _hit(connection, row, [word for word, _ in words])
            if len(hits) >= limit:
                break
    return sorted(hits.values(), key=lambda hit: hit.at, reverse=True)


def _conditions(wanted: Filter) -> tuple[list[str], list[Any]]:
    from msgspec.structs import replace  # noqa: PLC0415 - only here

    conditions, values = conditions_of(replace(wanted, since=None, until=None))
    if wanted.since is not None:
        conditions.append("entry.at >= ?")
        values.append(wanted.since)
    if wanted.until is not None:
        conditions.append("entry.at <= ?")
        values.append(wanted.until)
    if wanted.file:
        end = "/" + clean(wanted.file).lstrip("/")
        conditions.append(
            "entry.key IN (SELECT touched.entry FROM touched"
            " WHERE path = ? OR substr(path, -length(?)) = ?)"
        )
        values += [clean(wanted.file), end, end]
    return conditions, values


def _hit(connection: sqlite3.Connection, row: tuple[Any, ...], words: list[str]) -> Hit:
    key, data, session, title, agent, cwd, kind, at = row
    if data is None:
        query = "SELECT data FROM passage WHERE entry = ? ORDER BY id LIMIT 1"
        found = connection.execute(query, (key,)).fetchone()
        data = found[0] if found else None
    text, marks = snippet(inflated(data).decode() if data else "", words)
    return Hit(
        session=session,
        title=title,
        agent=agent,
        cwd=cwd,
        entry=EntryId(f"e{key & _LOWER}"),
        kind=kind,
        at=at,
        snippet=text,
        marks=marks,
    )


def _words(typed: str) -> list[tuple[str, bool]]:
    """Words and whether their beginning is enough: "in quotes" are phrases, as they are."""
    found: list[tuple[str, bool]] = []
    for phrase, word in re.findall(r'"([^"]*)"|([^\s"]+)', clean(typed).replace("\0", " ")):
        text = (phrase or word).strip()[:_LONGEST_WORD]
        if any(character.isalnum() for character in text):
            found.append((text, not phrase))
    return found[:_MOST_WORDS]


def _match(word: tuple[str, bool]) -> str:
    text, begins = word
    star = "*" if begins and len(text) > 1 else ""
    either = [_quoted(text) + star]
    split = pieces(text)
    if split:
        # Unspaced writing ends nowhere, so it needs no star; a hump may go on.
        either.append(f"pieces : {_quoted(split)}{star if text.isascii() else ''}")
    return f"({' OR '.join(either)})"


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
