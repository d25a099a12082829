"""A real Neovim, driven by RPC over its standard streams, one thing at a time."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import msgspec

PATIENCE = 20.0
_STEP = 0.01


class NvimError(Exception):
    """What Neovim answered instead of a result."""


class Nvim:
    """Start it with the arguments and environment of a test; end it with `close`."""

    def __init__(self, command: list[str], *, cwd: Path, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [*command, "--embed"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env=env,
            bufsize=0,
            start_new_session=True,
        )
        self.notifications: list[tuple[str, list[Any]]] = []
        self._buffer = bytearray()
        self._answers: dict[int, tuple[Any, Any]] = {}
        self._next = 0

    # -- talking

    def request(self, method: str, *params: Any, patience: float = PATIENCE) -> Any:
        id = self.post(method, *params)
        end = time.monotonic() + patience
        while id not in self._answers:
            if time.monotonic() > end:
                raise AssertionError(f"Neovim did not answer {method} in {patience} s")
            self.read(_STEP)
        error, result = self._answers.pop(id)
        if error is not None:
            raise NvimError(error[1] if isinstance(error, list) else error)
        return result

    def post(self, method: str, *params: Any) -> int:
        """Send a request without waiting for its answer."""
        self._next += 1
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.msgpack.encode([0, self._next, method, list(params)]))
        return self._next

    def answered(self, id: int) -> bool:
        return id in self._answers

    def lua(self, code: str, *args: Any) -> Any:
        return self.request("nvim_exec_lua", code, list(args))

    def command(self, line: str) -> None:
        self.request("nvim_command", line)

    def keys(self, keys: str) -> None:
        """Type, as a person does."""
        self.request("nvim_input", keys)

    def until(self, condition: Callable[[], Any], why: str, patience: float = PATIENCE) -> Any:
        """Wait until the condition holds; say what was awaited when it never does."""
        end = time.monotonic() + patience
        while not (value := condition()):
            if time.monotonic() > end:
                raise AssertionError(f"never came: {why}\n{self.describe()}")
            self.read(_STEP)
        return value

    def until_lua(self, expression: str, *args: Any, patience: float = PATIENCE) -> Any:
        return self.until(lambda: self.lua(f"return {expression}", *args), expression, patience)

    def describe(self) -> str:
        """What there is to see, for the message of a test that fails."""
        return str(
            self.lua(
                """
                local out = { vim.fn.execute("messages"), "mode: " .. vim.fn.mode() }
                for _, win in ipairs(vim.api.nvim_list_wins()) do
                  local buf = vim.api.nvim_win_get_buf(win)
                  table.insert(out, "== " .. vim.api.nvim_buf_get_name(buf))
                  vim.list_extend(out, vim.api.nvim_buf_get_lines(buf, -40, -1, false))
                end
                return table.concat(out, "\\n")
                """
            )
        )

    # -- reading

    def read(self, seconds: float) -> None:
        """Take in what comes within that time."""
        assert self.process.stdout is not None
        number = self.process.stdout.fileno()
        if not select.select([number], [], [], max(0.0, seconds))[0]:
            return
        data = os.read(number, 1 << 20)
        if not data:
            raise EOFError(f"Neovim ended: {self.process.wait(5)}")
        self._buffer += data
        for message in self._messages():
            self._take(message)

    def _messages(self) -> Iterator[list[Any]]:
        start = 0
        while (end := skip(self._buffer, start)) is not None:
            yield msgspec.msgpack.decode(self._buffer[start:end], strict=False)
            start = end
        del self._buffer[:start]

    def _take(self, message: list[Any]) -> None:
        match message:
            case [0, id, *_]:
                assert self.process.stdin is not None
                refusal = [1, id, "not supported", None]
                self.process.stdin.write(msgspec.msgpack.encode(refusal))
            case [1, id, error, result]:
                self._answers[id] = (error, result)
            case [2, method, params]:
                self.notifications.append((method, params))

    # -- the end

    def close(self) -> None:
        """Quit as a person does, whatever is open."""
        if self.process.poll() is None:
            self.post("nvim_command", "qall!")
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
                raise AssertionError("Neovim did not quit") from None
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_FIXED = {
    **dict.fromkeys((0xC0, 0xC2, 0xC3), 0),
    0xCA: 4,
    0xCB: 8,
    0xCC: 1,
    0xCD: 2,
    0xCE: 4,
    0xCF: 8,
    0xD0: 1,
    0xD1: 2,
    0xD2: 4,
    0xD3: 8,
    0xD4: 2,
    0xD5: 3,
    0xD6: 5,
    0xD7: 9,
    0xD8: 17,
}
"""How many bytes follow the first, for values of one size."""
_SIZED = {0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0), 0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1)} | {
    0xD9: (1, 0),
    0xDA: (2, 0),
    0xDB: (4, 0),
}
"""Bytes of the length, and bytes beside it."""
_NESTED = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
"""Bytes of the count, and values for each."""


def skip(data: bytearray, at: int) -> int | None:
    """Where the MessagePack value at this place ends; None when it is not all there.

    msgspec decodes one whole value and does not say where it ended, hence this.
    """
    values = 1
    size = len(data)
    while values:
        if at >= size:
            return None
        first = data[at]
        at += 1
        values -= 1
        if first < 0x80 or first >= 0xE0:
            continue
        if first < 0x90:
            values += 2 * (first & 0x0F)
        elif first < 0xA0:
            values += first & 0x0F
        elif first < 0xC0:
            at += first & 0x1F
        elif first in _FIXED:
            at += _FIXED[first]
        else:
            width, extra = _SIZED.get(first) or _NESTED[first]
            number = int.from_bytes(data[at : at + width], "big")
            if at + width > size:
                return None
            at += width
            if first in _NESTED:
                values += number * extra
            else:
                at += number + extra
    return at if at <= size else None
