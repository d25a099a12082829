"""An agent's process: started in its own group, listened to, and ended with all its children.

The ladder down is: close its stdin, then SIGTERM, then SIGKILL, both to the whole group.
"""

from __future__ import annotations

import asyncio
import codecs
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from ..core.errors import AgentStartFailed
from ..core.ports import Warden

log = logging.getLogger(__name__)

_STDERR_LINES = 200
_STDERR_LINE = 2000
_LAST_WORDS = 0.5
"""Seconds to go on reading after the process ended: a child may hold its pipes open for ever."""
_UNREAD_LIMIT = 64 * 1024 * 1024
"""Bytes we keep for an agent that does not read its stdin."""


class AgentProcess(asyncio.SubprocessProtocol):
    """Calls `on_data` with what comes from stdout, and `on_exit` once when it is all over."""

    def __init__(
        self,
        on_data: Callable[[bytes], None],
        on_stderr: Callable[[str], None],
        on_exit: Callable[[], None],
        warden: Warden,
    ) -> None:
        self._warden = warden
        self._on_data = on_data
        self._on_stderr = on_stderr
        self._on_exit = on_exit
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stderr_rest = ""
        self._stderr_text = codecs.getincrementaldecoder("utf-8")("replace")
        self._exited = asyncio.Event()
        self._over = asyncio.Event()
        self.pid = 0
        self.deaf = False
        """It does not read what we send."""

    async def start(self, command: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        if not Path(cwd).is_dir():
            raise AgentStartFailed(f"The folder {cwd} does not exist.", hint="Choose another one.")
        loop = asyncio.get_running_loop()
        marked, _ = self._warden.mark(env)
        try:
            await loop.subprocess_exec(
                lambda: self, *command, cwd=cwd, env=marked, start_new_session=True
            )
        except OSError as error:
            raise AgentStartFailed(
                f"{command[0]} could not be started: {error.strerror}."
            ) from None

    @property
    def over(self) -> bool:
        return self._over.is_set()

    @property
    def returncode(self) -> int | None:
        return self._transport.get_returncode() if self._transport else None

    def write(self, data: bytes) -> None:
        stdin = self._stdin
        if stdin is None or stdin.is_closing() or self.deaf:
            return
        if stdin.get_write_buffer_size() > _UNREAD_LIMIT:
            self.deaf = True
            log.warning("agent process %d does not read its input; ending it", self.pid)
            self._signal(signal.SIGKILL)
            return
        stdin.write(data)

    def last_words(self, lines: int = 3) -> str:
        """The end of what it wrote to stderr."""
        said = [line for line in self._stderr if line.strip()]
        return "\n".join(said[-lines:])

    def how_it_ended(self) -> str:
        code = self.returncode
        if code is None:
            return "closed its output"
        if code < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    async def stop(self, patience: float = 2.0) -> None:
        """Walk down the ladder until the process and all of its group are gone."""
        if self._transport is None or self._stdin is None:
            return  # it never started
        try:
            self._stdin.close()
            if not await self._gone(patience):
                self._signal(signal.SIGTERM)
                if not await self._gone(patience):
                    self._signal(signal.SIGKILL)
                    await self._gone(patience)
            await self._end_group()
        finally:
            self._signal(signal.SIGKILL)  # who is left, also when the waiting was cut short
            self._warden.forget(self.pid)
            self._transport.close()

    async def _gone(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._exited.wait(), seconds)
        return self._exited.is_set()

    async def _end_group(self) -> None:
        """What the agent left behind in its group gets a chance to end by itself."""
        self._signal(signal.SIGTERM)
        for _ in range(20):
            if not self._group_alive():
                return
            await asyncio.sleep(0.025)

    def _group_alive(self) -> bool:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, 0)
            return True
        return False

    def _signal(self, number: signal.Signals) -> None:
        assert self.pid > 0, "the group 0 would be our own"
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    # -- asyncio.SubprocessProtocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Here and not in `start`: a quick program speaks, and wants an answer, before that is done.
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        self.pid = self._transport.get_pid()
        self._warden.guard(self.pid)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.over:
            return  # a child of it that still holds the pipes
        if fd == 1:
            self._on_data(data)
        else:
            self._stderr_data(data)

    def _stderr_data(self, data: bytes) -> None:
        *lines, rest = (self._stderr_rest + self._stderr_text.decode(data)).split("\n")
        self._stderr_rest = rest[-_STDERR_LINE:]
        for line in lines[-_STDERR_LINES:]:
            self._stderr_line(line.rstrip("\r")[:_STDERR_LINE])

    def _stderr_line(self, line: str) -> None:
        self._stderr.append(line)
        self._on_stderr(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            # An agent that closed its output is of no use, even while its process lives.
            asyncio.get_running_loop().call_later(_LAST_WORDS, self._finish)

    def process_exited(self) -> None:
        self._exited.set()
        asyncio.get_running_loop().call_later(_LAST_WORDS, self._finish)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has exited and all of its pipes are closed: nothing more can come."""
        self._finish()

    def _finish(self) -> None:
        if self._over.is_set():
            return
        if self._stderr_rest:
            self._stderr_line(self._stderr_rest)
            self._stderr_rest = ""
        self._over.set()
        self._on_exit()
