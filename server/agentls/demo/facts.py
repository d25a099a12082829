"""True sentences about a file's text; everything said here was counted or parsed, never guessed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_NAMED = 6


def describe(path: Path, text: str) -> str:
    """Say in a few words what is in a file, e.g. "12 lines, with the functions `greet`, `seat`"."""
    size = counted(line_count(text), "line")
    if path.suffix == ".py":
        return f"{size}, {_describe_python(text)}"
    if path.suffix == ".md":
        return f"{size}, {_listed('heading', _headings(text))}"
    return f"{size}, {counted(len(text.split()), 'word')}"


def line_count(text: str) -> int:
    """Count lines as an editor does: a last line without a line feed is a line too."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def counted(number: int, noun: str) -> str:
    """Return "1 line", "2 lines"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def spoken(words: Sequence[str]) -> str:
    """Join as in speech: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def code(text: str) -> str:
    """Return text as Markdown inline code, whatever backticks it contains."""
    ticks = "`" * (_longest_run_of_ticks(text) + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{gap}{text}{gap}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return text as a fenced code block that nothing in the text can end early."""
    fence = "`" * max(3, _longest_run_of_ticks(text) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _longest_run_of_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _describe_python(text: str) -> str:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return f"which Python cannot parse ({error.args[0]})"
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    named = [_listed("class", classes)] if classes else []
    if functions or not classes:
        named.append(_listed("function", functions))
    return spoken(named)


def _listed(noun: str, names: Sequence[str]) -> str:
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    if not names:
        return f"with no {plural}"
    shown = [code(name) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return f"with the {noun if len(names) == 1 else plural} {spoken(shown)}"


def _headings(text: str) -> list[str]:
    return [
        line.lstrip("#").strip() for line in _outside_fences(text) if re.match(r"#{1,6} ", line)
    ]


def _outside_fences(text: str) -> Iterable[str]:
    inside = False
    for line in text.split("\n"):
        if line.startswith(("```", "~~~")):
            inside = not inside
        elif not inside:
            yield line
