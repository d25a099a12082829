"""Small repairs to Python source that can be found and made without guessing.

A repair is offered only when the new text parses; text that Python cannot read gets none.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from agentls.demo.facts import code

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Repair:
    """A new text for a file: what was wrong, what is done about it, and at which line (from 1)."""

    text: str
    line: int
    problem: str
    remedy: str


def find_repair(text: str) -> Repair | None:
    """Return the first repair that this source needs, or None."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    # Python ends lines at \n, \r and \r\n only; str.splitlines would also split at a form feed.
    lines = list(io.StringIO(text, newline=""))
    bugs = (_unshare_default(lines, node) for node in _functions(lines, ast.walk(tree)))
    gaps = (_add_docstring(lines, node) for node in _functions(lines, tree.body))
    return next((r for r in chain(bugs, gaps) if r is not None and _parses(r.text)), None)


def _functions(lines: list[str], nodes: Iterable[ast.AST]) -> list[_Function]:
    """Return the functions whose body starts on a line of its own, in the order of the text."""
    found = [
        node
        for node in nodes
        if isinstance(node, _Function)
        and lines[node.body[0].lineno - 1].encode()[: node.body[0].col_offset].isspace()
    ]
    return sorted(found, key=lambda node: node.lineno)


def _unshare_default(lines: list[str], function: _Function) -> Repair | None:
    for argument, default in _defaults(function):
        if not _is_mutable(default) or not _is_on_one_line(default):
            continue
        literal, name = _source(lines, default), argument.arg
        changed = list(lines)
        _replace(changed, default, "None")
        # The annotation stands before the default, so its columns are still right.
        _allow_none(changed, argument.annotation)
        first, has_docstring = function.body[0], ast.get_docstring(function) is not None
        at = (first.end_lineno or first.lineno) if has_docstring else first.lineno - 1
        indent, step, end = _layout(lines, function)
        changed[at:at] = [
            f"{indent}if {name} is None:{end}",
            f"{indent}{step}{name} = {literal}{end}",
        ]
        shared = code(f"{name}={literal}")
        return Repair(
            text="".join(changed),
            line=default.lineno,
            problem=f"the default {shared} of {code(function.name)} is made once "
            "and shared by all its calls",
            remedy=f"every call of {code(function.name)} gets a {code(name)} of its own",
        )
    return None


def _add_docstring(lines: list[str], function: _Function) -> Repair | None:
    if function.name.startswith("_") or ast.get_docstring(function) is not None:
        return None
    indent, _, end = _layout(lines, function)
    words = function.name.replace("_", " ").strip()
    changed = list(lines)
    at = function.body[0].lineno - 1
    changed[at:at] = [f'{indent}"""{words[0].upper()}{words[1:]}."""{end}']
    return Repair(
        text="".join(changed),
        line=function.lineno,
        problem=f"the function {code(function.name)} has no docstring",
        remedy=f"{code(function.name)} gets a docstring",
    )


def _defaults(function: _Function) -> Iterator[tuple[ast.arg, ast.expr]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    yield from zip(with_default, arguments.defaults, strict=True)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _is_mutable(default: ast.expr) -> bool:
    if isinstance(default, ast.Call):
        return isinstance(default.func, ast.Name) and default.func.id in {"list", "dict", "set"}
    return isinstance(default, ast.List | ast.Dict | ast.Set)


def _is_on_one_line(node: ast.expr) -> bool:
    return node.lineno == node.end_lineno


def _allow_none(lines: list[str], annotation: ast.expr | None) -> None:
    # A quoted annotation is a string when Python runs it, and `|` cannot join a string and None.
    quoted = isinstance(annotation, ast.Constant)
    if annotation is None or quoted or not _is_on_one_line(annotation):
        return
    source = _source(lines, annotation)
    if "None" not in source and "Optional" not in source:
        _replace(lines, annotation, f"{source} | None")


def _source(lines: list[str], node: ast.expr) -> str:
    # Columns in the tree count UTF-8 bytes, not characters.
    return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()


def _replace(lines: list[str], node: ast.expr, new: str) -> None:
    line = lines[node.lineno - 1].encode()
    before, after = line[: node.col_offset], line[node.end_col_offset :]
    lines[node.lineno - 1] = (before + new.encode() + after).decode()


def _layout(lines: list[str], function: _Function) -> tuple[str, str, str]:
    """Return the body's indentation, one step of it, and the line ending used there."""
    first, header = lines[function.body[0].lineno - 1], lines[function.lineno - 1]
    indent = first[: len(first) - len(first.lstrip())]
    outer = header[: len(header) - len(header.lstrip())]
    return indent, indent.removeprefix(outer), header[len(header.rstrip("\r\n")) :]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
