"""Running git so that nothing of the repository's choosing runs with it.

Invariant: git sees a directory of our own as its GIT_DIR, with our configuration, our attributes
and our objects; the configuration, hooks and index of the user's repository are never in force.
Where that repository's settings are needed they are read as text.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Final

from agentls.core.errors import CheckpointFailed

from .values import Stop

_TICK: Final = 0.05
_KEPT_VARIABLES: Final = ("HOME", "XDG_CONFIG_HOME", "TMPDIR", "PATH")
_OURS: Final = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_ALLOW_PROTOCOL": "none",
}


def program(env: Mapping[str, str]) -> str | None:
    """Where git is. A relative entry of PATH does not count: it could be in the repository."""
    folders = [x for x in env.get("PATH", os.defpath).split(os.pathsep) if x.startswith("/")]
    return shutil.which("git", path=os.pathsep.join(folders))


class Git:
    """git with an environment in which only what we say counts."""

    def __init__(self, path: str, env: Mapping[str, str]) -> None:
        self._path = path
        self._user = dict(env)
        self._env = {key: env[key] for key in _KEPT_VARIABLES if key in env} | _OURS

    def run(
        self,
        args: Sequence[str | bytes],
        *,
        folder: str,
        stop: Stop,
        env: Mapping[str, str] = {},
        input: bytes = b"",
    ) -> bytes:
        """What a git command prints. Raises `CheckpointFailed`."""
        return self._run(args, folder, stop, self._env | dict(env), input)

    def setting(self, git_dir: str, names: Sequence[str], stop: Stop) -> dict[str, str]:
        """Settings of the user and of a repository, which `git config` reads and does not use."""
        plain = {key: value for key, value in self._user.items() if not key.startswith("GIT_")}
        if "GIT_CONFIG_GLOBAL" in self._user:
            plain["GIT_CONFIG_GLOBAL"] = self._user["GIT_CONFIG_GLOBAL"]
        args = ["--git-dir", git_dir, "config", "--null", "--get-regexp"]
        pattern = "^(" + "|".join(name.replace(".", r"\.") for name in names) + ")$"
        try:
            listed = self._run([*args, pattern], "/", stop, plain, b"")
        except _GitFailed:
            return {}  # none of them is set, or the file is broken
        found = {}
        for item in listed.split(b"\0")[:-1]:
            key, _, value = item.partition(b"\n")
            found[os.fsdecode(key)] = os.fsdecode(value)
        return found

    def _run(
        self,
        args: Sequence[str | bytes],
        folder: str,
        stop: Stop,
        env: Mapping[str, str],
        input: bytes,
    ) -> bytes:
        stop.check()
        try:
            with _as_file(input) as file:
                running = subprocess.Popen(
                    [self._path, *args],
                    cwd=folder,
                    env=env,
                    stdin=file,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
        except OSError as error:
            raise CheckpointFailed(f"git cannot be run: {error.strerror}.") from None
        with running:
            try:
                out, err = _communicate(running, stop)
            except BaseException:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)
                raise
        if running.returncode:
            raise _GitFailed(_sentence(args, err))
        return out


class _GitFailed(CheckpointFailed):
    """git ended with an error."""


def _as_file(input: bytes) -> IO[bytes]:
    """Input that git reads by itself: `communicate` cannot go on with a pipe after a time-out."""
    if not input:
        return open(os.devnull, "rb")  # noqa: PTH123 - the caller closes it
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(input)
    file.seek(0)
    return file


def _communicate(running: subprocess.Popen[bytes], stop: Stop) -> tuple[bytes, bytes]:
    while True:
        try:
            return running.communicate(timeout=_TICK)
        except subprocess.TimeoutExpired:
            stop.check()


def _sentence(args: Sequence[str | bytes], err: bytes) -> str:
    name = next((str(arg) for arg in args if not str(arg).startswith("-")), "")
    lines = err.decode("utf-8", "replace").strip().splitlines()
    why = lines[-1][:300] if lines else "it gave no reason"
    return f"git {name} failed: {why.rstrip('.')}."
