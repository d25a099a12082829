"""A small MCP client over HTTP or over a program, as agents have one: the standard library only."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
VERSION = "2025-06-18"


class HttpClient:
    """One conversation with a server of tools; every call blocks."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._place = urlsplit(url)
        self._headers = headers
        self._session: str | None = None
        self._next = 0

    def open(self) -> Json:
        about = {"name": "fake", "version": "1"}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": about}
        result = self.request("initialize", params)
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def request(self, method: str, params: Json | None = None) -> Json:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}}
        return self._post(message)

    def tool(self, name: str, arguments: Json | None = None) -> Json:
        return self.request("tools/call", {"name": name, "arguments": arguments or {}})

    def post(self, body: bytes, **more: str) -> tuple[int, dict[str, str], bytes]:
        """A raw request: its status, headers and body."""
        connection = http.client.HTTPConnection(
            self._place.hostname or "", self._place.port, timeout=50
        )
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **self._headers,
            **({"mcp-session-id": self._session} if self._session else {}),
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        try:
            connection.request("POST", self._place.path, body, headers)
            answer = connection.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def _post(self, message: Json) -> Json:
        status, headers, body = self.post(json.dumps(message).encode())
        if status >= 400:
            return {"error": {"code": status, "message": body.decode()}}
        self._session = headers.get("mcp-session-id", self._session)
        for answer in _messages(headers.get("content-type", ""), body.decode()):
            if "id" in answer and "method" not in answer:
                return answer
        return {}


class ProgramClient:
    """The same with a program on a pipe."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._next = 0

    open = HttpClient.open
    tool = HttpClient.tool

    def request(self, method: str, params: Json | None = None) -> Json:
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params or {}}
        return self._post(message)

    def _post(self, message: Json) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        while "id" in message:
            answer: Json = json.loads(self._process.stdout.readline())
            if answer.get("id") == message["id"]:
                return answer
        return {}

    def close(self) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        return self._process.wait(10)


def client(server: Json) -> HttpClient | ProgramClient:
    """For one of the servers that `session/new` names."""
    if server.get("type") == "http":
        return HttpClient(server["url"], {h["name"]: h["value"] for h in server["headers"]})
    env = {variable["name"]: variable["value"] for variable in server["env"]}
    return ProgramClient([server["command"], *server["args"]], env)


def _messages(kind: str, body: str) -> list[Json]:
    if kind.startswith("text/event-stream"):
        lines = [line[5:].strip() for line in body.splitlines() if line.startswith("data:")]
        return [json.loads(line) for line in lines if line]
    return [json.loads(body)] if body else []
