"""What exactly is started for a command: which program, in which folder, with which environment.

A whole shell line goes to bash, and to sh only where there is no bash: models write lines for bash,
and the policy has read the line as bash. The person's own shell may be one that reads it otherwise.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from ..core.errors import TerminalFailed
from ..core.policy.git_environment import git_safety
from ..core.terminals import TerminalSpec

_ANYWHERE = {
    "TERM": "xterm-256color",
    # Nobody may be there to press a key. What the person uses by hand is not meant for this.
    "PAGER": "cat",
    "GIT_PAGER": "cat",
}
_OF_ANOTHER_TERMINAL = ("COLUMNS", "LINES")
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_HELPER = str(Path(__file__).with_name("controlling.py"))


def command_line(spec: TerminalSpec, env: Mapping[str, str]) -> list[str]:
    """The program to start, with its arguments, as the owner of its terminal."""
    words = words_of(spec, env.get("PATH", os.defpath))
    return [sys.executable, "-I", "-S", _HELPER, env.get("LC_CTYPE", ""), *words]


def environment(spec: TerminalSpec, editor: Mapping[str, str]) -> dict[str, str]:
    """That of the editor, what suits any terminal of ours, and above all what the agent says."""
    env = {name: value for name, value in editor.items() if name not in _OF_ANOTHER_TERMINAL}
    return {**env, "PWD": spec.cwd, **additions(spec, env)}


def additions(spec: TerminalSpec, editor: Mapping[str, str]) -> dict[str, str]:
    """What a command of an agent gets beyond the environment of the editor."""
    added = {**_ANYWHERE, **spec.env}
    return {**added, **git_safety({**editor, **added})}


def check_folder(folder: str) -> None:
    if not Path(folder).is_absolute() or not Path(folder).is_dir():
        raise TerminalFailed(
            f"The folder {folder} does not exist.", hint="Name another one, with its whole path."
        )


def words_of(spec: TerminalSpec, path: str) -> list[str]:
    """The program and its arguments, without a shell where none is needed."""
    # The policy has read it as a shell line: only what means the same either way is a program.
    plain = _PLAIN.fullmatch(spec.command) and Path(spec.command).is_absolute()
    if not spec.args and not (plain and _is_program(spec.command)):
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
