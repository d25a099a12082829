"""A second opinion on a shell line, from the grammar of tree-sitter.

Invariant: both readers have to find the same commands at the same places. The grammar alone would
not do: it takes some wrong lines for right, and hides words in redirections and here-documents.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .tables import names

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# Parsing takes more than linear time on some hostile lines.
LONGEST_SEARCHED = 4 * 1024

_KNOWN = names(
    "program list pipeline command command_name word number string string_content raw_string"
    " concatenation redirected_statement file_redirect file_descriptor subshell compound_statement"
    " negated_command if_statement elif_clause else_clause while_statement do_group for_statement"
    " variable_name variable_assignment simple_expansion expansion special_variable_name"
    " test_command unary_expression binary_expression test_operator comment extglob_pattern regex"
    " arithmetic_expansion"
)
_QUOTING = re.compile(r"[\\'\"]")


@functools.cache
def _parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415 - costs start-up time, and many sessions never need it
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def disagrees(line: str, starts: list[int]) -> bool:
    """Whether the grammar sees anything but commands that start at these characters."""
    source = line.encode()
    if len(source) != len(line):
        starts = [len(line[:start].encode()) for start in starts]
    root = _parser().parse(source).root_node
    if root.has_error:
        return True
    found = []
    for node in _nodes(root):
        kind = node.type
        if kind not in _KNOWN:
            return True
        if kind in {"command_name", "test_command"}:
            found.append(node.start_byte)
    return sorted(found) != sorted(starts)


def anything_like_a_command(line: str) -> Iterator[tuple[str, ...]]:
    """The words of whatever might run, also inside substitutions: for rules that deny or ask."""
    source = line.encode(errors="replace")
    if len(source) > LONGEST_SEARCHED:
        return
    for node in _nodes(_parser().parse(source).root_node):
        if node.type in {"command", "declaration_command", "unset_command"}:
            words = tuple(filter(None, map(_unquoted, node.children)))
            if words:
                yield words


def _unquoted(node: Node) -> str:
    return _QUOTING.sub("", (node.text or b"").decode(errors="replace"))


def _nodes(root: Node) -> Iterator[Node]:
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.is_named:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
