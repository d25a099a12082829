"""From the Python declarations to the model of the renderers.

What has no form in every client's language is refused here with a sentence, never weakened.
"""

from __future__ import annotations

from enum import Enum
from types import ModuleType, UnionType
from typing import Any, get_args

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec import inspect as mi

from .model import (
    NULL,
    Call,
    CodegenError,
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
    parts,
    records,
    referred,
)
from .source import Source

TAKEN = frozenset(
    {
        *("Defaults", "Notifications", "EditorNotifications", "Readonly", "Record"),
        *("Requests", "ServerRequests", "Settings", "Pick"),
    }
)
"""Names that the generated TypeScript uses itself."""

_TABLES = {
    "REQUESTS": (True, False),
    "NOTIFICATIONS": (False, True),
    "EDITOR_NOTIFICATIONS": (False, False),
    "SERVER_REQUESTS": (True, True),
}
"""The tables of methods: whether each is answered, and whether the server sends it."""

_HINTS: dict[type[mi.Type], str] = {
    mi.AnyType: "name the type, or use dict[str, Any] for an object of any shape",
    mi.BytesType: "use str with base64 text",
    mi.DateTimeType: "use float with seconds since the epoch",
    mi.TimeDeltaType: "use float with seconds",
    mi.TupleType: "use list, or a class with named fields",
    mi.VarTupleType: "use list",
    mi.SetType: "use list",
    mi.FrozenSetType: "use list",
    mi.Metadata: "document a field with a text after it",
}

_LIMITS = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
    "multiple_of": "a multiple of {}",
    "min_length": "of length at least {}",
    "max_length": "of length at most {}",
    "pattern": "matching `{}`",
}


def read_protocol(module: ModuleType) -> Protocol:
    """`module` is agentls.editor.protocol, or looks like it."""
    definitions = _Reader(module, module.Wire).definitions()
    for definition in definitions:
        if definition.name in TAKEN:
            raise CodegenError(f"{definition.name} is a name of the generated files: rename it.")
    source = Source(module)
    for name in source.names:
        value = getattr(module, name)
        if name not in _TABLES and _is_method_table(value, module):
            raise CodegenError(f"{name} is a table of methods that server/codegen does not know.")
    declared = {record.name for record in records(definitions)}
    protocol = Protocol(
        version=module.VERSION,
        version_doc=source.doc("VERSION"),
        definitions=definitions,
        **{
            name.lower(): tuple(
                _call(m, declared, answered=answered, to_editor=to_editor)
                for m in getattr(module, name, ())
            )
            for name, (answered, to_editor) in _TABLES.items()
        },
    )
    _check_what_editors_send(protocol)
    return protocol


def read_settings(module: ModuleType) -> Settings:
    """`module` is agentls.core.settings, or looks like it."""
    definitions = _Reader(module, Struct).definitions()
    record = next((r for r in records(definitions) if r.name == "Settings"), None)
    if record is None:
        raise CodegenError(f"{module.__name__} has no class Settings.")
    for field in record.fields:
        if not field.doc or not field.optional:
            raise CodegenError(f"The setting {field.name} needs a default and a text after it.")
    return Settings(record, definitions)


