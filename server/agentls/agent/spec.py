"""One agent: how to start it, what to know about it, and what we offer it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

BUILT_IN: Final = "built in"
DEMO: Final = "demo"
NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
"""What an agent may be called."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What we offer an agent in `initialize`. The defaults here are the only ones."""

    read_files: bool = True
    write_files: bool = True
    terminals: bool = True
    # Commands the agent runs itself come as terminal output; else Codex repeats all of the output
    # with every new piece of it.
    terminal_output: bool = True
    # Merged as it is into the `clientCapabilities` object; it wins over the fields above.
    extra: dict[str, object] = {}


DEFAULT_CAPABILITIES: Final = Capabilities()


class Quirks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be done for one agent and would be wrong for the others."""

    # Each `session/load` of a session that is open leaves a child process behind: close it first.
    close_before_load: bool = False
    # It creates a file only when reading the missing file gives empty text; any error stops it.
    missing_file_is_empty: bool = False
    # Loading a session in the minute it was made in fails and overwrites its history: wait.
    load_waits_a_minute: bool = False
    # It reports a changed mode as the message "[MODE_UPDATE] name": not something the agent said.
    mode_as_text: bool = False
    # It writes a file itself after `fs/write_text_file` did: the second write is no outside edit.
    writes_itself: bool = False
    # It sends the prompt back as a user message while the turn runs: do not show it twice.
    echoes_prompt: bool = False
    # It never kills or releases its terminals when a turn is cancelled: do that for it.
    abandons_terminals: bool = False
    # It asks for no permission at all unless we offer it file or terminal methods: warn the user.
    asks_only_with_client_methods: bool = False


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent: how to start it, and what to know about it."""

    name: str
    title: str
    command: tuple[str, ...]
    # Added to the editor's environment, which is passed on whole.
    env: dict[str, str] = {}
    # Where its process starts; None means the folder of the session.
    cwd: str | None = None
    # Further folders to work in, beside that of the session, if the agent can.
    directories: tuple[str, ...] = ()
    # A line to run in a shell; empty when the user named the program.
    install: str = ""
    homepage: str = ""
    login: str = ""
    # Whether one process may serve several sessions.
    shared: bool = True
    capabilities: Capabilities = DEFAULT_CAPABILITIES
    quirks: Quirks = Quirks()
    # BUILT_IN, or the path of the file that says something about this agent.
    source: str = BUILT_IN


def program(spec: AgentSpec) -> str | None:
    """The absolute path of the program to start for this agent; None when it is not installed."""
    import shutil  # noqa: PLC0415 - half of this module's import time

    path = spec.env.get("PATH", os.environ.get("PATH", os.defpath))
    # A relative folder in PATH would be looked up in the session's folder, which is a repository.
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(spec.command[0], path=os.pathsep.join(folders))


def client_capabilities(spec: AgentSpec) -> dict[str, Any]:
    """The ACP `clientCapabilities` object for this agent."""
    offered = spec.capabilities
    result: dict[str, Any] = {
        "fs": {"readTextFile": offered.read_files, "writeTextFile": offered.write_files},
        "terminal": offered.terminals,
        "session": {"configOptions": {"boolean": {}}},
        # Twice: agents older than the protocol's own way look for the other.
        "auth": {"terminal": True},
        "_meta": {"terminal-auth": True},
    }
    if offered.terminal_output:
        result["_meta"]["terminal_output"] = True
    return _merged(result, offered.extra)


def _merged(base: dict[str, Any], over: Mapping[str, object]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merged(old, value)
        else:
            result[key] = value
    return result
