"""Labels from a process of its own, which may crash or hang without harm.

Invariants: an answer comes within a bounded time, if need be an empty one; the process ends with
the server, and a text that has ended it is not tried again.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from .labels import LARGEST, Lines, labels, language_of

_SECONDS: Final = 2.0
_START_SECONDS: Final = 10.0
_MOST_BAD: Final = 1000
_HEAD: Final = struct.Struct("!I")
_READY: Final = b"ready"
Question = tuple[str, str, list[Lines]]


class Labels:
    """Names functions and classes in files. Blocking: run it in a thread."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._worker: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()
        self._bad: dict[int, None] = {}

    def of(self, path: str, text: str, parts: Sequence[Lines]) -> list[str]:
        """For each part, by its first and last line from zero, what it is in; "" if unknown."""
        none = [""] * len(parts)
        mark = hash((path, text))
        if not parts or language_of(path) is None or len(text) > LARGEST or mark in self._bad:
            return none
        question = (path, text.encode("utf-8", "replace").decode(), list(parts))
        with self._turn:
            try:
                worker = self._worker or self._start()
                _send(worker, msgspec.msgpack.encode(question))
                answer = _receive(worker, self._seconds)
                found = msgspec.msgpack.decode(answer, type=list[str])
            except (OSError, EOFError, msgspec.MsgspecError):
                self._end()
                self._bad[mark] = None
                if len(self._bad) > _MOST_BAD:
                    del self._bad[next(iter(self._bad))]
                return none
        return found if len(found) == len(none) else none

    def close(self) -> None:
        with self._turn:
            self._end()

    def _start(self) -> subprocess.Popen[bytes]:
        # -I: no module comes from a project folder or from PYTHONPATH.
        self._worker = subprocess.Popen(
            [sys.executable, "-I", "-m", "agentls.files.label_process"],
            cwd="/",
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if _receive(self._worker, _START_SECONDS) != _READY:
            raise EOFError
        return self._worker

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        worker.kill()
        with suppress(OSError):  # what could not be written to it
            worker.__exit__(None, None, None)


def _send(worker: subprocess.Popen[bytes], data: bytes) -> None:
    if worker.stdin is None:
        raise EOFError
    worker.stdin.write(_HEAD.pack(len(data)) + data)
    worker.stdin.flush()


def _receive(worker: subprocess.Popen[bytes], seconds: float) -> bytes:
    if worker.stdout is None:
        raise EOFError
    deadline = time.monotonic() + seconds
    at = worker.stdout.fileno()
    (size,) = _HEAD.unpack(_exactly(at, _HEAD.size, deadline))
    return _exactly(at, size, deadline)


def _exactly(at: int, size: int, deadline: float) -> bytes:
    data = b""
    poll = select.poll()
    poll.register(at, select.POLLIN)
    while len(data) < size:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise EOFError
        piece = os.read(at, size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


# --- the other side


def main() -> None:
    """Answer questions until there are no more, or until one takes too long."""
    given, answers = sys.stdin.buffer, sys.stdout.buffer
    # Default, not ours: it must work in the middle of native code, and after the server is gone.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    def answer(data: bytes) -> None:
        answers.write(_HEAD.pack(len(data)) + data)
        answers.flush()

    answer(_READY)
    while len(head := given.read(_HEAD.size)) == _HEAD.size:
        question = msgspec.msgpack.decode(given.read(_HEAD.unpack(head)[0]), type=Question)
        signal.setitimer(signal.ITIMER_REAL, 2 * _SECONDS)
        found = labels(*question)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer(msgspec.msgpack.encode(found))


if __name__ == "__main__":
    main()
