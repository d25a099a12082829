"""The catalog of agents: what can be started, how, and what each one needs from us.

Only the built-in data and the user's own file name programs: nothing of a repository is read here,
and no program is looked up relative to a working directory. A wrong file never raises: what is
wrong is said in `Catalog.problems`, and everything that is right is kept.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, convert
from msgspec.structs import replace

from agentls.core.errors import UnknownAgent

from .mcp_servers import McpServer
from .spec import DEMO, NAME, AgentSpec, program


class Catalog:
    """All known agents: the user's in the order of the file, then the built-in ones, demo last."""

    def __init__(
        self,
        specs: Iterable[AgentSpec],
        problems: Iterable[str] = (),
        newest: Mapping[str, str] | None = None,
        mcp: Iterable[McpServer] = (),
    ) -> None:
        self.mcp = tuple(mcp)
        """Servers that all agents are told of."""
        self._specs = {spec.name: spec for spec in specs}
        self.problems = list(problems)
        self.newest = dict(newest or {})
        """By name: the newest version that the registry knows."""

    @classmethod
    def load(cls, user_file: Path | None, registry: Path | None = None) -> Catalog:
        """The built-in agents and those of the registry (the one that the user's file names if
        none is given), with the user's file laid over them."""
        known = _built_in()
        file = _UserFile(user_file) if user_file is not None else None
        registry = registry or (file.registry if file else None)
        newest: dict[str, str] = {}
        problems: list[str] = []
        if registry is not None:
            from .registry import read_registry  # noqa: PLC0415 - few people have one

            added, newest, problems = read_registry(registry, known.values())
            known |= added
        if file is None:
            users: dict[str, AgentSpec] = {}
            servers: list[McpServer] = []
        else:
            users = file.specs(known)
            servers = file.servers()
            problems = file.problems + problems
        specs = users | {name: spec for name, spec in known.items() if name not in users}
        specs[DEMO] = specs.pop(DEMO)
        return cls(specs.values(), problems, newest, servers)

    def __iter__(self) -> Iterator[AgentSpec]:
        return iter(self._specs.values())

    def names(self) -> list[str]:
        return list(self._specs)

    def get(self, name: str) -> AgentSpec:
        """The agent of that name; raises `UnknownAgent`."""
        if (spec := self._specs.get(name)) is not None:
            return spec
        meant = _closest(name, self._specs)
        guess = f"Did you mean {meant}? " if meant else ""
        known = ", ".join(self._specs)
        raise UnknownAgent(f"There is no agent named {name!r}.", hint=f"{guess}Known: {known}.")

    def default(self, preferred: str | None) -> AgentSpec:
        """The preferred agent, installed or not; without one, the first that is installed."""
        if preferred is not None:
            return self.get(preferred)
        return next(filter(self.installed, self), None) or self.get(DEMO)

    @staticmethod
    def installed(spec: AgentSpec) -> bool:
        return program(spec) is not None


def user_file_path(env: Mapping[str, str]) -> Path:
    """Where the user's own agents are described: `agents.toml` in the configuration folder."""
    # Asked here because platformdirs knows only the environment of this process.
    if (home := Path(env.get("XDG_CONFIG_HOME", ""))).is_absolute():
        return home / "agentls" / "agents.toml"
    from platformdirs import user_config_path  # noqa: PLC0415 - 6 ms, and rarely needed

    return user_config_path("agentls", appauthor=False) / "agents.toml"


def _built_in() -> dict[str, AgentSpec]:
    text = Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
    specs = {}
    for name, table in tomllib.loads(text)["agents"].items():
        table["command"] = [word.replace("{python}", sys.executable) for word in table["command"]]
        specs[name] = convert({"name": name, **table}, AgentSpec)
    return specs


