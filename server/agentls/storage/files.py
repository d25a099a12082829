"""Small files that a person may edit while we read and write them.

Invariant: whoever reads a file sees all of the old text or all of the new one, also after a crash.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agentls.core.errors import SettingsError

LARGEST: Final = 64 * 1024
_SETTLED: Final = 50_000_000
"""Nanoseconds after which a second change of a file is sure to have another time."""
_LOCK_WAIT: Final = 2.0

Signature = tuple[int, ...]
"""What changes when a file does."""


def signature(path: Path) -> Signature | None:
    """None when there is no such file; raises other errors."""
    try:
        return _signature(path.stat())
    except (FileNotFoundError, NotADirectoryError):
        return None


def _signature(found: os.stat_result) -> Signature:
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def read_text(path: Path) -> tuple[str, Signature]:
    """The text, and the signature to compare with next time. Raises `OSError` or `ValueError`."""
    # Opening a pipe must not wait for its other end.
    at = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(at, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("it is not a file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError("it is larger than 64 KiB")
    try:
        text = data.decode("utf-8-sig")  # some editors begin a file with a byte order mark
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8") from None
    just_changed = 0 <= time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < _SETTLED
    return text, () if just_changed else _signature(found)


def replace_text(path: Path, text: str) -> None:
    """Write a file that only this user can read. A link to a file stays one. Raises `OSError`."""
    target = path.resolve()
    fresh = target.with_name(f"{target.name}.{os.urandom(4).hex()}.new")
    at = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(at, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise
    at = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(at)
    finally:
        os.close(at)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from changing files in a folder, which is made if there is none."""
    import fcntl  # noqa: PLC0415 - only to write

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        at = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise SettingsError(f"The folder {folder} cannot be used: {error.strerror}.") from None
    try:
        deadline = time.monotonic() + _LOCK_WAIT
        while True:
            try:
                fcntl.flock(at, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise SettingsError(
                        f"Another program is changing files in {folder}.", hint="Try again."
                    ) from None
                time.sleep(0.005)
        yield
    finally:
        os.close(at)
