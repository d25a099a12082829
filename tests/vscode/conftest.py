"""How the TypeScript tests of the extension are found and run."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from . import setup


def names_in(folder: str) -> list[tuple[str, str]]:
    """File and name of every test below vscode-extension/test."""
    found = []
    for file in sorted((setup.EXTENSION / "test" / folder).glob("*.test.ts")):
        names = re.findall(r'^test\(\s*"((?:[^"\\]|\\.)+)"', file.read_text(), re.MULTILINE)
        assert names, f"{file} has no tests"
        found += [(file.name.removesuffix(".ts"), name) for name in names]
    return found


@pytest.fixture(scope="session")
def built() -> None:
    setup.build()


@pytest.fixture(scope="session")
def place() -> str:
    return setup.place_json()


def run_node_test(folder: str, file: str, name: str, env: dict[str, str]) -> None:
    only = f"--test-name-pattern=^{re.escape(name)}$"
    done = subprocess.run(
        ["node", "--test", "--test-reporter=tap", only, f"build/{folder}/{file}.js"],
        cwd=setup.EXTENSION,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    assert "\n# pass 1\n" in printed, f"no test of this name ran:\n{printed}"
