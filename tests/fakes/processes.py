"""Whether processes are gone, for tests that start real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

_SECONDS = 20.0


def gone(pid: int) -> bool:
    """A zombie that nobody has fetched yet counts as gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rpartition(")")[2].split()[0] in {"Z", "X"}


async def until_gone(pid: int) -> None:
    """There is nothing to wait on for a process that is not our child, but time."""
    try:
        async with asyncio.timeout(_SECONDS):
            while not gone(pid):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"the process {pid} is still there") from None


class NoWarden:
    """Implements `core.ports.Warden` for tests that end what they start."""

    def guard(self, group: int) -> None:
        assert group > 1

    def forget(self, group: int) -> None:
        assert group > 1

    def mark(self, env: Mapping[str, str]) -> tuple[dict[str, str], str]:
        return dict(env), ""
