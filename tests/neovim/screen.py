"""A terminal screen, by tmux on its own socket: what a person sees, and the keys they press."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from . import programs
from .nvim import PATIENCE

_STEP = 0.03


class Screen:
    """One program on one screen."""

    def __init__(
        self,
        command: list[str],
        *,
        folder: Path,
        cwd: Path,
        env: dict[str, str],
        columns: int = 110,
        lines: int = 34,
    ) -> None:
        assert programs.TMUX.launcher.exists(), "tmux is missing; run tests/neovim/programs.py"
        self._tmux = [str(programs.TMUX.launcher), "-u", "-S", str(folder / "tmux")]
        self._env = {**env, "TERM": "screen-256color", "SHELL": "/bin/sh"}
        self._env.pop("TMUX", None)
        config = folder / "tmux.conf"
        config.write_text(
            "set -g status off\nset -g default-terminal screen-256color\nset -sg escape-time 0\n"
            "set -ga terminal-overrides ',*:RGB'\n"
        )
        size = ["-x", str(columns), "-y", str(lines)]
        self._run("-f", str(config), "new-session", "-d", *size, "-c", str(cwd), "--", *command)

    def keys(self, *keys: str) -> None:
        """Names as tmux knows them: Enter, Escape, C-s; or text."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def text(self, *, colours: bool = False) -> str:
        return self._run("capture-pane", "-p", *(["-e", "-N"] if colours else []))

    def until(self, condition: str | Callable[[str], object], why: str = "") -> str:
        """Wait until the screen shows it."""
        end = time.monotonic() + PATIENCE
        while True:
            text = self.text()
            if condition in text if isinstance(condition, str) else condition(text):
                return text
            if time.monotonic() > end:
                raise AssertionError(f"never on the screen: {why or condition}\n{text}")
            time.sleep(_STEP)

    def close(self) -> None:
        subprocess.run(
            [*self._tmux, "kill-server"], env=self._env, capture_output=True, check=False
        )

    def _run(self, *words: str) -> str:
        command = [*self._tmux, *words]
        result = subprocess.run(command, env=self._env, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"tmux {' '.join(words)}: {result.stderr}"
        return result.stdout
