"""The user's one database: opened, brought to the present schema, and shared by all servers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

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
)
"""One script per version of the schema; never changed once released, only added to."""


def connect(path: Path) -> sqlite3.Connection:
    """Open it, and make it what this version needs. May wait for another server that does so."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600, exist_ok=True)
    connection = sqlite3.connect(path, timeout=5.0, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    _migrate(connection)
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    while True:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version >= len(_STEPS):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version < len(_STEPS):  # another server may have been faster
                for statement in _STEPS[version].split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
