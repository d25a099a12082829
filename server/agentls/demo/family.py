"""The demo agent as one that directs others, and as one of those: the real tools, no model."""

from __future__ import annotations

from pathlib import Path

from agentls.core.errors import AgentError
from agentls.demo.facts import code
from agentls.demo.tools import Tools
from agentls.demo.turn import Turn

_ROUNDS = 20
_QUESTION = "How many words shall I say?"
_ANSWER = "Three."


async def directs(turn: Turn) -> bool:
    """Whether the client lets this session start others."""
    tools = turn.session.tools
    return tools is not None and "spawn_agent" in await tools.names()


async def family(turn: Turn, _: str = "") -> None:
    """Start three others, answer what one of them asks, and sum up what they say."""
    tools = turn.session.tools
    if tools is None or not await directs(turn):
        raise AgentError(
            "This session may not start other agents.",
            hint="Start it with `agentls run --orchestrate --agent demo`.",
        )
    tasks = {
        "asker": "/ask",
        "reader": f"/read {_some_file(turn.session.cwd)}",
        "runner": "/run ls",
    }
    await turn.say("I start three agents: one reads, one runs a command, one asks me something.\n")
    for name, task in tasks.items():
        await tools.call("spawn_agent", name=name, prompt=task)
    for name in tasks:
        await _hear(turn, tools, name)
        await tools.call("kill_agent", agent=name)
    await turn.say("\nAll of them are done, and I have ended them.\n")
    await turn.wrap_up("Three agents under one")


async def _hear(turn: Turn, tools: Tools, name: str) -> None:
    """Wait until it is done; it may ask something before."""
    for _ in range(_ROUNDS):
        heard = await tools.call("wait_for_agent", agents=[name])
        if heard.startswith(f"{name} asks"):
            await turn.say(f"\n- {code(name)} asks me something; I answer.\n")
            await tools.call("send_to_agent", agent=name, text=_ANSWER)
        elif heard.startswith(name):
            await turn.say(f"\n- {code(name)}: {heard.partition(chr(10))[2].strip()}\n")
            return


async def ask(turn: Turn, _: str = "") -> None:
    """Ask the agent that started this one, and do as it says."""
    tools = turn.session.tools
    if tools is None or "ask_orchestrator" not in await tools.names():
        raise AgentError("Nobody has started this session but you.", hint="Try `/family`.")
    answer = await tools.call("ask_orchestrator", question=_QUESTION)
    await turn.say(f"It said {code(answer)}: one, two, three.")


def _some_file(folder: Path) -> str:
    found = sorted(path.name for path in folder.iterdir() if path.suffix in {".md", ".py", ".txt"})
    return found[0] if found else "README.md"
