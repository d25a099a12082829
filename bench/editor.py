"""An editor with our plugin, in front of a real server process; it reads only when told to.

Nothing runs beside the caller here: while no method is called, the editor is one that hangs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

HERE = Path(__file__).resolve().parent
SERVER = (str(Path(sys.executable).with_name("agentls")),)
"""The command as an editor starts it, from the environment that runs the benchmark."""
AGENT = (sys.executable, "-S", "-E", str(HERE / "flood_agent.py"))
FLOOD = "flood"
"""The agent whose one process serves all its sessions."""
ALONE = "alone"
"""The same agent with a process for each session."""
PATIENCE = 60.0
Json = dict[str, Any]


class Batch(NamedTuple):
    """One `agentls/session/didChange`."""

    at: int
    """The monotonic time of its arrival, in nanoseconds."""
    session: str
    changes: list[Json]

    def new_text(self) -> str:
        """What the agent said in it."""
        parts = []
        for change in self.changes:
            entry = change.get("entry", {})
            if change["type"] == "text":
                parts.append(change["text"])
            elif entry.get("kind") == "message" and entry["role"] == "agent":
                parts.append(entry["text"])
        return "".join(parts)


class Editor:
    """Starts the server when it is made; use it as a context manager."""

    def __init__(self, folder: Path, command: Sequence[str] = SERVER) -> None:
        self.folder = folder
        self.batches: list[Batch] = []
        self._buffer = bytearray()
        self._next = 0
        self._idle: set[str] = set()
        self._over: set[str] = set()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=folder,
            env=environment(folder),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._stdout = self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.request("shutdown")
            self._send({"method": "exit"})
            self._process.wait(PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()
            self._stdin.close()
            self._stdout.close()

    # -- what an editor does

    def initialize(self, **settings: Any) -> Json:
        root = self.folder.as_uri()
        answer: Json = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root,
                "workspaceFolders": [{"uri": root, "name": "bench"}],
                "capabilities": {"experimental": {"agentls": {"version": 1}}},
                "initializationOptions": settings,
            },
        )
        return answer

    def initialized(self) -> None:
        """Say so, and wait until the server has heard it."""
        self._send({"method": "initialized", "params": {}})
        with suppress(RuntimeError):
            self.request("bench/unknown")

    def open(self, agent: str = FLOOD) -> str:
        """A new session that is ready for a prompt."""
        id: str = self.request("agentls/session/new", {"agent": agent})["session"]["id"]
        self.until(lambda: id in self._idle, "a session that is ready")
        return id

    def prompt(self, session: str, **order: Any) -> None:
        """Send an order to the flood agent."""
        self._over.discard(session)
        text = json.dumps(order)
        self.request("agentls/session/prompt", {"sessionId": session, "text": text})

    def turn(self, session: str, **order: Any) -> list[Batch]:
        """Send an order, and return all that came until the turn was over."""
        self.batches.clear()
        self.prompt(session, **order)
        self.finish(session)
        return [batch for batch in self.batches if batch.session == session]

    def finish(self, *sessions: str) -> None:
        """Read until the turns of these sessions are over."""
        self.until(lambda: self._over.issuperset(sessions), "the end of a turn")

    def cancel(self, session: str) -> None:
        self.request("agentls/session/cancel", {"sessionId": session})
        self.finish(session)

    # -- talking

    def request(self, method: str, params: Any = None) -> Any:
        self._next += 1
        id = self._next
        self._send({"id": id, "method": method, "params": params})
        while (message := self._message(f"the answer to {method}")).get("id") != id:
            self._take(message)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']['message']}")
        return message["result"]

    def until(self, condition: Callable[[], bool], what: str) -> None:
        while not condition():
            self._take(self._message(what))

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _take(self, message: Json) -> None:
        if message.get("method") != "agentls/session/didChange":
            return
        params = message["params"]
        batch = Batch(message["at"], params["sessionId"], params["changes"])
        self.batches.append(batch)
        for change in batch.changes:
            if change.get("entry", {}).get("kind") == "turn_end":
                self._over.add(batch.session)
            elif change["type"] == "session":
                self._state(batch.session, change["session"])

    def _state(self, session: str, head: Json) -> None:
        if head["state"] == "failed":
            raise RuntimeError(head["detail"])
        if head["state"] == "idle":
            self._idle.add(session)

    def _message(self, what: str) -> Json:
        """The next message, with the time at which it was complete in `at`."""
        end = -1
        while end < 0:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                self._read(what)
        head = bytes(self._buffer[:end]).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        del self._buffer[: end + 4]
        while len(self._buffer) < length:
            self._read(what)
        at = time.monotonic_ns()
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return {**json.loads(body), "at": at}

    def _read(self, what: str) -> None:
        if not select.select([self._stdout], [], [], PATIENCE)[0]:
            raise TimeoutError(f"never came: {what}")
        data = os.read(self._stdout.fileno(), 1 << 20)
        if not data:
            raise EOFError(f"the server ended before {what}")
        self._buffer += data


def environment(folder: Path) -> dict[str, str]:
    """That of a user whose configuration is in the folder, with Python as it is by default."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") or name == "PYTHONPATH"
    }
    places = {f"XDG_{what}_HOME": str(folder / what.lower()) for what in ("CONFIG", "STATE")}
    return {**kept, **places}


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder of a user who has the flood agent."""
    with TemporaryDirectory(prefix="agentls-bench-") as name:
        folder = Path(name)
        agents = folder / "config" / "agentls" / "agents.toml"
        agents.parent.mkdir(parents=True)
        command = json.dumps(AGENT)
        agents.write_text(
            f"[agents.{FLOOD}]\ncommand = {command}\n\n"
            f"[agents.{ALONE}]\ncommand = {command}\nshared = false\n"
        )
        yield folder


@contextmanager
def editor() -> Iterator[Editor]:
    """An editor that is ready for sessions."""
    with workplace() as folder, Editor(folder) as found:
        found.initialize()
        found.initialized()
        yield found
