"""An agent that does what the prompt orders: streams updates, or asks and times the answers.

A prompt is one JSON object. Every order may have `log`, a file that gets one JSON object when the
order is done.

    {"stream": KIND, "count": N}           N updates, as fast as the other side takes them
    {"stream": KIND, "seconds": S}         the same for a time
        "bytes": B                         characters of text in an update
        "pause": S                         be quiet for so long before the first one
        "stamp": true                      the first text is the monotonic time of its writing
    {"tick": S}                            an unknown request every S seconds until the turn is
                                           cancelled; `log` gets when each was sent and how long
                                           its answer took, in nanoseconds
    {"spawn": N, "agent": A, "order": O}   start N other agents with that order as their prompt,
                                           by the client's tools

What is no such object is answered and not obeyed.

KIND is "text", "tool" (one tool call that changes all the time) or "mixed" (text, ever new tool
calls, plans). Each update is one write, as real agents do it. Standard library only: it is started
without site packages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

WORDS = "the quick brown fox jumps over the lazy dog and then goes on to do it all over again "
CAPABILITIES = {
    "promptCapabilities": {"embeddedContext": True},
    "mcpCapabilities": {"http": True},
}
Json = dict[str, Any]


def main() -> None:
    sessions = 0
    servers: dict[str, list[Json]] = {}
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if id is None:
            continue
        if method == "initialize":
            answer: Json = {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}
        elif method == "session/new":
            sessions += 1
            answer = {"sessionId": f"flood-{sessions}"}
            servers[answer["sessionId"]] = message["params"]["mcpServers"]
        elif method == "session/prompt":
            params = message["params"]
            text = params["prompt"][0]["text"]
            if text.startswith("{"):
                order = {"servers": servers[params["sessionId"]], **json.loads(text)}
                obey(params["sessionId"], order)
            answer = {"stopReason": "end_turn"}
        else:
            error = {"code": -32601, "message": f"Method not found: {method}"}
            write(encoded({"id": id, "error": error}))
            continue
        write(encoded({"id": id, "result": answer}))


def obey(session: str, order: Json) -> None:
    if "spawn" in order:
        found = spawn(order)
    else:
        found = tick(order) if "tick" in order else stream(session, order)
    if "log" in order:
        part = Path(order["log"] + ".part")
        part.write_text(json.dumps(found))
        part.replace(order["log"])


def stream(session: str, order: Json) -> Json:
    size = order.get("bytes", 20)
    lines = KINDS[order["stream"]](session, size)
    # Made before any is written: an agent that thinks between them floods nobody.
    ready = list(islice(lines, order.get("count", 0)))
    time.sleep(order.get("pause", 0.0))
    if order.get("stamp"):
        write(text_line(session, f"{time.monotonic_ns()} "))
    for line in ready:
        write(line)
    sent = len(ready)
    if "seconds" in order:
        end = time.monotonic() + order["seconds"]
        while time.monotonic() < end:
            write(next(lines))
            sent += 1
    return {"updates": sent, "characters": sent * size if order["stream"] == "text" else None}


def tick(order: Json) -> Json:
    ticks = []
    cancelled = False
    while not cancelled:
        sent = time.monotonic_ns()
        write(encoded({"id": "tick", "method": "bench/tick", "params": {}}))
        while b'"tick"' not in (line := sys.stdin.buffer.readline()):
            if not line:
                raise BrokenPipeError
            cancelled = cancelled or b"session/cancel" in line
        took = time.monotonic_ns() - sent
        ticks.append((sent, took))
        time.sleep(max(0.0, order["tick"] - took / 1e9))
    return {"ticks": ticks}


def spawn(order: Json) -> Json:
    import http.client
    from urllib.parse import urlsplit

    (server,) = [server for server in order["servers"] if server["name"] == "agentls"]
    place = urlsplit(server["url"])
    headers = {header["name"]: header["value"] for header in server["headers"]}
    headers |= {"Content-Type": "application/json"}
    headers |= {"Accept": "application/json, text/event-stream"}

    def post(**message: Any) -> None:
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        connection.request("POST", place.path, body, headers)
        answer = connection.getresponse()
        said = answer.read()
        if answer.status >= 400 or b'"isError":true' in said.replace(b" ", b""):
            raise RuntimeError(f"{answer.status}: {said!r}")
        if session := answer.getheader("mcp-session-id"):
            headers["mcp-session-id"] = session
        connection.close()

    about = {"name": "flood", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
    post(id=0, method="initialize", params=hello)
    post(method="notifications/initialized")
    for number in range(1, order["spawn"] + 1):
        wish = {"name": f"a{number}", "agent": order["agent"], "prompt": order["order"]}
        post(id=number, method="tools/call", params={"name": "spawn_agent", "arguments": wish})
    return {"spawned": order["spawn"]}


# -- updates


def text(session: str, size: int) -> Iterator[bytes]:
    source = WORDS * (2 + size // len(WORDS))
    starts = range(0, len(WORDS), 3)
    pieces = [source[start : start + size] for start in starts]
    return cycle([text_line(session, piece) for piece in pieces])


def tool(session: str, size: int) -> Iterator[bytes]:
    body = (WORDS * (1 + size // len(WORDS)))[:size]
    yield update(session, new_call("tool", "in_progress", body))
    for number in count(1):
        yield update(session, call_update("tool", "in_progress", f"{number} {body}"))


def mixed(session: str, size: int) -> Iterator[bytes]:
    pieces = text(session, size)
    for number in count(1):
        for _ in range(6):
            yield next(pieces)
        call = f"call-{number}-{time.monotonic_ns()}"
        yield update(session, new_call(call, "in_progress", f"reading file {number}"))
        yield next(pieces)
        yield update(session, call_update(call, "completed", f"read {number} lines"))
        steps = [
            {"content": f"step {n} of {number}", "status": "pending", "priority": "medium"}
            for n in range(4)
        ]
        yield update(session, {"sessionUpdate": "plan", "entries": steps})


KINDS = {"text": text, "tool": tool, "mixed": mixed}


def text_line(session: str, piece: str) -> bytes:
    content = {"type": "text", "text": piece}
    return update(session, {"sessionUpdate": "agent_message_chunk", "content": content})


def new_call(id: str, status: str, body: str) -> Json:
    change = call_update(id, status, body)
    return {**change, "sessionUpdate": "tool_call", "title": "a tool call", "kind": "read"}


def call_update(id: str, status: str, body: str) -> Json:
    content = [{"type": "content", "content": {"type": "text", "text": body}}]
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": id,
        "status": status,
        "content": content,
    }


def update(session: str, change: Json) -> bytes:
    return encoded({"method": "session/update", "params": {"sessionId": session, "update": change}})


def encoded(message: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def write(line: bytes) -> None:
    done = os.write(1, line)
    while done < len(line):
        done += os.write(1, line[done:])


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
