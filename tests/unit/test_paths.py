"""Paths: where they lead, what is protected, what a glob means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from agentls.core.errors import BadRequest
from agentls.core.policy.decide import decide
from agentls.core.policy.paths import (
    Located,
    fold,
    inside,
    is_resolved,
    literal_glob,
    protected,
    secret,
)
from agentls.core.policy.rules import Mode, Rule
from agentls.core.policy.verdicts import PathUse, Subject, Verdict
from agentls.storage.paths import config_folder, protected_places, resolve, state_folder

HOME = "/home/u"
PLACES = (f"{HOME}/.config", f"{HOME}/.bashrc", "/state/agentls")


def is_protected(path: str, roots: tuple[str, ...] = ("/w",), *, write: bool = True) -> bool:
    return bool(protected(path, write=write, roots=roots, places=PLACES))


# --- inside a folder


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/w", "/w", True),
        ("/w/x", "/w", True),
        ("/wx", "/w", False),
        ("/", "/w", False),
        ("/w", "/", True),
        ("/W/x", "/w", False),
    ],
)
def test_a_path_is_inside_a_folder_by_whole_names(path: str, folder: str, expected: bool) -> None:
    assert inside(path, folder) is expected


@pytest.mark.parametrize(
    "path", ["", "x", "./x", "/w/../x", "/w/.", "/w//x", "/w/", "/w/a\nb", "/w/a\0b", "/.."]
)
def test_what_was_not_resolved_is_seen_to_be_so(path: str) -> None:
    assert not is_resolved(path)


@pytest.mark.parametrize("path", ["/", "/w", "/w/.x", "/w/..x", "/w/x..", "/w/a b", "/w/é"])
def test_ordinary_resolved_paths_are_seen_to_be_so(path: str) -> None:
    assert is_resolved(path)


# --- protected places


@pytest.mark.parametrize(
    "path",
    [
        "/w/.git/config",
        "/w/.git",
        "/w/sub/module/.git/hooks/pre-commit",
        "/w/.GIT/config",
        "/w/.Git/config",
        "/w/git~1/config",
        "/w/GIT~1/config",
        "/w/.g\u200cit/config",
        "/w/.\ufeffgit/config",
        "/w/.gi\u2069t/config",
        "/w/.git./config",
        "/w/.git /config",
        "/w/.git . ./config",
        "/w/.git::$INDEX_ALLOCATION/config",
        "/w/.git:x",
        "/w/\uff0egit/config",
        "/w/sub\\.git\\config",
        "/w/.vscode/settings.json",
        "/w/.v\u017fcode/tasks.json",
        "/w/VSCODE~1/tasks.json",
        "/w/.idea/x",
        "/w/.nvim.lua",
        "/w/.exrc",
        "/w/.envrc",
        "/w/.claude/settings.json",
        "/w/.codex/config.toml",
        "/w/.gemini/x",
        "/w/.agentls/rules.toml",
        "/w/.mcp.json",
        "/w/.hg/hgrc",
        "/w/.svn/x",
        "/w/~/.bashrc",
        "/w/~root/x",
        f"{HOME}/.bashrc",
        f"{HOME}/.BASHRC",
        f"{HOME}/.config",
        f"{HOME}/.config/agentls/rules.toml",
        f"{HOME}/.ssh/authorized_keys",
        "/state/agentls/agentls.db",
    ],
)
def test_writing_there_is_protected(path: str) -> None:
    assert is_protected(path)


@pytest.mark.parametrize(
    "path",
    [
        "/w/src/main.py",
        "/w/.gitignore",
        "/w/.gitattributes",
        "/w/.github/workflows/ci.yml",
        "/w/git/config",
        "/w/x.git",
        "/w/.env",
        "/w/CLAUDE.md",
        "/w/README.md~",
        "/w/a b/ü.txt",
        "/w/vscode/x",
        f"{HOME}/.configure",
        f"{HOME}/notes.txt",
        "/state/agentls2/x",
    ],
)
def test_writing_there_is_not_protected(path: str) -> None:
    assert not is_protected(path)


@pytest.mark.parametrize("path", ["/", "/home", HOME, "/state"])
def test_moving_or_deleting_what_holds_a_protected_place_is_protected(path: str) -> None:
    assert is_protected(path)
    assert not is_protected(path, write=False)


def test_a_worktree_that_a_person_opened_is_not_protected_by_the_folder_it_is_in() -> None:
    root = f"{HOME}/p/.claude/worktrees/fix"
    assert not is_protected(f"{root}/main.py", (root,))
    assert is_protected(f"{root}/main.py", ("/w",))
    assert is_protected(f"{root}/.claude/settings.json", (root,))
    assert is_protected(f"{root}/.git", (root,))
    assert is_protected(f"{HOME}/p/.claude/settings.json", (f"{HOME}/p/.claude",))
    assert is_protected("/p/worktrees/.claude/x", ("/p/worktrees/.claude",))
    assert is_protected("/p/.git/worktrees/x/y", ("/p/.git/worktrees/x",))


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env",
        "/w/.ENV",
        "/w/.env.local",
        "/w/a/.env.production",
        "/w/.envrc",
        "/x/.ssh/id_rsa",
        "/w/id_ed25519",
        "/w/.netrc",
        "/w/.aws/credentials",
        "/w/credentials.json",
        "/w/~/x",
    ],
)
def test_reading_there_may_show_secrets(path: str) -> None:
    assert secret(path)


@pytest.mark.parametrize(
    "path", ["/w/.env.example", "/w/.envoy", "/w/env", "/w/credentials/list.py", "/w/x.py", "/"]
)
def test_reading_there_shows_no_secrets(path: str) -> None:
    assert not secret(path)


_IGNORED = st.sampled_from(["\u200b", "\u200d", "\ufeff", "\u2060", "\ufe0f", "\u180e"])


@given(st.sampled_from([".git", ".vscode", ".claude", ".agentls"]), st.data())
def test_a_protected_name_is_known_however_it_is_spelled(name: str, data: st.DataObject) -> None:
    spelled = "".join(
        (c.upper() if data.draw(st.booleans()) else c)
        + (data.draw(_IGNORED) if data.draw(st.booleans()) else "")
        for c in name
    )
    end = data.draw(st.sampled_from(["", ".", " ", ". .", ":stream"]))
    assert is_protected(f"/w/a/{spelled}{end}/b")


@given(st.text(max_size=40))
def test_no_path_whatever_makes_the_checks_fail(path: str) -> None:
    assert isinstance(is_protected(path), bool)
    assert isinstance(secret(path), str)
    assert isinstance(fold(path), str)


# --- globs


def matches(glob: str, path: str, anchors: tuple[str, ...] = ("/w",)) -> bool:
    return Located(path, write=False).matches(glob, anchors)


def touched(glob: str, path: str, *, write: bool = False) -> bool:
    return Located(path, write=write).touched(glob, ("/w",))


@pytest.mark.parametrize(
    ("glob", "path", "narrow", "generous"),
    [
        ("src/**", "/w/src/a.py", True, True),
        ("src/**", "/w/src/a/b.py", True, True),
        ("src/**", "/w/src", False, True),
        ("src/", "/w/src/a/b.py", True, True),
        ("src", "/w/src", True, True),
        ("src", "/w/src/a", False, True),
        ("src", "/w/lib/src", False, True),
        ("./src/*", "/w/src/a", True, True),
        ("src/*", "/w/src/a/b", False, True),
        ("src/*.py", "/w/src/a.py", True, True),
        ("src/*.py", "/w/src/a.js", False, False),
        ("*.py", "/w/a.py", True, True),
        ("*.py", "/w/a/b.py", False, True),
        ("**/*.py", "/w/a/b/c.py", True, True),
        ("**/*.py", "/w/c.py", True, True),
        ("**/test/**", "/w/a/test/b", True, True),
        ("**/test/**", "/w/a/test", False, True),
        ("**/a/**/b", "/w/a/b", True, True),
        ("**/a/**/b", "/w/x/a/y/z/b", True, True),
        ("**/a/**/b", "/w/x/b/a", False, False),
        ("a?c", "/w/abc", True, True),
        ("a?c", "/w/a/c", False, False),
        ("[ab].txt", "/w/a.txt", True, True),
        ("[!ab].txt", "/w/a.txt", False, False),
        ("**", "/w/a/b", True, True),
        ("**", "/w", False, False),
        ("**", "/x", False, False),
        ("/etc/**", "/etc/hosts", True, True),
        ("/etc/hosts", "/etc/hosts", True, True),
        ("/**", "/anything", True, True),
        ("src/**", "/w/SRC/a", False, True),
        ("SRC/**", "/w/src/a", False, True),
        ("src/**", "/W/src/a", False, True),
        ("straße/**", "/w/STRASSE/a", False, True),
        ("é/**", "/w/e\u0301/a", False, True),
        ("secret./**", "/w/secret./a", True, True),
        ("secret/**", "/w/secret./a", False, True),
        ("ﬁle", "/w/ﬁle", True, True),
    ],
)
def test_a_glob_matches_narrowly_to_allow_and_generously_to_deny(
    glob: str, path: str, narrow: bool, generous: bool
) -> None:
    assert matches(glob, path) is narrow
    assert touched(glob, path) is generous


@pytest.mark.parametrize("path", ["/w/src", "/w", "/", "/w/src/secret"])
def test_writing_to_a_folder_touches_what_is_in_it(path: str) -> None:
    assert touched("src/secret/**", path, write=True)
    assert not touched("src/secret/**", "/w/lib", write=True)
    if path != "/w/src/secret":
        assert not touched("src/secret/**", path, write=False)


def test_a_glob_with_many_stars_is_no_trap() -> None:
    assert not matches("*a" * 30 + "b", "/w/" + "a" * 250)
    assert not matches("**/a/" * 30 + "b", "/w/" + "a/" * 1000 + "c")


_SEGMENT = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=8)
_PATH = st.lists(_SEGMENT.filter(lambda s: s not in {".", ".."}), min_size=1, max_size=5)


@given(_PATH)
@example(["[slug]", "page?.tsx"])
@example(["**"])
def test_a_literal_glob_matches_its_own_path_and_no_other(segments: list[str]) -> None:
    path = "/w/" + "/".join(segments)
    assert matches(literal_glob(path), path)
    assert matches(literal_glob("/".join(segments)), path)
    assert not matches(literal_glob(path), path + "x")
    assert not matches(literal_glob(path), path + "/x")


@given(_PATH, st.lists(st.sampled_from(["a", "*", "**", "?", "[ab]", "b"]), min_size=1, max_size=5))
def test_what_a_glob_matches_narrowly_it_matches_generously(
    segments: list[str], glob: list[str]
) -> None:
    text, path = "/".join(glob), "/w/" + "/".join(segments)
    if matches(text, path):
        assert touched(text, path)


# --- resolving


class Tree:
    """A workspace full of links, and what is outside of it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.outside = base / "outside"
        for folder in ("root/dir/sub/deeper", "root/.git/hooks", "outside/dir/sub"):
            (base / folder).mkdir(parents=True)
        for file in ("root/file", "root/dir/file", "root/.git/config", "outside/file"):
            (base / file).write_text("old")
        self.links = {
            "link": "dir",
            "deep": "dir/sub/deeper",
            "absolute": str(self.root / "dir"),
            "out": "../outside",
            "out_deep": "../outside/dir/sub",
            "out_file": str(self.outside / "file"),
            "git": ".git",
            "hooks": "link/../.git/hooks",
            "config": ".git/config",
            "dangling": "dir/new",
            "dangling_out": "../outside/new",
            "dangling_git": ".git/hooks/new",
            "up": "..",
            "here": ".",
            "loop": "loop2",
            "loop2": "loop",
            "chain": "chain2",
            "chain2": "out/dir",
            "through_proc": f"/proc/self/root{self.outside}",
        }
        for name, target in self.links.items():
            (self.root / name).symlink_to(target)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return Tree(Path(os.path.realpath(tmp_path_factory.mktemp("tree"))))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("file", "root/file"),
        ("./dir/../file", "root/file"),
        ("new", "root/new"),
        ("new/newer/newest", "root/new/newer/newest"),
        ("link/new", "root/dir/new"),
        ("absolute/new", "root/dir/new"),
        ("out/new", "outside/new"),
        ("dangling", "root/dir/new"),
        ("dangling_out", "outside/new"),
        ("config", "root/.git/config"),
        ("hooks/pre-commit", "root/.git/hooks/pre-commit"),
        ("chain/sub", "outside/dir/sub"),
        ("../outside/file", "outside/file"),
        ("here/here/file", "root/file"),
        ("file/", "root/file"),
        ("//dir//file", None),
        ("through_proc/file", "outside/file"),
    ],
)
def test_a_path_leads_where_the_system_goes(tree: Tree, path: str, expected: str | None) -> None:
    found = resolve(path, str(tree.root))
    assert found == (str(tree.base / expected) if expected else "/dir/file")


