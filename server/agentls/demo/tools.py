"""The tools that the client offers the demo agent, called by MCP over plain HTTP.

Invariant: what goes wrong, or is refused, is an `AgentError` whose sentence can be said.
"""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from acp.schema import HttpMcpServer

from agentls.core.errors import AgentError

_VERSION = "2025-06-18"
_PATIENCE = 600.0
_NAME = "agentls"


class Tools:
    """One conversation with the client's server of tools, begun with the first call."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._place = urlsplit(url)
        self._headers = headers
        self._session = ""
        self._count = 0

    @classmethod
    def among(cls, servers: Sequence[object]) -> Tools | None:
        """The client's own server, if it offers one."""
        for server in servers:
            if isinstance(server, HttpMcpServer) and server.name == _NAME:
                return cls(server.url, {header.name: header.value for header in server.headers})
        return None

    async def names(self) -> list[str]:
        result = await self._request("tools/list", {})
        return [tool["name"] for tool in result.get("tools", ())]

    async def call(self, name: str, /, **arguments: Any) -> str:
        """What the tool says."""
        result = await self._request("tools/call", {"name": name, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result.get("content", ()))
        if result.get("isError"):
            raise AgentError(text or f"The tool {name} failed.")
        return text

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            if not self._session:
                about = {"name": "agentls-demo", "version": "1"}
                hello = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": about}
                await asyncio.to_thread(self._post, "initialize", hello)
                await asyncio.to_thread(self._post, "notifications/initialized", None)
            return await asyncio.to_thread(self._post, method, params)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise AgentError(f"The client's tools cannot be reached: {error}.") from None

    def _post(self, method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            self._count += 1
            message |= {"id": self._count, "params": params}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _VERSION,
            **self._headers,
            **({"Mcp-Session-Id": self._session} if self._session else {}),
        }
        connection = http.client.HTTPConnection(
            self._place.hostname or "", self._place.port, timeout=_PATIENCE
        )
        try:
            connection.request("POST", self._place.path, json.dumps(message).encode(), headers)
            answer = connection.getresponse()
            body = answer.read().decode()
            self._session = answer.getheader("Mcp-Session-Id") or self._session or "none"
        finally:
            connection.close()
        if answer.status >= 400:
            raise AgentError(f"The client's tools answered {answer.status}.")
        return _result(answer.getheader("Content-Type") or "", body)


def _result(kind: str, body: str) -> dict[str, Any]:
    if kind.startswith("text/event-stream"):
        lines = [line[5:] for line in body.splitlines() if line.startswith("data:")]
        found = [json.loads(line) for line in lines if line.strip()]
    else:
        found = [json.loads(body)] if body.strip() else []
    for message in found:
        if "error" in message:
            raise AgentError(str(message["error"].get("message", "The tool failed.")))
        if "result" in message:
            return dict(message["result"])
    return {}
