"""What an agent's tool input names: commands, folders, files, addresses, wherever they stand in it.

Invariant: nothing in the input is left out silently. What is not known to be harmless is listed in
`others`, and what is too much to look through is said in `too_much`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct, field

from .tables import names

_MOST: Final = 20_000
_DEEPEST: Final = 32
_LONGEST: Final = 4096
MOST_PATHS: Final = 200


COMMANDS: Final = names("command cmd argv")
_NEARLY_COMMANDS: Final = names("script shellcommand commandline shell bash exec code run")
FOLDERS: Final = names("cwd workdir workingdirectory workingdir currentdirectory")
FOLDERS_OF_COMMANDS: Final = FOLDERS | names("directory dirpath dir")
_PATHS: Final = names(
    "path paths file files filepath filepaths filename filenames notebookpath abspath"
    " absolutepath absolutefilepath relativepath relativeworkspacepath newpath oldpath source"
    " sourcepath src destination destinationpath dest destpath dst target targetpath targetfile"
    " targetdirectory targetdirectories from to movepath moveto directory directories"
    " directorypath dir dirs dirpath folder folders folderpath parentdir root roots rootdir"
    " rootpath base basedir basepath searchpath searchpaths searchdirectory location locations"
    " output outputfile outputpath changes"
)
_GLOBS: Final = names("glob globs include includes includepattern includepatterns filepattern")
_PATTERNS: Final = names("pattern patterns")
_ADDRESSES: Final = names("url uri urls uris link href address endpoint baseurl")
_HOSTS: Final = names("host hostname domain server")
_PATCHES: Final = names("diff patch patchtext unifieddiff patches")
LABELS: Final = names(
    "description explanation justification reason title outputmode type pages language encoding"
    " regex exclude excludes excludepattern excludepatterns ignore sortby timeout timeoutms"
    " isbackground runinbackground background"
)
"""What is said about a call without being any part of what it does."""
_BODIES: Final = names(
    "content contents text filetext newtext oldtext oldstring newstring oldstr newstr inserttext"
    " newsource oldsource newcontent oldcontent originalcontent codeedit before after"
)
"""What edits put into files."""

_ELSEWHERE: Final = re.compile(
    r"[/~\\]|[A-Za-z]:[/\\]|file:|(?:.*[/\\])?\.\.(?:[/\\]|\Z)", re.IGNORECASE
)
_BRACES: Final = re.compile(r"[{,][/~]|\{[^}]*\.\.")
_HEADER: Final = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:\+\+\+|---) (?:[ab]/)?"
    r"|(?:rename|copy) (?:from|to) |Index: )([^\t\r\n]+)",
    re.MULTILINE,
)


class Found(Struct):
    """All that an input names."""

    commands: list[Any] = field(default_factory=list)
    """What the input itself says is to run."""
    folders: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    """Keys whose text goes into a file."""
    others: list[str] = field(default_factory=list)
    """Keys that may mean anything."""
    hidden: list[str] = field(default_factory=list)
    """Keys deeper in the input that may say what runs."""
    too_much: bool = False


def plain(key: str) -> str:
    """A key without the differences between file_path, filePath and file-path."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def look_through(given: Any, *, regex: bool = False) -> Found:
    """Everything that is named. `regex`: a "pattern" is one for text, not for names of files."""
    found = Found()
    for count, (key, value, depth) in enumerate(_leaves(given)):
        if count >= _MOST or depth > _DEEPEST or len(found.paths) > MOST_PATHS:
            found.too_much = True
            break
        _sort_in(found, key, value, depth, regex)
    return found


def joined(parts: list[Found]) -> Found:
    """All that several inputs name, in order."""
    first, *others = parts
    for other in others:
        for name in Found.__struct_fields__[:-1]:
            getattr(first, name).extend(getattr(other, name))
        first.too_much |= other.too_much
    first.paths = list(dict.fromkeys(first.paths))
    return first


def _leaves(given: Any) -> Iterator[tuple[str, Any, int]]:
    """The values that are no objects, with the key they are under; lists are under that of theirs.

    A command is one value, also when it is a list.
    """
    waiting: list[tuple[str, Any, int]] = [("", given, 0)]
    while waiting:
        key, value, depth = waiting.pop()
        if depth > _DEEPEST or not isinstance(value, dict | list):
            yield key, value, depth
        elif len(value) > _MOST:
            yield key, value, _DEEPEST + 1
        elif isinstance(value, list):
            if plain(key) in COMMANDS:
                yield key, value, depth
            else:
                waiting += [(key, each, depth + (type(each) is list)) for each in reversed(value)]
        else:
            for inner, each in reversed(value.items()):
                if _is_name_of_a_file(inner):
                    waiting.append(("path", inner, depth + 1))
                if plain(inner) in COMMANDS and isinstance(each, dict):
                    yield inner, each, depth + 1
                waiting.append((inner, each, depth + 1))


def _is_name_of_a_file(key: str) -> bool:
    """Some say what they change as an object with the files as keys."""
    return "/" in key or "\\" in key or key.startswith(("~", "."))


def _sort_in(found: Found, key: str, value: Any, depth: int, regex: bool) -> None:
    name = plain(key)
    if name in COMMANDS:
        if depth == 1:
            found.commands.append(value)
        elif value:
            found.hidden.append(key)
    elif name in FOLDERS:
        found.folders.append(value)
    elif not isinstance(value, str):
        return  # numbers and switches: how much, not what
    elif not value or name in LABELS:
        return
    elif name in _PATHS or name in _GLOBS:
        _add_path(found, value)
    elif name in _PATTERNS:
        if not regex and ("/" in value or _leads_elsewhere(value)):
            _add_path(found, value)
    elif name in _ADDRESSES:
        (found.paths if value[:5].lower() == "file:" else found.addresses).append(value)
    elif name in _HOSTS:
        found.hosts.append(value)
    else:
        _sort_in_text(found, key, name, value)


def _sort_in_text(found: Found, key: str, name: str, value: str) -> None:
    if name in _BODIES:
        found.bodies.append(key)
    elif (named := _HEADER.findall(value)) or name in _PATCHES:
        found.paths += [path.strip() for path in named if path.strip() != "/dev/null"]
        found.bodies.append(key)
    elif name in _NEARLY_COMMANDS:
        found.hidden.append(key)
    else:
        found.others.append(key or "something that is no object")
        if "\n" not in value and _leads_elsewhere(value):
            found.paths.append(value)


def _add_path(found: Found, value: str) -> None:
    if len(value) > _LONGEST or _BRACES.search(value):
        found.others.append(value[:80])  # {src,../..}/x names several places
    found.paths.append(value)


def _leads_elsewhere(text: str) -> bool:
    return _ELSEWHERE.match(text) is not None
