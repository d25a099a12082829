"""An agent that opens sessions and nothing else; with --list it gets to know its tools first."""

from __future__ import annotations

import http.client
import json
import sys
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]


def list_tools(server: Json) -> None:
    place = urlsplit(server["url"])
    headers = {each["name"]: each["value"] for each in server["headers"]}
    headers |= {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection = http.client.HTTPConnection(place.hostname or "", place.port)

    def post(method: str, params: Json, id: int | None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if id is None else {**message, "id": id})
        connection.request("POST", place.path, body, headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status < 300, answer.status
        if session := answer.getheader("mcp-session-id"):
            headers["mcp-session-id"] = session

    about = {"name": "bench", "version": "1"}
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
    post("initialize", opening, 1)
    post("notifications/initialized", {}, None)
    post("tools/list", {}, 2)
    connection.close()


def answer(method: str, params: Json, number: int) -> Json:
    if method == "initialize":
        return {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}}
    if method == "session/new":
        for server in params["mcpServers"] if "--list" in sys.argv else []:
            list_tools(server)
        return {"sessionId": f"s{number}"}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params") or {}, message["id"])
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
