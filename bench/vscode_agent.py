"""An agent for the VS Code rows: streams text or entries as the prompt orders.

flood N       N chunks of 20 characters, as fast as they are taken, a line break after each 16th
rate N R      N chunks, R in a second, each with the time of its writing: "T<milliseconds> "
entries N     N entries: messages and tool calls in turns
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

WORDS = "the quick brown fox jumps over the lazy dog and goes on "


def main() -> None:
    sessions = 0
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method, id = message.get("method"), message.get("id")
        if id is None or method is None:
            continue
        answer: dict[str, Any] = {}
        if method == "initialize":
            answer = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            sessions += 1
            answer = {"sessionId": f"bench-{sessions}"}
        elif method == "session/prompt":
            params = message["params"]
            obey(params["sessionId"], params["prompt"][0]["text"].split())
            answer = {"stopReason": "end_turn"}
        send({"id": id, "result": answer})


def obey(session: str, order: list[str]) -> None:
    match order:
        case ["flood", count]:
            lines = [encoded(text(session, chunk(number))) for number in range(int(count))]
            for first in range(0, len(lines), 64):
                write(b"".join(lines[first : first + 64]))
            send(text(session, "\n\nTHE-END"))
        case ["rate", count, rate]:
            begin = time.monotonic()
            for number in range(int(count)):
                time.sleep(max(0.0, begin + number / float(rate) - time.monotonic()))
                end = "\n\n" if number % 40 == 39 else " "
                send(text(session, f"T{time.time() * 1000:.0f}{end}"))
        case ["entries", count]:
            for number in range(int(count)):
                send(entry(session, number))


def chunk(number: int) -> str:
    piece = (WORDS * 2)[number % len(WORDS) :][:20]
    return piece + ("\n\n" if number % 160 == 159 else "\n" if number % 16 == 15 else "")


def entry(session: str, number: int) -> dict[str, Any]:
    if number % 2:
        return text(session, f"### Step {number}\n\n{WORDS * 3}\n\n- `a{number}.py`\n- **done**\n")
    content = {"type": "content", "content": {"type": "text", "text": WORDS * 4}}
    call = {"toolCallId": f"call-{number}", "title": f"Read a{number}.py", "kind": "read"}
    place = [{"path": f"/project/a{number}.py", "line": 3}]
    more = {"status": "completed", "content": [content], "locations": place}
    return update(session, {"sessionUpdate": "tool_call", **call, **more})


def text(session: str, words: str) -> dict[str, Any]:
    content = {"type": "text", "text": words}
    return update(session, {"sessionUpdate": "agent_message_chunk", "content": content})


def update(session: str, what: dict[str, Any]) -> dict[str, Any]:
    return {"method": "session/update", "params": {"sessionId": session, "update": what}}


def send(message: dict[str, Any]) -> None:
    write(encoded(message))


def encoded(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


if __name__ == "__main__":
    main()
