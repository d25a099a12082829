"""MCP servers of the user's configuration, as they are passed on to agents.

Only the user's own file names them: nothing of a repository is read here. An agent gets those that
it says it can use, and none that is for other agents.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..core.model import Abilities
from ..core.ports import ToolDoor
from ..core.tools.tool import SERVER

log = logging.getLogger(__name__)


class McpServer(Struct, frozen=True, kw_only=True):
    """One server: a program, or an address."""

    name: str
    command: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    transport: str = "http"
    """For an address: http or sse."""
    headers: dict[str, str] = {}
    agents: tuple[str, ...] = ()
    """Only for these; empty for all."""


def acp_servers(
    servers: Iterable[McpServer], agent: str, abilities: Abilities
) -> list[dict[str, Any]]:
    """What the agent is given in `mcpServers`."""
    found = []
    for server in servers:
        if server.agents and agent not in server.agents:
            continue
        shape = _program(server) if server.command else _address(server, abilities)
        if shape is None:
            log.info("%s does not get the MCP server %s: it cannot use it", agent, server.name)
        else:
            found.append(shape)
    return found


def with_door(
    servers: list[dict[str, Any]], door: ToolDoor, abilities: Abilities
) -> list[dict[str, Any]]:
    """The person's servers and our own, which no other can pass for."""
    others = [server for server in servers if server["name"] != SERVER]
    if abilities.mcp_http:
        headers = {"Authorization": f"Bearer {door.secret}"}
        own = McpServer(name=SERVER, url=door.url, headers=headers)
        return [*others, _address(own, abilities) or {}]
    # By the environment: everybody on the machine can read the arguments of a process.
    env = {"AGENTLS_TOOLS_URL": door.url, "AGENTLS_TOOLS_SECRET": door.secret}
    program, *args = door.bridge
    return [*others, {"name": SERVER, "command": program, "args": args, "env": _pairs(env)}]


def _program(server: McpServer) -> dict[str, Any] | None:
    import shutil  # noqa: PLC0415 - slow to load, and few people have such servers

    path = server.env.get("PATH", os.environ.get("PATH", os.defpath))
    # A relative folder in PATH would be looked up in the session's folder, which is a repository.
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    found = shutil.which(server.command[0], path=os.pathsep.join(folders))
    if found is None:
        return None
    return {
        "name": server.name,
        "command": found,
        "args": list(server.command[1:]),
        "env": _pairs(server.env),
    }


def _address(server: McpServer, abilities: Abilities) -> dict[str, Any] | None:
    can = abilities.mcp_http if server.transport == "http" else abilities.mcp_sse
    if not can:
        return None
    return {
        "type": server.transport,
        "name": server.name,
        "url": server.url,
        "headers": _pairs(server.headers),
    }


def _pairs(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
