"""Builds the extension when its sources changed, and tells its tests where everything is."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "vscode-extension"
VSIX = ROOT / "build" / "agentls.vsix"
STAMP = EXTENSION / "build" / ".built"
SOURCES = ("src", "test", "media", "scripts", "package.json", "README.md")


def build() -> None:
    """Several processes may want it at once: one builds, the others find it built."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "vscode.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if VSIX.exists() and STAMP.exists() and STAMP.stat().st_mtime > _newest_source():
            return
        _npm("run", "build", "--", "--tests")
        _npm("run", "vsix")
        STAMP.touch()


def place_json() -> str:
    """Where everything is, for vscode-extension/test/ui/harness.ts."""
    found = _editors().get()
    return json.dumps(
        {
            "node": str(found.node),
            "vscode": str(found.vscode),
            "chromium": str(found.chromium),
            "chromiumEnv": found.chromium_env,
            "vsix": str(VSIX),
            "extension": str(EXTENSION),
            "server": str(Path(sys.executable).with_name("agentls")),
            "python": sys.executable,
            "scenarios": str(ROOT / "tests" / "scenarios"),
            "sample": str(ROOT / "server" / "agentls" / "demo" / "sample"),
            "floodAgent": str(ROOT / "bench" / "vscode_agent.py"),
            "pictures": os.environ.get("AGENTLS_PICTURES", ""),
        }
    )


def _editors() -> ModuleType:
    path = Path(__file__).with_name("editors.py")
    spec = importlib.util.spec_from_file_location("vscode_editors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _newest_source() -> float:
    files = [f for name in SOURCES for f in [EXTENSION / name, *(EXTENSION / name).rglob("*")]]
    return max(file.stat().st_mtime for file in files)


def _npm(*arguments: str) -> None:
    assert (EXTENSION / "node_modules").exists(), "run `make test`, which installs the tools"
    done = subprocess.run(
        ["npm", "--silent", *arguments],
        cwd=EXTENSION,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
