"""Places: inside a workspace or not, protected or not, matched by a rule's glob or not.

All paths here are absolute and resolved. Invariant: on any file system that may be below us (one
that ignores case, Unicode form, invisible characters or trailing dots) a protected place is
recognised under each of its names; a glob that allows matches only what is spelled the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from itertools import takewhile
from typing import Final

from msgspec import Struct

_VERSION_CONTROL: Final = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
_STARTS_PROGRAMS_TEXT: Final = """
    .vscode .vscode-server .idea .fleet .zed .helix .nvim .nvim.lua .nvimrc .exrc .vimrc .lvimrc
    .lazy.lua .vim .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pre-commit-config.yaml .mise.toml
    .cargo .venv .agents .amp .claude-plugin .crush.json crush.json
    .dir-locals.el .dir-locals-2.el .devcontainer .devcontainer.json .envrc .husky
    .agentls .mcp.json
    .claude .claude.json .codex .gemini .qwen .opencode opencode.json opencode.jsonc .cursor .kimi
    .vibe .goose .copilot .augment .junie .cline .kilocode .factory .fast-agent .roo .windsurf
    .continue .crush .crush.json .kiro .devin .aider.conf.yml
"""
_STARTS_PROGRAMS: Final = frozenset(_STARTS_PROGRAMS_TEXT.split())
"""Files and folders by which a repository, or an agent that writes there, makes programs run."""
_SECRET_TEXT: Final = """
    .envrc .ssh .gnupg .aws .azure .kube .gcloud .netrc _netrc .pgpass .git-credentials .pypirc
    .htpasswd .vault-token .credentials.json id_rsa id_dsa id_ecdsa id_ed25519
    application_default_credentials.json
"""
_SECRET_NAMES: Final = frozenset(_SECRET_TEXT.split())
PROTECTED_NAMES: Final = _VERSION_CONTROL | _STARTS_PROGRAMS | _SECRET_NAMES
_SECRET_LAST: Final = frozenset({"credentials", "credentials.json", "credentials.toml"})
_ENV_WITHOUT_SECRETS: Final = (".example", ".sample", ".template", ".dist", ".defaults")
_AT_HOME_TEXT: Final = """
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
    .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsession .xsessionrc
    .pam_environment .config .ssh .gnupg .gitconfig .vim .gvimrc .emacs .emacs.d .tmux.conf
    .screenrc .npmrc .yarnrc .yarnrc.yml .netrc .pypirc .condarc .pythonrc.py .gdbinit .lldbinit
    .cargo/bin .cargo/env .cargo/config .cargo/config.toml .local/bin bin .docker .kube .aws .azure
    .gradle/init.d .m2/settings.xml .Rprofile .irbrc .psqlrc
    Library/LaunchAgents Library/Preferences
"""
PROTECTED_AT_HOME: Final = tuple(_AT_HOME_TEXT.split())
"""Below the home folder: start files of shells and programs, and what signs a person in."""

_ODD: Final = re.compile(r"[^\x21-\x7d]|[:\\]|\.(?:/|\Z)")
_SHORT: Final = re.compile(r"([^~]{1,8})~\d+(?:\..*)?")
_SHORT_NAMES: Final = {name.replace(".", "")[:6]: name for name in sorted(PROTECTED_NAMES)}
_HOME: Final = "~, which some programs take for a home folder"
_UNRESOLVED: Final = re.compile(r"//|/\.\.?(?:/|\Z)|/\Z|[\0-\x1f\x7f]")


def inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it."""
    return path.startswith(folder) and (
        len(path) == len(folder) or folder.endswith("/") or path[len(folder)] == "/"
    )


def inside_any(path: str, folders: Iterable[str]) -> bool:
    return any(inside(path, folder) for folder in folders)


def is_resolved(path: str) -> bool:
    """Whether a path looks like one that was resolved: what does not is not judged as if."""
    return path == "/" or (path.startswith("/") and _UNRESOLVED.search(path) is None)


# --- protected places


