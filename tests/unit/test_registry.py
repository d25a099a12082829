"""Agents from a file in the format of the public registry, and which versions are installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentls import __version__
from agentls.agent.catalog import Catalog
from agentls.agent.installed import installed_version
from agentls.agent.registry import bare_package, target
from agentls.agent.spec import AgentSpec, program
from agentls.cli import main

NPX = {"npx": {"package": "@acme/acme-agent@1.2.3", "args": ["--acp"], "env": {"A": "1"}}}


def entry(id: str, distribution: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "name": id.title(),
        "version": "1.2.3",
        "description": "An agent",
        "distribution": distribution,
        "icon": "icon.svg",
        **more,
    }


def registry(folder: Path, *entries: Any) -> Path:
    path = folder / "registry.json"
    path.write_text(json.dumps({"version": "1.0.0", "agents": list(entries)}))
    return path


def from_registry(folder: Path, *entries: Any) -> Catalog:
    return Catalog.load(None, registry(folder, *entries))


def test_an_npm_agent_is_its_own_program_and_the_package_is_for_a_person_to_install(
    tmp_path: Path,
) -> None:
    catalog = from_registry(tmp_path, entry("acme", NPX, website="https://acme.example"))
    assert catalog.problems == []
    assert catalog.get("acme") == AgentSpec(
        name="acme",
        title="Acme",
        command=("acme-agent", "--acp"),
        env={"A": "1"},
        install="npm install -g @acme/acme-agent@1.2.3",
        homepage="https://acme.example",
        source=str(tmp_path / "registry.json"),
    )
    assert catalog.newest == {"acme": "1.2.3"}
    assert catalog.names()[-2:] == ["acme", "demo"]


@pytest.mark.parametrize(
    ("distribution", "command", "install"),
    [
        (
            {"npx": {"package": "tools", "cmd": "acme", "args": ["acp"]}},
            ("acme", "acp"),
            "npm install -g tools",
        ),
        ({"uvx": {"package": "acme==2.0"}}, ("acme",), "uv tool install acme==2.0"),
        (
            {"binary": {target(): {"archive": "https://a.example/a.tgz", "cmd": "./bin/acme"}}},
            ("acme",),
            "unpack https://a.example/a.tgz and put acme on your PATH",
        ),
    ],
)
def test_every_way_of_distribution_names_a_program_and_how_to_get_it(
    distribution: dict[str, Any], command: tuple[str, ...], install: str, tmp_path: Path
) -> None:
    found = from_registry(tmp_path, entry("acme", distribution)).get("acme")
    assert (found.command, found.install) == (command, install)


def test_an_agent_for_other_machines_only_is_left_out_without_a_word(tmp_path: Path) -> None:
    binary = {"plan9-mips": {"archive": "https://a.example/a.tgz", "cmd": "acme"}}
    catalog = from_registry(tmp_path, entry("acme", {"binary": binary}))
    assert "acme" not in catalog.names()
    assert catalog.problems == []


def test_agents_that_we_know_by_another_name_are_not_listed_twice(tmp_path: Path) -> None:
    claude = {"npx": {"package": "@agentclientprotocol/claude-agent-acp@0.99.1"}}
    vibe = {"binary": {target(): {"archive": "https://a.example/v.zip", "cmd": "./vibe-acp"}}}
    catalog = from_registry(
        tmp_path, entry("claude-acp", claude), entry("mistral-vibe", vibe), entry("gemini", NPX)
    )
    assert catalog.names() == Catalog.load(None).names()
    assert set(catalog.newest) == {"claude", "vibe", "gemini"}
    assert catalog.get("gemini").command == ("gemini", "--acp"), "ours knows better"


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {},
        entry("Big Name", NPX),
        entry("acme", {"npx": {"package": "x; rm -rf ~"}}),
        entry("acme", {"npx": {"package": "--registry=x"}}),
        entry("acme", {"binary": {target(): {"archive": "http://a.example/a", "cmd": "a"}}}),
        entry("acme", {"binary": {target(): {"archive": "https://a/$(id)", "cmd": "a"}}}),
        entry("acme", {"binary": {target(): {"archive": "https://a/a", "cmd": "./"}}}),
        entry("acme", {"npx": {"package": "x", "env": {"A=B": "1"}}}),
        entry("acme", {"npx": {"package": "x", "args": ["\0"]}}),
    ],
)
def test_a_bad_entry_is_one_problem_and_the_others_stay(bad: Any, tmp_path: Path) -> None:
    catalog = from_registry(tmp_path, bad, entry("good", NPX))
    assert catalog.names()[-2:] == ["good", "demo"]
    (problem,) = catalog.problems
    assert "agent 1 of the registry is left out" in problem


@pytest.mark.parametrize("text", ["", "[]", '{"agents": {}}', "{" * 100_000, "\x00\xff"])
def test_a_file_that_is_no_registry_is_one_problem(text: str, tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text(text)
    catalog = Catalog.load(None, path)
    assert catalog.names() == Catalog.load(None).names()
    assert len(catalog.problems) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "distribution", "npx", "package", "args"]), inner
        )
    ),
    max_leaves=15,
)


@given(st.lists(JSON, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_whatever_the_registry_holds_the_catalog_can_be_used(
    tmp_path: Path, entries: list[Any]
) -> None:
    catalog = from_registry(tmp_path, *entries)
    assert catalog.names()[-1] == "demo"
    assert all(spec.command[0] for spec in catalog)


def test_the_users_file_can_name_a_registry_and_change_its_agents(tmp_path: Path) -> None:
    path = registry(tmp_path, entry("acme", NPX))
    users = tmp_path / "agents.toml"
    users.write_text(f'registry = "{path}"\n[agents.acme]\ntitle = "Mine"\n')
    catalog = Catalog.load(users)
    assert catalog.problems == []
    found = catalog.get("acme")
    assert (found.title, found.command) == ("Mine", ("acme-agent", "--acp"))


def test_a_bad_registry_setting_does_not_cost_the_agents(tmp_path: Path) -> None:
    users = tmp_path / "agents.toml"
    users.write_text('registry = "relative.json"\n[agents.mine]\ncommand = ["x"]\n')
    catalog = Catalog.load(users)
    assert catalog.names()[0] == "mine"
    assert "registry must be the absolute path" in catalog.problems[0]


def test_the_command_line_takes_a_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = registry(tmp_path, entry("acme", NPX))
    assert main(["agents", "--registry", str(path)]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("acme"))
    assert line.endswith("missing: npm install -g @acme/acme-agent@1.2.3")
    assert main(["agents", "--registry", str(tmp_path / "none.json")]) == 2
    assert "There is no file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("package", "name"),
    [("a", "a"), ("@s/a", "a"), ("@s/a@1.0", "a"), ("a@latest", "a"), ("a==1.0", "a")],
)
def test_a_package_without_scope_and_version(package: str, name: str) -> None:
    assert bare_package(package) == name


# -- versions


def npm_agent(tmp_path: Path, package: str) -> AgentSpec:
    """An agent installed as npm does: a link into the package."""
    home = tmp_path / "lib/node_modules/@s/agent"
    (home / "dist").mkdir(parents=True)
    (home / "package.json").write_text(package)
    (home / "dist/package.json").write_text('{"type": "module"}')
    script = home / "dist/index.js"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/agent").symlink_to(script)
    return AgentSpec(name="agent", title="Agent", command=(str(tmp_path / "bin/agent"),))


def test_the_version_of_an_npm_agent_is_that_of_its_package(tmp_path: Path) -> None:
    spec = npm_agent(tmp_path, '{"name": "@s/agent", "version": "4.5.6"}')
    found = program(spec)
    assert found is not None
    assert installed_version(spec, found) == "4.5.6"


@pytest.mark.parametrize("package", ["", "{", "[]", '{"name": "x"}', '{"name": "x", "version": 7}'])
def test_a_package_that_does_not_say_its_version_has_none(package: str, tmp_path: Path) -> None:
    spec = npm_agent(tmp_path, package)
    assert installed_version(spec, spec.command[0]) == ""


def test_the_version_of_a_python_agent_is_that_of_its_distribution(tmp_path: Path) -> None:
    (tmp_path / "lib/python3.12/site-packages/mistral_vibe-3.0.2.dist-info").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/vibe-acp").write_text("")
    vibe = Catalog.load(None).get("vibe")
    assert installed_version(vibe, str(tmp_path / "bin/vibe-acp")) == "3.0.2"


def test_the_demo_agent_is_of_our_version_and_other_programs_of_none() -> None:
    catalog = Catalog.load(None)
    assert installed_version(catalog.get("demo"), sys.executable) == __version__
    assert installed_version(catalog.get("claude"), sys.executable) == ""
