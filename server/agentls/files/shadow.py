"""A private git directory for the files of one repository: what is on disk, as tree objects.

Invariants: nothing is written into the user's repository; the bytes in our objects are the bytes on
disk, whatever attributes, filters and line-end settings say; a file that cannot be kept (too big,
unreadable) is remembered instead, never left out in silence.

The index here is our own and stays, so that the next look costs about a `git status`. It begins as
a copy of the user's (see seeding.py). New content goes to our object directory; the user's objects
are only read, as alternates, and only where no content is written: git would set the times of
objects that it finds there.
"""

# Paths here are text that may stand for any bytes.
# ruff: noqa: PTH103, PTH105, PTH108, PTH111, PTH112, PTH113, PTH116, PTH120, PTH123

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Final

import msgspec

from agentls.core.errors import CheckpointFailed

from .big_files import Remembered, remember
from .git import Git
from .regular import small_file
from .repository import Repository
from .values import FileState, Limits, Stop

_LARGEST_EXCLUDE: Final = 1 << 20
_MANY: Final = 2000
"""Changed files from which on it is cheaper to begin again with the user's index."""
_ATTRIBUTES: Final = "* -text -crlf -eol -ident -filter -working-tree-encoding\n"
_CONFIG: Final = """\
[core]
\trepositoryFormatVersion = {version}
\tbare = false
\tfileMode = {core.filemode}
\tignoreCase = {core.ignorecase}
\tprecomposeUnicode = {core.precomposeunicode}
\tsymlinks = true
\tautocrlf = false
\tsafecrlf = false
\tfsmonitor = false
\tuntrackedCache = false
\tsparseCheckout = false
\thooksPath = /dev/null
\tlooseCompression = 1
[gc]
\tauto = 0
"""
_SETTINGS: Final = (
    "core.excludesfile",
    "core.attributesfile",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "extensions.objectformat",
)
Signature = tuple[int, ...]


class _State(msgspec.Struct):
    """What is known from last time."""

    user_index: Signature = ()
    """The user's index when its list of files was last looked at."""
    index: Signature = ()
    tree: str = ""
    """The tree of our index when it had the signature above."""
    remembered: dict[bytes, Remembered] = {}


class Snapshot(msgspec.Struct):
    """What `Shadow.take` found; paths are those of the repository."""

    tree: str
    remembered: dict[bytes, FileState]
    nested: list[bytes]
    partial: bool


