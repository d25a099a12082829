"""Real agents are asked for, not found: see fakes/real_agents.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.bench import Bench
from fakes.leftovers import nothing_left
from fakes.real_agents import AGENTS, LAUNCHER

collect_ignore_glob = [] if LAUNCHER else ["test_*.py"]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    it = Bench(tmp_path, "workspace")  # the scripted model stops at a space in a path
    for agent in AGENTS:
        it.add_agent(agent, [*LAUNCHER, agent])
    yield it
    for editor in it.editors:
        await editor.close()
    await nothing_left(it.mark)
