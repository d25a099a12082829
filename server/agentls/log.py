"""Logging: to a file of the user for the server, to stderr for a person who asks; never to stdout.

The file is opened with the first record, so that a server with nothing to say costs nothing. Where
it cannot be written there is no log, and no error.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
_BYTES = 1 << 20
_OLD_FILES = 2
_NOISY = ("asyncio", "pygls")


def setup(verbose: int, to_file: bool) -> None:
    """Send what is logged to the log file, or to stderr from `verbose` 1 on, or nowhere."""
    level = _LEVELS.get(os.environ.get("AGENTLS_LOG", "").lower())
    handler: logging.Handler
    if to_file:
        handler = _LazyFile()
    elif verbose:
        handler = logging.StreamHandler(sys.stderr)
        level = level or (logging.DEBUG if verbose > 1 else logging.INFO)
    else:
        handler = logging.NullHandler()
    level = level or logging.INFO
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def log_file(env: Mapping[str, str]) -> Path:
    """Where the server's log is: `agentls.log` in the state folder."""
    if (home := Path(env.get("XDG_STATE_HOME", ""))).is_absolute():
        return home / "agentls" / "agentls.log"
    from platformdirs import user_state_path  # noqa: PLC0415 - 6 ms, and rarely needed

    return user_state_path("agentls", appauthor=False) / "agentls.log"


class _LazyFile(logging.Handler):
    """Becomes a rotating file when there is something to write."""

    def __init__(self) -> None:
        super().__init__()
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            self._file = _rotating_file(log_file(os.environ))
            self._file.setFormatter(self.formatter)
        self._file.emit(record)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


def _rotating_file(path: Path) -> logging.Handler:
    from logging.handlers import RotatingFileHandler  # noqa: PLC0415 - 2 ms, and rarely needed

    class OwnersFile(RotatingFileHandler):
        def _open(self) -> TextIOWrapper:
            return open(self.baseFilename, "a", encoding="utf-8", errors="replace", opener=_private)

        def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
            """A full disk must not make a server write anywhere else."""

    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return OwnersFile(path, maxBytes=_BYTES, backupCount=_OLD_FILES)
    except OSError:
        return logging.NullHandler()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
