"""What can be wrong with the database, told apart, and said to a person."""

from __future__ import annotations

import errno
import sqlite3
import time
from contextlib import suppress
from enum import Enum
from pathlib import Path

from .database import NewerSchema
from .files import locked


class Fault(Enum):
    """Why something could not be stored."""

    LOCKED = "locked"
    FULL = "full"
    DENIED = "denied"
    DAMAGED = "damaged"
    NEWER = "newer"
    OTHER = "other"


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def fault_of(error: BaseException) -> Fault:
    if isinstance(error, NewerSchema):
        return Fault.NEWER
    if isinstance(error, OSError):
        return Fault.FULL if error.errno in _FULL else Fault.DENIED
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return _BY_CODE.get(code, Fault.OTHER)


_BY_CODE = {
    sqlite3.SQLITE_BUSY: Fault.LOCKED,
    sqlite3.SQLITE_LOCKED: Fault.LOCKED,
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_IOERR: Fault.FULL,
    sqlite3.SQLITE_READONLY: Fault.DENIED,
    sqlite3.SQLITE_CANTOPEN: Fault.DENIED,
    sqlite3.SQLITE_PERM: Fault.DENIED,
    sqlite3.SQLITE_AUTH: Fault.DENIED,
    sqlite3.SQLITE_CORRUPT: Fault.DAMAGED,
    sqlite3.SQLITE_NOTADB: Fault.DAMAGED,
}


def sentence(fault: Fault, path: Path, error: BaseException) -> str:
    """What happened, what it means, what to do."""
    match fault:
        case Fault.LOCKED:
            return (
                f"Sessions are kept in memory for now, because another program has locked {path};"
                " close it, and they are stored."
            )
        case Fault.FULL:
            return (
                f"Sessions are kept in memory for now, because {path.parent} cannot be written"
                f" ({error}); make room on the disk, and they are stored."
            )
        case Fault.DENIED:
            return (
                f"Sessions are kept in memory only, because {path} cannot be written ({error});"
                " make that folder yours and writable."
            )
        case Fault.NEWER:
            return (
                f"Sessions are kept in memory only, because a newer agentls has written {path};"
                " update agentls to store and see them."
            )
    return f"Sessions are kept in memory for now, because {path} cannot be used: {error}."


def put_aside(path: Path) -> Path | None:
    """Give a damaged database another name. None when another server has done so already."""
    with locked(path.parent):
        if not _is_damaged(path):
            return None
        stamp = time.strftime("%Y%m%d-%H%M%S")
        kept = path.with_name(f"{path.name}.damaged-{stamp}")
        count = 1
        while kept.exists():
            count += 1
            kept = path.with_name(f"{path.name}.damaged-{stamp}-{count}")
        path.rename(kept)
        for end in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + end).rename(kept.with_name(kept.name + end))
        return kept


def _is_damaged(path: Path) -> bool:
    if not path.exists():
        return False
    connection = sqlite3.connect(path, timeout=1.0)
    try:
        row = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return fault_of(error) is Fault.DAMAGED
    else:
        return row is None or row[0] != "ok"
    finally:
        connection.close()