def test_a_tilde_is_a_name_like_any_other(tree: Tree) -> None:
    assert resolve("~/x", str(tree.root)) == f"{tree.root}/~/x"


@pytest.mark.parametrize("before", ["file://", "FILE://", "file://localhost", "file:"])
def test_a_file_uri_is_the_path_it_means(tree: Tree, before: str) -> None:
    name = tree.root / "dir" / "ä #?%.txt"
    assert resolve(before + quote(str(name)), "/") == str(name)
    assert resolve(f"{before}{tree.root}/%2e%2e/outside/file", "/") == f"{tree.outside}/file"
    assert resolve(f"{before}{tree.root}/out%2Ffile", "/") == f"{tree.outside}/file"


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", "empty"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x1b[2J", "control"),
        ("a\u2028b", "control"),
        ("a\ud800", "control"),
        ("file:///a%00b", "control"),
        ("file://elsewhere/x", "not on this machine"),
        ("file:relative", "not on this machine"),
        ("file:///a?b", "more than a file"),
        ("file:///a#b", "more than a file"),
        ("file:///%ff", "not a file URI"),
        ("https://example.org/x", "not a file"),
        ("loop", "circle"),
        ("loop/x", "circle"),
        ("x" * 300, "cannot be looked at"),
        ("x/" * 5000, "too long"),
        ("deep/../../x", ".. after a link"),
        ("out_deep/../file", ".. after a link"),
        ("/proc/self/cwd/file", "each process"),
        ("/proc/self/fd/0", "each process"),
        ("/dev/fd/0", "each process"),
        ("/proc/thread-self/cwd/x", "each process"),
    ],
)
def test_a_path_that_means_nothing_or_many_things_is_refused(
    tree: Tree, path: str, part: str
) -> None:
    with pytest.raises(BadRequest, match=part):
        resolve(path, str(tree.root))


