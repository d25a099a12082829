"""What a tool call wants to do, as the policy sees it.

Agents describe their tool calls in many ways. What is judged is what is shown: the command in the
input when there is one, otherwise the title, and every path that any part of the call names.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from ..model import Block, Diff
from ..transcript import ToolCall
from .verdicts import PathUse, Subject

READING = frozenset({"read", "search"})
WRITING = frozenset({"edit", "delete", "move"})
_COMMAND_KEYS = ("command", "cmd", "argv")
_CWD_KEYS = ("cwd", "workdir", "working_directory", "directory", "dir_path")
_PATH_KEYS = (
    *("file_path", "filepath", "filePath", "path", "file", "notebook_path", "abs_path"),
    *("absolute_path", "new_path", "destination", "dir_path", "directory"),
)
_URL_KEYS = ("url", "uri")
_NO_HOST = "(an address that cannot be read)"
_BESIDE_A_COMMAND = frozenset(
    {
        *_CWD_KEYS,
        *(
            "description",
            "explanation",
            "justification",
            "timeout",
            "timeout_ms",
            "title",
            "reason",
        ),
        *("is_background", "run_in_background", "background"),
    }
)
"""What an agent may say beside a command without meaning more than the command."""
_FOLDER_IN_WORDS = re.compile(r"\[(?:current working directory|in) ([^\]\n]+)\]")


def subject_of(call: ToolCall, agent: str, cwd: str) -> Subject:
    """The subject of a tool call. Its paths are as the agent wrote them, not resolved."""
    given = call.input if isinstance(call.input, dict) else {}
    command = _command(call, given)
    folder = _text(given, _CWD_KEYS) or _folder_in_words(call)
    if command is None:
        return Subject(
            agent=agent,
            kind=call.kind,
            cwd=cwd,
            paths=_paths(call, given),
            host=_host(_text(given, _URL_KEYS)),
            tool=call.name,
            also="" if call.kind != "search" or not given.get("query") else "a search elsewhere",
        )
    return Subject(
        agent=agent,
        kind="execute",
        command=command,
        cwd=folder or cwd,
        tool=call.name,
        also=_beside(call, given),
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
    if call.kind != "execute":
        return None
    # An input without a command means that the title is not the command either.
    return "" if call.input or call.title.startswith(("mcp.", "mcp__")) else call.title


def _beside(call: ToolCall, given: dict[str, Any]) -> str:
    """What a tool call wants beside its command: rules for the command do not cover that."""
    more = [key for key, value in given.items() if value and key not in _BESIDE_A_COMMAND]
    for key in _COMMAND_KEYS:
        if key in more:
            more.remove(key)
            break
    if call.kind in WRITING or any(isinstance(c, Diff) for c in call.content):
        more.append("a change of files")
    return ", ".join(more)


def _folder_in_words(call: ToolCall) -> str:
    for content in call.content:
        if isinstance(content, Block) and (found := _FOLDER_IN_WORDS.search(content.text)):
            return found.group(1)
    return ""


def _paths(call: ToolCall, given: dict[str, Any]) -> tuple[PathUse, ...]:
    write = call.kind not in READING
    # A diff is a change, whatever the call says that it is.
    found = {c.path: PathUse(c.path, True) for c in call.content if isinstance(c, Diff)}
    named = [at.path for at in call.locations]
    named += [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str) and given[key]]
    for path in named:
        found.setdefault(path, PathUse(path, write))
    return tuple(found.values())


def _text(given: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((given[k] for k in keys if isinstance(given.get(k), str)), "")


def _host(url: str) -> str:
    """The host of a web address; one that can be read in two ways matches no rule."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return _NO_HOST
    return host if parts.scheme in {"http", "https"} and host and "\\" not in url else _NO_HOST
