"""What exactly is started for a command: which program, in which folder, with which environment.

A whole shell line goes to bash, and to sh only where there is no bash: models write lines for bash,
and the policy has read the line as bash. The person's own shell may be one that reads it otherwise.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from ..core.errors import TerminalFailed
from ..core.terminals import TerminalSpec

_ANYWHERE = {
    "TERM": "xterm-256color",
    # Nobody may be there to press a key. What the person uses by hand is not meant for this.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
_OF_ANOTHER_TERMINAL = ("COLUMNS", "LINES")
_HELPER = str(Path(__file__).with_name("controlling.py"))


def command_line(spec: TerminalSpec, env: Mapping[str, str]) -> list[str]:
    """The program to start, with its arguments, as the owner of its terminal."""
    words = _words(spec, env.get("PATH", os.defpath))
    return [sys.executable, "-I", "-S", _HELPER, env.get("LC_CTYPE", ""), *words]


def environment(spec: TerminalSpec, editor: Mapping[str, str]) -> dict[str, str]:
    """That of the editor, what suits any terminal of ours, and above all what the agent says."""
    env = {name: value for name, value in editor.items() if name not in _OF_ANOTHER_TERMINAL}
    return {**env, **_ANYWHERE, "PWD": spec.cwd, **spec.env}


def check_folder(folder: str) -> None:
    if not Path(folder).is_absolute() or not Path(folder).is_dir():
        raise TerminalFailed(
            f"The folder {folder} does not exist.", hint="Name another one, with its whole path."
        )


def _words(spec: TerminalSpec, path: str) -> list[str]:
    if not spec.args and not (Path(spec.command).is_absolute() and _is_program(spec.command)):
        shell = _on_path("bash", path) or "/bin/sh"
        return [shell, "-c", spec.command]
    if "/" in spec.command:
        program = str(Path(spec.cwd, spec.command))
        if not _is_program(program):
            raise TerminalFailed(f"{program} is not a program that can be run.")
        return [program, *spec.args]
    found = _on_path(spec.command, path)
    if found is None:
        raise TerminalFailed(
            f"The program {spec.command!r} is not on the PATH.", hint="Is it installed?"
        )
    return [found, *spec.args]


def _on_path(name: str, path: str) -> str | None:
    # A relative folder would be one of the server's, or of the repository.
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(name, path=os.pathsep.join(folders))


def _is_program(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).stat().st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):  # a name that no file can have, too
        return False