def test_a_relative_path_needs_a_folder() -> None:
    with pytest.raises(BadRequest, match="relative to nothing"):
        resolve("x", "")


def test_what_another_process_has_open_is_the_file_it_has_open(tree: Tree) -> None:
    parent = os.getppid()
    if not os.access(f"/proc/{parent}/cwd", os.R_OK):
        pytest.skip("this system does not show the folder of the parent process")
    there = Path(f"/proc/{parent}/cwd").readlink()
    assert resolve(f"/proc/{parent}/cwd/x", "/") == str(there / "x")


def test_a_deleted_file_that_is_open_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gone"
    with file.open("w") as opened:
        file.unlink()
        with pytest.raises(BadRequest, match="each process"):
            resolve(f"/proc/{os.getpid()}/fd/{opened.fileno()}", "/")


_NAMES = ["dir", "sub", "deeper", "file", "new", ".git", "hooks", "config", "..", "..", ".", ""]
_LINKS = ["link", "deep", "absolute", "out", "out_deep", "out_file", "git", "hooks", "config"]
_MORE = ["dangling", "dangling_out", "dangling_git", "up", "here", "loop", "chain", "through_proc"]
_ODD = ["~", ".GIT", ".g\u200cit", "git~1", ".git.", "a b", "ü", "root", "outside", "..."]
_SOME_PATH = st.lists(st.sampled_from(_NAMES + _LINKS + _MORE + _ODD), min_size=1, max_size=6)


