"""Where a path leads at the moment of use, and the places that agents must not change.

Invariant: what `resolve` returns is where the bytes land, whichever way a program reads the path;
a path that means different places to different programs is refused. A file that has a second name
in a protected place is called by that one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from agentls.core.errors import BadRequest
from agentls.core.policy.paths import PROTECTED_AT_HOME

_LONGEST: Final = 4096
_MOST_LINKS: Final = 40
_MOST_FILES: Final = 2000
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=/)")
_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_OF_A_PROCESS: Final = re.compile(
    r"/proc/(?P<pid>\d+)(?:/task/\d+)?/(?P<what>cwd|root|exe|fd/\d+|map_files/[^/]+)"
)


def resolve(path: str, cwd: str) -> str:
    """The absolute real path of what an agent calls `path` in the folder `cwd`.

    What does not exist yet is taken to be made where its parent really is. `~` is no home folder
    here. Raises `BadRequest`.
    """
    if path[:5].lower() == "file:":
        path = _path_of_uri(path)
    elif _SCHEME.match(path):
        raise _refused(path, "is not a file", "Name a file by its path.")
    _check(path)
    if not path.startswith("/"):
        if not cwd.startswith("/"):
            raise _refused(path, "is relative to nothing", "Name it by its whole path.")
        _check(cwd)
        path = f"{cwd}/{path}"
    found = _walk(path)
    # The system follows a link before it takes the ".." after it; many programs take ".." first.
    if "/.." in path and _walk(os.path.normpath(path)) != found:
        raise _refused(path, "has .. after a link", "Name it without the .. in it.")
    return _protected_name(found) or found


def _refused(path: str, why: str, hint: str) -> BadRequest:
    name = path if len(path) <= 100 else f"{path[:99]}…"
    return BadRequest(f"The path {name!r} {why}.", hint=hint)


def _check(path: str) -> None:
    if not path:
        raise BadRequest("The path is empty.", hint="Name a file.")
    if _CONTROL.search(path):
        raise _refused(path, "holds a control character", "Name it without.")
    if len(os.fsencode(path)) > _LONGEST:
        raise _refused(path, "is too long", "Name a shorter one.")


def _path_of_uri(uri: str) -> str:
    from urllib.parse import unquote_to_bytes, urlsplit  # noqa: PLC0415 - few paths are URIs

    try:
        parts = urlsplit(uri)
        path = unquote_to_bytes(parts.path).decode()
    except ValueError:
        raise _refused(uri, "is not a file URI", "Name the file by its path.") from None
    if parts.netloc.lower() not in {"", "localhost"} or not path.startswith("/"):
        raise _refused(uri, "is not on this machine", "Name a file that is.")
    if parts.query or parts.fragment:
        raise _refused(uri, "is more than a file", "Write ? and # in it as %3F and %23.")
    return path


def _walk(path: str) -> str:
    """Follow a path the way the system does."""
    done = ""
    to_do = path.split("/")[::-1]
    links = 0
    while to_do:
        name = to_do.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        step = f"{done}/{name}"
        target = _link(step, path)
        if target is None:
            done = step
            continue
        links += 1
        if links > _MOST_LINKS:
            raise _refused(path, "leads in a circle of links", "Name another file.")
        if target.startswith("/"):
            done = ""
        to_do.extend(target.split("/")[::-1])
        if len(to_do) > _LONGEST:
            raise _refused(path, "is too long", "Name a shorter one.")
    return done or "/"


def _link(step: str, path: str) -> str | None:
    """What a link says, or None for what is none."""
    try:
        if not stat.S_ISLNK(os.lstat(step).st_mode):
            return None
        target = os.readlink(step)  # noqa: PTH115 - the text of the link as it is
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR}:
            return None
        reason = (error.strerror or "error").lower()
        raise _refused(path, f"cannot be looked at ({reason})", "Name another file.") from None
    if (found := _OF_A_PROCESS.fullmatch(step)) is not None:
        _check_process_link(found, step, target, path)
    return target


def _check_process_link(found: re.Match[str], step: str, target: str, path: str) -> None:
    """A link of /proc leads to an open file, which its text names only sometimes.

    What "self" is depends on who asks; for us it was followed to our own number before.
    """
    is_ours = int(found["pid"]) == os.getpid() and found["what"] != "root"
    try:
        honest = target.startswith("/") and not is_ours and Path(step).samefile(target)
    except OSError:
        honest = False
    if not honest:
        raise _refused(path, "may be another file to each process", "Name the file itself.")


# --- hard links


def _protected_name(path: str) -> str:
    """The name that a file with several names has in a protected place; empty if it has none.

    Only files with several names are looked for, in our own folders and beside the start files of
    the user, and not without end: a repository cannot bring such a file along.
    """
    try:
        found = os.lstat(path)
    except OSError:
        return ""
    if found.st_nlink < 2 or not stat.S_ISREG(found.st_mode):
        return ""
    for count, (name, info) in enumerate(_protected_files()):
        if (info.st_ino, info.st_dev) == (found.st_ino, found.st_dev):
            return name
        if count > _MOST_FILES:
            break
    return ""


def _protected_files() -> Iterator[tuple[str, os.stat_result]]:
    ours = {str(config_folder(os.environ)), str(state_folder(os.environ))}
    waiting = [(name, 2 if name in ours else 1) for name in protected_places(os.environ)][::-1]
    while waiting:
        name, depth = waiting.pop()
        try:
            info = os.lstat(name)
            if stat.S_ISDIR(info.st_mode) and depth:
                with os.scandir(name) as entries:
                    waiting += [(entry.path, depth - 1) for entry in islice(entries, _MOST_FILES)]
        except OSError:
            continue
        yield name, info


# --- our own folders, and what else is protected outside of any workspace


def config_folder(env: Mapping[str, str]) -> Path:
    """Where the user's rules and agents are."""
    # Asked here because platformdirs knows only the environment of this process.
    if (home := Path(env.get("XDG_CONFIG_HOME", ""))).is_absolute():
        return home / "agentls"
    from platformdirs import user_config_path  # noqa: PLC0415 - 6 ms, and rarely needed

    return user_config_path("agentls", appauthor=False)


def state_folder(env: Mapping[str, str]) -> Path:
    """Where sessions and the log are."""
    if (home := Path(env.get("XDG_STATE_HOME", ""))).is_absolute():
        return home / "agentls"
    from platformdirs import user_state_path  # noqa: PLC0415 - 6 ms, and rarely needed

    return user_state_path("agentls", appauthor=False)


def database_file(env: Mapping[str, str]) -> Path:
    """Where decisions are written down."""
    return state_folder(env) / "agentls.db"


def protected_places(env: Mapping[str, str]) -> tuple[str, ...]:
    """Our folders, and the start files of the user: as they are named and where they really are."""
    named = [str(config_folder(env)), str(state_folder(env))]
    if (home := env.get("HOME", "")).startswith("/"):
        named += [f"{home.rstrip('/')}/{name}" for name in PROTECTED_AT_HOME]
    named += [env[key] for key in ("XDG_CONFIG_HOME", "ZDOTDIR") if env.get(key, "")[:1] == "/"]
    return tuple(dict.fromkeys(where for name in named for where in (name, os.path.realpath(name))))
