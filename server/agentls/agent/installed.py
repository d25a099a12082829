"""Which version of an agent is installed, without starting it: read from beside its program."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from .. import __version__
from .spec import DEMO, AgentSpec

_ABOVE: Final = 5
"""How many folders above a program its package may begin."""


def installed_version(spec: AgentSpec, program: str) -> str:
    """What its package says; empty when that is not known."""
    if spec.name == DEMO:
        return __version__
    path = Path(program).resolve()
    if spec.install.startswith("uv tool install "):
        return _python_package(path, spec.install.split()[-1])
    return _npm_package(path)


def _npm_package(program: Path) -> str:
    if "node_modules" not in program.parts:
        return ""  # a package.json above it would be somebody else's
    for folder in program.parents[:_ABOVE]:
        try:
            found = json.loads((folder / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        # Packages mark folders with a package.json of their own that has no name.
        if isinstance(found, dict) and found.get("name"):
            version = found.get("version")
            return version if isinstance(version, str) else ""
    return ""


def _python_package(program: Path, package: str) -> str:
    wanted = _normal(re.split("[=<>~!@]", package)[0])
    for folder in program.parent.parent.glob("lib/python*/site-packages/*.dist-info"):
        name, _, version = folder.name.removesuffix(".dist-info").rpartition("-")
        if _normal(name) == wanted:
            return version
    return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
