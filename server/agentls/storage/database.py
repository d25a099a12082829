"""The user's one database: opened, brought to the present schema, and shared by all servers."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .servers import make_private

_STEPS = (
    """
    CREATE TABLE decision (
        id INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        session TEXT NOT NULL,
        agent TEXT NOT NULL,
        folder TEXT NOT NULL,
        ask TEXT NOT NULL,
        title TEXT NOT NULL,
        shown TEXT NOT NULL,
        allowed INTEGER NOT NULL,
        option TEXT,
        kind TEXT,
        by TEXT NOT NULL,
        why TEXT NOT NULL,
        remembered TEXT NOT NULL
    ) STRICT;
    CREATE INDEX decision_at ON decision (at);
    """,
    # A row of `entry` has the number of its session in the upper half of its key and its own in
    # the lower, so that neighbours in a transcript are neighbours on the disk.
    """
    ALTER TABLE decision ADD COLUMN entry INTEGER;
    CREATE UNIQUE INDEX decision_entry ON decision (session, entry);
    CREATE TABLE session (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        agent_session TEXT,
        model TEXT NOT NULL,
        cwd TEXT NOT NULL,
        title TEXT NOT NULL,
        name TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL,
        policy TEXT NOT NULL,
        mode TEXT NOT NULL,
        created REAL NOT NULL,
        active REAL NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0,
        compacted INTEGER NOT NULL DEFAULT 0,
        died INTEGER NOT NULL DEFAULT 0,
        parent TEXT,
        server TEXT,
        turns INTEGER NOT NULL,
        entries INTEGER NOT NULL,
        head BLOB NOT NULL
    ) STRICT;
    CREATE INDEX session_active ON session (active, id);
    CREATE INDEX session_server ON session (server) WHERE server IS NOT NULL;
    CREATE TABLE entry (
        key INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        at REAL NOT NULL,
        indexed INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE INDEX entry_to_index ON entry (key) WHERE indexed = 1;
    CREATE TABLE doomed (session INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE part (
        entry INTEGER NOT NULL,
        text TEXT NOT NULL,
        number INTEGER NOT NULL,
        data BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX part_place ON part (entry, text, number);
    CREATE TABLE blob (
        id INTEGER PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        data BLOB NOT NULL
    ) STRICT;
    CREATE TABLE blob_use (
        entry INTEGER NOT NULL,
        blob INTEGER NOT NULL,
        PRIMARY KEY (entry, blob)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX blob_use_blob ON blob_use (blob);
    CREATE TABLE passage (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        entry INTEGER NOT NULL,
        data BLOB NOT NULL
    ) STRICT;
    CREATE INDEX passage_entry ON passage (entry);
    CREATE TABLE touched (
        entry INTEGER NOT NULL,
        path TEXT NOT NULL,
        PRIMARY KEY (entry, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX touched_path ON touched (path);
    CREATE VIRTUAL TABLE words USING fts5(
        text, pieces, content='', tokenize='unicode61 remove_diacritics 2'
    );
    """,
    """
    ALTER TABLE session ADD COLUMN orchestrator TEXT NOT NULL DEFAULT '';
    ALTER TABLE session ADD COLUMN member TEXT NOT NULL DEFAULT '';
    """,
)
"""One script per version of the schema; never changed once released, only added to."""

BUSY: Final = 5.0
"""Seconds to wait for another server that writes."""


class NewerSchema(Exception):
    """A newer agentls has written this database."""


def connect(path: Path, busy: float = BUSY) -> sqlite3.Connection:
    """Open it, and make it what this version needs. May wait for another server that does so."""
    make_private(path.parent)
    path.touch(mode=0o600, exist_ok=True)
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None)
    try:
        _set_up(connection, busy)
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A view of the database as it is at this moment. Raises `NewerSchema`."""
    there = path.exists()
    where = path if there else ":memory:"
    connection = sqlite3.connect(where, timeout=BUSY, isolation_level=None)
    try:
        if not there:
            _migrate(connection)
        _check(connection)
        if _version(connection) < len(_STEPS):
            connect(path).close()
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_known(path: Path, busy: float = BUSY) -> sqlite3.Connection:
    """The same; raises `NewerSchema` before anything is read or changed."""
    if path.exists():
        connection = sqlite3.connect(path, timeout=busy, isolation_level=None)
        try:
            _check(connection)
        finally:
            connection.close()
    return connect(path, busy)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _check(connection: sqlite3.Connection) -> None:
    if _version(connection) > len(_STEPS):
        raise NewerSchema


def _set_up(connection: sqlite3.Connection, busy: float) -> None:
    # Counts only while there is no table yet.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    deadline = time.monotonic() + busy
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself when two processes do this at the same time.
            busy_now = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy_now or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA journal_size_limit = 8388608")


def _migrate(connection: sqlite3.Connection) -> None:
    while True:
        if _version(connection) >= len(_STEPS):
            return
        with transaction(connection):
            if (version := _version(connection)) < len(
                _STEPS
            ):  # another server may have been faster
                for statement in _STEPS[version].split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. Nobody else writes meanwhile, so keep it short."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
