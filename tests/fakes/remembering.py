"""An agent with modes and options that remembers sessions in a file: `remembering.py FILE`.

It can list, resume, fork, close and delete. Every request is a line in FILE.log, and a prompt is
answered with the mode, the model and what the agent remembers of the session.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MODES = [{"id": id, "name": id.title()} for id in ("default", "plan")]
ABILITIES = {"list": {}, "resume": {}, "fork": {}, "close": {}, "delete": {}}


def options(model: str) -> list[Json]:
    choices = [{"value": value, "name": value.title()} for value in ("small", "large")]
    return [
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": model,
            "options": choices,
        }
    ]


class Agent:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.modes: dict[str, str] = {}
        self.models: dict[str, str] = {}

    @property
    def known(self) -> dict[str, list[str]]:
        return json.loads(self.file.read_text()) if self.file.exists() else {}

    def keep(self, known: dict[str, list[str]]) -> None:
        self.file.write_text(json.dumps(known))

    def opened(self, id: str) -> Json:
        self.modes[id], self.models[id] = "default", "small"
        modes = {"currentModeId": "default", "availableModes": MODES}
        return {"sessionId": id, "modes": modes, "configOptions": options("small")}

    def answer(self, method: str, params: Json) -> Json:
        id, known = params.get("sessionId", ""), self.known
        if method == "initialize":
            able = {"loadSession": True, "sessionCapabilities": ABILITIES}
            return {"protocolVersion": 1, "agentCapabilities": able}
        if method in {"session/new", "session/fork"}:
            new = f"r{len(known) + 1}"
            self.keep({**known, new: list(known.get(id, []))})
            return self.opened(new)
        if method == "session/resume":
            return self.opened(id)
        if method == "session/list":
            return {"sessions": [{"sessionId": id, "cwd": "/", "title": id} for id in known]}
        if method == "session/delete":
            known.pop(id)
            self.keep(known)
        elif method == "session/set_mode":
            self.modes[id] = params["modeId"]
        elif method == "session/set_config_option":
            self.models[id] = params["value"]
            return {"configOptions": options(params["value"])}
        elif method == "session/prompt":
            return self.turn(id, params["prompt"][-1]["text"])
        return {}

    def turn(self, id: str, said: str) -> Json:
        known = self.known
        text = f"{self.modes[id]} {self.models[id]} {known[id]}\n"
        known[id].append(said)
        self.keep(known)
        content = {"type": "text", "text": text}
        cost = {"amount": 0.25 * len(known[id]), "currency": "USD"}
        for update in (
            {"sessionUpdate": "agent_message_chunk", "content": content},
            {"sessionUpdate": "usage_update", "used": 300, "size": 1000, "cost": cost},
        ):
            send({"method": "session/update", "params": {"sessionId": id, "update": update}})
        usage = {"inputTokens": 20, "outputTokens": 5, "totalTokens": 25}
        return {"stopReason": "end_turn", "usage": usage}


def send(message: Json) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    agent = Agent(Path(sys.argv[1]))
    with Path(sys.argv[1] + ".log").open("a") as log:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message and "method" in message:
                log.write(message["method"] + "\n")
                log.flush()
                result = agent.answer(message["method"], message.get("params") or {})
                send({"id": message["id"], "result": result})
