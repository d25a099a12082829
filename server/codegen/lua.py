"""The protocol as LuaCATS annotations and a module of tables, for Lua 5.1 and LuaJIT."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, assert_never

from .model import (
    COMMAND,
    NOTICE,
    NULL,
    Call,
    Constant,
    Definition,
    Enumeration,
    Field,
    JsonObject,
    ListOf,
    MapOf,
    OneOf,
    Protocol,
    Record,
    Ref,
    Scalar,
    Settings,
    Type,
    Union,
    limits,
    records,
)

_SCALARS = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "null": "nil",
}

_KEYWORDS = re.compile(
    "and|break|do|else|elseif|end|false|for|function|goto|if|in|local|nil|not|or|repeat|return"
    "|then|true|until|while"
)


def render(protocol: Protocol, settings: Settings) -> str:
    having = [r for r in records(protocol.definitions) if literal(r.defaults) != "{}"]
    blocks = [
        f"-- {NOTICE} To renew it: {COMMAND}",
        *map(definition, protocol.definitions),
        *map(definition, settings.definitions),
        "local M = {}",
        "\n".join([*comment(protocol.version_doc), f"M.version = {protocol.version}"]),
        _table("methods", "All methods.", [_method(call) for call in protocol.methods]),
        _table(
            "commands",
            "For `workspace/executeCommand`, each with the params of its request as argument.",
            [Row(call.snake_key, call.command) for call in protocol.requests],
        ),
        _table(
            "titles",
            "What a list of commands shows.",
            [Row(call.snake_key, call.title) for call in protocol.requests],
        ),
        _table(
            "defaults",
            "What absent fields mean, by type; a field that is missing here too is nil.\n"
            "Copy a table before you change it.",
            [Row(record.name, record.defaults) for record in having],
        ),
        _table(
            "settings",
            f"What holds for settings that are not sent.\n@type agentls.{settings.record.name}",
            [Row(name, value) for name, value in settings.record.defaults.items()],
        ),
        "return M",
    ]
    return "\n\n".join(blocks) + "\n"


def definition(value: Definition) -> str:
    match value:
        case Record():
            lines = [f"---@class (exact) agentls.{value.name}"]
            for field in value.fields:
                lines += _field(field)
        case Enumeration():
            lines = [f"---@alias agentls.{value.name}"]
            for text, doc in value.values:
                lines.append(f"---| {literal(text)}" + (f" # {' '.join(doc.split())}" * bool(doc)))
        case Union():
            lines = [f"---@alias agentls.{value.name}"]
            lines += [f"---| agentls.{name}" for name in value.options]
        case _:
            assert_never(value)
    return "\n".join([*comment(value.doc), *lines])


def _field(field: Field) -> Iterator[str]:
    yield from comment(field.doc)
    for limit in limits(field.type):
        yield f"---Must be {limit}."
    if not field.optional:
        yield f"---@field {key(field.name)} {type_text(field.type)}"
        return
    if field.default is not None:
        yield f"---Default: {literal(field.default)}"
    yield f"---@field {key(field.name)}? {type_text(_without_null(field.type))}"


def _without_null(type: Type) -> Type:
    """`?` says it already."""
    if not isinstance(type, OneOf):
        return type
    options = tuple(option for option in type.options if option != NULL)
    return options[0] if len(options) == 1 else OneOf(options)


def type_text(type: Type) -> str:
    match type:
        case Scalar(name):
            return _SCALARS[name]
        case Constant(value):
            return literal(value)
        case JsonObject():
            return "table<string, any>"
        case ListOf(item):
            text = type_text(item)
            return f"({text})[]" if isinstance(item, OneOf) else f"{text}[]"
        case MapOf(value):
            return f"table<string, {type_text(value)}>"
        case OneOf(options):
            return "|".join(dict.fromkeys(map(type_text, options)))
        case Ref(name):
            return f"agentls.{name}"
        case _:
            assert_never(type)


class Row(NamedTuple):
    """A line of a table, with what stands above it."""

    name: str
    value: Any
    doc: str = ""


def _method(call: Call) -> Row:
    types = f"params agentls.{call.params}"
    if call.result is not None:
        types += f", result agentls.{call.result}"
    return Row(call.snake_key, call.method, f"{call.title}: {types}.")


def _table(name: str, doc: str, rows: list[Row]) -> str:
    lines = [*comment(doc), f"M.{name} = {{"]
    for row in rows:
        lines += comment(row.doc, "  ")
        line = f"  {key(row.name)} = {literal(row.value)},"
        lines.append(line if len(line) <= 100 else _broken(row))
    return "\n".join([*lines, "}"])


def _broken(row: Row) -> str:
    """A line that would be too long, with one field on each."""
    if not isinstance(row.value, dict):
        return f"  {key(row.name)} = {literal(row.value)},"
    there = ((name, value) for name, value in row.value.items() if value is not None)
    fields = [f"    {key(name)} = {literal(value)}," for name, value in there]
    return "\n".join([f"  {key(row.name)} = {{", *fields, "  },"])


def comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}---{line}" for line in text.splitlines()]


def literal(value: Any) -> str:
    """JSON null is nil, so a field that is null is not there."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + re.sub(r'["\\\x00-\x1f\x7f]', _escaped, value) + '"'
        case list():
            return f"{{ {', '.join(map(literal, value))} }}" if value else "{}"
        case dict():
            there = ((k, v) for k, v in value.items() if v is not None)
            fields = ", ".join(f"{key(k)} = {literal(v)}" for k, v in there)
            return f"{{ {fields} }}" if fields else "{}"
    return repr(value)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    return "\\" + char if char in '"\\' else f"\\{ord(char):03d}"


def key(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and not _KEYWORDS.fullmatch(name)
    return name if plain else f"[{literal(name)}]"
