"""Cuts a shell line into words and operators, for the plain part of the shell's language only.

Invariant: a word that comes out is what bash, dash and zsh would all pass on, except that file
patterns, a leading ~, $HOME, $PWD and $? stay as written, and that other variables are marked for
whoever knows their values. Everything else is `Unreadable`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from ..printable import one_line
from .fixed_text import fixed_text

LONGEST_LINE = 64 * 1024
MOST_TOKENS = 5000


class Unreadable(Exception):
    """The line has something in it that is not plain; the message says what, for a person."""


class Word(NamedTuple):
    text: str
    start: int
    bare: bool  # written without quotes, escapes, patterns and expansions
    glob: bool
    # Where it has the text of a here-document, which the grammar is not to see.
    fixed: tuple[int, int] | None = None


class Operator(NamedTuple):
    text: str
    start: int


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_BLANK = re.compile(r"(?:[ \t]+(?:\\\n[ \t]*)*)+")
_BARE = re.compile(r"[A-Za-z0-9_./:@%+,^-][A-Za-z0-9_./:@%+,=^-]*(?=[ \t\n;|&<>()]|\Z)")
_LONE = re.compile(r"(?:\[\[?|\]\]?|[{}!]|={1,2}|!=)(?=[ \t\n;|&<>()]|\Z)")
_OPERATOR = re.compile(
    r"&>>|&>|&&|\|\||\|&|;;&|;;|;&|[0-9]?(?:<<<|<<-|<<|<>|<&|<\(|<|>\||>>|>&|>\(|>)|[;&|()\n]"
)
# A comment of plain words: a shell that knows no comments would not run anything of it either.
_COMMENT = re.compile(r"#[\w \t.,:/@%+=?*~\[\]{}#-]*(?=\n|\Z)", re.ASCII)
_PART = re.compile(
    r"""(?P<plain>(?:[A-Za-z0-9_./:%+,=^-]|@(?!\{))+)
      | (?P<glob>[*?\[\]]+)
      | '(?P<single>[^']*)'
      | "(?P<double>(?:[^"\\$`!]
            | \\[^\n]
            | \$\?(?![\[({:])
            | \$(?:HOME|PWD|\{HOME\}|\{PWD\})(?=["/\s])
            | \$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})(?=["/\s.,;)'-])
            | \$(?=["\s|)/\\])
            | !(?=[\s"=]|:\s))*)"
      | \\(?P<escaped>[ !-/:-@\[-`{-~])
      | (?P<braces>@\{[A-Za-z0-9-]*\}|\{\})
      | (?P<choice>\{[A-Za-z0-9_.*?/-]*(?:,[A-Za-z0-9_.*?/-]*)+\})
      | (?P<value>\$\?(?=[\s;|&)]|\Z)|\$(?:HOME|\{HOME\})(?=[/\s;|&)]|\Z)|\$(?=\s|\Z)
            |\$\(\([0-9]{1,4}(?:[ ]?[+*][ ]?[0-9]{1,4})?\)\)(?=[\s;|&)]|\Z))
      | \$(?P<variable>[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})(?=[/\s;|&).,-]|\Z)
      | (?P<tilde>~)
      | (?P<mark>!(?=[\s;|&<>]|=|\Z)|\#)
      | (?P<foreign>[^\x00-\x7f]+)""",
    re.VERBOSE,
)
# A Greek, Cyrillic, Armenian or Cherokee letter next to a Latin one.
_FOREIGN = "\u0370-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\ua640-\ua69f\uab70-\uabbf"
_MIXED = re.compile(rf"[A-Za-z][{_FOREIGN}]|[{_FOREIGN}][A-Za-z]")
_IN_QUOTES = re.compile(
    r'\\([\\"$`])|\$(?!\{?(?:HOME|PWD)\b)(?:\{(\w+)\}|([A-Za-z_]\w*))', re.ASCII
)
# Marks of a variable in the text of a word: a line with these characters is never read.
QUOTED, SPLIT, END = "\x02", "\x04", "\x03"
_TILDE_AFTER = re.compile(r"[A-Za-z0-9_./^@-]\Z")
COMPUTED = "it uses a value that is computed when it runs"
_WHY = {
    "$": COMPUTED,
    "`": "it runs a command to compute a value",
    "{": "it uses braces, which the shell expands to other words",
    "}": "it uses braces, which the shell expands to other words",
    "\\": "it uses an escape that shells read differently",
    "!": "it uses !, which some shells replace with an earlier command",
    "~": "it names a home folder other than one's own",
    "=": "it has a word that starts with =, which some shells replace",
    "'": "a quote is not closed",
    '"': "it has a quoted text that is not closed or not plain",
    "#": "it has a comment with special characters in it",
}


def check_characters(text: str) -> None:
    """Refuses what a person cannot see, or sees as something else."""
    found = _CONTROLS.search(text)
    if found:
        raise Unreadable(f"it has a control character in it (U+{ord(found.group()):04X})")
    if text.isascii():
        return
    for character in text:
        if character > "\x7f" and _invisible(character):
            raise Unreadable(f"it has an invisible character in it (U+{ord(character):04X})")


def _invisible(character: str) -> bool:
    return (
        unicodedata.category(character)[0] in "CZ" or character in "\u034f\u115f\u1160\u3164\uffa0"
    )


def _looks_alike(character: str) -> bool:
    """Whether it may pass for ASCII: dashes, quotes, full-width forms."""
    category = unicodedata.category(character)
    if category[0] not in "LMN" and category != "So":
        return True
    return any(folded < "\x80" for folded in unicodedata.normalize("NFKC", character))


def check_word(text: str) -> None:
    """Refuses a word that looks like an option or a name that it is not."""
    if text.isascii():
        return
    mixed = _MIXED.search(text) is not None and len(text.split()) == 1
    if (
        (text[0] > "\x7f" and _looks_alike(text[0]))
        or (text[0] == "-" and not text.partition("=")[0].isascii())
        or mixed
    ):
        raise Unreadable(f"it has a character that looks like another one: {text[:20]}")


def tokens(line: str) -> Iterator[Word | Operator]:
    """The words and operators of a line; raises `Unreadable` at the first that is not plain."""
    position, end, count = 0, len(line), 0
    while position < end:
        blank = _BLANK.match(line, position)
        if blank:
            position = blank.end()
            continue
        count += 1
        if count > MOST_TOKENS:
            raise Unreadable("it is too long to be read with care")
        operator = _OPERATOR.match(line, position)
        if operator:
            yield Operator(operator.group(), position)
            position = operator.end()
            continue
        if line[position] == "#":
            comment = _COMMENT.match(line, position)
            if comment is None:
                raise _unreadable(line, position)
            position = comment.end()
            continue
        found = _BARE.match(line, position) or _LONE.match(line, position)
        if found:
            word = Word(found.group(), position, True, False)
            stop = found.end()
        else:
            word, stop = _word(line, position)
        if word.bare and word.text.isdigit() and line[stop : stop + 1] in ("<", ">"):
            raise Unreadable("it redirects an unusual file descriptor")
        yield word
        position = stop


def _word(line: str, start: int) -> tuple[Word, int]:
    pieces: list[str] = []
    position, end = start, len(line)
    bare, glob, plain = True, False, True
    if line[start] == "=":
        raise _unreadable(line, start)
    if line.startswith('"$(', start) and (fixed := _fixed_word(line, start)):
        return fixed
    while position < end and line[position] not in " \t\n;|&<>()":
        found = _PART.match(line, position)
        if found is None:
            raise _unreadable(line, position)
        kind = found.lastgroup
        piece = found.group(kind) if kind else ""
        if kind == "single" and piece.endswith("\\"):
            raise _unreadable(line, position + len(piece))
        if kind == "double":
            piece = _IN_QUOTES.sub(_in_quotes, piece)
        elif kind == "variable":
            piece = f"{SPLIT}{piece.strip('{}')}{END}"
        elif kind == "tilde":
            _check_tilde(line, start, position)
        elif kind == "foreign" and any(map(_looks_alike, piece)):
            raise Unreadable(f"it has a character that looks like another one: {piece[:20]}")
        elif kind == "choice" and not plain:
            raise _unreadable(line, position)
        elif kind in {"glob", "choice"}:
            glob = True
        bare = bare and kind == "plain"
        plain = plain and kind in {"plain", "glob"}
        pieces.append(piece)
        position = found.end()
    text = "".join(pieces)
    check_word(text)
    return Word(text, start, bare, glob), position


def _fixed_word(line: str, start: int) -> tuple[Word, int] | None:
    fixed = fixed_text(line, start)
    if fixed is None or line[fixed[1] : fixed[1] + 1] not in {"", *" \t\n;|&<>)"}:
        return None
    text, stop = fixed
    check_word(text)
    return Word(text, start, False, False, (start, stop)), stop


def _in_quotes(found: re.Match[str]) -> str:
    escaped, braced, name = found.groups()
    return str(escaped or f"{QUOTED}{braced or name}{END}")


def _check_tilde(line: str, start: int, position: int) -> None:
    if position == start:
        plain = position + 1 == len(line) or line[position + 1] in "/ \t\n;|&<>)"
    else:
        plain = _TILDE_AFTER.search(line, start, position) is not None
    if not plain:
        raise _unreadable(line, position)


def _unreadable(line: str, position: int) -> Unreadable:
    """The sentence for the place; inside double quotes it looks for what is not plain there."""
    character = line[position]
    if character == '"':
        inner = re.compile(r"[$`!]|(?<=\\)\n").search(line, position + 1)
        character = inner.group() if inner else character
    why = _WHY.get(character, "it has something in it that is not plain")
    excerpt = one_line(line[position : position + 40])
    return Unreadable(f"{why}: {excerpt}")