@pytest.fixture
def clean_tree(tree: Tree) -> Iterator[Tree]:
    yield tree
    assert (tree.root / ".git/config").read_text() == "old"
    assert (tree.outside / "file").read_text() == "old"


@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    segments=_SOME_PATH,
    form=st.sampled_from(["relative", "absolute", "uri"]),
    folder=st.sampled_from(["", "/dir", "/deep", "/link"]),
)
@example(segments=["deep", "..", "..", "new"], form="relative", folder="")
@example(segments=["dangling_out"], form="relative", folder="")
@example(segments=["hooks", "new"], form="absolute", folder="")
@example(segments=["..", "..", "new"], form="relative", folder="/deep")
def test_what_is_allowed_to_be_written_lands_in_the_workspace_and_in_no_protected_place(
    clean_tree: Tree, segments: list[str], form: str, folder: str
) -> None:
    root = str(clean_tree.root)
    cwd = root + folder
    path = "/".join(segments)
    assume(path and not (form == "relative" and path.startswith("/")))
    raw = path if form == "relative" else f"{root}/{path}"
    given_path = f"file://{quote(raw)}" if form == "uri" else raw
    try:
        found = resolve(given_path, cwd)
    except BadRequest:
        return
    ruling = decide(
        Subject(kind="edit", paths=(PathUse(found, write=True),)),
        [Rule(verdict=Verdict.ALLOW, path="**"), Rule(verdict=Verdict.ALLOW, path=f"{root}/**")],
        roots=(root,),
        protected=(),
        mode=Mode.ACCEPT_EDITS,
    )
    if ruling.verdict is not Verdict.ALLOW:
        return
    joined = f"{cwd}/{raw}" if form == "relative" else raw
    for opened in (joined, os.path.normpath(joined)):  # as the system and as programs read it
        landed = _really_write(opened)
        if landed is not None:
            assert landed == found
            assert landed.startswith(root + "/")
            assert ".git" not in landed.casefold().split("/")


