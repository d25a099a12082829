"""An agent that wants a login: `login_agent.py FILE new|prompt`. It is logged in when FILE exists.

It can be logged in by itself ("browser", in this process only), by a program ("term": itself with
`--login`, which reads a line and fails at "bad"), and by variables ("key"). Without a login it
refuses new sessions, or prompts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

METHODS = [
    {"id": "browser", "name": "In the browser"},
    {"id": "term", "name": "In a terminal", "type": "terminal", "args": ["--login"]},
    {"id": "key", "name": "A key", "type": "env_var", "vars": [{"name": "LOGIN_KEY"}]},
]
REFUSED = {"code": -32000, "message": "Authentication required"}


def main(file: Path, refuses: str) -> None:
    inside = False

    def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        nonlocal inside
        refused = {"error": REFUSED} if not inside and not file.exists() else None
        if method == "initialize":
            return {"result": {"protocolVersion": 1, "authMethods": METHODS}}
        if method == "authenticate":
            inside = params["methodId"] == "browser"
            return {"result": {}} if inside else {"error": {"code": -32602, "message": "no"}}
        if method == "session/new":
            return (refuses == "new" and refused) or {"result": {"sessionId": "s1"}}
        if method == "session/prompt":
            if refuses == "prompt" and refused:
                return refused
            text = f"You said: {params['prompt'][-1]['text']}"
            update = {"sessionUpdate": "agent_message_chunk", "content": _text(text)}
            send({"method": "session/update", "params": {"sessionId": "s1", "update": update}})
            return {"result": {"stopReason": "end_turn"}}
        return {"error": {"code": -32601, "message": "Method not found"}}

    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            send({"id": message["id"], **answer(message["method"], message.get("params") or {})})


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def log_in(file: Path) -> int:
    print("Your name?", flush=True)
    if sys.stdin.readline().strip() == "bad":
        return 3
    file.write_text("")
    return 0


if __name__ == "__main__":
    if "--login" in sys.argv:
        sys.exit(log_in(Path(sys.argv[1])))
    main(Path(sys.argv[1]), sys.argv[2])
