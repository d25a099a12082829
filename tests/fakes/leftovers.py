"""Finds processes that a test left behind: all of them carry a mark in their environment."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path

VARIABLE = "AGENTLS_TEST_MARK"


def new_mark() -> str:
    return secrets.token_hex(8)


def marked(mark: str) -> dict[int, str]:
    """Pid and command line of every living process with that mark."""
    wanted = f"{VARIABLE}={mark}".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if words != [b""]:  # a zombie has no command line any more
                    found[int(folder.name)] = b" ".join(words).decode("utf-8", "replace")
        except OSError:
            continue
    return found


async def nothing_left(mark: str, seconds: float = 10.0) -> None:
    """Wait until no process with that mark is alive, or say which are."""
    for _ in range(int(seconds / 0.02)):
        if not marked(mark):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"processes were left behind: {marked(mark)}")
