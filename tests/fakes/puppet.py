"""An agent that does what the prompt says: a list of steps in JSON, for what no recording has.

    {"call": "terminal/create", "params": {…}, "as": "t"}   a request to the client; "nowait": true
                                                             goes on without the answer
    {"update": {"sessionUpdate": …}}                         say something about the session
    {"write": path, "text": …}                               write a file itself, as shells do;
                                                             without "text" remove it
    {"tool": "read_buffer", "args": {…}}                     call a tool of the client, by MCP
    {"tools": true}                                          fetch the list of tools, and no more
    {"servers": true}                                        say which MCP servers it was given
    {"await": "cancel"}                                      go on when the turn was cancelled

A prompt that is no list is only repeated, and what follows a list is not read.

In params, "$t" stands for the terminal id that the call named "t" was answered with. The answer to
each call is said as a line of JSON. A cancelled turn ends as cancelled after the step it is at,
unless the step is `{"stubborn": true}`, after which cancelling is not listened to. With the
argument --no-http it says that it cannot use MCP servers by address.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
from fakes.mcp_client import HttpClient, ProgramClient, client

Json = dict[str, Any]


class Puppet:
    def __init__(self, writer: asyncio.StreamWriter | None = None) -> None:
        self._next = 0
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._cancelled: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: dict[str, list[Json]] = {}
        self._clients: dict[str, HttpClient | ProgramClient] = {}

    def send(self, message: Json) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    async def run(self) -> None:
        reader = asyncio.StreamReader(limit=1 << 26)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            self._receive(json.loads(line))

    def _receive(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            self._waiting.pop(message["id"]).set_result(message)
        elif method == "session/cancel":
            self._cancelled[message["params"]["sessionId"]].set()
        elif "id" in message:
            task = asyncio.create_task(self._answer(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, message: Json) -> None:
        result = await self._result(message["method"], message.get("params") or {})
        self.send({"id": message["id"], "result": result})

    async def _result(self, method: str, params: Json) -> Json:
        if method == "initialize":
            http = "--no-http" not in sys.argv
            abilities = {"loadSession": True, "mcpCapabilities": {"http": http}}
            return {"protocolVersion": 1, "agentCapabilities": abilities}
        if method == "session/new":
            self._next += 1
            self._servers[f"puppet-{self._next}"] = params["mcpServers"]
            return {"sessionId": f"puppet-{self._next}"}
        if method == "session/prompt":
            return {"stopReason": await self._turn(params["sessionId"], params["prompt"])}
        return {}

    async def _turn(self, session: str, prompt: list[Json]) -> str:
        cancelled = self._cancelled[session] = asyncio.Event()
        stubborn = False
        known: dict[str, Any] = {}
        text = "".join(block["text"] for block in prompt)
        for step in _steps(text):
            if "stubborn" in step:
                stubborn = True
            elif "write" in step:
                _write(Path(step["write"]), step.get("text"))
            elif "servers" in step:
                self._say(session, {"servers": self._servers[session]})
            elif "tools" in step:
                await self._connected(session)
            elif "tool" in step:
                work = asyncio.create_task(self._tool(session, step))
                self._tasks.add(work)
                if not step.get("nowait"):
                    await asyncio.wait(
                        {work, asyncio.create_task(cancelled.wait())},
                        return_when=asyncio.FIRST_COMPLETED,
                    )
            elif "await" in step:
                await cancelled.wait()
            elif "update" in step:
                update = _filled(step["update"], known)
                self.send(
                    {
                        "method": "session/update",
                        "params": {"sessionId": session, "update": update},
                    }
                )
            else:
                work = asyncio.create_task(self._call(session, step, known))
                self._tasks.add(work)
                if not step.get("nowait"):
                    done = {work} if stubborn else {work, asyncio.create_task(cancelled.wait())}
                    await asyncio.wait(done, return_when=asyncio.FIRST_COMPLETED)
            if cancelled.is_set() and not stubborn:
                return "cancelled"
        return "end_turn"

    async def _call(self, session: str, step: Json, known: dict[str, Any]) -> None:
        self._next += 1
        future = self._waiting[self._next] = asyncio.get_running_loop().create_future()
        params = {"sessionId": session, **_filled(step.get("params", {}), known)}
        self.send({"id": self._next, "method": step["call"], "params": params})
        answer = await future
        said = {key: answer[key] for key in ("result", "error") if key in answer}
        if isinstance(said.get("result"), dict) and "terminalId" in said["result"]:
            known[step.get("as", "t")] = said["result"]["terminalId"]
        self._say(session, {"call": step["call"], **said})

    async def _connected(self, session: str) -> None:
        """As agents do when a session begins: they have to know what there is to call."""
        if session not in self._clients:
            (server,) = [s for s in self._servers[session] if s["name"] == "agentls"]
            self._clients[session] = client(server)
            await asyncio.to_thread(self._clients[session].open)
            await asyncio.to_thread(self._clients[session].request, "tools/list")

    async def _tool(self, session: str, step: Json) -> None:
        await self._connected(session)
        answer = await asyncio.to_thread(
            self._clients[session].tool, step["tool"], step.get("args", {})
        )
        said = {key: answer[key] for key in ("result", "error") if key in answer}
        self._say(session, {"tool": step["tool"], **said})

    def _say(self, session: str, words: Json) -> None:
        content = {"type": "text", "text": json.dumps(words) + "\n"}
        update = {"sessionUpdate": "agent_message_chunk", "content": content}
        self.send({"method": "session/update", "params": {"sessionId": session, "update": update}})


def _steps(text: str) -> list[Json]:
    if not text.startswith("["):
        words = {"type": "text", "text": json.dumps({"heard": text}) + "\n"}
        return [{"update": {"sessionUpdate": "agent_message_chunk", "content": words}}]
    steps, _ = json.JSONDecoder().raw_decode(text)
    return list(steps)


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _filled(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return known.get(value[1:], value) if value.startswith("$") else value
    if isinstance(value, list):
        return [_filled(item, known) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, known) for key, item in value.items()}
    return value


if __name__ == "__main__":
    asyncio.run(Puppet().run())
