"""MCP on stdin and stdout, carried to the server's door: for agents that cannot use an address.

It knows nothing about tools. Where the door is and what opens it comes by the environment, which
only the same user can read. Invariant: every request gets one answer, also when the server is gone.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

URL, SECRET = "AGENTLS_TOOLS_URL", "AGENTLS_TOOLS_SECRET"
_INTERNAL_ERROR = -32603
_PARSE_ERROR = -32700


class Bridge:
    def __init__(self, url: str, secret: str) -> None:
        self._place = urlsplit(url)
        self._headers = {
            "Authorization": f"Bearer {secret}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        self._writing = threading.Lock()

    def run(self) -> int:
        """Until the agent closes the pipe; what it still waits for then is of no use to it."""
        for line in sys.stdin.buffer:
            if line.strip():
                self._message(line)
        return 0

    def _message(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self._write(_error(None, _PARSE_ERROR, "This is not JSON."))
            return
        is_call = isinstance(message, dict) and message.get("method") == "tools/call"
        if is_call:  # they may take long, and overtake each other
            threading.Thread(target=self._carry, args=(message,), daemon=True).start()
        else:
            self._carry(message)

    def _carry(self, message: Any) -> None:
        id = message.get("id") if isinstance(message, dict) else None
        answered = False
        try:
            for answer in self._post(message):
                answered = answered or ("id" in answer and "method" not in answer)
                self._write(answer)
            words = "agentls did not answer."
        except (OSError, http.client.HTTPException, ValueError) as error:
            words = f"agentls cannot be reached: {error}."
        if id is not None and not answered:
            self._write(_error(id, _INTERNAL_ERROR, words))

    def _post(self, message: Any) -> Iterator[dict[str, Any]]:
        connection = http.client.HTTPConnection(self._place.hostname or "", self._place.port)
        try:
            connection.request(
                "POST", self._place.path, json.dumps(message).encode(), self._headers
            )
            answer = connection.getresponse()
            if session := answer.getheader("mcp-session-id"):
                self._headers["mcp-session-id"] = session
            if answer.status >= 400:
                raise ValueError(f"it answered {answer.status} {answer.reason}")
            if (answer.getheader("content-type") or "").startswith("text/event-stream"):
                yield from _events(answer)
            elif body := answer.read():
                yield json.loads(body)
        finally:
            connection.close()

    def _write(self, message: dict[str, Any]) -> None:
        with self._writing:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()


def _events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in answer:
        if line.startswith(b"data:") and (data := line[5:].strip()):
            yield json.loads(data)


def _error(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def main() -> int:
    url, secret = os.environ.get(URL), os.environ.get(SECRET)
    if not url or not secret:
        sys.stderr.write("agentls starts this for an agent; it is of no use by itself.\n")
        return 2
    return Bridge(url, secret).run()
