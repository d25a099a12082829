"""Whether a sed or awk program only prints.

Invariant: a program is accepted only if it is wholly made of parts known to be harmless; what
writes files, runs commands or reads from them (w, e, system, getline, pipes, redirections) is not.
Where versions of sed or awk would read a program differently, it is not accepted either.
"""

from __future__ import annotations

import functools
import re

from .tables import names

_LONGEST = 2000


@functools.cache
def _sed_command() -> re.Pattern[str]:
    """One command with its addresses; the quantifiers are possessive, so it takes linear time."""

    def regex(end: str) -> str:
        bracket = rf"\[\^?+\]?+(?:\[:[a-z]+:\]|\\[tnswd.]|[^\]{end}\n\\\[])*+\]"
        return rf"(?:\\[^\n]|[^\\\n\[{end}]|{bracket})*+"

    def text(end: str) -> str:
        return rf"(?:\\[^\n]|[^\\\n{end}])*+"

    substitutions = [
        rf"s{end}{regex(end)}{end}{text(end)}{end}[gpiI0-9]*+"
        for end in map(re.escape, "/|#,:@!%_")
    ]
    command = rf"[pdqQ=PDnNgGhHxl{{]|{'|'.join(substitutions)}|y/{text('/')}/{text('/')}/"
    address = rf"(?:\d++(?:~\d++)?|\$|/{regex('/')}/I?)"
    return re.compile(rf"(?:{address}(?:,(?:{address}|\+\d++))?[ ]?!?[ ]?)?(?P<command>{command})")


_SED_BETWEEN = re.compile(r"[\s;]*+")
_SED_END = re.compile(r"[ ]*+(?=[;\n}]|\Z)")


def sed_only_prints(script: str) -> bool:
    if len(script) > _LONGEST:
        return False
    depth, position = 0, 0
    while (position := _end(_SED_BETWEEN, script, position)) < len(script):
        if script[position] == "}":
            depth -= 1
            position = _end(_SED_END, script, position + 1)
        else:
            found = _sed_command().match(script, position)
            if found is None:
                return False
            position = found.end()
            if found.group("command") == "{":
                depth += 1
            else:
                position = _end(_SED_END, script, position)
        if position < 0 or depth < 0:
            return False
    return depth == 0


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else -1


_AWK = re.compile(
    r"""(?P<blank>[ \t]++)
      | (?P<value>"(?:[^"\\\n]|\\[^\n])*+"|\d++(?:\.\d++)?|\])
      | (?P<name>[A-Za-z_]\w*+)
      | (?P<more>>=?)
      | (?P<start>\|\||&&|!~|!(?!=)|[~({};,\n])
      | (?P<other>[=!<]=|\+\+|--|[-+*%^]=|[-+*%^=<?:$)\[])
      | (?P<slash>/)""",
    re.VERBOSE | re.ASCII,
)
_AWK_REGEX = re.compile(
    r"/(?:\\[^\n]|[^\\\n/\[]|\[\^?+\]?+(?:\[:[a-z]+:\]|\\[tnswd.]|[^\]/\n\\\[])*+\])++/"
)
_AWK_REFUSED = names(
    "system getline close fflush func function namespace PROCINFO SYMTAB FUNCTAB asort asorti"
    " include load eval"
)
# After these a slash starts a regular expression, or versions differ.
_AWK_KEYWORDS = names(
    "print printf return else do in case default if while for exit next nextfile delete BEGIN END"
    " BEGINFILE ENDFILE switch break continue length"
)


def awk_only_prints(program: str) -> bool:
    """Follows the tokens, to tell a regular expression from a division and > from a redirection."""
    if len(program) > _LONGEST:
        return False
    position, depth, before = 0, 0, "start"
    while position < len(program):
        found = _AWK.match(program, position)
        if found is None:
            return False
        kind, text = str(found.lastgroup), found.group()
        position = found.end()
        if kind == "blank":
            continue
        if kind == "slash":
            if before == "start":
                regex = _AWK_REGEX.match(program, found.start())
                position = regex.end() if regex else -1
                kind = "regex"
            if position < 0 or before not in {"start", "value"}:
                return False
        elif kind == "name":
            if text in _AWK_REFUSED:
                return False
            kind = "keyword" if text in _AWK_KEYWORDS else "value"
        elif kind == "more" and depth:
            return False
        depth += (text == "{") - (text == "}")
        before = kind
    return depth == 0
