"""Opening a path to read it only if it is a regular file.

Invariant: opening never waits, as it would for the other end of a pipe.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader


class NotRegular(ValueError):
    """It is a folder, a pipe, a socket or a device; `mode` says which."""

    def __init__(self, mode: int) -> None:
        super().__init__(mode)
        self.mode = mode


def open_regular(
    path: str | bytes, *, follow: bool = True
) -> tuple[BufferedReader, os.stat_result]:
    """The open file and what it is. Raises `OSError` or `NotRegular`."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    at = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    found = os.fstat(at)
    if not stat.S_ISREG(found.st_mode):
        os.close(at)  # fdopen would raise for a folder, and leave it open
        raise NotRegular(found.st_mode)
    return os.fdopen(at, "rb"), found


def small_file(path: str, largest: int) -> bytes | None:
    """The content of a regular file; None when it is none, or larger, or cannot be read."""
    try:
        file, found = open_regular(path)
        with file:
            return file.read(largest) if found.st_size <= largest else None
    except (OSError, ValueError):
        return None
