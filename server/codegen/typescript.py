"""The protocol as TypeScript types, with tables of methods, commands and defaults.

Arrays are readonly because the empty ones in the tables of defaults are shared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, assert_never

from .model import (
    COMMAND,
    NOTICE,
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
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}

_DEFAULTS_TYPE = """\
/** The fields of a message that may be absent, all present. */
export type Defaults<T> = {
  readonly [K in keyof T as Record<never, never> extends Pick<T, K> ? K : never]-?: T[K];
};"""


def render(protocol: Protocol, settings: Settings) -> str:
    blocks = [
        f"// {NOTICE} To renew it: {COMMAND}",
        "\n".join(
            [
                *doc_comment(protocol.version_doc),
                f"export const PROTOCOL_VERSION = {protocol.version};",
            ]
        ),
        *map(definition, protocol.definitions),
        _calls("Requests", "Editor to server, by method.", protocol.requests),
        _calls("Notifications", "Server to editor, by method.", protocol.notifications),
        _calls(
            "EditorNotifications", "Editor to server, by method.", protocol.editor_notifications
        ),
        _calls("ServerRequests", "Server to editor, by method.", protocol.server_requests),
        _table(
            "methods",
            "All methods.",
            {call.key: call.method for call in protocol.methods},
            "Record<\n  string,\n  keyof Requests | keyof Notifications | keyof EditorNotifications"
            " | keyof ServerRequests\n>",
        ),
        _table(
            "commands",
            "For `workspace/executeCommand`, each with the params of its request as argument.",
            {call.key: call.command for call in protocol.requests},
            "{ readonly [K in keyof typeof methods]?: string }",
        ),
        _table(
            "titles",
            "What a list of commands shows.",
            {call.key: call.title for call in protocol.requests},
            "Record<keyof typeof commands, string>",
        ),
        _DEFAULTS_TYPE,
        _defaults(protocol),
        *map(definition, settings.definitions),
        _default_settings(settings.record),
    ]
    return "\n\n".join(blocks) + "\n"


def definition(value: Definition) -> str:
    match value:
        case Record():
            lines = list(_record(value))
        case Enumeration():
            lines = [f"export type {value.name} ="]
            for text, doc in value.values:
                lines += [*doc_comment(doc, "  "), f"  | {literal(text)}"]
            lines[-1] += ";"
        case Union():
            lines = [f"export type {value.name} =", *(f"  | {name}" for name in value.options)]
            lines[-1] += ";"
        case _:
            assert_never(value)
    return "\n".join([*doc_comment(value.doc), *lines])


def _record(record: Record) -> Iterator[str]:
    if not record.fields:
        yield f"export type {record.name} = Record<string, never>;"
        return
    yield f"export interface {record.name} {{"
    for field in record.fields:
        yield from doc_comment(_field_doc(field), "  ")
        yield f"  {key(field.name)}{'?' if field.optional else ''}: {type_text(field.type)};"
    yield "}"


def _field_doc(field: Field) -> str:
    lines = [field.doc] if field.doc else []
    lines += [f"Must be {limit}." for limit in limits(field.type)]
    if field.optional:
        lines.append(f"@default {literal(field.default)}")
    return "\n".join(lines)


def type_text(type: Type) -> str:
    match type:
        case Scalar(name):
            return _SCALARS[name]
        case Constant(value):
            return literal(value)
        case JsonObject():
            return "Record<string, unknown>"
        case ListOf(item):
            text = type_text(item)
            return (
                f"readonly ({text})[]" if isinstance(item, OneOf | ListOf) else f"readonly {text}[]"
            )
        case MapOf(value):
            return f"Readonly<Record<string, {type_text(value)}>>"
        case OneOf(options):
            return " | ".join(dict.fromkeys(map(type_text, options)))
        case Ref(name):
            return name
        case _:
            assert_never(type)


def _calls(name: str, doc: str, calls: tuple[Call, ...]) -> str:
    lines = [*doc_comment(doc), f"export interface {name} {{"]
    for call in calls:
        result = "" if call.result is None else f"; result: {call.result}"
        lines += doc_comment(f"{call.title}.", "  ")
        lines.append(f"  {key(call.method)}: {{ params: {call.params}{result} }};")
    return "\n".join([*lines, "}"])


def _table(name: str, doc: str, values: dict[str, str], type: str) -> str:
    rows = [f"  {key(k)}: {literal(v)}," for k, v in values.items()]
    head = f"export const {name} = {{"
    return "\n".join([*doc_comment(doc), head, *rows, f"}} as const satisfies {type};"])


def _defaults(protocol: Protocol) -> str:
    having = [record for record in records(protocol.definitions) if record.defaults]
    lines = [
        *doc_comment("What absent fields mean: `{ ...defaults.Body, ...body }` has all fields."),
        "export const defaults: {",
        *(f"  readonly {record.name}: Defaults<{record.name}>;" for record in having),
        "} = {",
        *(_default_row(record) for record in having),
        "};",
    ]
    return "\n".join(lines)


def _default_row(record: Record) -> str:
    line = f"  {record.name}: {literal(record.defaults)},"
    if len(line) <= 100:
        return line
    rows = [f"    {key(name)}: {literal(value)}," for name, value in record.defaults.items()]
    return "\n".join([f"  {record.name}: {{", *rows, "  },"])


def _default_settings(record: Record) -> str:
    rows = [f"  {key(name)}: {literal(value)}," for name, value in record.defaults.items()]
    head = f"export const defaultSettings: Defaults<{record.name}> = {{"
    return "\n".join(
        [*doc_comment("What holds for settings that are not sent."), head, *rows, "};"]
    )


def doc_comment(text: str, indent: str = "") -> list[str]:
    lines = text.replace("*/", "*\\/").splitlines()
    if len(lines) <= 1:
        return [f"{indent}/** {line} */" for line in lines]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def literal(value: Any) -> str:
    match value:
        case dict():
            fields = ", ".join(f"{key(k)}: {literal(v)}" for k, v in value.items())
            return f"{{ {fields} }}" if fields else "{}"
        case list():
            return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value, ensure_ascii=False)


def key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_$][\w$]*", name, re.ASCII) else literal(name)
