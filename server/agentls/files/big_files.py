"""Files that are known but not kept: too big, or not to be read.

Invariant: two states of a file have the same id only if its content is the same as far as can be
told: by its hash where reading it is bearable, otherwise by size, time and place on the disk.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final

from msgspec import Struct

from .regular import NotRegular, open_regular
from .values import Blob, FileState

LARGEST_HASHED: Final = 256 << 20
Signature = tuple[int, int, int, int, int]


class Remembered(Struct, frozen=True):
    """A file that is not kept, and what tells that it has changed."""

    signature: Signature
    state: FileState


def remember(path: str | bytes, found: os.stat_result, known: Remembered | None) -> Remembered:
    """The state of a file that is not kept, hashed only if it has changed since `known`."""
    signature = signature_of(found)
    if known is not None and known.signature == signature:
        return known
    name = _hash(path) if found.st_size <= LARGEST_HASHED else None
    if name is None:
        name = f"time:{found.st_size}:{found.st_mtime_ns}:{found.st_ino}"
    mode = stat.S_IFREG | (0o755 if found.st_mode & 0o100 else 0o644)
    return Remembered(signature, FileState(mode, Blob(name, found.st_size, stored=False)))


def signature_of(found: os.stat_result) -> Signature:
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode)


def _hash(path: str | bytes) -> str | None:
    try:
        file, _ = open_regular(path, follow=False)
        with file:
            return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, NotRegular):
        return None
