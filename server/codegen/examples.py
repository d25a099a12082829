"""Example values of the protocol's types, made from the types and the texts in samples.py.

A sample for `Type.field` always counts; one for a field's bare name fills required fields of that
name in any type. Optional fields without a sample of their own stay absent, as on the wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from .model import (
    CodegenError,
    Constant,
    Definition,
    Enumeration,
    Field,
    JsonObject,
    ListOf,
    MapOf,
    OneOf,
    Record,
    Ref,
    Scalar,
    Type,
    Union,
)


class Examples:
    """Makes examples of the definitions it was given."""

    def __init__(self, definitions: tuple[Definition, ...], samples: Mapping[str, Any]) -> None:
        self._definitions = {definition.name: definition for definition in definitions}
        self._samples = samples
        self.used: set[str] = set()
        """The samples that were needed so far."""

    def of(self, name: str) -> Any:
        definition = self._definitions[name]
        match definition:
            case Record():
                return {
                    field.name: self._field(definition, field)
                    for field in definition.fields
                    if not field.optional or f"{name}.{field.name}" in self._samples
                }
            case Enumeration():
                return definition.values[0][0]
            case Union():
                return self.of(definition.options[0])
            case _:
                assert_never(definition)

    def _field(self, record: Record, field: Field) -> Any:
        if isinstance(field.type, Constant):
            return field.type.value
        full_name = f"{record.name}.{field.name}"
        for sample in (full_name, field.name):
            if sample in self._samples:
                self.used.add(sample)
                return self._samples[sample]
        return self._value(field.type, full_name)

    def _value(self, type: Type, where: str) -> Any:
        match type:
            case Ref(name):
                return self.of(name)
            case Constant(value):
                return value
            case ListOf(item):
                return [self._value(item, where)]
            case OneOf(options):
                return self._value(options[0], where)
            case Scalar(name="boolean"):
                return True
            case Scalar() | JsonObject() | MapOf():
                raise CodegenError(
                    f"{where} needs an example: add one to server/codegen/samples.py."
                )
            case _:
                assert_never(type)
