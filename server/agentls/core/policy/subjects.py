"""What a tool call wants to do, as the policy sees it.

Agents describe their tool calls in many ways. What is judged is what is shown, and all of it: the
command in the input, every path, host and change that any part of the call names, and what was
said about the call before the ask and is missing in it. What no rule can be about is in `also`.

A bare ask, which has a title and no input, is judged as follows. Its title is taken for the command
if it says that it executes something, so that rules which deny or ask can be about it; but a rule
allows it only if the agent is known to show the whole command there, as Gemini CLI does beside the
folder it runs in. A title that ends in dots may be cut, and is never the whole command. A bare ask
to read, search or think does not say what it does, so its kind allows nothing.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from ..model import Block, Diff, TerminalRef
from ..printable import one_line
from ..transcript import ToolCall
from .inputs import (
    COMMANDS,
    FOLDERS_OF_COMMANDS,
    LABELS,
    MOST_PATHS,
    Found,
    joined,
    look_through,
    plain,
)
from .tables import names
from .verdicts import PathUse, Subject

READING: Final = frozenset({"read", "search"})
WRITING: Final = frozenset({"edit", "delete", "move"})
_NO_HOST: Final = "(an address that cannot be read)"
_BESIDE_A_COMMAND: Final = FOLDERS_OF_COMMANDS | LABELS
_TITLE_IS_COMMAND: Final = frozenset({"gemini"})
"""Agents whose title is the whole command, whatever its length."""
_FOREIGN: Final = re.compile(r"mcp(?:\.|__)[\w.-]+")
"""The name of a tool of somebody else, which Codex says in the title."""
_SEARCHES_TEXT: Final = frozenset({"grep", "grepsearch", "searchfilecontent", "ripgrep", "rg"})
_ONLY_THINKS: Final = names(
    "think todowrite writetodos taskcreate taskupdate tasklist taskget updatetopic"
)
_THOUGHTS: Final = names("thought thoughts thinking reasoning reflection todos plan")
_DOES_MORE: Final = re.compile("bash|shell|exec|terminal|write|edit|delete|remove")
_FOLDER_IN_WORDS: Final = re.compile(r"\[(?:current working directory|in) ")
_END_OF_FOLDER: Final = re.compile(r"\](?=\Z| \()")
_TWO_WAYS: Final = re.compile(r"\\|\A[A-Za-z]:|%(?:2[ef]|5c|00)", re.IGNORECASE)


def subject_of(call: ToolCall, agent: str, cwd: str, before: ToolCall | None = None) -> Subject:
    """The subject of a tool call. Its paths are as the agent wrote them, not resolved.

    `before` is the call as it was before the agent asked about it.
    """
    calls = [call]
    inputs = [call.input]
    if before is not None:
        calls.append(before)
        inputs.append(_not_said_again(before.input, call.input))
    is_regex = plain(call.name) in _SEARCHES_TEXT
    found = joined([look_through(each, regex=is_regex) for each in inputs])
    if found.commands or (call.kind == "execute" and not _tool(calls, agent).startswith("mcp")):
        return _of_command(calls, inputs, found, agent=agent, cwd=cwd)
    return _of_others(calls, found, agent=agent, cwd=cwd)


def _not_said_again(old: Any, new: Any) -> Any:
    """What was said before, without what the ask says too: inputs are sent as they are written."""
    if old is new or not isinstance(old, dict):
        return None if old is new else old
    now = {plain(key): value for key, value in new.items()} if isinstance(new, dict) else {}
    return {key: value for key, value in old.items() if not _goes_on(value, now.get(plain(key)))}


def _goes_on(old: Any, new: Any) -> bool:
    if isinstance(old, str) and isinstance(new, str):
        return new.startswith(old)
    return bool(old == new)


# --- commands


def _of_command(
    calls: list[ToolCall], inputs: list[Any], found: Found, *, agent: str, cwd: str
) -> Subject:
    call = calls[0]
    command, also = _command(call, found, agent)
    folders = _folders(call, inputs, agent)
    readable = [folder for folder in folders if isinstance(folder, str)]
    different = list(dict.fromkeys(folder.rstrip("/") or "/" for folder in readable))
    also += [f"another folder ({_short(folder)})" for folder in different[1:]]
    if len(readable) < len(folders):
        also.append("a folder that cannot be read")
    also += _beside(calls, inputs, found)
    # Where it runs is no file that it changes.
    found.paths = [path for path in found.paths if path not in readable]
    paths, more = _paths(calls, found, write=any(each.kind in WRITING for each in calls))
    host = _host(found, more)
    return Subject(
        agent=agent,
        kind="execute",
        command=command,
        cwd=readable[0] if readable else cwd,
        paths=paths,
        host=host,
        tool=_tool(calls, agent),
        also=", ".join(dict.fromkeys(also + more)),
    )


def _command(call: ToolCall, found: Found, agent: str) -> tuple[str | tuple[str, ...], list[str]]:
    """The command line or argument array, and what speaks against taking it for all that runs."""
    if found.commands:
        first, *others = found.commands
        return _words(first), [f"another command ({_short(other)})" for other in others]
    if call.input:
        return "", []  # which means that the title is not the command either
    cut = call.title.rstrip().endswith(("...", "…"))
    whole = not cut and bool(_folders_in_words(call, agent))
    return call.title, [] if whole else ["what its title may leave out"]


def _words(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return tuple(value)
    return ""  # something we cannot read is a command that no rule covers


def _folders(call: ToolCall, inputs: list[Any], agent: str) -> list[Any]:
    """Where it runs: what the ask says first. All but text is something that cannot be read."""
    said = [
        value
        for given in inputs
        if isinstance(given, dict)
        for key, value in given.items()
        if plain(key) in FOLDERS_OF_COMMANDS and value
    ]
    return said + _folders_in_words(call, agent)


def _folders_in_words(call: ToolCall, agent: str) -> list[Any]:
    """The folder that Gemini CLI says in words: each that it may be, as names hold anything."""
    if agent not in _TITLE_IS_COMMAND:
        return []
    for content in call.content:
        if isinstance(content, Block) and (lead := _FOLDER_IN_WORDS.match(content.text)):
            text = content.text.removesuffix(" [background]")
            ends = [end.start() for end in _END_OF_FOLDER.finditer(text)]
            return [text[lead.end() : end] for end in ends[:4]] or [None]
    return []


def _beside(calls: list[ToolCall], inputs: list[Any], found: Found) -> list[str]:
    """What a tool call wants beside its command: rules for the command do not cover that."""
    more: list[str] = []
    for given in inputs:
        if isinstance(given, dict):
            more += [_short(key) for key, value in given.items() if _means_more(key, value)]
        elif given:
            more += [_short(text) for text in (*found.hidden, *found.others, *found.bodies)]
    if any(c.kind in WRITING or any(isinstance(d, Diff) for d in c.content) for c in calls):
        more.append("a change of files")
    return more


def _means_more(key: str, value: Any) -> bool:
    name = plain(key)
    if name in COMMANDS or not value:
        return False
    return name not in _BESIDE_A_COMMAND or isinstance(value, dict | list)


# --- everything else


def _of_others(calls: list[ToolCall], found: Found, *, agent: str, cwd: str) -> Subject:
    call = calls[0]
    changes = any(each.kind in WRITING | {"execute"} for each in calls)
    paths, also = _paths(calls, found, write=changes or call.kind not in READING)
    host = _host(found, also)
    if found.hidden:
        also.append(f"something that may be a command ({_short(found.hidden[0])})")
    return Subject(
        agent=agent,
        kind=call.kind,
        cwd=cwd,
        paths=paths,
        host=host,
        tool=_tool(calls, agent),
        also=", ".join(dict.fromkeys(also)),
        unproven=_unproven(call, found, paths),
    )


def _unproven(call: ToolCall, found: Found, paths: tuple[PathUse, ...]) -> str:
    """Why a call may do more than its kind says; empty when there is no reason to think so."""
    name = plain(call.name)
    if call.kind == "think":
        told = isinstance(call.input, dict) and bool(call.input)
        thoughts = told and all(plain(key) in _THOUGHTS | LABELS for key in call.input)
        if name in _ONLY_THINKS or (thoughts and not name):
            return ""
        return "it does not only think, as far as can be seen"
    if call.kind not in READING:
        return ""
    if _DOES_MORE.search(name):
        return f"{_short(call.name)} does not only {call.kind}, by its name"
    if call.kind == "search" and ("web" in name or "query" in map(plain, found.others)):
        return "it may search elsewhere than in the workspace"
    if call.kind == "search" and not paths and not call.input:
        return "it does not say where it searches"
    if more := [*found.others, *found.bodies]:
        return f"it also says {_short(more[0])}"
    if any(isinstance(c, TerminalRef) or getattr(c, "raw", None) for c in call.content):
        return "it holds something that is not only read"
    return ""


def _paths(
    calls: list[ToolCall], found: Found, *, write: bool
) -> tuple[tuple[PathUse, ...], list[str]]:
    """Every path that any part of the call names, and what speaks against those being all."""
    contents = [content for call in calls for content in call.content]
    # A diff is a change, whatever the call says that it is.
    uses = {c.path: PathUse(c.path, True) for c in contents if isinstance(c, Diff)}
    named = [at.path for call in calls for at in call.locations] + found.paths
    links = [c.uri for c in contents if isinstance(c, Block)]
    named += [uri for uri in links if uri[:1] == "/" or not _no_uri(uri)]
    for path in named:
        uses.setdefault(path, PathUse(path, write))
    also = []
    if not found.commands:
        also += _add_places_in(found.folders, uses, write)
    also += [f"a path with two meanings ({_short(p)})" for p in uses if _TWO_WAYS.search(p)][:1]
    if len(uses) > MOST_PATHS or found.too_much:
        also.append("more than can be looked through")
    return tuple(list(uses.values())[:MOST_PATHS]), also


def _add_places_in(folders: list[Any], uses: dict[str, PathUse], write: bool) -> list[str]:
    """A relative path may be meant from any folder that the call names."""
    relative = [use for use in uses.values() if use.path[:1] != "/" and _no_uri(use.path)]
    readable = [folder for folder in folders if isinstance(folder, str) and folder]
    for folder in readable[:4]:
        for use in relative:
            path = f"{folder.rstrip('/')}/{use.path}"
            uses.setdefault(path, PathUse(path, use.write))
        if not write or not uses:
            uses.setdefault(folder, PathUse(folder, write))
    odd = len(readable) > 4 or any(folder and not isinstance(folder, str) for folder in folders)
    return ["a folder that cannot be read"] if odd else []


def _no_uri(path: str) -> bool:
    return path[:5].lower() != "file:"


def _tool(calls: list[ToolCall], agent: str) -> str:
    titles = [] if agent in _TITLE_IS_COMMAND else [call.title for call in calls]
    return calls[0].name or next(filter(_FOREIGN.fullmatch, titles), "")


def _host(found: Found, also: list[str]) -> str:
    """The host of all addresses; one more is something else that it wants."""
    hosts = [_host_of(address) for address in found.addresses]
    hosts += [host.lower() for host in found.hosts]
    first, *others = dict.fromkeys(hosts or [""])
    also += [f"another host ({_short(other)})" for other in others[:1]]
    return first


def _host_of(url: str) -> str:
    """The host of a web address; one that can be read in two ways matches no rule."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return _NO_HOST
    return host if parts.scheme in {"http", "https"} and host and "\\" not in url else _NO_HOST


def _short(value: Any) -> str:
    text = one_line(value if isinstance(value, str) else repr(value)[:200])
    return text if len(text) <= 80 else f"{text[:79]}…"
