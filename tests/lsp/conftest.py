"""A real server process, real agent processes, and an editor that speaks LSP by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.bench import Bench
from fakes.leftovers import nothing_left


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Whatever a test does: afterwards its servers end properly and leave no process behind."""
    it = Bench(tmp_path)
    yield it
    for editor in it.editors:
        await editor.close()
    await nothing_left(it.mark)
