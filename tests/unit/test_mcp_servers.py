"""MCP servers and further folders of the user's file: read, and passed on to agents that can."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from acp.schema import NewSessionRequest

from agentls.agent.catalog import Catalog
from agentls.agent.checkup import Nobody
from agentls.agent.connection import Connection
from agentls.agent.mcp_servers import McpServer, acp_servers, with_door
from agentls.agent.recording import load, redacted
from agentls.agent.spec import AgentSpec
from agentls.core.model import Abilities
from agentls.core.ports import ToolDoor
from fakes.processes import NoWarden

PUPPET = Path(__file__).parent.parent / "fakes" / "puppet.py"
EVERYTHING = Abilities(mcp_http=True, mcp_sse=True)


def loaded(tmp_path: Path, text: str) -> Catalog:
    file = tmp_path / "agents.toml"
    file.write_text(text)
    return Catalog.load(file)


def test_servers_are_read_from_the_users_file(tmp_path: Path) -> None:
    catalog = loaded(
        tmp_path,
        """
        [mcp.files]
        command = ["my-server", "--stdio"]
        env = { TOKEN = "x" }
        [mcp.search]
        url = "https://search.example/mcp"
        headers = { Authorization = "Bearer y" }
        agents = ["claude"]
        """,
    )
    assert catalog.problems == []
    assert catalog.mcp == (
        McpServer(name="files", command=("my-server", "--stdio"), env={"TOKEN": "x"}),
        McpServer(
            name="search",
            url="https://search.example/mcp",
            headers={"Authorization": "Bearer y"},
            agents=("claude",),
        ),
    )


@pytest.mark.parametrize(
    "table",
    [
        "bad = 7",
        "bad = {}",
        'bad = { command = ["x"], url = "https://x.example" }',
        "bad = { command = [] }",
        'bad = { command = ["./relative"] }',
        'bad = { url = "ftp://x.example" }',
        'bad = { url = "https://x.example", transport = "pigeon" }',
        'bad = { url = "https://x.example", headers = { A = "1\\n2" } }',
    ],
)
def test_a_bad_server_is_one_problem_and_the_others_stay(table: str, tmp_path: Path) -> None:
    catalog = loaded(tmp_path, f'[mcp]\n{table}\ngood = {{ command = ["x"] }}\n')
    assert [server.name for server in catalog.mcp] == ["good"]
    (problem,) = catalog.problems
    assert "mcp.bad" in problem


def test_what_an_agent_is_given_is_of_the_schema_and_what_it_can_use() -> None:
    servers = [
        McpServer(name="files", command=(sys.executable, "-m", "x"), env={"A": "1"}),
        McpServer(name="web", url="https://a.example", headers={"B": "2"}),
        McpServer(name="old", url="https://b.example", transport="sse"),
        McpServer(name="theirs", url="https://c.example", agents=("codex",)),
        McpServer(name="gone", command=("no-such-program-anywhere",)),
    ]

    def given(agent: str, abilities: Abilities) -> list[str]:
        found = acp_servers(servers, agent, abilities)
        request = {"cwd": "/p", "mcpServers": found}
        model = NewSessionRequest.model_validate(request)
        shape = model.model_dump(by_alias=True, exclude_unset=True)
        assert shape["mcpServers"] == found, "the schema knows other fields"
        return [str(server["name"]) for server in found]

    assert given("claude", EVERYTHING) == ["files", "web", "old"]
    assert given("codex", EVERYTHING) == ["files", "web", "old", "theirs"]
    assert given("claude", Abilities(mcp_http=True)) == ["files", "web"]
    assert given("claude", Abilities()) == ["files"]


async def test_servers_and_folders_reach_the_agent(tmp_path: Path) -> None:
    spec = AgentSpec(
        name="puppet",
        title="Puppet",
        command=(sys.executable, str(PUPPET)),
        directories=(str(tmp_path),),
    )
    server = McpServer(name="files", command=(sys.executable, "-m", "x"))
    live = Connection(spec, version="1", timeout=20, warden=NoWarden(), mcp=[server])
    try:
        await live.start(str(tmp_path))
        setup = await live.new_session(str(tmp_path), Nobody(str(tmp_path)))
        await live.load_session(setup.id, str(tmp_path), Nobody(str(tmp_path)))
    finally:
        await live.stop()
    sent = _sent(live, tmp_path)
    assert [message["method"] for message in sent] == ["session/new", "session/load"]
    for message in sent:
        (given,) = message["params"]["mcpServers"]
        assert (given["name"], given["args"]) == ("files", ["-m", "x"])
        assert "additionalDirectories" not in message["params"], "it did not say that it can"


def _sent(live: Connection, tmp_path: Path) -> list[dict[str, Any]]:
    path = tmp_path / "recording.jsonl"
    live.ring.save(path, "puppet")
    assert load(path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    out = [line["msg"] for line in lines if line["dir"] == "out"]
    return [m for m in out if str(m.get("method", "")).startswith("session/")]


def test_further_folders_are_absolute(tmp_path: Path) -> None:
    catalog = loaded(tmp_path, '[agents.codex]\ndirectories = ["/a", "/b"]\n')
    assert catalog.get("codex").directories == ("/a", "/b")
    bad = loaded(tmp_path, '[agents.codex]\ndirectories = ["a"]\n')
    assert "agents.codex.directories must be" in bad.problems[0]


DOOR = ToolDoor(url="http://127.0.0.1:1/mcp", secret="pFq-x_secret-of-a-session", bridge=("p", "q"))


@pytest.mark.parametrize("abilities", [EVERYTHING, Abilities()])
def test_the_secret_of_our_own_server_is_in_no_recording(abilities: Abilities) -> None:
    servers = with_door([], DOOR, abilities)
    assert DOOR.secret in json.dumps(servers)
    assert DOOR.secret not in json.dumps(redacted(servers))


def test_no_server_of_somebody_else_has_the_name_of_our_own() -> None:
    theirs = acp_servers([McpServer(name="agentls", url="http://x/")], "any", EVERYTHING)
    (server,) = with_door(theirs, DOOR, EVERYTHING)
    assert server["url"] == DOOR.url
