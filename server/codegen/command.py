"""Which files are generated, whether they are fresh, and the command that renews them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agentls.core import settings as settings_module
from agentls.editor import protocol as protocol_module

from . import lua, markdown, typescript, vscode_manifest
from .examples import Examples
from .model import COMMAND, CodegenError
from .reading import read_protocol, read_settings
from .samples import SAMPLES

ROOT = Path(__file__).resolve().parents[2]


def outputs() -> dict[str, str]:
    """The text of every generated file, by its path in the repository."""
    protocol = read_protocol(protocol_module)
    settings = read_settings(settings_module)
    names = {definition.name for definition in protocol.definitions}
    for definition in settings.definitions:
        if definition.name in names:
            raise CodegenError(
                f"{definition.name} is in the protocol and the settings: rename one."
            )
    examples = Examples(protocol.definitions, SAMPLES)
    return {
        "vscode-extension/src/protocol.gen.ts": typescript.render(protocol, settings),
        "vscode-extension/src/host/manifest.gen.ts": vscode_manifest.typescript(settings),
        "neovim/lua/agentls/protocol.lua": lua.render(protocol, settings),
        "docs/protocol.md": markdown.render_protocol(protocol, examples),
        "docs/settings.md": markdown.render_settings(settings),
    }


def partly(root: Path) -> dict[str, str]:
    """The text of every file that is generated in part, as far as it is there."""
    package = _read(root / vscode_manifest.PATH)
    if package is None:
        return {}
    protocol, settings = read_protocol(protocol_module), read_settings(settings_module)
    return {vscode_manifest.PATH: vscode_manifest.merged(package.decode(), protocol, settings)}


def stale(root: Path) -> list[str]:
    """The generated files that are missing or not what they should be."""
    texts = outputs() | partly(root)
    return [path for path, text in texts.items() if _read(root / path) != text.encode()]


def write(root: Path) -> list[str]:
    """Renews the files that are stale, and tells which."""
    texts = outputs() | partly(root)
    renewed = [path for path, text in texts.items() if _read(root / path) != text.encode()]
    for path in renewed:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(texts[path].encode())
    return renewed


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description="Renews the generated files.")
    parser.add_argument("--check", action="store_true", help="only tell which files are stale")
    only_check = parser.parse_args(arguments).check
    try:
        paths = stale(root) if only_check else write(root)
    except CodegenError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path in paths:
        sys.stdout.write(f"{path} is stale; run: {COMMAND}\n" if only_check else f"wrote {path}\n")
    return 1 if only_check and paths else 0


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
