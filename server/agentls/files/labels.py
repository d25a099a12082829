"""The function or class that a part of a file is in, such as "class Parser \u203a def read".

Invariant: a text that is too large or too deep, or in a language that we do not know, has no label;
that is no error. A grammar is loaded when the first file of its language is asked about.

Grammars are native code that reads what anybody wrote; they can crash, and there is no way to end
one that takes too long. So the server asks a process of its own, see label_process.py.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from .languages import BY_SUFFIX, Language

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, TreeCursor

LARGEST: Final = 1 << 20
_DEEPEST: Final = 2000
_LONGEST_NAME: Final = 80
_WRAPPERS: Final = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "internal_module"}
)
JOINED: Final = " \u203a "
Lines = tuple[int, int]
"""The first and the last line of a part, counted from zero."""


def language_of(path: str) -> Language | None:
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def labels(path: str, text: str, parts: Sequence[Lines]) -> list[str]:
    """For each part of a text what it is in; "" where that is nothing, or nothing we know."""
    none = [""] * len(parts)
    language = language_of(path)
    source = text.encode("utf-8", "replace")
    if language is None or len(source) > LARGEST:
        return none
    try:
        root = _parser(language).parse(source).root_node
    except (ImportError, ValueError):  # no such grammar for this system
        return none
    starts = _line_starts(source)
    return [_label(root, source, starts, part, language) for part in parts]


@functools.cache
def _parser(language: Language) -> Parser:
    from tree_sitter import Language as Grammar  # noqa: PLC0415 - native, and often not needed
    from tree_sitter import Parser  # noqa: PLC0415

    module = import_module(language.module)
    return Parser(Grammar(getattr(module, language.function)()))


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _label(root: Node, source: bytes, starts: list[int], part: Lines, language: Language) -> str:
    first, last = part
    if first < 0 or first > last or last + 1 >= len(starts):
        return ""
    start, end = starts[first], min(starts[last + 1], len(source))
    inner = source[start:end].strip()
    start += source[start:end].find(inner)
    names = _names(root.walk(), source, start, start + len(inner), language)
    return JOINED.join(names)


def _names(
    cursor: TreeCursor, source: bytes, start: int, end: int, language: Language
) -> list[str]:
    """The definitions around a part, the outermost first."""
    names: list[str] = []
    for _ in range(_DEEPEST):
        node = cursor.node
        if node is None:
            break
        if node.start_byte > start or node.end_byte < end:
            break
        if name := _name(node, source, language):
            names.append(name)
        if cursor.goto_first_child_for_byte(start) is None:
            break
        below = cursor.node
        if below is not None and (below.start_byte > start or below.end_byte < end):
            if node.type in _WRAPPERS:
                names += filter(None, [_wrapped_name(node, source, language)])
            break
    return names


def _wrapped_name(node: Node, source: bytes, language: Language) -> str:
    for child in node.named_children:
        if name := _name(child, source, language):
            return name
    return ""


def _name(node: Node, source: bytes, language: Language) -> str:
    word = language.definitions.get(node.type)
    if word is None:
        return ""
    found = node
    for _ in range(8):  # int *(*f(void))(int): the name is deep in the declarator
        inner = found.child_by_field_name("name") or found.child_by_field_name("declarator")
        if inner is None and found is node:
            inner = node.child_by_field_name("type")
        if inner is None or found.type == "qualified_identifier":
            break
        found = inner
    if found is node:
        return ""
    if node.type in language.only_functions and not _holds_function(node, language):
        return ""
    name = " ".join(source[found.start_byte : found.end_byte].decode("utf-8", "replace").split())
    return f"{word} {name[:_LONGEST_NAME]}".strip()


def _holds_function(node: Node, language: Language) -> bool:
    value = node.child_by_field_name("value")
    return value is not None and value.type in language.functions
