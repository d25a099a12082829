"""Files read and written so that nothing is lost: either all of the old is there or all of the new.

Invariants: no error leaves a half-written file or a temporary one; what is not a regular file is
neither read nor written; a write that expects something compares just before it takes effect.

A file is replaced by renaming a finished one over it. It is written in place, with the old content
put back on failure, where renaming would do harm: a file with several names (hard links) would be
cut off from the others, one in a folder that takes no new files or of another owner could not be
made again, one that is a mount of its own cannot be renamed over.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH102, PTH105, PTH106, PTH108, PTH116, PTH120

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from typing import Final, Literal

from agentls.core.errors import FileError, FileFailed, FileMissing, FileMoved, FileRefused
from agentls.core.text import excerpt

from .regular import NotRegular, open_regular
from .texts import Form, decode, encode

LARGEST_TEXT: Final = 10 * 1024 * 1024
Expected = bytes | None | Literal["anything"]
"""What must be there for a write to happen: this content, no file (None), or whatever it is."""
_WRITE: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
_NOT_THERE: Final = (FileNotFoundError, NotADirectoryError)
_WORDS: Final = {
    errno.ENOSPC: ("the disk is full", "Make room and try again."),
    errno.EDQUOT: ("your disk quota is used up", "Make room and try again."),
    errno.EFBIG: ("it would be larger than the system allows", "Write less."),
    errno.EROFS: ("the disk is read-only", "Write somewhere else."),
    errno.EACCES: ("the permissions do not allow it", "Change them, or choose another file."),
    errno.EPERM: ("the permissions do not allow it", "Change them, or choose another file."),
    errno.EISDIR: ("there is a folder of that name", "Choose another name."),
    errno.ENOTDIR: ("a part of its path is a file", "Choose another path."),
    errno.ENOENT: ("its folder has vanished", "Make the folder again, or choose another."),
    errno.ELOOP: ("its links lead in a circle", "Mend the links."),
    errno.ENAMETOOLONG: ("its name is too long", "Choose a shorter one."),
}


# --- reading


def read_text(
    path: str, *, line: int | None = None, limit: int | None = None, largest: int = LARGEST_TEXT
) -> tuple[str, Form]:
    """The text of a file, or the lines of it that are asked for, and how it is written down.

    Raises `FileMissing`, `FileRefused`, `FileFailed`.
    """
    text, form = decode(read_bytes(path, largest=largest), path)
    return excerpt(text, line, limit), form


def read_bytes(path: str, *, largest: int = LARGEST_TEXT) -> bytes:
    """What is in a regular file. Raises `FileMissing`, `FileRefused`, `FileFailed`."""
    try:
        file, found = open_regular(path)
        with file:
            data = b"" if found.st_size > largest else file.read(largest + 1)
    except NotRegular as error:
        raise _not_regular(path, error.mode) from None
    except _NOT_THERE:
        raise FileMissing(f"There is no file {path}.") from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise _not_regular(path, stat.S_IFSOCK) from None
        raise _failed(path, "read", error) from None
    size = max(found.st_size, len(data))
    if size > largest:
        raise FileRefused(
            f"{path} is too large to read: {_megabytes(size)} MB; the limit is"
            f" {_megabytes(largest)} MB.",
            hint="Read a part of it with a command, such as head or grep.",
        )
    return data


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.4g}"


def _not_regular(path: str, mode: int) -> FileRefused:
    what = "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"
    return FileRefused(f"{path} is not a file but {what}.", hint="Choose another name.")


def _failed(path: str, done: str, error: OSError) -> FileError:
    words, hint = _WORDS.get(error.errno or 0, ((error.strerror or str(error)).lower(), ""))
    return FileFailed(f"{path} cannot be {done}: {words}.", hint=hint)


# --- writing


def write_text(
    path: str, text: str, *, form: Form | None = None, expected: Expected = "anything"
) -> None:
    """Write a text as it is, line ends included, in the form that `read_text` gave (UTF-8 for new).

    Raises as `write_bytes`, and `FileRefused` for text that the encoding of the file cannot hold.
    """
    write_bytes(path, encode(text, form or Form(), path), expected=expected)


def write_bytes(
    path: str, data: bytes, *, expected: Expected = "anything", force: bool = False
) -> None:
    """Give a file this content; its folders are made, and a link leads to what it points to.

    Permissions and owner stay; a new file has the usual ones. `force` writes a read-only file too.
    Raises `FileMoved` when the file is not as `expected`, `FileRefused`, `FileFailed`.
    """
    made: list[str] = []
    try:
        target = os.path.realpath(path, strict=False)
        found = _look(target, path, force=force)
        if found is None and expected not in {"anything", None}:
            raise _moved(path)
        if found is None:
            made = _make_folders(os.path.dirname(target))
        if found is None or _replaceable(target, found):
            _replace(path, target, data, found, expected)
        else:
            _write_in_place(path, target, data, expected)
    except FileError:
        _unmake_folders(made)
        raise
    except OSError as error:
        _unmake_folders(made)
        raise _failed(path, "written", error) from None


def _look(target: str, path: str, *, force: bool) -> os.stat_result | None:
    """The file as it is now; None when there is none. Raises when it is none to write to."""
    try:
        found = os.lstat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(found.st_mode):
        raise _not_regular(path, found.st_mode)
    # The bits too, not only what the system lets us do: an administrator may write everything, but
    # whoever took the permission from a file wanted it left alone.
    if not force and not (found.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise FileRefused(f"{path} is read-only.", hint="Make it writable, or choose another file.")
    return found


def _make_folders(folder: str) -> list[str]:
    """The folders that had to be made, outermost first."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made: list[str] = []
    try:
        for name in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(name)
                made.append(name)
    except OSError:
        _unmake_folders(made)
        raise
    return made


