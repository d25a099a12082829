"""The first index of a shadow: the user's, so that files need not all be read again.

Invariant: an entry is believed only if its object has the bytes that are on disk. That is not so
for files that git converts on the way in (line ends, $Id$, encodings, filters such as LFS): those
are marked as unknown and read at the next look. Flags that tell git not to look are taken off.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH101, PTH108, PTH111, PTH113, PTH123, PTH208

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agentls.core.errors import CheckpointFailed

from .regular import small_file
from .values import Stop

if TYPE_CHECKING:
    from .shadow import Shadow

_LARGEST_ATTRIBUTES: Final = 1 << 20
_GITLINK: Final = b"160000"
_USUAL: Final = ("$XDG_CONFIG_HOME/git/attributes", "~/.config/git/attributes")
Entry = tuple[bytes, bytes, bytes]
"""Mode, object and path."""


def seed(shadow: Shadow, attributes: list[str], stop: Stop) -> None:
    """Make the index of a shadow from that of its repository, or an empty one."""
    try:
        if not _copy_index(shadow):
            return
        listed = shadow.run("ls-files", "-z", "--stage", "-v", stop=stop)
        plain, strange = _parse(listed)
        suspects = _converted(shadow, plain, attributes, stop)
        _correct(shadow, strange, suspects, stop)
    except CheckpointFailed:
        stop.check()
        # An index that git cannot read alone; all files will be read once instead.
        with suppress(FileNotFoundError):
            os.unlink(shadow.index)


def _copy_index(shadow: Shadow) -> bool:
    git_dir = shadow.repository.git_dir
    with suppress(FileNotFoundError):
        os.unlink(shadow.index)
    try:
        if not stat.S_ISREG(os.lstat(f"{git_dir}/index").st_mode):
            return False
        # With its time: git compares it with those of the files to know which it must read again.
        shutil.copy2(f"{git_dir}/index", shadow.index)
        for name in os.listdir(git_dir):
            if name.startswith("sharedindex.") and os.path.isfile(f"{git_dir}/{name}"):
                shutil.copy2(f"{git_dir}/{name}", f"{shadow.folder}/{name}")
        os.chmod(shadow.index, 0o600)
    except OSError:
        return False
    return True


def _parse(listed: bytes) -> tuple[list[Entry], list[Entry]]:
    """Entries that may be believed, and those that need correction anyway."""
    plain, strange = [], []
    for line in listed.split(b"\0")[:-1]:
        head, _, path = line.partition(b"\t")
        flag, mode, name, stage = head.split(b" ")
        entry = (mode, name, path)
        if flag == b"H" and mode != _GITLINK:
            plain.append(entry)
        elif stage == b"0":
            strange.append(entry)
    return plain, strange


def _converted(
    shadow: Shadow, entries: list[Entry], attributes: list[str], stop: Stop
) -> list[Entry]:
    """Entries whose object may not have the bytes that are on disk."""
    filtered = _filtered(shadow, entries, attributes, stop)
    asked = b"".join(name + b"\n" for _, name, _ in entries)
    sizes = shadow.run(
        "cat-file", "--batch-check=%(objectsize)", "--buffer", stop=stop, input=asked
    )
    top = os.fsencode(shadow.repository.top) + b"/"
    found = []
    for entry, size in zip(entries, sizes.splitlines(), strict=True):
        try:
            # All conversions but filters and encodings change the size.
            same = os.lstat(top + entry[2]).st_size == int(size)
        except (OSError, ValueError):  # not on disk, or no such object here
            same = False
        if not same or entry[2] in filtered:
            found.append(entry)
    return found


def _filtered(
    shadow: Shadow, entries: list[Entry], attributes: list[str], stop: Stop
) -> set[bytes]:
    """Paths with a filter or an encoding of their own, as attributes say; no filter is run."""
    own = small_file(f"{shadow.repository.common_dir}/info/attributes", _LARGEST_ATTRIBUTES)
    with open(f"{shadow.folder}/info/attributes", "wb") as file:
        file.write(own or b"")
    if not (attributes or _some_mention(shadow, own or b"", stop)):
        return set()
    paths = b"".join(path + b"\0" for _, _, path in entries)
    args = ("check-attr", "-z", "--stdin", "filter", "working-tree-encoding")
    fields = shadow.run(*attributes, *args, stop=stop, input=paths).split(b"\0")[:-1]
    none = {b"unspecified", b"unset"}
    return {
        path for path, value in zip(fields[::3], fields[2::3], strict=True) if value not in none
    }


def _some_mention(shadow: Shadow, own: bytes, stop: Stop) -> bool:
    """Whether any file of attributes has a word about filters or encodings."""
    listed = shadow.run(
        *("ls-files", "-z", "--cached", "--others", "--", ":(glob)**/.gitattributes"),
        stop=stop,
        env={"GIT_LITERAL_PATHSPECS": "0"},
    )
    top = os.fsencode(shadow.repository.top) + b"/"
    names = [os.fsdecode(top + path) for path in listed.split(b"\0")[:-1]]
    for name in (*names, "/etc/gitattributes", *_USUAL):
        data = small_file(os.path.expanduser(name), _LARGEST_ATTRIBUTES)
        own += b"\n" + (data or b"")
    return b"filter" in own or b"working-tree-encoding" in own


def _correct(shadow: Shadow, strange: list[Entry], suspects: list[Entry], stop: Stop) -> None:
    """Take entries off, or write them anew, without flags and without the times that git trusts."""
    lines = []
    for mode, name, path in (*strange, *suspects):
        kept = b"0" if mode == _GITLINK else mode
        lines.append(b"%b %b\t%b\0" % (kept, name, path))
    if lines:
        shadow.run("update-index", "-z", "--index-info", stop=stop, input=b"".join(lines))
