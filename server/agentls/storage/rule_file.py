"""The text of a rule file: where each table of it is written, and edits that touch nothing else.

Invariant: an edit is checked by reading the result: all other rules are as they were, and so is
every other byte.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from agentls.core.errors import SettingsError


class Table(Struct, kw_only=True):
    """A table of the file. Lines and columns count from 1."""

    name: str
    """`rule`, or what somebody wrote instead."""
    values: dict[str, Any] = field(default_factory=dict)
    line: int
    end: int
    """The line after the last one that says something."""
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Line and column of each key."""
    whole: bool = True
    """Whether it is written as [[rule]], in a file without mistakes."""

    def place(self, key: str = "") -> tuple[int, int]:
        return self.keys.get(key, (self.line, 1))


class Mistake(Struct, frozen=True):
    """What TOML forbids."""

    line: int
    column: int
    text: str


_AT: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_HEADER: Final = re.compile(r"(?m)^[ \t]*\[")


def read(text: str) -> tuple[list[Table], Mistake | None]:
    """The tables of a file. From one with a mistake: those that can be read by themselves."""
    try:
        return _tables(text), None
    except (ValueError, RecursionError) as error:
        mistake = _mistake(text, error)
    tables = []
    starts = [found.start() for found in _HEADER.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        before = text.count("\n", 0, start)
        try:
            found = _tables(text[start:end])
        except (ValueError, RecursionError):
            continue
        tables += [_moved(table, before) for table in found]
    return tables, mistake


def _moved(table: Table, lines: int) -> Table:
    keys = {key: (line + lines, column) for key, (line, column) in table.keys.items()}
    line, end = table.line + lines, table.end + lines
    return replace(table, line=line, end=end, keys=keys, whole=False)


def _mistake(text: str, error: Exception) -> Mistake:
    words = str(error) if isinstance(error, ValueError) else "Too deeply nested"
    found = _AT.search(words)
    if found is None or found[1] is None:
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    else:
        line, column = int(found[1]), int(found[2])
    return Mistake(line, column, _AT.sub("", words))


def _tables(text: str) -> list[Table]:
    top = tomllib.loads(text)
    written: dict[str, list[Table]] = {}
    for table in _scan(text):
        written.setdefault(table.name, []).append(table)
    tables: list[Table] = []
    for name, value in top.items():
        is_list = isinstance(value, list) and all(isinstance(item, dict) for item in value)
        values = value if is_list else [value]
        headers = written.get(name) or [Table(name=name, line=1, end=1, whole=False)]
        aligned = len(headers) == len(values)
        for at, item in enumerate(values):
            table = headers[at] if aligned else headers[0]
            whole = aligned and table.whole and is_list and name == "rule"
            tables.append(
                replace(table, values=item if isinstance(item, dict) else {}, whole=whole)
            )
    return sorted(tables, key=lambda table: table.line)


# --- where things are: only ever asked about text that `tomllib` has read

_NAME: Final = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_TABLE: Final = re.compile(rf"[ \t]*(?P<open>\[\[?)[ \t]*(?P<name>{_NAME})[ \t]*\]")
_OTHER_TABLE: Final = re.compile(r"[ \t]*\[")
_NOTHING: Final = re.compile(r"[ \t\r]*(?:#|\n|\Z)")
_KEY: Final = re.compile(rf"[ \t]*(?P<name>{_NAME})")
_TOKEN: Final = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*'''
    r"""|[\[{]|[\]}]|\n|[^"'#\[\]{}\n]+""",
    re.DOTALL,
)


def _scan(text: str) -> list[Table]:
    """The tables with a simple name, and the keys above the first one as if each were a table."""
    tables: list[Table] = []
    current: Table | None = None
    at, line = 0, 1
    at_top = True
    while at < len(text):
        says_something = _NOTHING.match(text, at) is None
        if (header := _TABLE.match(text, at)) is not None:
            whole = header["open"] == "[["
            current = Table(name=_bare(header["name"]), line=line, end=line, whole=whole)
            tables.append(current)
            at_top = False
        elif _OTHER_TABLE.match(text, at) is not None:
            current, at_top = None, False
        elif (key := _KEY.match(text, at)) is not None:
            if current is not None:
                column = key.start("name") - at + 1
                current.keys.setdefault(_bare(key["name"]), (line, column))
            elif at_top:
                tables.append(Table(name=_bare(key["name"]), line=line, end=line, whole=False))
        at, line = _statement_end(text, at, line)
        if current is not None and says_something:
            current.end = line
    return tables


def _statement_end(text: str, at: int, line: int) -> tuple[int, int]:
    """Where the next statement begins: after the line, or after all lines of a long value."""
    depth = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:  # cannot be in valid text; never stand still
            at += 1
            continue
        token, at = found[0], found.end()
        line += token.count("\n")
        if token in {"[", "{"}:
            depth += 1
        elif token in {"]", "}"}:
            depth -= 1
        elif token == "\n" and depth <= 0:
            return at, line
    return at, line + 1


def _bare(name: str) -> str:
    """A key without its quotes."""
    if name[0] in "\"'":
        return str(next(iter(tomllib.loads(f"{name} = 0"))))
    return name


# --- edits

_Change = Callable[[list[Any]], list[Any]]


def with_rule(text: str, values: Mapping[str, str], source: str) -> str:
    """The text with one more rule at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = ["[[rule]]", *(f"{key} = {_quoted(value)}" for key, value in values.items())]
    before = text if not text or text.endswith("\n") else text + newline
    gap = newline if before.strip() else ""
    result = f"{before}{gap}{newline.join(lines)}{newline}"
    return _checked(text, result, source, lambda old: [*old, dict(values)])


def without_table(text: str, table: Table, source: str) -> str:
    """The text without one table. Comments above it and below it stay."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    before, after = lines[: table.line - 1], lines[table.end - 1 :]
    if before and not before[-1].strip() and (not after or not after[0].strip()):
        before.pop()
    number = sum(t.name == "rule" and t.line < table.line for t in read(text)[0])
    result = "".join(before + after)
    return _checked(text, result, source, lambda old: old[:number] + old[number + 1 :])


def _checked(text: str, result: str, source: str, expected: _Change) -> str:
    old = tomllib.loads(text)
    rules = old.pop("rule", [])
    try:
        new = tomllib.loads(result)
    except ValueError:
        new = {}
    is_list = isinstance(rules, list)
    if not is_list or new.pop("rule", []) != expected(rules) or new != old:
        raise SettingsError(
            f"{source} is written in a way that cannot be edited safely.",
            hint="Change it by hand, with each rule as a [[rule]] table.",
        )
    return result


def _quoted(value: str) -> str:
    try:
        text = msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        raise SettingsError("The rule cannot be written: it holds half a character.") from None
    # What JSON escapes TOML reads the same; only this one JSON leaves as it is.
    return text.replace("\x7f", "\\u007f")
