"""Makes docs/images/neovim-*.svg from a real run of the plugin with the demo agent, in tmux."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

from screenshot import standing_alone  # noqa: E402
from tests.neovim import programs  # noqa: E402
from tests.neovim.screen import Screen  # noqa: E402

WIDTH, HEIGHT = 118, 36
INIT = f"""
vim.opt.rtp:prepend({str(ROOT / "neovim")!r})
vim.opt.shortmess:append("I")
vim.o.termguicolors, vim.o.number, vim.o.swapfile = true, true, false
vim.o.statusline = [[ %f%=%{{v:lua.require'agentls'.statusline()}} ]]
vim.g.agentls = {{
  cmd = {{ {str(ROOT / ".venv/bin/agentls")!r} }},
  settings = {{ agent = "demo" }},
}}
"""


def save(screen: Screen, name: str) -> None:
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115
    console.print(Text.from_ansi(screen.text(colours=True).rstrip("\n")), no_wrap=True, crop=False)
    svg = console.export_svg(title="nvim")
    (HERE / f"neovim-{name}.svg").write_text(standing_alone(svg))


def run(screen: Screen, line: str) -> None:
    screen.type(f":{line}")
    screen.keys("Enter")


def main() -> None:
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        project = folder / "greeter"
        shutil.copytree(ROOT / "server/agentls/demo/sample", project)
        (folder / "init.lua").write_text(INIT)
        own = {f"XDG_{n}_HOME": str(folder / n) for n in ("CONFIG", "STATE", "DATA", "CACHE")}
        command = [str(programs.NEW.launcher), "-n", "-u", str(folder / "init.lua"), "greet.py"]
        env = {**os.environ, **own, "LC_ALL": "C.UTF-8", "GIT_CEILING_DIRECTORIES": name}
        screen = Screen(command, folder=folder, cwd=project, env=env, columns=WIDTH, lines=HEIGHT)
        try:
            screen.until("def greet")
            run(screen, "Agent send take me on a tour")
            screen.until("demo asks")
            run(screen, "Agent asks")
            screen.until("a  Allow")
            save(screen, "ask")
            screen.until(lambda text: _press(screen, text), "the float is gone")
            screen.until("May I? python3")
            time.sleep(1.0)  # what has only just come is not allowed unseen
            run(screen, "Agent allow")
            screen.until("ready")
            save(screen, "chat")
            screen.until("±1")
            run(screen, "wincmd t")
            screen.type("gg]a")
            screen.until("of 2 in this file")
            save(screen, "review")
        finally:
            screen.close()


def _press(screen: Screen, text: str) -> bool:
    if "a  Allow" in text:
        screen.type("a")
        return False
    return True


if __name__ == "__main__":
    main()
