"""The manifest of the extension says what the sources say, and names nothing that is not there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentls import __version__

EXTENSION = Path(__file__).resolve().parents[2] / "vscode-extension"


@pytest.fixture
def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
    return found


def test_the_extension_has_the_version_of_the_server(manifest: dict[str, Any]) -> None:
    assert manifest["version"] == __version__


def test_every_command_named_anywhere_is_declared(manifest: dict[str, Any]) -> None:
    declared = {command["command"] for command in manifest["contributes"]["commands"]}
    parts = {k: v for k, v in manifest["contributes"].items() if k != "commands"}
    named = re.findall(r'(?:command:|onCommand:|"command": ")(agentls\.\w+)', json.dumps(parts))
    assert named
    assert set(named) <= declared


def test_every_file_named_in_the_manifest_is_there(manifest: dict[str, Any]) -> None:
    for name in re.findall(r'"(media/[^"]+)"', json.dumps(manifest)):
        assert (EXTENSION / name).is_file(), name


def test_a_folder_that_is_not_trusted_cannot_name_the_server(manifest: dict[str, Any]) -> None:
    limited = manifest["capabilities"]["untrustedWorkspaces"]
    assert limited["supported"] == "limited"
    assert "agentls.server.command" in limited["restrictedConfigurations"]
