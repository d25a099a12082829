"""The VS Code extension: its parts by themselves, and all of it in a real VS Code.

They are written in TypeScript, in vscode-extension/test; here each of them is one test, so that
they run side by side with all the others. AGENTLS_PICTURES=folder keeps the pictures they take.
"""

from __future__ import annotations

import pytest

from .conftest import names_in, run_node_test


@pytest.mark.parametrize(("file", "name"), names_in("unit"))
@pytest.mark.usefixtures("built")
def test_a_part_by_itself(file: str, name: str) -> None:
    run_node_test("unit", file, name, {})


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("file", "name"), names_in("ui"))
@pytest.mark.usefixtures("built")
def test_in_vs_code(file: str, name: str, place: str) -> None:
    run_node_test("ui", file, name, {"AGENTLS_UI": place})