class _Reader:
    """Reads the public classes of one module: `base` and its private kin are left out."""

    def __init__(self, module: ModuleType, base: type[Struct]) -> None:
        self._base = base
        self._source = Source(module)
        self._structs: dict[str, type[Struct]] = {}
        self._enums: dict[str, type[Enum]] = {}
        self._unions: dict[str, tuple[str, ...]] = {}
        for name in self._source.names:
            value = getattr(module, name)
            if name.startswith("_") or value is base:
                continue
            if isinstance(value, type) and issubclass(value, base):
                self._structs[name] = value
            elif isinstance(value, type) and issubclass(value, Enum):
                self._enums[name] = value
            elif isinstance(value, UnionType) and _all_structs(get_args(value)):
                self._unions[name] = tuple(cls.__name__ for cls in get_args(value))

    def definitions(self) -> tuple[Definition, ...]:
        return tuple(
            self._definition(name)
            for name in self._source.names
            if name in self._structs or name in self._enums or name in self._unions
        )

    def _definition(self, name: str) -> Definition:
        doc = self._source.doc(name)
        if name in self._unions:
            unknown = [member for member in self._unions[name] if member not in self._structs]
            if unknown:
                raise CodegenError(
                    f"{name} refers to {unknown[0]}, which is not declared as public."
                )
            return Union(name, doc, self._unions[name])
        if not doc:
            raise CodegenError(f"{name} needs a docstring.")
        if name in self._enums:
            return self._enumeration(self._enums[name], doc)
        return self._record(self._structs[name], doc)

    def _enumeration(self, cls: type[Enum], doc: str) -> Enumeration:
        values = []
        for member in cls:
            if not isinstance(member.value, str):
                raise CodegenError(f"{cls.__name__}.{member.name} is not text: use StrEnum.")
            values.append((member.value, self._source.doc(f"{cls.__name__}.{member.name}")))
        return Enumeration(cls.__name__, doc, tuple(values))

    def _record(self, cls: type[Struct], doc: str) -> Record:
        name = cls.__name__
        if not cls.__struct_config__.omit_defaults and self._base is not Struct:
            raise CodegenError(f"{name} must keep omit_defaults=True: absent means the default.")
        try:
            info = mi.type_info(cls)
        except (TypeError, NameError) as error:
            raise CodegenError(f"{name} cannot be read: {error}.") from error
        if not isinstance(info, mi.StructType) or info.array_like:
            raise CodegenError(f"{name} must be sent as an object: remove array_like.")
        fields = [self._field(cls, field) for field in info.fields]
        if isinstance(info.tag, int):
            raise CodegenError(f"{name} has a number as its tag: use text.")
        if info.tag is not None and info.tag_field is not None:
            fields.insert(0, Field(info.tag_field, Constant(info.tag), doc=""))
        return Record(name, doc, tuple(fields))

    def _field(self, owner: type[Struct], field: mi.Field) -> Field:
        where = f"{owner.__name__}.{field.name}"
        return Field(
            name=field.encode_name,
            type=self._type(field.type, where),
            doc=self._source.field_doc(owner, field.name),
            optional=not field.required,
            default=None if field.required else _default(field, where),
        )

    def _type(self, info: mi.Type, where: str) -> Type:
        match info:
            case mi.StrType():
                return Scalar("string", _limits(info))
            case mi.IntType():
                return Scalar("integer", _limits(info))
            case mi.FloatType():
                return Scalar("number", _limits(info))
            case mi.BoolType():
                return Scalar("boolean")
            case mi.NoneType():
                return NULL
            case mi.LiteralType(values=values) if all(isinstance(v, str) for v in values):
                return _one_of([Constant(str(value)) for value in values])
            case mi.ListType(item_type=item):
                return ListOf(self._type(item, where), _limits(info))
            case mi.DictType(key_type=mi.StrType(), value_type=value) if not _limits(info):
                any_value = isinstance(value, mi.AnyType)
                return JsonObject() if any_value else MapOf(self._type(value, where))
            case mi.UnionType(types=types):
                return self._union([self._type(option, where) for option in types])
            case mi.StructType(cls=cls) | mi.EnumType(cls=cls):
                return self._ref(cls, where)
        kind = type(info).__name__.removesuffix("Type")
        hint = _HINTS.get(type(info), "use another type")
        raise CodegenError(f"{where} ({kind}) has no form in every client's language: {hint}.")

    def _ref(self, cls: type, where: str) -> Ref:
        name = cls.__name__
        if self._structs.get(name) is not cls and self._enums.get(name) is not cls:
            raise CodegenError(
                f"{where} refers to {name}: "
                f"declare it in {self._source.file} as a public {self._base.__name__} or StrEnum."
            )
        return Ref(name)

    def _union(self, options: list[Type]) -> Type:
        """With the options that make up a named union put together again."""
        for name, members in sorted(self._unions.items(), key=lambda u: -len(u[1])):
            refs = [Ref(member) for member in members]
            if all(ref in options for ref in refs):
                options = [Ref(name), *(option for option in options if option not in refs)]
        return _one_of(options)


def _one_of(options: list[Type]) -> Type:
    flat: list[Type] = []
    for option in options:
        flat += option.options if isinstance(option, OneOf) else [option]
    if NULL in flat:
        flat.remove(NULL)
        flat.append(NULL)
    return flat[0] if len(flat) == 1 else OneOf(tuple(flat))


def _default(field: mi.Field, where: str) -> Any:
    if field.default_factory in {list, dict}:
        return field.default_factory()
    if field.default is NODEFAULT:
        raise CodegenError(f"{where} has no plain default: use a constant, [] or {{}}.")
    value = msgspec.to_builtins(field.default)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _limits(info: mi.Type) -> tuple[str, ...]:
    found = ((words, getattr(info, key, None)) for key, words in _LIMITS.items())
    return tuple(words.format(value) for words, value in found if value is not None)


def _call(method: Any, declared: set[str], *, answered: bool, to_editor: bool) -> Call:
    if (method.result is not None) != answered:
        wrong = "needs a result" if answered else "is a notification and cannot have a result"
        raise CodegenError(f"{method.method} {wrong}.")
    for cls in (method.params, method.result):
        if cls is not None and cls.__name__ not in declared:
            raise CodegenError(f"{method.method} uses {cls.__name__}, which is not declared.")
    first, *rest = method.name.split("/")
    return Call(
        method=method.method,
        command=method.command,
        title=method.title,
        key=first + "".join(part[:1].upper() + part[1:] for part in rest),
        snake_key=method.handler,
        params=method.params.__name__,
        result=method.result.__name__ if answered else None,
        to_editor=to_editor,
    )


def _check_what_editors_send(protocol: Protocol) -> None:
    """A Lua table cannot hold null, so a field that may be null must be one to leave out."""
    by_name = {definition.name: definition for definition in protocol.definitions}
    seen: set[str] = set()
    waiting = [call.params for call in protocol.calls if not call.to_editor]
    waiting += [call.result for call in protocol.server_requests if call.result]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        definition = by_name[name]
        waiting += referred(definition)
        for field in definition.fields if isinstance(definition, Record) else ():
            if not field.optional and NULL in parts(field.type):
                raise CodegenError(f"{name}.{field.name} may be null: give it the default None.")


def _is_method_table(value: Any, module: ModuleType) -> bool:
    return isinstance(value, tuple | list) and any(isinstance(v, module.Method) for v in value)


def _all_structs(options: tuple[Any, ...]) -> bool:
    return all(isinstance(option, type) and issubclass(option, Struct) for option in options)
