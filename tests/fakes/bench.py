"""A workspace, a configuration with scripted agents, and editors on real server processes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .editor import SERVER, Editor
from .leftovers import VARIABLE, marked, new_mark

PUPPET = Path(__file__).parent / "puppet.py"
SCENARIOS = Path(__file__).parent.parent / "scenarios"


class Bench:
    """Where a test of the whole server takes place."""

    def __init__(self, folder: Path, workspace: str = "workspace with ünïcode") -> None:
        self.workspace = folder / workspace
        self.config = folder / "config"
        self.mark = new_mark()
        self.editors: list[Editor] = []
        self.workspace.mkdir()
        (self.config / "agentls").mkdir(parents=True)
        self._agents = ""

    def add_agent(self, name: str, command: list[str]) -> None:
        words = ", ".join(f'"{word}"' for word in command)
        self._agents += f"[agents.{name}]\ncommand = [{words}]\n\n"
        (self.config / "agentls" / "agents.toml").write_text(self._agents)

    def add_scenario(self, name: str) -> None:
        """The scripted agent `name` plays tests/scenarios/<name>.jsonl."""
        file = SCENARIOS / f"{name}.jsonl"
        assert file.exists(), file
        self.add_agent(name, [sys.executable, "-m", "agentls.agent.replay", str(file)])

    def add_puppet(self, *arguments: str) -> None:
        """The agent `puppet` does what its prompts say."""
        self.add_agent("puppet", [sys.executable, str(PUPPET), *arguments])

    async def editor(
        self,
        *scenarios: str,
        plugin: bool = True,
        runs_terminals: bool = False,
        knows_code: bool = False,
        options: dict[str, Any] | None = None,
        capabilities: dict[str, Any] | None = None,
    ) -> Editor:
        for name in scenarios:
            self.add_scenario(name)
        editor = await self.raw_editor()
        await editor.initialize(
            self.workspace,
            plugin=plugin,
            runs_terminals=runs_terminals,
            knows_code=knows_code,
            options=options,
            capabilities=capabilities,
        )
        return editor

    async def raw_editor(self, server: Sequence[str] = SERVER) -> Editor:
        editor = await Editor.start(
            cwd=self.workspace, config=self.config, env={VARIABLE: self.mark}, server=server
        )
        self.editors.append(editor)
        return editor

    def processes(self) -> dict[int, str]:
        return marked(self.mark)
