"""A second opinion on a shell line, from the grammar of tree-sitter.

Invariants: both readers have to find the same commands at the same places. The grammar alone would
not do: it takes some wrong lines for right, and hides words in redirections and here-documents.
It only ever gets lines that the first reader took for plain, in ASCII: it is native code, and
some other lines make it crash or take minutes.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .tables import names

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_KNOWN = names(
    "program list pipeline command command_name word number string string_content raw_string"
    " concatenation redirected_statement file_redirect file_descriptor subshell compound_statement"
    " negated_command if_statement elif_clause else_clause while_statement do_group for_statement"
    " variable_name variable_assignment simple_expansion expansion special_variable_name"
    " test_command unary_expression binary_expression test_operator comment extglob_pattern regex"
    " arithmetic_expansion"
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")


@functools.cache
def _parser() -> Parser:
    import tree_sitter_bash  # noqa: PLC0415 - costs start-up time, and many sessions never need it
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def disagrees(line: str, starts: list[int]) -> bool:
    """Whether the grammar sees anything but commands that start at these characters."""
    # A plain line has foreign letters only within words, where any other letter does as well.
    root = _parser().parse(_FOREIGN.sub("x", line).encode()).root_node
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
