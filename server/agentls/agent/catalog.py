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
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, convert
from msgspec.structs import replace

from agentls.core.errors import UnknownAgent

BUILT_IN: Final = "built in"
DEMO: Final = "demo"


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What we offer an agent in `initialize`. The defaults here are the only ones."""

    read_files: bool = False
    write_files: bool = False
    terminals: bool = True
    # Commands the agent runs itself come as terminal output; else Codex repeats all of the output
    # with every new piece of it.
    terminal_output: bool = True
    # Merged as it is into the `clientCapabilities` object; it wins over the fields above.
    extra: dict[str, object] = {}


DEFAULT_CAPABILITIES: Final = Capabilities()


class Quirks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be done for one agent and would be wrong for the others."""

    # Each `session/load` of a session that is open leaves a child process behind: close it first.
    close_before_load: bool = False
    # It creates a file only when reading the missing file gives empty text; any error stops it.
    missing_file_is_empty: bool = False
    # Loading a session in the minute it was made in fails and overwrites its history: wait.
    load_waits_a_minute: bool = False
    # It reports a changed mode as the message "[MODE_UPDATE] name": not something the agent said.
    mode_as_text: bool = False
    # It writes a file itself after `fs/write_text_file` did: the second write is no outside edit.
    writes_itself: bool = False
    # It sends the prompt back as a user message while the turn runs: do not show it twice.
    echoes_prompt: bool = False
    # It never kills or releases its terminals when a turn is cancelled: do that for it.
    abandons_terminals: bool = False
    # It asks for no permission at all unless we offer it file or terminal methods: warn the user.
    asks_only_with_client_methods: bool = False


class AgentSpec(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent: how to start it, and what to know about it."""

    name: str
    title: str
    command: tuple[str, ...]
    # Added to the editor's environment, which is passed on whole.
    env: dict[str, str] = {}
    # Where its process starts; None means the folder of the session.
    cwd: str | None = None
    # A line to run in a shell; empty when the user named the program.
    install: str = ""
    homepage: str = ""
    login: str = ""
    # Whether one process may serve several sessions.
    shared: bool = True
    capabilities: Capabilities = DEFAULT_CAPABILITIES
    quirks: Quirks = Quirks()
    # BUILT_IN, or the path of the file that says something about this agent.
    source: str = BUILT_IN


class Catalog:
    """All known agents: the user's in the order of the file, then the built-in ones, demo last."""

    def __init__(self, specs: Iterable[AgentSpec], problems: Iterable[str] = ()) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self.problems = list(problems)

    @classmethod
    def load(cls, user_file: Path | None) -> Catalog:
        """The built-in agents, with the user's file (if there is one) laid over them."""
        built_in = _built_in()
        if user_file is None:
            return cls(built_in.values())
        file = _UserFile(user_file)
        users = file.specs(built_in)
        specs = users | {name: spec for name, spec in built_in.items() if name not in users}
        specs[DEMO] = specs.pop(DEMO)
        return cls(specs.values(), file.problems)

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


def program(spec: AgentSpec) -> str | None:
    """The absolute path of the program to start for this agent; None when it is not installed."""
    import shutil  # noqa: PLC0415 - half of this module's import time

    path = spec.env.get("PATH", os.environ.get("PATH", os.defpath))
    # A relative folder in PATH would be looked up in the session's folder, which is a repository.
    folders = [folder for folder in path.split(os.pathsep) if Path(folder).is_absolute()]
    return shutil.which(spec.command[0], path=os.pathsep.join(folders))


def client_capabilities(spec: AgentSpec) -> dict[str, Any]:
    """The ACP `clientCapabilities` object for this agent."""
    offered = spec.capabilities
    result: dict[str, Any] = {
        "fs": {"readTextFile": offered.read_files, "writeTextFile": offered.write_files},
        "terminal": offered.terminals,
        "session": {"configOptions": {"boolean": {}}},
    }
    if offered.terminal_output:
        result["_meta"] = {"terminal_output": True}
    return _merged(result, offered.extra)


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


def _merged(base: dict[str, Any], over: Mapping[str, object]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merged(old, value)
        else:
            result[key] = value
    return result


def _closest(word: str, words: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    return next(iter(get_close_matches(word, words, n=1)), "")


# What the user's file may hold: per key, what makes a value of it or raises ValueError, and how to
# say to a person what it must be. A NUL, or a "=" in a name, would stop the process from starting.
_Text = Annotated[str, Meta(pattern=r"\A[^\0]*\Z")]
_Line = Annotated[str, Meta(pattern=r"\A[^\0\r\n]+\Z")]
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
    "shared": _SWITCH,
}
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")


class _UserFile:
    """Reads the user's agents; each thing that is wrong becomes one sentence in `problems`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[str] = []

    def specs(self, built_in: Mapping[str, AgentSpec]) -> dict[str, AgentSpec]:
        specs = {}
        for name, table in self._agents().items():
            base = built_in.get(name) or AgentSpec(name=name, title=name, command=())
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

    def _agents(self) -> dict[str, Any]:
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
        values = self._values((), top, {"agents": table})
        return values.get("agents", {}) if values else {}

    def _agent(self, name: str, table: object, *, needs_command: bool) -> dict[str, Any] | None:
        where = ("agents", name)
        if not _NAME.fullmatch(name):
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