def _really_write(path: str) -> str | None:
    """Open a file to write to it; where that is, or None when it cannot be done."""
    existed = Path(path).exists()
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError:
        return None
    try:
        landed = Path(f"/proc/self/fd/{opened}").readlink()
    finally:
        os.close(opened)
    if not existed:
        landed.unlink()
    return str(landed)


# --- our own folders


def test_our_folders_are_where_the_environment_says() -> None:
    env = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    assert config_folder(env) == Path("/c/agentls")
    assert state_folder(env) == Path("/s/agentls")
    assert config_folder({"XDG_CONFIG_HOME": "relative"}).is_absolute()
    assert state_folder({}).is_absolute()


def test_our_folders_and_start_files_are_protected_also_behind_links(tmp_path: Path) -> None:
    home = Path(os.path.realpath(tmp_path)) / "home"
    dotfiles = home / "dotfiles"
    dotfiles.mkdir(parents=True)
    (dotfiles / "bashrc").touch()
    (home / ".bashrc").symlink_to(dotfiles / "bashrc")
    (home / ".config").symlink_to(dotfiles)
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_STATE_HOME": "/s"}
    places = protected_places(env)
    for path in (".bashrc", "dotfiles/bashrc", "dotfiles/agentls/rules.toml", ".zshrc"):
        found = protected(str(home / path), write=True, roots=(str(home),), places=places)
        assert found, path
    assert protected("/s/agentls/x", write=True, roots=(), places=places)
    assert not protected(str(home / "notes"), write=True, roots=(), places=places)


def test_a_second_name_of_a_protected_file_is_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = Path(os.path.realpath(tmp_path))
    for key, name in (("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(key, str(base / name))
    files = [
        base / "config/agentls/rules.toml",
        base / "config/agentls/projects/x.toml",
        base / "state/agentls/agentls.db",
        base / "home/.bashrc",
        base / "home/.ssh/id_rsa",
    ]
    root = base / "project"
    root.mkdir()
    for number, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
        (root / str(number)).hardlink_to(file)
        assert resolve(str(number), str(root)) == str(file)
    (root / "own").write_text("x")
    (root / "twin").hardlink_to(root / "own")
    assert resolve("twin", str(root)) == str(root / "twin")
