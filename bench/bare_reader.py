"""The reference for streaming: asyncio and json read a flood from an agent, and nothing more.

    python bare_reader.py ORDER PROGRAM ARGUMENT...

Prints one JSON object: the updates of one turn, and the CPU seconds they took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any


async def read(order: str, command: list[str]) -> dict[str, Any]:
    pipe = asyncio.subprocess.PIPE
    agent = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 20)
    stdin, stdout = agent.stdin, agent.stdout
    assert stdin is not None
    assert stdout is not None
    updates = characters = 0

    async def ask(method: str, params: dict[str, Any]) -> Any:
        nonlocal updates, characters
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        stdin.write(json.dumps(request).encode() + b"\n")
        while True:
            message = json.loads(await stdout.readline())
            if message.get("method") == "session/update":
                updates += 1
                characters += len(message["params"]["update"]["content"]["text"])
            elif message.get("id") == 1:
                return message["result"]

    await ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    session = (await ask("session/new", {"cwd": "/", "mcpServers": []}))["sessionId"]
    before = time.process_time()
    await ask("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": order}]})
    seconds = time.process_time() - before
    stdin.close()
    await agent.wait()
    return {"updates": updates, "characters": characters, "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(read(sys.argv[1], sys.argv[2:]))))