def protected(path: str, *, write: bool, roots: Sequence[str], places: Sequence[str]) -> str:
    """The protected place that a path is in, as a person calls it; empty when it is in none.

    Whoever moves or deletes a folder writes to all that is in it: `write` says to count that too.
    """
    segments = _segments(path)
    if not PROTECTED_NAMES.isdisjoint(segments) and (name := _protected_name(segments, roots)):
        return name
    if "/~" in path:
        return _HOME
    below, above = _tables(tuple(places))
    folded = "/".join(segments).rstrip("/")
    if (folded + "/").startswith(below):
        return max((p for p in places if inside(folded, fold(p.rstrip("/")))), key=len)
    return above.get(folded, "") if write else ""


def secret(path: str) -> str:
    """What a path is called that holds credentials; empty when it is not known to."""
    segments = _segments(path)
    if not _SECRET_NAMES.isdisjoint(segments):
        return next(s for s in segments if s in _SECRET_NAMES)
    for segment in segments:
        if segment.startswith(".env") and (
            segment == ".env"
            or (segment.startswith(".env.") and not segment.endswith(_ENV_WITHOUT_SECRETS))
        ):
            return segment
    if segments[-1] in _SECRET_LAST:
        return segments[-1]
    return _HOME if "/~" in path else ""


def fold(path: str) -> str:
    """A path as the most forgiving file system compares it."""
    return "/".join(_segments(path))


def _protected_name(segments: tuple[str, ...], roots: Sequence[str]) -> str:
    for at, segment in enumerate(segments):
        if segment in _VERSION_CONTROL:
            return segment
        if segment in PROTECTED_NAMES and not _opened_worktree(segments, at, roots):
            return segment
        if segment.endswith(".code-workspace"):
            return segment
    return ""


def _opened_worktree(segments: tuple[str, ...], at: int, roots: Sequence[str]) -> bool:
    """Agents keep worktrees in their own folders, as in .claude/worktrees/x: one may be a root."""
    if segments[at + 1 : at + 2] != ("worktrees",):
        return False
    opened = map(_segments, roots)
    return any(len(own) > at + 2 and own == segments[: len(own)] for own in opened)


def _segments(path: str) -> tuple[str, ...]:
    if _ODD.search(path) is None:
        return tuple(path.lower().split("/"))
    return _odd_segments(path)


@lru_cache(maxsize=1024)
def _odd_segments(path: str) -> tuple[str, ...]:
    return tuple(_odd_segment(segment) for segment in re.split(r"[/\\]", _lenient(path)))


def _odd_segment(segment: str) -> str:
    segment = segment.partition(":")[0].rstrip(". ")  # an NTFS stream; what Windows leaves out
    if (short := _SHORT.fullmatch(segment)) is not None:
        return _SHORT_NAMES.get(short[1].replace(".", "")[:6], segment)
    return segment


