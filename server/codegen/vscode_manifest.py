"""The settings, commands, menus and keys of the VS Code extension, and their names in TypeScript.

In package.json only the keys of `contributes` below are ours; the rest is written by hand. What has
a request behind it takes its title from there, so that a thing is called the same everywhere.
"""

from __future__ import annotations

import json
from typing import Any

from .model import COMMAND, NOTICE, CodegenError, Constant, Field, OneOf, Protocol, Scalar, Settings
from .vscode_commands import COMMANDS, Command

PATH = "vscode-extension/package.json"
CATEGORY = "Agents"
_SMALL_WORDS = {"a", "an", "and", "as", "at", "in", "of", "the", "to", "what", "without"}


_OWN_SETTINGS: dict[str, dict[str, Any]] = {
    "server.command": {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
        "scope": "machine-overridable",
        "markdownDescription": "The server and its arguments. Empty: looked for in the Python "
        "environment and on `PATH`.",
    },
    "notifyAsks": {
        "type": "boolean",
        "default": True,
        "markdownDescription": "Show a notification when an agent asks and its chat is hidden.",
    },
    "followFiles": {
        "type": "boolean",
        "default": False,
        "markdownDescription": "Show the files that an agent reads and changes while it works.",
    },
    "trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "scope": "window",
        "markdownDescription": "How much of the traffic with the server is logged.",
    },
}


def contributions(protocol: Protocol, settings: Settings) -> dict[str, Any]:
    """The generated keys of `contributes`."""
    return {
        "commands": [_command(command, protocol) for command in COMMANDS],
        "menus": _menus(),
        "keybindings": [_key(command) for command in COMMANDS if command.key],
        "configuration": {"title": "agentls", "properties": _properties(settings)},
    }


def merged(text: str, protocol: Protocol, settings: Settings) -> str:
    """A package.json with the generated keys renewed and everything else as it is."""
    package = json.loads(text)
    package["contributes"] = {
        **package.get("contributes", {}),
        **contributions(protocol, settings),
    }
    return json.dumps(package, indent=2, ensure_ascii=False) + "\n"


def typescript(settings: Settings) -> str:
    """The names that the code uses, so that none is spelled wrong."""
    ids = "\n".join(f'  {command.name}: "agentls.{command.name}",' for command in COMMANDS)
    names = "\n".join(f'  "{field.name}",' for field in settings.record.fields)
    return (
        f"// {NOTICE} To renew it: {COMMAND}\n\n"
        "/** The commands of package.json. */\n"
        f"export const commandIds = {{\n{ids}\n}} as const;\n\n"
        "/** The settings that are the server's. */\n"
        f"export const serverSettings = [\n{names}\n] as const;\n"
    )


def _command(command: Command, protocol: Protocol) -> dict[str, str]:
    found: dict[str, str] = {
        "command": f"agentls.{command.name}",
        "title": _title_case(command.title or _request_title(command, protocol)),
        "category": CATEGORY,
    }
    if command.icon:
        found["icon"] = f"$({command.icon})"
    return found


def _request_title(command: Command, protocol: Protocol) -> str:
    for call in protocol.requests:
        if call.method == command.request:
            return call.title
    raise CodegenError(f"{command.name} is about {command.request!r}, which is no request.")


def _title_case(text: str) -> str:
    """As VS Code writes its commands."""
    first, *rest = text.split(" ")
    words = (word if word in _SMALL_WORDS else word[:1].upper() + word[1:] for word in rest)
    return " ".join([first[:1].upper() + first[1:], *words])


def _menus() -> dict[str, list[dict[str, str]]]:
    menus: dict[str, list[dict[str, str]]] = {}
    for command in COMMANDS:
        for menu in command.menus:
            item = {"command": f"agentls.{command.name}", "when": menu.when, "group": menu.group}
            menus.setdefault(menu.place, []).append(item)
    hidden = [c for c in COMMANDS if not c.palette]
    menus["commandPalette"] = [{"command": f"agentls.{c.name}", "when": "false"} for c in hidden]
    return menus


def _key(command: Command) -> dict[str, str]:
    mac = command.key.replace("ctrl", "cmd")
    found = {"command": f"agentls.{command.name}", "key": command.key, "mac": mac}
    return {**found, "when": command.key_when} if command.key_when else found


def _properties(settings: Settings) -> dict[str, Any]:
    theirs = {f"agentls.{field.name}": _property(field) for field in settings.record.fields}
    return {**{f"agentls.{name}": value for name, value in _OWN_SETTINGS.items()}, **theirs}


def _property(field: Field) -> dict[str, Any]:
    shown = {"default": field.default, "markdownDescription": field.doc}
    type = field.type
    if isinstance(type, Scalar):
        return {"type": type.name, **shown}
    values = [it.value for it in getattr(type, "options", ()) if isinstance(it, Constant)]
    if not isinstance(type, OneOf) or len(values) < len(type.options):
        raise CodegenError(f"The setting {field.name} has no simple type; VS Code cannot show it.")
    return {"type": "string", "enum": values, **shown}
