"""What a command started, wherever it went: found by its session, its parents and its mark.

A daemon leaves its group, its session, its parent and its terminal; the mark in its environment
stays with it. Only one that has cleared its environment too is not found. Making the server adopt
orphans would not find it either: it would not say whose it was.

Where there is no /proc, all that is known of a tree is its process group.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_PROC = "/proc"
_ZOMBIES = b"ZX"


class Process(NamedTuple):
    """A living process, as /proc tells."""

    pid: int
    parent: int
    session: int
    environment: bytes
    """Empty if it is not ours to read."""


class Tree(NamedTuple):
    """A command that leads a session, and all that came of it.

    The number of a session is nobody else's as long as anybody is in it. Whoever asks for members
    after the command has exited must have asked soon after, and every now and then since.
    """

    pid: int
    mark: str

    def members(self, processes: Iterable[Process] | None) -> set[int]:
        """What to signal to reach all that is alive: pids, or the whole group as a negative one."""
        if processes is None:
            return {-self.pid} if _alive(-self.pid) else set()
        mark = self.mark.encode()
        found: set[int] = set()
        others: list[Process] = []
        for process in processes:
            if process.session == self.pid or mark in process.environment:
                found.add(process.pid)
            else:
                others.append(process)
        while more := {p.pid for p in others if p.parent in found and p.pid not in found}:
            found |= more
        return found


def running() -> list[Process] | None:
    """All processes, or None where there is no way to know."""
    try:
        names = os.listdir(_PROC)  # noqa: PTH208 - a Path for each would be most of the cost
    except OSError:
        return None
    found = (_read(name) for name in names if name.isdigit())
    return [process for process in found if process] or None


def send(number: signal.Signals, targets: Iterable[int]) -> None:
    for target in targets:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, number)


def _alive(target: int) -> bool:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(target, 0)
        return True
    return False


def _read(pid: str) -> Process | None:
    try:
        stat = Path(_PROC, pid, "stat").read_bytes()
        # The name before this may hold anything, also brackets and spaces.
        state, parent, _group, session = stat[stat.rindex(b")") + 2 :].split()[:4]
    except (OSError, ValueError):  # it ends just now
        return None
    if state in _ZOMBIES:
        return None
    try:
        environment = Path(_PROC, pid, "environ").read_bytes()
    except OSError:
        environment = b""
    return Process(int(pid), int(parent), int(session), environment)
