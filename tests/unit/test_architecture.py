"""The layers: cli, app, edges, core, never back; and each library only where it belongs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "server" / "agentls"
FILES = sorted(PACKAGE.rglob("*.py"))
EDGES = {"editor", "agent", "demo", "terminal", "storage", "files", "tools"}
ONLY_IN = {
    "pygls": "editor",
    "lsprotocol": "editor",
    "acp": "demo",
    "mcp": "tools",
    "mcp_types": "tools",
    "uvicorn": "tools",
}
CORE_MAY_NOT = {
    "asyncio",
    "subprocess",
    "socket",
    "threading",
    "multiprocessing",
    "sqlite3",
    "anyio",
}
PARSERS = {"tree_sitter", "tree_sitter_bash"}
LONGEST = 500


def name_of(path: Path) -> str:
    """The dotted name of a module, e.g. "agentls.core.model"."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(name: str) -> str:
    """The part of agentls that a module belongs to: "core", "editor", "app"…; else ""."""
    parts = name.split(".")
    return parts[1] if parts[0] == "agentls" and len(parts) > 1 else ""


def imports_of(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every module that is imported anywhere in a file, also within functions."""
    package = name_of(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, module
            # "from . import x" may name a module, too.
            if module.split(".")[0] == "agentls":
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def problem(importer: str, imported: str) -> str:
    """Why a module may not import another; empty when it may."""
    own, other, library = layer_of(importer), layer_of(imported), imported.split(".", maxsplit=1)[0]
    if own == "core":
        if library == "agentls":
            return "" if other == "core" else "core imports nothing of agentls but core"
        if library in CORE_MAY_NOT:
            return "core has no IO and no event loop"
        if library in PARSERS and importer.startswith("agentls.core.policy."):
            return ""  # reads text and nothing else
        if library != "msgspec" and library not in sys.stdlib_module_names:
            return "core imports only the standard library and msgspec"
    if library in ONLY_IN and own != ONLY_IN[library]:
        return f"{library} belongs to {ONLY_IN[library]} alone"
    if own in EDGES and other in EDGES and own != other:
        return "the edges do not know each other"
    if other == "app" and own not in {"app", "cli", "serving"}:
        return "only the command line imports the app"
    if other == "cli" and own not in {"cli", "__main__"}:
        return "only __main__ imports the command line"
    return ""


def calls_of(tree: ast.Module, function: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function
    ]


@pytest.fixture(params=FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def file(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


@pytest.fixture
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def test_imports_point_inward_only(file: Path, tree: ast.Module) -> None:
    found = [
        f"line {line}: {imported}: {why}"
        for line, imported in imports_of(file, tree)
        if (why := problem(name_of(file), imported))
    ]
    assert found == []


def test_only_the_command_line_prints(file: Path, tree: ast.Module) -> None:
    if layer_of(name_of(file)) != "cli" and "sample" not in file.parts:
        assert calls_of(tree, "print") == [], "stdout belongs to the protocol"


def test_the_core_opens_no_files(file: Path, tree: ast.Module) -> None:
    if layer_of(name_of(file)) == "core":
        assert calls_of(tree, "open") == []
        assert calls_of(tree, "input") == []


def test_files_fit_in_a_head(file: Path) -> None:
    if file.name == "protocol.py":
        return  # one list of declarations, which is read by looking things up
    lines = len(file.read_text("utf-8").splitlines())
    assert lines <= LONGEST, f"{lines} lines: split it"


def test_every_layer_is_one_that_we_know() -> None:
    known = EDGES | {"", "core", "app", "serving", "cli", "runtime", "warden", "log", "__main__"}
    assert {layer_of(name_of(path)) for path in FILES} <= known


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("agentls.core.session", "asyncio"),
        ("agentls.core.session", "anyio"),
        ("agentls.core.session", "agentls.agent.peer"),
        ("agentls.core.session", "agentls.runtime"),
        ("agentls.core.session", "pygls.server"),
        ("agentls.core.session", "rich"),
        ("agentls.agent.peer", "lsprotocol.types"),
        ("agentls.agent.peer", "acp"),
        ("agentls.agent.peer", "agentls.editor.wire"),
        ("agentls.demo.agent", "agentls.agent.catalog"),
        ("agentls.editor.server", "agentls.app"),
        ("agentls.app", "agentls.cli"),
        ("agentls.app", "pygls"),
    ],
)
def test_a_violation_would_be_found(importer: str, imported: str) -> None:
    assert problem(importer, imported)


def test_relative_imports_are_followed() -> None:
    source = (
        "from . import wire\nfrom .. import core\nfrom ..agent.peer import Peer\nimport os.path\n"
    )
    path = PACKAGE / "editor" / "server.py"
    assert {name for _, name in imports_of(path, ast.parse(source))} == {
        *("agentls.editor", "agentls.editor.wire", "agentls", "agentls.core"),
        *("agentls.agent.peer", "agentls.agent.peer.Peer", "os.path"),
    }
    package = PACKAGE / "editor" / "__init__.py"
    tree = ast.parse("from .wire import Wire")
    assert next(name for _, name in imports_of(package, tree)) == "agentls.editor.wire"
