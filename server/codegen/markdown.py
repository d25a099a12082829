"""docs/protocol.md and docs/settings.md, for people who write a client for another editor."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Any, assert_never

from .examples import Examples
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
    records,
    referred,
)

_HEADER = f"<!-- {NOTICE} To renew it: {COMMAND} -->"
_WIDTH = 92


def render_protocol(protocol: Protocol, examples: Examples) -> str:
    intro = Template(_prose("protocol.md")).substitute(version=protocol.version)
    blocks = [
        _HEADER,
        intro.strip(),
        "## Methods",
        _overview(protocol),
        *(_call(call, protocol, examples) for call in protocol.calls),
        "## Types",
        *(_type_section(d, examples) for d in protocol.definitions if _is_part(d, protocol)),
    ]
    return "\n\n".join(blocks) + "\n"


def render_settings(settings: Settings) -> str:
    record = settings.record
    example = {"initializationOptions": record.defaults}
    others = [d for d in settings.definitions if d is not record]
    blocks = [
        _HEADER,
        "# Settings",
        record.doc,
        _prose("settings.md").strip(),
        field_table(record, heading="Setting"),
        "With every setting at its default:",
        _json(example),
        *map(definition, others),
    ]
    return "\n\n".join(blocks) + "\n"


def _prose(name: str) -> str:
    return (Path(__file__).parent / "prose" / name).read_text(encoding="utf-8")


# -- methods


def _overview(protocol: Protocol) -> str:
    rows = [
        [f"[`{call.method}`](#{_anchor(call.method)})", _direction(call), call.title]
        for call in protocol.calls
    ]
    return _table(["Method", "Direction", "What it does"], rows)


def _direction(call: Call) -> str:
    return "server → editor" if call.to_editor else "editor → server"


def _call(call: Call, protocol: Protocol, examples: Examples) -> str:
    kind = "Notification" if call.result is None else "Request"
    summary = f"{call.title}. {kind}, {_direction(call)}."
    if call.result is not None and not call.to_editor:
        summary += f" Command: `{call.command}`."
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1} if call.result else {"jsonrpc": "2.0"}
    message |= {"method": call.method, "params": examples.of(call.params)}
    by_name = {record.name: record for record in records(protocol.definitions)}
    both_ways = len([other for other in protocol.calls if other.method == call.method]) > 1
    head = f"### {call.method}" + (" (to the editor)" if both_ways and call.to_editor else "")
    blocks = [head, summary, _message_part("Params", by_name[call.params])]
    if call.result is not None:
        blocks.append(_message_part("Result", by_name[call.result]))
    blocks.append(_json(message))
    if call.result is not None:
        blocks.append(_json({"jsonrpc": "2.0", "id": 1, "result": examples.of(call.result)}))
    return "\n\n".join(blocks)


def _message_part(title: str, record: Record) -> str:
    text = f"**{title}**: `{record.name}`. {record.doc}"
    return f"{text}\n\n{field_table(record)}" if record.fields else text


# -- types


def _is_part(definition: Definition, protocol: Protocol) -> bool:
    """Params and results stand with their methods, unless something else is made of them too."""
    messages = {name for call in protocol.calls for name in (call.params, call.result)}
    used = {name for other in protocol.definitions for name in referred(other)}
    return definition.name not in messages or definition.name in used


def _type_section(value: Definition, examples: Examples) -> str:
    text = definition(value)
    return f"{text}\n\n{_json(examples.of(value.name))}" if isinstance(value, Record) else text


def definition(value: Definition) -> str:
    blocks = [f"### {value.name}", value.doc]
    match value:
        case Record():
            blocks += [field_table(value)] if value.fields else []
        case Enumeration():
            blocks.append(
                "\n".join(f"- `{text}`" + f": {doc}" * bool(doc) for text, doc in value.values)
            )
        case Union():
            links = [f"- {_link(name)}" for name in value.options]
            blocks.append("One of these:\n\n" + "\n".join(links))
        case _:
            assert_never(value)
    return "\n\n".join(block for block in blocks if block)


def field_table(record: Record, heading: str = "Field") -> str:
    rows = [[f"`{f.name}`", type_text(f.type), _default(f), f.doc] for f in record.fields]
    return _table([heading, "Type", "Default", "Meaning"], rows)


def _default(field: Field) -> str:
    return f"`{json.dumps(field.default, ensure_ascii=False)}`" if field.optional else "required"


def type_text(type: Type) -> str:
    match type:
        case Scalar(name, limits):
            return name + _in_words(limits)
        case Constant(value):
            return f'`"{value}"`'
        case JsonObject():
            return "object of any shape"
        case ListOf(item, limits):
            text = f"({type_text(item)})" if isinstance(item, OneOf) else type_text(item)
            return f"list of {text}{_in_words(limits)}"
        case MapOf(value):
            return f"object with any keys, each {type_text(value)}"
        case OneOf(options):
            return " or ".join(map(type_text, options))
        case Ref(name):
            return _link(name)
        case _:
            assert_never(type)


def _in_words(limits: tuple[str, ...]) -> str:
    return f" ({', '.join(limits)})" if limits else ""


# -- Markdown


def _link(name: str) -> str:
    return f"[{name}](#{_anchor(name)})"


def _anchor(heading: str) -> str:
    return "".join(c for c in heading.lower() if c.isalnum() or c in "-_")


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(map(_row, [head, ["---"] * len(head), *rows]))


def _row(cells: list[str]) -> str:
    texts = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return "|" + "".join(f" {text} |" if text else " |" for text in texts)


def _json(value: Any) -> str:
    return f"```json\n{pretty(value)}\n```"


def pretty(value: Any, indent: str = "", before: int = 0) -> str:
    """JSON with everything on one line that fits there, after `before` characters of it."""
    line = json.dumps(value, ensure_ascii=False)
    if before + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    if isinstance(value, list):
        items = [inner + pretty(item, inner, len(inner)) for item in value]
        return "[\n" + ",\n".join(items) + f"\n{indent}]"
    items = []
    for key, item in value.items():
        start = f"{inner}{json.dumps(key, ensure_ascii=False)}: "
        items.append(start + pretty(item, inner, len(start)))
    return "{\n" + ",\n".join(items) + f"\n{indent}}}"
