"""What a line that cannot be read might run, for rules that deny or ask.

Invariant: this only ever tightens. It takes any text, in linear time, and guesses generously.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_LONGEST = 16 * 1024
_MOST = 500
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.""", re.DOTALL)
_ENDS = re.compile(r"[;&|()`\n{}<>]|\$(?=\()")
_QUOTED_ENDS = re.compile(r"[;&|\n{}<>]")


def likely_commands(line: str) -> Iterator[tuple[str, ...]]:
    """The words of whatever looks like a command, also inside substitutions."""
    parts = _ENDS.split(_QUOTED.sub(_unquoted, line[:_LONGEST]))
    return islice(filter(None, (tuple(part.split()) for part in parts)), _MOST)


def _unquoted(found: re.Match[str]) -> str:
    """Quoted text without its quotes; it ends no command, but holds one in a substitution."""
    text = found.group()
    if text[0] == "\\":
        return text[1:].strip()
    inner = text[1:-1]
    return (
        _ENDS.sub(" ", inner) if text[0] == "'" else _QUOTED_ENDS.sub(" ", inner).replace("\\", "")
    )