def _unmake_folders(made: list[str]) -> None:
    for name in reversed(made):
        with suppress(OSError):  # somebody uses it by now
            os.rmdir(name)


def _replaceable(target: str, found: os.stat_result) -> bool:
    folder = os.path.dirname(target)
    try:
        open_folder = os.stat(folder).st_mode & 0o222 and os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return True  # the next step says what is wrong
    ours = found.st_uid == os.geteuid() or os.geteuid() == 0
    return found.st_nlink == 1 and bool(open_folder) and ours


def _replace(
    path: str, target: str, data: bytes, found: os.stat_result | None, expected: Expected
) -> None:
    folder = os.path.dirname(target)
    if not os.stat(folder).st_mode & 0o222:
        raise FileRefused(f"The folder {folder} is read-only.", hint="Choose another one.")
    fresh = f"{folder}/.agentls-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    # A new file gets what the umask of this process leaves; a replaced one is private until it has
    # the permissions of the old one.
    at = os.open(fresh, flags, 0o666 if found is None else 0o600)
    try:
        with os.fdopen(at, "wb", buffering=0) as file:
            _write_all(file.fileno(), data)
            _keep_attributes(file.fileno(), found)
            os.fsync(file.fileno())
        _check(path, target, expected)
        if expected is None:
            _put_where_nothing_is(fresh, target, path)
        else:
            os.replace(fresh, target)
    except OSError as error:
        _remove_quietly(fresh)
        if error.errno != errno.EBUSY or found is None:
            raise
        _write_in_place(path, target, data, expected)
    except BaseException:
        _remove_quietly(fresh)
        raise
    _sync_folder(folder)


def _remove_quietly(fresh: str) -> None:
    with suppress(OSError):
        os.unlink(fresh)


def _write_all(at: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(at, view) :]


def _keep_attributes(at: int, found: os.stat_result | None) -> None:
    if found is None:
        return
    own = os.fstat(at)
    if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
        with suppress(OSError):  # the group is one that we are not in
            os.fchown(at, found.st_uid, found.st_gid)
    os.fchmod(at, stat.S_IMODE(found.st_mode))


def _check(path: str, target: str, expected: Expected) -> None:
    if expected == "anything":
        return
    try:
        now = read_bytes(target, largest=max(len(expected or b""), 1))
    except FileMissing:
        now = None
    except FileRefused:
        raise _moved(path) from None
    if now != expected:
        raise _moved(path)


def _moved(path: str) -> FileMoved:
    return FileMoved(
        f"{path} has changed in the meantime; nothing was written.", hint="Read it again."
    )


def _put_where_nothing_is(fresh: str, target: str, path: str) -> None:
    """As a rename, but never over a file that has just come."""
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise _moved(path) from None
    except OSError:  # a file system without hard links
        os.replace(fresh, target)
    else:
        os.unlink(fresh)


def _write_in_place(path: str, target: str, data: bytes, expected: Expected) -> None:
    # A folder cannot be opened to write; a pipe that has just come is seen below.
    at = os.open(target, _WRITE)
    with os.fdopen(at, "r+b", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(at).st_mode):
            raise _not_regular(path, os.fstat(at).st_mode)
        old = file.read()
        if expected not in {"anything", old}:
            raise _moved(path)
        try:
            if len(data) > len(old):
                _reserve(at, len(data))
            _overwrite(at, data)
        except OSError:
            _overwrite(at, old)
            raise


def _reserve(at: int, size: int) -> None:
    """Have a full disk show before anything is lost."""
    if hasattr(os, "posix_fallocate"):  # not on macOS
        try:
            os.posix_fallocate(at, 0, size)
        except OSError as error:
            if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL}:
                raise


def _overwrite(at: int, data: bytes) -> None:
    os.lseek(at, 0, os.SEEK_SET)
    _write_all(at, data)
    os.ftruncate(at, len(data))
    os.fsync(at)


def _sync_folder(folder: str) -> None:
    with suppress(OSError):  # some file systems cannot; the content itself is on disk
        at = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            os.fsync(at)
        finally:
            os.close(at)
