"""Text that a line writes out in full for a program: `"$(cat <<'END' … END)"`.

Invariant: what comes out is what every shell passes on. Old shells look for the closing parenthesis
without knowing of here-documents; where such a search might end elsewhere, there is no fixed text.
"""

from __future__ import annotations

import re

_OPENING = re.compile(r"""\"\$\(cat[ ]<<[ ]?(?:'([A-Z_]+)'|"([A-Z_]+)"|([A-Z_]+))\n""")
_EXPANDED = re.compile(r"[$`\\]")
_COMMENT = re.compile(r"(?:^|(?<=[\s;|&(]))#[^\n]*", re.MULTILINE)


def fixed_text(line: str, start: int) -> tuple[str, int] | None:
    """The text of a quoted word that begins at `start`, and where the word ends."""
    opening = _OPENING.match(line, start)
    if opening is None:
        return None
    single, double, bare = opening.groups()
    end = single or double or bare
    begin = opening.end()
    closing = re.compile(rf'(?:^|(?<=\n)){end}\n[ \t]*\)"').search(line, begin)
    if closing is None or closing.start() > line.find(f"\n{end}\n", begin - 1) + 1:
        return None
    body = line[begin : closing.start()]
    if bare and _EXPANDED.search(body):
        return None
    inner, rest = f"{body}{end}\n", line[closing.end() :]
    if not (_ends_there(inner, rest) and _ends_there(_COMMENT.sub("", inner), rest)):
        return None
    return body.rstrip("\n"), closing.end()


def _ends_there(inner: str, rest: str) -> bool:
    """Whether counting parentheses outside of quotes finds the end of `inner`, or no end at all."""
    depth, position = 0, 0
    while position < len(inner):
        character = inner[position]
        if character == "\\":
            position += 1
        elif character in "'`\"":
            position = inner.find(character, position + 1)
            if position < 0:
                return character != '"' and character not in rest
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth < 0:
                return False
        position += 1
    return depth == 0
