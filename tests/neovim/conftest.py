"""Each test has its own Neovim in its own folders, with a real server and a real agent process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.leftovers import VARIABLE, marked

from . import programs
from .nvim import Nvim

PLUGIN = Path(__file__).parents[2] / "neovim"
SERVER = [sys.executable, "-P", "-m", "agentls"]
EDITORS = {"old": programs.OLD, "new": programs.NEW}


class Desk:
    """A workspace, and a Neovim in it."""

    def __init__(self, folder: Path, editor: programs.Program) -> None:
        assert editor.launcher.exists(), f"{editor.name} is missing; run tests/neovim/programs.py"
        self.bench = Bench(folder, "project")
        self.workspace = self.bench.workspace
        self.folder = folder
        self.command = [str(editor.launcher), "--headless", "-n", "-u", str(folder / "init.lua")]
        self.running: list[Nvim] = []
        (folder / "init.lua").write_text(
            f"vim.opt.rtp:prepend({str(PLUGIN)!r})\n"
            "vim.opt.shortmess:append('I')\n"
            "vim.o.swapfile = false\n"
            "vim.o.more = false\n"  # an error must reach the test, not wait for a key
        )

    def environment(self) -> dict[str, str]:
        names = ("CONFIG", "STATE", "DATA", "CACHE", "RUNTIME")
        own = {f"XDG_{n}_HOME": str(self.folder / "xdg" / n.lower()) for n in names}
        own["XDG_CONFIG_HOME"] = str(self.bench.config)
        own["AGENTLS_DEMO_DELAY"] = "0"
        own[VARIABLE] = self.bench.mark
        return {
            **os.environ,
            **own,
            "LC_ALL": "C.UTF-8",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
        }

    def write(self, name: str, text: str) -> Path:
        path = self.workspace / name
        path.write_text(text)
        return path

    def nvim(self, **config: Any) -> Nvim:
        """Start it; `config` becomes vim.g.agentls, with the server and the demo agent in it."""
        nvim = Nvim(self.command, cwd=self.workspace, env=self.environment())
        self.running.append(nvim)
        given = {"cmd": SERVER, "settings": {"agent": "demo"}, **config}
        nvim.lua("vim.g.agentls = ...", {name: it for name, it in given.items() if it is not None})
        nvim.lua(LISTEN)
        return nvim

    def close(self) -> None:
        for nvim in self.running:
            nvim.close()


LISTEN = """
_G.said, _G.happened = {}, {}
vim.notify = function(text, level) table.insert(_G.said, text) end
vim.api.nvim_create_autocmd("User", {
  pattern = "Agentls*",
  callback = function(args) table.insert(_G.happened, args.match) end,
})
"""


@pytest.fixture(params=EDITORS)
def editor(request: pytest.FixtureRequest) -> programs.Program:
    return EDITORS[request.param]


@pytest.fixture
def desk(tmp_path: Path, editor: programs.Program) -> Iterator[Desk]:
    it = Desk(tmp_path, editor)
    yield it
    it.close()
    nothing_left(it.bench.mark)


@pytest.fixture
def nvim(desk: Desk) -> Nvim:
    return desk.nvim()


def chat_text(nvim: Nvim) -> str:
    return str(
        nvim.lua(
            """
            for _, buf in ipairs(vim.api.nvim_list_bufs()) do
              if vim.bo[buf].filetype == "agentls" then
                return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n")
              end
            end
            return ""
            """
        )
    )


def allow(nvim: Nvim) -> None:
    """Allow the oldest ask."""
    nvim.lua(
        "require('agentls').decide({ askId = require('agentls').asks()[1].id, verdict = 'allow' })"
    )


def nothing_left(mark: str, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while marked(mark):
        assert time.monotonic() < end, f"processes were left behind: {marked(mark)}"
        time.sleep(0.02)