@lru_cache(maxsize=1024)
def _lenient(text: str) -> str:
    """Text without differences of case, of Unicode form and of what cannot be seen."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _visible(text)).casefold()
    return _visible(unicodedata.normalize("NFKC", text))


def _visible(text: str) -> str:
    return "".join(c for c in text if unicodedata.category(c) != "Cf" and c not in _IGNORABLE)


_IGNORABLE: Final = frozenset(
    [chr(c) for c in (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)]
    + [chr(c) for c in range(0x180B, 0x1810)]
    + [chr(c) for c in range(0xFE00, 0xFE10)]
    + [chr(c) for c in range(0xE0100, 0xE01F0)]
)


@lru_cache(maxsize=64)
def _tables(places: tuple[str, ...]) -> tuple[tuple[str, ...], dict[str, str]]:
    """The places as the beginnings of what is in them, and the folders that lead to them."""
    below, above = [], {}
    for place in places:
        folded = fold(place.rstrip("/"))
        below.append(folded + "/")
        while "/" in folded:
            folded = folded.rpartition("/")[0]
            above[folded] = place
    return tuple(below), above


# --- globs

_TOP: Final = ("/",)
_Piece = str | Callable[[str], object]
"""A segment of a glob: the very name, or what matches names."""


class _Glob(Struct, frozen=True):
    """A glob, cut at each `**` into runs of segments."""

    absolute: bool
    anywhere: bool
    """A mere name, which tightening rules mean wherever it is."""
    start: list[str]
    """The names it begins with."""
    first: tuple[_Piece, ...]
    """The run from the beginning on, with those names."""
    rest: tuple[tuple[_Piece, ...], ...]


def literal_glob(path: str) -> str:
    """The glob that matches this path and no other."""
    return re.sub(r"[*?[]", r"[\g<0>]", path)


class Located:
    """A path that is used, for globs to be compared with: it is taken apart only once."""

    def __init__(self, path: str, *, write: bool) -> None:
        self.path = path
        self.write = write
        self._below: dict[str, list[str] | None] = {}
        self._spellings: list[Located] = []

    def matches(self, glob: str, anchors: Sequence[str]) -> bool:
        """Whether it is what a glob says, relative to one of the anchors if not absolute."""
        compiled = _compiled(glob)
        for anchor in _TOP if compiled.absolute else anchors:
            segments = self.below(anchor)
            if segments is not None and _matches(compiled, segments):
                return True
        return False

    def touched(self, glob: str, anchors: Sequence[str]) -> bool:
        """Like `matches` in doubt: any spelling, what is below, and writing to what is above."""
        if not self._spellings:
            spellings = {_lenient(self.path), fold(self.path) or "/"}
            self._spellings = [Located(path, write=self.write) for path in spellings]
        compiled = _compiled(_lenient(glob))
        for anchor in _TOP if compiled.absolute else anchors:
            folder = _lenient(anchor)
            for spelling in self._spellings:
                segments = spelling.below(folder)
                if not segments:
                    if self.write and inside(folder, spelling.path):
                        return True
                elif _may_match(compiled, segments, write=self.write):
                    return True
        return False

    def below(self, anchor: str) -> list[str] | None:
        """The segments below a folder, or None when it is not in there."""
        try:
            return self._below[anchor]
        except KeyError:
            found = None
            if inside(self.path, anchor):
                rest = self.path[len(anchor) :].strip("/")
                found = rest.split("/") if rest else []
            self._below[anchor] = found
            return found


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> _Glob:
    runs: list[list[_Piece]] = [[]]
    segments = [s for s in glob.split("/") if s not in {"", "."}]
    if glob.endswith("/"):
        segments.append("**")
    for segment in segments:
        if segment == "**":
            runs.append([])
        elif re.search(r"[*?[]", segment):
            runs[-1].append(re.compile(translate(segment)).match)
        else:
            runs[-1].append(segment)
    first, *rest = map(tuple, runs)
    start = list(takewhile(lambda piece: isinstance(piece, str), first))
    return _Glob(
        absolute=glob.startswith("/"),
        anywhere="/" not in glob.rstrip("/") and bool(first),
        start=[piece for piece in start if isinstance(piece, str)],
        first=first,
        rest=tuple(rest),
    )


def _fits(pieces: Sequence[_Piece], segments: Sequence[str]) -> bool:
    """Whether each segment is what the piece in its place says; the shorter one decides."""
    for piece, segment in zip(pieces, segments, strict=False):
        if not (piece == segment if isinstance(piece, str) else piece(segment)):
            return False
    return True


def _matches(glob: _Glob, segments: list[str]) -> bool:
    first, rest = glob.first, glob.rest
    if segments[: len(glob.start)] != glob.start or len(segments) < len(first):
        return False
    if not _fits(first, segments):
        return False
    if not rest:
        return len(segments) == len(first)
    at = _after(rest[:-1], segments, len(first))
    last = rest[-1]
    # "src/**" is what is below src: at least one more segment.
    if at is None or len(segments) - at < max(len(last), 1):
        return False
    return _fits(last, segments[len(segments) - len(last) :])


def _may_match(glob: _Glob, segments: list[str], *, write: bool) -> bool:
    first = glob.first
    if glob.anywhere:
        return _after((first,), segments, 0) is not None
    if segments[: len(glob.start)] != glob.start[: len(segments)] or not _fits(first, segments):
        return False
    if len(segments) < len(first):
        return write
    return _after(glob.rest, segments, len(first)) is not None


def _after(runs: Sequence[Sequence[_Piece]], segments: Sequence[str], at: int) -> int | None:
    """Where the first place ends that has these runs in order: taking the first is enough."""
    for run in runs:
        while len(segments) - at >= len(run) and not _fits(run, segments[at:]):
            at += 1
        if len(segments) - at < len(run):
            return None
        at += len(run)
    return at
