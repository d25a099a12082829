"""What a tool call wants to do, as the policy sees it.

Agents describe their tool calls in many ways. What is judged is what is shown: the command in the
input when there is one, otherwise the title, and every path that any part of the call names.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..model import Diff
from ..transcript import ToolCall
from .verdicts import PathUse, Subject

READING = frozenset({"read", "search"})
WRITING = frozenset({"edit", "delete", "move"})
_COMMAND_KEYS = ("command", "cmd", "argv")
_PATH_KEYS = ("file_path", "filepath", "filePath", "path", "file", "notebook_path", "abs_path")
_URL_KEYS = ("url", "uri")


def subject_of(call: ToolCall, agent: str, cwd: str) -> Subject:
    """The subject of a tool call. Its paths are as the agent wrote them, not resolved."""
    given = call.input if isinstance(call.input, dict) else {}
    command = _command(call, given)
    kind = "execute" if command is not None else call.kind
    return Subject(
        agent=agent,
        kind=kind,
        command=command,
        cwd=_text(given, ("cwd", "workdir", "working_directory")) or cwd,
        paths=() if command is not None else _paths(call, given),
        host=_host(_text(given, _URL_KEYS)),
        tool=call.name,
    )


def _command(call: ToolCall, given: dict[str, Any]) -> str | tuple[str, ...] | None:
    """The command line or argument array; the title where an agent says it nowhere else."""
    for key in _COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            return tuple(value)
        if value is not None:
            return ""  # something we cannot read is a command that no rule covers
    return call.title if call.kind == "execute" else None


def _paths(call: ToolCall, given: dict[str, Any]) -> tuple[PathUse, ...]:
    write = call.kind not in READING
    named = [c.path for c in call.content if isinstance(c, Diff)]
    named += [at.path for at in call.locations]
    named += [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and given[key]]
    return tuple(PathUse(path, write) for path in dict.fromkeys(named))


def _text(given: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((given[k] for k in keys if isinstance(given.get(k), str)), "")


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
