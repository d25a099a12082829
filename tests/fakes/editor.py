"""An editor on the other side of a real server process: speaks LSP by hand, byte by byte.

It keeps a mirror of every session from the numbered batches, the way a front end does, so that a
test can compare the mirror with the server's own snapshot.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

SERVER = [sys.executable, "-m", "agentls"]
PATIENCE = 20.0
Json = dict[str, Any]


class RequestFailed(Exception):
    def __init__(self, error: Json) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]


class SessionMirror:
    """What a front end knows of one session."""

    def __init__(self) -> None:
        self.seq = 0
        self.head: Json = {}
        self.entries: dict[str, Json] = {}

    @classmethod
    def of(cls, snapshot: Json) -> SessionMirror:
        mirror = cls()
        mirror.seq = snapshot["seq"]
        mirror.head = snapshot["session"]
        mirror.entries = {e["id"]: dict(e) for e in snapshot["entries"]}
        return mirror

    def apply(self, params: Json) -> None:
        assert params["seq"] == self.seq + 1, f"gap: {self.seq} then {params['seq']}"
        self.seq = params["seq"]
        for change in params["changes"]:
            if change["type"] == "entry":
                self.entries[change["entry"]["id"]] = change["entry"]
            elif change["type"] == "text":
                self.entries[change["entryId"]]["text"] += change["text"]
            else:
                self.head = change["session"]

    def of_kind(self, kind: str) -> list[Json]:
        return [e for e in self.entries.values() if e["kind"] == kind]

    def text(self, role: str = "agent") -> str:
        return "".join(e["text"] for e in self.of_kind("message") if e["role"] == role)


class Editor:
    """Start it with `await Editor.start(...)`, end it with `await editor.close()`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.sessions: dict[str, SessionMirror] = {}
        self.received: list[Json] = []
        self.answers: dict[str, Callable[[Json], Any]] = {}
        """What to answer to requests of the server, by method, from the message; null otherwise."""
        self.batches = 0
        self._next = 0
        self._snapshots: dict[int, str] = {}
        self._pending: dict[Any, asyncio.Future[Any]] = {}
        self._news = asyncio.Condition()
        self._reading = asyncio.Event()
        self._reading.set()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        *,
        cwd: Path,
        config: Path,
        env: dict[str, str] | None = None,
        debug: bool = False,
        server: Sequence[str] = SERVER,
    ) -> Editor:
        process = await asyncio.create_subprocess_exec(
            *server,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if debug else asyncio.subprocess.DEVNULL,
            cwd=cwd,
            env={
                **os.environ,
                "XDG_CONFIG_HOME": str(config),
                "XDG_STATE_HOME": str(config / "state"),
                **(env or {}),
            },
            start_new_session=True,
            limit=1 << 30,
        )
        return cls(process)

    # -- talking

    async def initialize(
        self,
        root: Path,
        *,
        plugin: bool = True,
        runs_terminals: bool = False,
        saves_documents: bool = False,
        knows_code: bool = False,
        capabilities: Json | None = None,
        options: Json | None = None,
    ) -> Json:
        capabilities = dict(capabilities or {"window": {"workDoneProgress": True}})
        if plugin:
            ours = {
                "version": 1,
                **({"runsTerminals": True} if runs_terminals else {}),
                **({"savesDocuments": True} if saves_documents else {}),
                **({"knowsCode": True} if knows_code else {}),
            }
            capabilities["experimental"] = {"agentls": ours}
        result = await self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "test-editor"},
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "ws"}],
                "capabilities": capabilities,
                "initializationOptions": options or {},
            },
        )
        self.notify("initialized", {})
        return result

    async def request(self, method: str, params: Any = None, **raw: Any) -> Any:
        if self._reader.done():
            raise EOFError("the server has ended")
        self._next += 1
        future = asyncio.get_running_loop().create_future()
        self._pending[self._next] = future
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params, **raw})
        return await asyncio.wait_for(future, PATIENCE)

    async def snapshot(self, session: str) -> Json:
        """Read a session anew: the mirror is what the snapshot says, and goes on from there."""
        self._snapshots[self._next + 1] = session
        result = await self.request("agentls/session/snapshot", {"sessionId": session})
        return dict(result)

    async def command(self, command: str, *arguments: Any) -> Any:
        return await self.request(
            "workspace/executeCommand", {"command": command, "arguments": list(arguments)}
        )

    def notify_request(self, method: str, params: Any) -> None:
        """Send a request whose answer nobody waits for."""
        self._next += 1
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})

    @property
    def last_id(self) -> int:
        return self._next

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, message: Any) -> None:
        self.send_body(json.dumps(message).encode())

    def send_body(self, body: bytes) -> None:
        self.send_raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send_raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def keep(self, messages: list[Json]) -> Callable[[Json], Any]:
        """For `answers`: keep the request and stay silent."""

        def kept(message: Json) -> Any:
            messages.append(message)
            return NO_ANSWER

        return kept

    # -- reading

    def stop_reading(self) -> None:
        """Play an editor that hangs."""
        self._reading.clear()

    def go_on_reading(self) -> None:
        self._reading.set()

    async def until(
        self, condition: Callable[[], Any], why: str, patience: float = PATIENCE
    ) -> Any:
        """Wait until the condition holds; say what was awaited when it never does."""

        async def wait() -> Any:
            async with self._news:
                while not (value := condition()):
                    await self._news.wait()
                return value

        try:
            return await asyncio.wait_for(wait(), patience)
        except TimeoutError:
            known = {
                id: (s.head.get("state"), s.head.get("detail")) for id, s in self.sessions.items()
            }
            last = [m.get("method") or m for m in self.received[-5:]]
            raise AssertionError(f"never came: {why}; sessions: {known}; last: {last}") from None

    async def until_result(
        self, ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]
    ) -> Any:
        """Ask again with all that is told, until the answer is what it should be."""

        async def wait() -> Any:
            while not holds(result := await ask()):
                seen = len(self.received)
                async with self._news:
                    while len(self.received) == seen:
                        await self._news.wait()
            return result

        return await asyncio.wait_for(wait(), PATIENCE)

    def mirror(self, id: str) -> SessionMirror:
        return self.sessions.setdefault(id, SessionMirror())

    def notifications(self, method: str) -> list[Json]:
        return [m["params"] for m in self.received if m.get("method") == method]

    async def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._reading.wait()
                head = await stdout.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await self._message(json.loads(await stdout.readexactly(length)))
        for future in self._pending.values():
            if not future.done():
                future.set_exception(EOFError("the server closed its output"))
        async with self._news:
            self._news.notify_all()

    async def _message(self, message: Json) -> None:
        self.received.append(message)
        method = message.get("method")
        if method is None:
            if (session := self._snapshots.pop(message.get("id"), None)) and "result" in message:
                self.sessions[session] = SessionMirror.of(message["result"])
            future = self._pending.pop(message.get("id"), None)
            if future is not None and not future.done():
                if "error" in message:
                    future.set_exception(RequestFailed(message["error"]))
                else:
                    future.set_result(message["result"])
        elif "id" in message:
            answer = self.answers.get(method)
            result = answer(message) if answer else None
            if isinstance(result, RequestFailed):
                error = {"code": result.code, "message": result.message}
                self.send({"jsonrpc": "2.0", "id": message["id"], "error": error})
            elif result is not NO_ANSWER:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif method == "agentls/session/didChange":
            self.batches += 1
            mirror = self.mirror(message["params"]["sessionId"])
            # One that begins with a past is read by `snapshot` before it can be followed.
            if mirror.seq or message["params"]["seq"] == 1:
                mirror.apply(message["params"])
        async with self._news:
            self._news.notify_all()

    # -- ends

    async def close(self) -> int:
        """Say goodbye properly, and return the exit code."""
        if self.process.returncode is None:
            with suppress(EOFError, TimeoutError, ConnectionError, BrokenPipeError):
                self.go_on_reading()
                await self.request("shutdown")
                self.notify("exit", None)
        return await self.gone()

    async def gone(self, patience: float = PATIENCE) -> int:
        """Wait until the server process has ended by itself; end it if it does not."""
        self.go_on_reading()
        try:
            code = await asyncio.wait_for(self.process.wait(), patience)
        except TimeoutError:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()
            raise AssertionError("the server did not exit by itself") from None
        finally:
            if self.process.stdin is not None:
                self.process.stdin.close()
            await self._reader
        return code


NO_ANSWER = object()
"""Returned by an entry of `answers`: the editor stays silent."""