class Shadow:
    """Our side of one repository. `folder` is ours; the caller keeps other processes out of it."""

    def __init__(
        self, git: Git, folder: str, repository: Repository, scope: str, limits: Limits
    ) -> None:
        self.folder = folder
        self.repository = repository
        self.scope = scope
        """The part of the repository that is looked at; "" is all."""
        self.index = f"{folder}/index"
        self._git = git
        self._limits = limits
        self._state_file = f"{folder}/state"
        self._excludes: list[str] = []
        self._attributes: list[str] = []

    @classmethod
    def reopened(cls, git: Git, folder: str, limits: Limits) -> Shadow | None:
        """The shadow in a folder, which may be one of a repository that is gone."""
        fields = (small_file(f"{folder}/where", 1 << 16) or b"").split(b"\0")
        if len(fields) != 4:
            return None
        top, git_dir, common_dir, scope = map(os.fsdecode, fields)
        return cls(git, folder, Repository(top, git_dir, common_dir), scope, limits)

    # --- taking

    def take(self, stop: Stop) -> Snapshot:
        """The present state of the files. Raises `CheckpointFailed`."""
        state = self._prepare(stop)
        try:
            return self._take(state, stop)
        except CheckpointFailed:
            stop.check()
            return self._take(state, stop)  # a file went away, or came, under our hands

    def _take(self, state: _State, stop: Stop) -> Snapshot:
        dirty, gone, others = self._look(stop)
        mine = signature(f"{self.repository.git_dir}/index")
        if len(dirty) + len(gone) > _MANY and state.user_index != mine:
            self._seed(self._attributes, stop)
            state.user_index = mine
            dirty, gone, others = self._look(stop)
        new = {path for path in others if not path.endswith(b"/")}
        if state.user_index != mine:
            new |= self._tracked_though_ignored(stop)
            state.user_index = mine
        again = {path for path in state.remembered if self._is_inside(path)}
        sorted_out = self._sort(dirty | new | again, state, stop)
        self._update(gone | sorted_out.gone | set(sorted_out.remembered), sorted_out.kept, stop)
        if not state.tree or state.index != signature(self.index):
            state.tree = self._write_tree(stop)
            state.index = signature(self.index)
        state.remembered = sorted_out.remembered
        self._save(state)
        return Snapshot(
            tree=state.tree,
            remembered={path: item.state for path, item in sorted_out.remembered.items()},
            nested=[path for path in others if path.endswith(b"/")],
            partial=sorted_out.partial,
        )

    def _look(self, stop: Stop) -> tuple[set[bytes], set[bytes], list[bytes]]:
        """Paths that differ from our index, paths that are gone, paths that are not in it."""
        listed = self.run("diff-files", "-z", "--raw", "--no-renames", "--no-ext-diff",
                          "--ignore-submodules=all", *self._within(), stop=stop)  # fmt: skip
        fields = listed.split(b"\0")[:-1]
        found = list(zip(fields[::2], fields[1::2], strict=True))
        gone = {path for what, path in found if what.endswith(b" D")}
        others = self.run(*self._excludes, "ls-files", "-z", "--others", "--exclude-standard",
                          *self._within(), stop=stop)  # fmt: skip
        return {path for _, path in found} - gone, gone, others.split(b"\0")[:-1]

    def _tracked_though_ignored(self, stop: Stop) -> set[bytes]:
        """What the user has added to the repository although a pattern says to ignore it."""
        args = (*self._excludes, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        ours = self.run(*args, *self._within(), stop=stop)
        index = f"{self.repository.git_dir}/index"
        try:
            theirs = self.run(*args, *self._within(), stop=stop, env={"GIT_INDEX_FILE": index})
        except CheckpointFailed:
            stop.check()
            return set()  # no index yet, or one that is shared out over several files
        return set(theirs.split(b"\0")[:-1]) - set(ours.split(b"\0")[:-1])

    def _is_inside(self, path: bytes) -> bool:
        """Whether no folder on the way to a file has become a link."""
        parent = os.path.dirname(os.fsencode(self.repository.top) + b"/" + path)
        return os.path.realpath(parent) == parent

    def _within(self) -> tuple[str, ...]:
        return ("--", self.scope) if self.scope else ()

    def _sort(self, paths: set[bytes], state: _State, stop: Stop) -> _Sorted:
        top = os.fsencode(self.repository.top)
        result = _Sorted()
        left, files = self._limits.new_bytes, self._limits.files
        for path in sorted(paths):
            name = top + b"/" + path
            try:
                found = os.lstat(name)
            except (OSError, ValueError):
                result.gone.add(path)
                continue
            if stat.S_ISLNK(found.st_mode):
                result.kept.append(path)
            elif not stat.S_ISREG(found.st_mode):
                result.gone.add(path)
            elif (
                found.st_size > min(self._limits.file_bytes, left)
                or files <= 0
                or not os.access(name, os.R_OK)
            ):
                stop.check()
                result.partial |= found.st_size <= self._limits.file_bytes
                result.remembered[path] = remember(name, found, state.remembered.get(path))
            else:
                left, files = left - found.st_size, files - 1
                result.kept.append(path)
        return result

    def _update(self, gone: set[bytes], kept: list[bytes], stop: Stop) -> None:
        """Make our index say what is on disk. Content goes to our own objects only."""
        if gone and os.path.lexists(self.index):
            null = b"0" * self._width()
            lines = b"".join(b"0 %b\t%b\0" % (null, path) for path in sorted(gone))
            self.run("update-index", "-z", "--index-info", stop=stop, input=lines, own_only=True)
        if kept:
            self.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stop=stop,
                     input=b"".join(path + b"\0" for path in kept), own_only=True)  # fmt: skip

    def _write_tree(self, stop: Stop) -> str:
        # Blobs may be the user's, which are not looked at here; trees are all ours.
        written = self.run("write-tree", "--missing-ok", stop=stop, own_only=True)
        return written.decode().strip()

    # --- reading and forgetting

    def changed(self, before: str, after: str, stop: Stop) -> list[tuple[bytes, _Side, _Side]]:
        """Paths that differ between two trees ("" is one without files), with mode and object."""
        empty = self.run("hash-object", "-t", "tree", "--stdin", stop=stop).decode().strip()
        listed = self.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff",
                          "--full-index", before or empty, after or empty,
                          *self._within(), stop=stop)  # fmt: skip
        fields = listed.split(b"\0")[:-1]
        found = []
        for what, path in zip(fields[::2], fields[1::2], strict=True):
            old_mode, new_mode, old, new, _ = what.decode().removeprefix(":").split(" ")
            found.append((path, (int(old_mode, 8), old), (int(new_mode, 8), new)))
        return found

    def sizes(self, objects: list[str], stop: Stop) -> dict[str, int]:
        """The sizes of those objects that there are."""
        asked = "".join(f"{name}\n" for name in objects).encode()
        listed = self.run("cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer",
                          stop=stop, input=asked)  # fmt: skip
        lines = (line.split(" ") for line in listed.decode().splitlines())
        return {name: int(size) for name, size in lines if size != "missing"}

    def content(self, name: str, stop: Stop) -> bytes | None:
        """What is in an object; None when there is no such object any more."""
        try:
            return self.run("cat-file", "blob", name, stop=stop)
        except CheckpointFailed:
            stop.check()
            return None

    def collect(self, trees: set[str], stop: Stop) -> None:
        """Forget all content that is neither in these trees nor on disk."""
        lines = [f"{tree} refs/kept/{number}\n" for number, tree in enumerate(sorted(trees))]
        write_file(f"{self.folder}/packed-refs", "# pack-refs with: \n" + "".join(lines))
        self.run("repack", "-a", "-d", "-l", "-q", stop=stop)
        self.run("prune", "--expire=now", stop=stop)

    # --- our folder

    def run(
        self,
        *args: str,
        stop: Stop,
        input: bytes = b"",
        env: dict[str, str] | None = None,
        own_only: bool = False,
    ) -> bytes:
        """Run git on our directory; with `own_only` the user's objects are not even looked at."""
        own = {"GIT_DIR": self.folder, "GIT_WORK_TREE": self.repository.top}
        if not own_only:
            theirs = f"{self.repository.common_dir}/objects"
            own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = _quoted(theirs)
        # The top of the files may be gone by now; objects can be read all the same.
        folder = self.repository.top if os.path.isdir(self.repository.top) else self.folder
        return self._git.run(args, folder=folder, stop=stop, env=own | (env or {}), input=input)

    def is_ignored(self, stop: Stop) -> bool:
        """Whether the patterns of the repository cover all of what we would look at."""
        self._configure(stop)
        # This command takes no literal pathspecs; what begins with a dot has nothing special.
        args = ("check-ignore", "-q", "--no-index", f"./{self.scope}")
        try:
            self.run(*self._excludes, *args, stop=stop, env={"GIT_LITERAL_PATHSPECS": "0"})
        except CheckpointFailed:
            stop.check()
            return False
        return True

    def _prepare(self, stop: Stop) -> _State:
        attributes = self._configure(stop)
        # A git that was killed leaves its lock; nobody else works here while we do.
        with suppress(FileNotFoundError):
            os.unlink(f"{self.index}.lock")
        state = self._load()
        if state is None:
            mine = signature(f"{self.repository.git_dir}/index")
            self._seed(attributes, stop)
            state = _State(user_index=mine)
        self._attributes = attributes
        return state

    def _configure(self, stop: Stop) -> list[str]:
        """Set our directory up; how git is told about the user's attributes."""
        settings = self._git.setting(self.repository.git_dir, _SETTINGS, stop)
        self._excludes = _file_option("core.excludesFile", settings.get("core.excludesfile", ""))
        for name in ("objects/info", "objects/pack", "refs", "info"):
            os.makedirs(f"{self.folder}/{name}", mode=0o700, exist_ok=True)
        wide = settings.get("extensions.objectformat", "").lower() == "sha256"
        booleans = {
            "core.filemode": settings.get("core.filemode", "true").lower() != "false",
            "core.ignorecase": settings.get("core.ignorecase", "").lower() == "true",
            "core.precomposeunicode": settings.get("core.precomposeunicode", "").lower() == "true",
        }
        config = _CONFIG.replace("{version}", str(int(wide)))
        for key, value in booleans.items():
            config = config.replace(f"{{{key}}}", str(value).lower())
        if wide:
            config += "[extensions]\n\tobjectFormat = sha256\n"
        write_file(f"{self.folder}/config", config)
        write_file(f"{self.folder}/HEAD", "ref: refs/heads/none\n")
        write_file(f"{self.folder}/info/attributes", _ATTRIBUTES)
        exclude = small_file(f"{self.repository.common_dir}/info/exclude", _LARGEST_EXCLUDE)
        write_file(f"{self.folder}/info/exclude", exclude or b"")
        places = (*msgspec.structs.astuple(self.repository), self.scope)
        write_file(f"{self.folder}/where", b"\0".join(map(os.fsencode, places)))
        return _file_option("core.attributesFile", settings.get("core.attributesfile", ""))

    def _seed(self, attributes: list[str], stop: Stop) -> None:
        from .seeding import seed  # noqa: PLC0415 - once for each repository

        try:
            seed(self, attributes, stop)
        finally:
            write_file(f"{self.folder}/info/attributes", _ATTRIBUTES)

    def _width(self) -> int:
        return 64 if b"sha256" in (small_file(f"{self.folder}/config", 4096) or b"") else 40

    def _load(self) -> _State | None:
        data = small_file(self._state_file, 1 << 30)
        try:
            return None if data is None else msgspec.msgpack.decode(data, type=_State)
        except msgspec.DecodeError:
            return None

    def _save(self, state: _State) -> None:
        write_file(self._state_file, msgspec.msgpack.encode(state))


_Side = tuple[int, str]


class _Sorted(msgspec.Struct):
    """What is to be done with paths that were found changed."""

    gone: set[bytes] = msgspec.field(default_factory=set)
    kept: list[bytes] = msgspec.field(default_factory=list)
    remembered: dict[bytes, Remembered] = msgspec.field(default_factory=dict)
    partial: bool = False


def signature(path: str) -> Signature:
    """What changes when a file does; () when there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


def write_file(path: str, content: str | bytes) -> None:
    """Write a file of our own folder, which nobody else writes at the same time."""
    data = content.encode() if isinstance(content, str) else content
    if small_file(path, len(data)) == data:
        return
    with open(f"{path}.new", "wb") as file:
        file.write(data)
    os.replace(f"{path}.new", path)


def _file_option(name: str, value: str) -> list[str]:
    """An option that names a file; what is no regular file (a pipe would wait) is left out."""
    if value.startswith(("/", "~/")) and os.path.isfile(os.path.expanduser(value)):
        return ["-c", f"{name}={value}"]
    return []


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