def _closest(word: str, words: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    return next(iter(get_close_matches(word, words, n=1)), "")


# What the user's file may hold: per key, what makes a value of it or raises ValueError, and how to
# say to a person what it must be. A NUL, or a "=" in a name, would stop the process from starting.
_Text = Annotated[str, Meta(pattern=r"\A[^\0]*\Z")]
_Line = Annotated[str, Meta(pattern=r"\A[^\0\r\n]+\Z")]
_Url = Annotated[str, Meta(pattern=r"\Ahttps?://[^\0\s]+\Z")]
_Environment = dict[Annotated[str, Meta(pattern=r"\A[^=\0]+\Z")], _Text]
_Shapes = Mapping[str, tuple[Callable[[Any], Any], str]]


def _command(value: object) -> tuple[str, ...]:
    first, *rest = convert(value, Annotated[tuple[_Text, ...], Meta(min_length=1)])
    first = _expanded(first)
    if not first or (os.sep in first and not Path(first).is_absolute()):
        raise ValueError(first)
    return (first, *rest)


def _folder(value: object) -> str:
    folder = _expanded(convert(value, _Text))
    if not Path(folder).is_absolute():
        raise ValueError(folder)
    return folder


def _folders(value: object) -> tuple[str, ...]:
    return tuple(_folder(item) for item in convert(value, list[Any]))


def _file(value: object) -> Path:
    return Path(_folder(value))


def _expanded(path: str) -> str:
    return str(Path(path).expanduser()) if path.startswith("~") else path


def _json(value: object) -> object:
    return msgspec.to_builtins(convert(value, dict[str, Any]))


def _of(kind: Any) -> Callable[[Any], Any]:
    return lambda value: convert(value, kind)


_SWITCH: Final = (_of(bool), "true or false")
_CAPABILITIES: Final[_Shapes] = {
    "read_files": _SWITCH,
    "write_files": _SWITCH,
    "terminals": _SWITCH,
    "terminal_output": _SWITCH,
    "extra": (_json, "a table"),
}
_AGENT: Final[_Shapes] = {
    "command": (
        _command,
        'a list of strings such as ["my-agent", "--acp"], first a program on PATH or a full path',
    ),
    "title": (_of(_Line), "a line of text"),
    "env": (_of(_Environment), 'a table of strings such as { NAME = "value" }'),
    "cwd": (_folder, "the absolute path of a folder"),
    "capabilities": (_of(dict[str, Any]), "a table such as { terminals = false }"),
    "directories": (_folders, "a list of absolute paths of folders"),
    "shared": _SWITCH,
}
_MCP: Final[_Shapes] = {
    "command": (_command, 'a list of strings such as ["my-server", "--stdio"]'),
    "env": (_of(_Environment), 'a table of strings such as { NAME = "value" }'),
    "url": (_of(_Url), "an address that begins with http:// or https://"),
    "transport": (_of(Literal["http", "sse"]), '"http" or "sse"'),
    "headers": (_of(dict[_Line, _Line]), 'a table of strings such as { NAME = "value" }'),
    "agents": (_of(tuple[_Line, ...]), "a list of names of agents"),
}


class _UserFile:
    """Reads the user's agents; each thing that is wrong becomes one sentence in `problems`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []
        top = self._top()
        self.registry: Path | None = top.get("registry")
        self._agents: dict[str, Any] = top.get("agents", {})
        self._mcp: dict[str, Any] = top.get("mcp", {})

    def specs(self, known: Mapping[str, AgentSpec]) -> dict[str, AgentSpec]:
        specs = {}
        for name, table in self._agents.items():
            base = known.get(name) or AgentSpec(name=name, title=name, command=())
            values = self._agent(name, table, needs_command=not base.command)
            if values is not None:
                specs[name] = self._laid_over(base, values)
        return specs

    def _laid_over(self, base: AgentSpec, values: dict[str, Any]) -> AgentSpec:
        command = values.get("command", base.command)
        changes = values | {
            "env": base.env | values.get("env", {}),
            "capabilities": replace(base.capabilities, **values.get("capabilities", {})),
            "install": base.install if command[:1] == base.command[:1] else "",
            "source": str(self.path),
        }
        return replace(base, **changes)

    def _top(self) -> dict[str, Any]:
        try:
            # Some editors begin a file with a byte order mark, which TOML does not know.
            top = tomllib.loads(self.path.read_bytes().decode("utf-8-sig"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._problem(f"make the file readable, it was left out: {error.strerror}")
            return {}
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            self._problem(f"save the file as UTF-8, it was left out: see line {line}")
            return {}
        except (ValueError, RecursionError) as error:
            self._problem(f"correct the TOML, the file was left out: {error}")
            return {}
        table = _of(dict[str, Any]), "a table, with each agent written as [agents.NAME]"
        registry = _file, "the absolute path of a file in the format of the ACP registry"
        servers = _of(dict[str, Any]), "a table, with each MCP server written as [mcp.NAME]"
        shapes: _Shapes = {"agents": table, "registry": registry, "mcp": servers}
        values: dict[str, Any] = {}
        for key, value in top.items():  # one that is bad does not spoil the others
            values |= self._values((), {key: value}, shapes) or {}
        return values

    def servers(self) -> list[McpServer]:
        """The MCP servers that the user has described."""
        found = []
        for name, table in self._mcp.items():
            where = ("mcp", name)
            if not isinstance(table, dict) or ("command" in table) == ("url" in table):
                self._problem('is left out: give it a command = ["program"] or a url', *where)
            elif (values := self._values(where, table, _MCP)) is not None:
                found.append(McpServer(name=name, **values))
        return found

    def _agent(self, name: str, table: object, *, needs_command: bool) -> dict[str, Any] | None:
        where = ("agents", name)
        if not NAME.fullmatch(name):
            self._problem(
                "is left out: begin its name with one of a-z and go on with a-z, 0-9, - and _",
                *where,
            )
            return None
        if not isinstance(table, dict):
            self._problem(f"is left out: write it as a table, [agents.{name}]", *where)
            return None
        if needs_command and "command" not in table:
            typo = _closest("command", table.keys() - _AGENT)
            instead = f" instead of {_key(typo)}" if typo else ""
            self._problem(f'is left out: add command = ["program", "argument"]{instead}', *where)
            return None
        values = self._values(where, table, _AGENT)
        if values and "capabilities" in values:
            inner = self._values((*where, "capabilities"), values["capabilities"], _CAPABILITIES)
            return None if inner is None else values | {"capabilities": inner}
        return values

    def _values(
        self, where: tuple[str, ...], table: Mapping[str, Any], shapes: _Shapes
    ) -> dict[str, Any] | None:
        """The values of a table, without unknown keys; None if one of them cannot be used."""
        values, usable = {}, True
        for key, value in table.items():
            if key not in shapes:
                meant = _closest(key, shapes)
                hint = f"did you mean {meant}?" if meant else f"known here: {', '.join(shapes)}."
                self._problem(f"is not a known key and is ignored; {hint}", *where, key, end="")
                continue
            make, expected = shapes[key]
            try:
                values[key] = make(value)
            except (ValueError, RuntimeError):
                self._problem(f"must be {expected}; until then this entry is left out", *where, key)
                usable = False
        return values if usable else None

    def _problem(self, text: str, *key: str, end: str = ".") -> None:
        place = f"{_key(*key)} " if key else ""
        self.problems.append(f"{self.path}: {place}{text}{end}")


def _key(*parts: str) -> str:
    """A key of the file; quoted and escaped where it is unusual, so that it stays on one line."""
    return ".".join(part if re.fullmatch("[A-Za-z0-9_-]+", part) else repr(part) for part in parts)
