"""Agents from a file in the format of the public ACP registry.

Nothing is downloaded: an agent of the registry is started when its program is on PATH already, and
what the registry says about getting it becomes a line for a person to run. A wrong file, or a wrong
entry of it, is a sentence in the problems and never an error.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from .spec import NAME, AgentSpec

_SIZE: Final = 16 * 1024 * 1024
_Text = Annotated[str, Meta(pattern=r"\A[^\0\r\n]*\Z")]
_Words = tuple[Annotated[str, Meta(pattern=r"\A[^\0]*\Z")], ...]
_Environment = dict[Annotated[str, Meta(pattern=r"\A[^=\0]+\Z")], _Text]
# Names of packages and files go into a line for a shell.
_Plain = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9@][A-Za-z0-9@/._+~^=-]*\Z")]
_Address = Annotated[str, Meta(pattern=r"\Ahttps://[A-Za-z0-9/._~%?&=:@+-]+\Z")]


class _Package(Struct, frozen=True):
    package: _Plain
    cmd: _Plain = ""
    args: _Words = ()
    env: _Environment = {}


class _Binary(Struct, frozen=True):
    archive: _Address
    cmd: _Text
    args: _Words = ()
    env: _Environment = {}


class _Distribution(Struct, frozen=True):
    npx: _Package | None = None
    uvx: _Package | None = None
    binary: dict[str, _Binary] = {}


class _Entry(Struct, frozen=True):
    """Only what we use: the format has grown, and will again."""

    id: Annotated[str, Meta(pattern=rf"\A{NAME.pattern}\Z")]
    name: _Text
    distribution: _Distribution
    version: _Text = ""
    description: _Text = ""
    repository: _Text = ""
    website: _Text = ""


def read_registry(
    path: Path, known: Iterable[AgentSpec]
) -> tuple[dict[str, AgentSpec], dict[str, str], list[str]]:
    """The agents of the file that are not known yet, the newest version by the name of ours, and
    what is wrong with the file."""
    try:
        with path.open("rb") as file:
            data = file.read(_SIZE + 1)
        if len(data) > _SIZE:
            return {}, {}, [f"{path}: the registry is left out: it is too large."]
        top = msgspec.json.decode(data)
    except OSError as error:
        return {}, {}, [f"{path}: make the registry readable: {error.strerror}."]
    except (ValueError, RecursionError) as error:
        return {}, {}, [f"{path}: the registry is left out, it is not JSON: {error}."]
    entries = top.get("agents") if isinstance(top, dict) else None
    if not isinstance(entries, list):
        return {}, {}, [f'{path}: the registry is left out: it has no list named "agents".']
    return _specs(path, entries, list(known))


def _specs(
    path: Path, entries: list[Any], known: list[AgentSpec]
) -> tuple[dict[str, AgentSpec], dict[str, str], list[str]]:
    specs: dict[str, AgentSpec] = {}
    newest: dict[str, str] = {}
    problems = []
    for number, raw in enumerate(entries, 1):
        try:
            entry = msgspec.convert(raw, _Entry)
            spec = _spec(entry, str(path))
        except (ValueError, RecursionError) as error:
            problems.append(f"{path}: agent {number} of the registry is left out: {error}.")
            continue
        if spec is None:
            continue  # there is nothing of it for this kind of machine
        same = next((other for other in known if _is_same(other, entry, spec)), None)
        newest[same.name if same else spec.name] = entry.version
        if same is None:
            specs[spec.name] = spec
    return specs, newest, problems


def _spec(entry: _Entry, source: str) -> AgentSpec | None:
    found = entry.distribution
    chosen: _Package | _Binary
    if found.npx is not None:
        chosen, install = found.npx, f"npm install -g {found.npx.package}"
        program = found.npx.cmd or bare_package(found.npx.package)
    elif found.uvx is not None:
        chosen, install = found.uvx, f"uv tool install {found.uvx.package}"
        program = found.uvx.cmd or bare_package(found.uvx.package)
    elif (binary := found.binary.get(target())) is not None:
        chosen, program = binary, re.split(r"[/\\]", binary.cmd)[-1]
        install = f"unpack {binary.archive} and put {program} on your PATH"
    else:
        return None
    if not program:
        raise ValueError("it names no program")
    return AgentSpec(
        name=entry.id,
        title=entry.name or entry.id,
        command=(program.rpartition("/")[2], *chosen.args),
        env=dict(chosen.env),
        install=install,
        homepage=entry.website or entry.repository,
        source=source,
    )


def _is_same(known: AgentSpec, entry: _Entry, spec: AgentSpec) -> bool:
    """The registry has its own names for agents that we know: the program or the package tells."""
    if entry.id == known.name:
        return True
    packages = [p.package for p in (entry.distribution.npx, entry.distribution.uvx) if p]
    ours = known.install.split()[-1:] if known.install.startswith(("npm ", "uv ")) else []
    if any(_unversioned(package) in ours for package in packages):
        return True
    return known.command[:1] == spec.command[:1]


def _unversioned(package: str) -> str:
    """`@scope/name@1.2` and `name==1.2` without the version."""
    return re.split(r"(?<=.)@|==", package)[0]


def bare_package(package: str) -> str:
    """What npx and uvx start when nothing else is said: the name without scope and version."""
    return _unversioned(package).rpartition("/")[2]


def target() -> str:
    """This kind of machine, as the registry calls it."""
    system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
    machine = platform.machine().lower()
    arch = {"arm64": "aarch64", "amd64": "x86_64"}.get(machine, machine)
    return f"{system}-{arch}"
