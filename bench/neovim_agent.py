"""An agent for the Neovim rows: streams lines of text, prints a long output, or asks and times it.

A prompt is one JSON object; `log`, a file, gets one JSON object when the order is done.

    {"chunks": N}                 N pieces of text as fast as they are taken, 16 to a line
    {"chunks": N, "rate": R}      the same, R in a second
    {"lines": N}                  a tool call with N lines of output
    {"asks": N}                   N asks, one after the other; the log gets how long each took

Standard library only: it is started without site packages.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

WORDS = "the quick brown fox jumps over the lazy dog and then goes on to do it all over again "
OPTIONS = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]
Json = dict[str, Any]


def main() -> None:
    while message := read():
        method, id = message.get("method"), message.get("id")
        if id is None or method is None:
            continue
        result: Json = {}
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {}}
        elif method == "session/new":
            result = {"sessionId": f"bench-{time.monotonic_ns()}"}
        elif method == "session/prompt":
            params = message["params"]
            obey(params["sessionId"], json.loads(params["prompt"][0]["text"]))
            result = {"stopReason": "end_turn"}
        write({"id": id, "result": result})


def obey(session: str, order: Json) -> None:
    found: Json = {}
    if "chunks" in order:
        chunks(session, order["chunks"], order.get("rate"))
    elif "lines" in order:
        lines(session, order["lines"])
    elif "asks" in order:
        found = {"ms": [ask(session, number) for number in range(order["asks"])]}
    if "log" in order:
        part = Path(order["log"] + ".part")
        part.write_text(json.dumps(found))
        part.replace(order["log"])


def chunks(session: str, count: int, rate: float | None) -> None:
    start = time.monotonic()
    for number in range(1, count + 1):
        if rate:
            time.sleep(max(0.0, start + number / rate - time.monotonic()))
        at = number * 7 % 60
        text = f"c{number} {WORDS[at : at + 14]}" + ("\n" if number % 16 == 0 else "")
        content = {"type": "text", "text": text}
        update(session, {"sessionUpdate": "agent_message_chunk", "content": content})


def lines(session: str, count: int) -> None:
    text = "".join(f"l{number} {WORDS[:30]}\n" for number in range(1, count + 1))
    call = {"toolCallId": "output", "title": "a long output", "kind": "execute"}
    update(session, {"sessionUpdate": "tool_call", "status": "in_progress", **call})
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "output", "status": "completed"}
    update(session, {**done, "content": content})


def ask(session: str, number: int) -> float:
    call = {
        "toolCallId": f"ask-{number}",
        "title": f"touch file-{number}",
        "kind": "execute",
        "status": "pending",
        "rawInput": {"command": f"touch file-{number}"},
    }
    start = time.monotonic()
    params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
    write({"id": f"ask-{number}", "method": "session/request_permission", "params": params})
    while (answer := read()) and answer.get("id") != f"ask-{number}":
        pass
    return (time.monotonic() - start) * 1e3


def update(session: str, change: Json) -> None:
    write({"method": "session/update", "params": {"sessionId": session, "update": change}})


def read() -> Json | None:
    line = sys.stdin.buffer.readline()
    return dict(json.loads(line)) if line else None


def write(message: Json) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
