"""Programs whose purpose is to change files: which files a rule for them covers.

Invariant: covered is what is plainly below the current folder and not hidden. Everything else may
be a file that makes programs run, such as a hook, or that says what an agent may do.
"""

from __future__ import annotations

import re

from .options import Options, alternatives, parse
from .programs import RISKY
from .tables import names
from .uses import Use, risk

_WRITER_OPTIONS: dict[str, Options] = {
    "zip": RISKY["zip"],
    "install": parse("--strip-program"),
    "split": parse("--filter"),
    "csplit": parse("--filter"),
    "xz": parse("--files --files0"),
    "zstd": parse("--filelist"),
    **dict.fromkeys(("cp", "mv", "ln"), parse("-T --no-target-directory")),
}
_RSYNC = re.compile(
    r"-[avzrnhPuitlpogDHAXSWcqxR]+|--(?:archive|verbose|recursive|dry-run|human-readable|progress"
    r"|stats|update|checksum|itemize-changes|compress|partial|links|perms|times|size-only|quiet"
    r"|ignore-existing|existing|whole-file|(?:ex|in)clude=[\w*./?-]+|bwlimit=\w+|max-size=\w+)"
)
_RSYNC_VALUES = names("--exclude --include")
WRITERS = names(
    "chgrp chmod chown cp csplit dd gunzip gzip install ln mkdir mkfifo mv rm rmdir rsync"
    " shred split tee touch truncate unlink xz zip zstd"
)


def objection(use: Use) -> str:
    """Changes files below the current folder; hidden ones may be what makes programs run."""
    risky = _WRITER_OPTIONS.get(use.name)
    operands = sum(not word.startswith("-") for word in use.words[1 : use.start])
    named = operands > (use.name in _MODE_FIRST)
    for word in use.further:
        if named and not word.startswith("-"):
            return f"the rule names other files than {word}"
        if risky is not None and risky.risky(word):
            return risk(word, use.name)
        if use.name == "chmod" and _RAISES.fullmatch(word):
            return f"{word} lets others run a program as its owner"
        for each in alternatives(word):
            path = _path_in(each)
            if path != "/dev/null" and not is_near(path):
                return f"{path} is not plainly a file below the current folder"
    return _rsync(use) if use.name == "rsync" else _everything_here(use)


def _everything_here(use: Use) -> str:
    """What is hidden here is changed as well by a command for the folder itself."""
    if use.name not in _IN_PLACE:
        return ""
    if any(map(_HERE.fullmatch, use.words[1:])):
        return f"{use.name} would change everything here, hidden files too"
    if any(_ANYTHING_HERE.fullmatch(use.words[at]) for at in use.globs if at >= use.start):
        return f"{use.name} would change everything here"
    return ""


def _rsync(use: Use) -> str:
    before = ""
    for word in use.further:
        if word.startswith("-") and not _RSYNC.fullmatch(word) and word not in _RSYNC_VALUES:
            return risk(word, use.name)
        if before not in _RSYNC_VALUES and _HERE.fullmatch(word):
            return f"{use.name} may bring hidden files here"
        before = word
    return ""


_HERE = re.compile(r"(?:\.?/*)*\.?")
_ANYTHING_HERE = re.compile(r"(?:\./+)*(?:[*?]|\[[^]]*\])+(?:/.*)?")
_IN_PLACE = names("chmod chown chgrp gzip gunzip xz zstd rm shred truncate")
_MODE_FIRST = frozenset({"chmod", "chown", "chgrp"})
_NAMED = re.compile(r"-|[a-z]+=")
_RAISES = re.compile(r"[ugoa]*[-+=][rwxX]*[st].*|0*[1-7][0-7]{3}")


def _path_in(word: str) -> str:
    """The part of a word that may be a path: of=PATH, --to=PATH, -tPATH."""
    if not _NAMED.match(word):
        return word
    _, equals, value = word.partition("=")
    if equals:
        return value
    # The value of a short option may be glued to it: from the first mark of a path on.
    start = min((word.index(mark) for mark in "./" if mark in word), default=len(word))
    return word[start:]


def is_near(path: str) -> bool:
    """Whether a path is plainly below the current folder and not hidden."""
    first, *others = path.split("/")
    hidden = any(part.startswith(".") for part in others) or (first[:1] == "." and first != ".")
    return not (hidden or path.startswith(("/", "~", "$")) or ":" in path)


def is_plain_folder(path: str) -> bool:
    """Whether a path is written out and leads through nothing hidden."""
    hidden = any(part[:1] == "." and part not in {".", ".."} for part in path.split("/"))
    return not hidden and path[:1] not in {"", "-", "~", "+"} and _PLAIN_FOLDER.search(path) is None


_PLAIN_FOLDER = re.compile(r"[$*?\[\]{}`\\]")
