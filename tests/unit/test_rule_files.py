"""Rule files: read, re-read, edited by us and by hand, and never wider for a mistake."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import timeit
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentls.core.errors import SettingsError
from agentls.core.policy.rules import FIELDS, Rule, same
from agentls.core.policy.verdicts import Verdict
from agentls.storage import files
from agentls.storage.rules import RuleBook, project_file

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY


class Place:
    """A configuration folder and a project."""

    def __init__(self, base: Path) -> None:
        base = Path(os.path.realpath(base))
        self.config = base / "config"
        self.root = base / "project"
        self.user = self.config / "rules.toml"
        self.repository = self.root / ".agentls" / "rules.toml"
        self.project = project_file(self.config, str(self.root))
        self.root.mkdir()

    def book(self) -> RuleBook:
        return RuleBook(self.config, (str(self.root),))

    def write(self, text: str, file: Path | None = None) -> Path:
        file = file or self.user
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def read(self, text: str, file: Path | None = None) -> tuple[list[Rule], list[str]]:
        self.write(text, file)
        book = self.book()
        return book.rules(), book.problems()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def table(**fields: str) -> str:
    return "[[rule]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items())


def facts(rules: list[Rule]) -> list[tuple[str, str, int]]:
    return [(rule.verdict.value, rule.command or "", rule.line) for rule in rules]


# --- reading


def test_without_files_there_are_no_rules_and_no_problems(place: Place) -> None:
    assert place.book().rules() == []
    assert place.book().problems() == []


def test_a_rule_knows_what_it_says_and_where_it_is_written(place: Place) -> None:
    rules, problems = place.read(
        '# mine\n[[rule]]\nverdict = "allow"\ncommand = "git status" # words\nagent = "claude"\n'
    )
    assert problems == []
    assert rules == [
        Rule(
            verdict=ALLOW,
            command="git status",
            agent="claude",
            scope="user",
            source=str(place.user),
            line=2,
        )
    ]


def test_the_three_files_are_read_in_order(place: Place) -> None:
    place.write(table(verdict="allow", command="a"))
    place.write(table(verdict="allow", command="b"), place.project)
    place.write(table(verdict="deny", command="c"), place.repository)
    rules = place.book().rules()
    assert [(r.scope, r.command, r.project) for r in rules] == [
        ("user", "a", None),
        ("project", "b", str(place.root)),
        ("repository", "c", str(place.root)),
    ]


def test_lines_are_right_in_a_file_full_of_traps(place: Place) -> None:
    text = '''\
# [[rule]]
title = """
[[rule]]
verdict = "deny"
"""
list = [
  [["rule"]],
  ["[[rule]]", '[[rule]]'],
]

  [[ rule ]] # [[rule]]
  verdict = "deny"
  command = \'\'\'a\'\'\'
[other]
x = "#"
[[ "rule" ]]
"verdict" = "deny"
command = """\\
  b"""
[[rule]]\r
verdict = "deny"\r
command = "c"'''
    rules, problems = place.read(text)
    assert facts(rules) == [("deny", "a", 11), ("deny", "b", 16), ("deny", "c", 20)]
    assert [p.split(":")[1:3] for p in problems] == [["2", "1"], ["6", "1"], ["14", "1"]]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(place: Place) -> None:
    text = "\ufeff" + table(verdict="allow", command="a").replace("\n", "\r\n")
    rules, problems = place.read(text)
    assert (facts(rules), problems) == ([("allow", "a", 1)], [])


def test_the_home_folder_is_meant_by_a_tilde(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    real = place.root / "home"
    real.mkdir()
    (place.root / "link").symlink_to(real)
    monkeypatch.setenv("HOME", str(place.root / "link"))
    rules, _ = place.read(table(verdict="allow", path="~/notes/**", project="~/p"))
    assert [(r.path, r.project) for r in rules] == [(f"{real}/notes/**", f"{real}/p")]


def test_a_rule_that_tightens_counts_where_a_link_leads_and_one_that_allows_does_not(
    place: Place, tmp_path: Path
) -> None:
    data = tmp_path / "da[t]a"
    data.mkdir()
    (place.root / "data").symlink_to(data)
    text = table(verdict="deny", path="data/**") + table(verdict="allow", path="data/**")
    rules, _ = place.read(text)
    there = f"{os.path.realpath(data)}/**".replace("[", "[[]")
    assert [(r.verdict, r.path, r.line) for r in rules] == [
        (DENY, "data/**", 1),
        (DENY, there, 1),
        (ALLOW, "data/**", 4),
    ]


# --- mistakes


def problem(place: Place, text: str, file: Path | None = None) -> str:
    """The only problem of a file, without the name of it."""
    found = place.read(text, file)[1]
    assert len(found) == 1, found
    name = str(file or place.user)
    assert found[0].startswith(f"{name}:")
    assert found[0].endswith(".")
    return found[0][len(name) + 1 :]


def test_a_syntax_error_is_reported_with_line_and_column(place: Place) -> None:
    assert problem(place, '[[rule]]\nverdict = "allow"\ncommand = git\n').startswith("3:11: ")
    assert problem(place, '[[rule]]\nverdict = "allow').startswith("2:17: ")


def test_a_file_with_a_syntax_error_allows_nothing_and_denies_what_it_did(place: Place) -> None:
    good = table(verdict="deny", command="rm") + table(verdict="allow", command="ls")
    place.write(good)
    book = place.book()
    assert facts(book.rules()) == [("deny", "rm", 1), ("allow", "ls", 4)]
    place.write('[[rule]]\nverdict = "deny"\ncommand = rm\n' + table(verdict="allow", command="ls"))
    assert facts(book.rules()) == [("deny", "rm", 1)]
    assert "no rule of this file allows anything" in book.problems()[0]
    place.write(good)
    assert facts(book.rules()) == [("deny", "rm", 1), ("allow", "ls", 4)]
    assert book.problems() == []


def test_a_file_that_is_broken_from_the_start_denies_what_can_be_read_of_it(place: Place) -> None:
    broken = "[[rule]]\nverdict = \n"
    text = table(verdict="allow", command="a") + broken + table(verdict="deny", command="b")
    rules, problems = place.read(text)
    assert facts(rules) == [("deny", "b", 6)]
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("text", "at", "part"),
    [
        (table(verdict="allow"), "1:1", "too wide"),
        (table(verdict="allow", agent="claude"), "1:1", "too wide"),
        (table(verdict="allow", comand="git"), "3:1", "did you mean command"),
        (table(verdict="allow", command="git", pth="x"), "4:1", "did you mean path"),
        (table(verdict="allow", command="git status && rm x"), "3:1", "simple command"),
        (table(verdict="allow", command="git", path="x"), "1:1", "remove one"),
        (table(verdict="allow", path="../x"), "3:1", ".."),
        (table(verdict="allow", host="http://x/"), "3:1", "host name"),
        (table(verdict="allow", command=""), "3:1", "empty"),
        (table(verdict="yes"), "2:1", '"allow", "ask" or "deny"'),
        ("[[rule]]\n  verdict = 5\n", "2:3", '"allow", "ask" or "deny"'),
        ('[[rule]]\nverdict = "allow"\n\tcommand = ["git"]\n', "3:2", "must be text"),
        ('[rule]\nverdict = "allow"\ncommand = "ls"\n', "1:1", "[[rule]]"),
        ('[[rules]]\nverdict = "allow"\ncommand = "ls"\n', "1:1", "[[rule]]"),
        ('rule = [{verdict = "allow", command = "ls"}]\n', "1:1", "[[rule]]"),
        ("\nversion = 1\n", "2:1", "version is not known here"),
    ],
)
def test_an_allow_rule_with_anything_wrong_is_left_out_and_reported(
    place: Place, text: str, at: str, part: str
) -> None:
    found = problem(place, text)
    assert found.startswith(f"{at}: ")
    assert part in found
    assert "left out" in found
    assert place.book().rules() == []


@pytest.mark.parametrize(
    ("text", "verdict", "command", "kind"),
    [
        (table(verdict="deny", command="rm", colour="red"), DENY, "rm", None),
        (table(verdict="deny", comand="rm"), ASK, None, None),
        (table(verdict="dney", command="rm"), ASK, "rm", None),
        (table(command="rm"), ASK, "rm", None),
        (table(verdict="deny", kind="execute", command="a | b"), ASK, None, "execute"),
        ('[rule]\nverdict = "deny"\ncommand = "rm"\n', DENY, "rm", None),
        ('[[Rule]]\nverdict = "deny"\ncommand = "rm"\n', DENY, "rm", None),
        ('rule = [{verdict = "deny", command = "rm"}]', DENY, "rm", None),
    ],
)
def test_a_rule_that_tightens_stays_in_force_as_far_as_it_is_understood(
    place: Place, text: str, verdict: Verdict, command: str | None, kind: str | None
) -> None:
    assert "left out" not in problem(place, text)
    assert [(r.verdict, r.command, r.kind) for r in place.book().rules()] == [
        (verdict, command, kind)
    ]


def test_a_rule_of_which_nothing_is_understood_is_left_out(place: Place) -> None:
    assert "left out" in problem(place, '[[rule]]\nverdict = "deny"\ncommand = 5\n')
    assert place.book().rules() == []


def test_good_rules_beside_a_bad_one_count(place: Place) -> None:
    text = table(verdict="allow", comand="x") + table(verdict="allow", command="ls")
    assert facts(place.read(text)[0]) == [("allow", "ls", 4)]


def test_what_is_only_odd_is_reported_and_counts(place: Place) -> None:
    rules, problems = place.read(table(verdict="deny", kind="exec", command="git push *"))
    assert len(rules) == 1
    assert len(problems) == 2


def test_a_repository_may_only_deny_or_ask(place: Place) -> None:
    text = table(verdict="allow", command="ls") + table(verdict="ask", command="rm")
    place.write(text, place.repository)
    book = place.book()
    assert facts(book.rules()) == [("ask", "rm", 4)]
    assert "a repository may only deny or ask" in book.problems()[0]


def test_a_file_of_one_project_cannot_speak_for_another(place: Place) -> None:
    text = table(verdict="allow", command="ls", project="/elsewhere")
    assert "not the project of this file" in problem(place, text, place.project)
    text = table(verdict="deny", command="ls", project="/elsewhere")
    rules, _ = place.read(text, place.repository)
    assert [(r.verdict, r.project) for r in rules] == [(ASK, str(place.root))]


@pytest.mark.parametrize("kind", ["folder", "pipe", "large", "not utf-8"])
def test_what_is_no_text_file_is_reported_and_allows_nothing(place: Place, kind: str) -> None:
    place.write(table(verdict="deny", command="rm") + table(verdict="allow", command="ls"))
    book = place.book()
    assert len(book.rules()) == 2
    place.user.unlink()
    if kind == "folder":
        place.user.mkdir()
    elif kind == "pipe":
        os.mkfifo(place.user)
    elif kind == "large":
        place.user.write_bytes(b"#" * (files.LARGEST + 1))
    else:
        place.user.write_bytes(b'\n[[rule]]\nverdict = "allow"\ncommand = "\xff"\n')
    assert facts(book.rules()) == [("deny", "rm", 1)]
    assert len(book.problems()) == 1
    place.user.rmdir() if kind == "folder" else place.user.unlink()
    assert book.rules() == []
    assert book.problems() == []


_LINES = ["[[rule]]", "[rule]", "[rule.x]", 'verdict = "allow"', 'command = "ls"', "a.b = 1"]
_SIGNS = ['"', '"""', "'''", "\n", "[[", "]]", "{", "}", "#", " = ", "rule", "\\", "\r\n", "\x00"]
_VALUES = ["x = [1,\n2]\n", "verdict = {a = 1}\n", "é", "1979-05-27\n", 'kind = "read"\n']
_PIECES = [*(f"{line}\n" for line in _LINES), *_SIGNS, *_VALUES]
_JUNK = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(_PIECES), max_size=25).map("".join),
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(_JUNK)
@example("rule = 5")
@example("[[rule]]\n[[rule]]\n[rule.x]")
@example("x = " + "[" * 3000)
@example("[[rule]]\nverdict = '''allow\n'''\nrule.x = 1")
def test_junk_never_raises_and_never_allows_everything(tmp_path: Path, junk: str) -> None:
    file = tmp_path / "junk.toml"
    file.write_bytes(junk.encode("utf-8", "surrogatepass"))
    book = RuleBook(tmp_path, (), only=file)
    for rule in book.rules():
        assert rule.verdict is not ALLOW or (rule.command or rule.kind or rule.path)
        assert 1 <= rule.line <= junk.count("\n") + 1
    assert all(re.match(r".*:\d+:\d+: ", text) for text in book.problems())


# --- changes by hand


def test_a_changed_file_is_read_again(place: Place) -> None:
    book = place.book()
    assert book.rules() == []
    for command in ("aa", "bb", "cc"):  # of the same size, and as fast as can be
        place.write(table(verdict="allow", command=command))
        assert [rule.command for rule in book.rules()] == [command]
    place.user.unlink()
    assert book.rules() == []


def test_a_file_that_has_just_changed_is_looked_at_once_more(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change may follow within what the clock of the file system can tell apart."""
    file = place.write("")
    changed = file.stat().st_ctime_ns
    monkeypatch.setattr(files.time, "time_ns", lambda: changed + 1)
    assert files.read_text(file)[1] != files.signature(file)
    monkeypatch.setattr(files.time, "time_ns", lambda: changed + 10**9)
    assert files.read_text(file)[1] == files.signature(file)


def test_a_file_that_has_not_changed_is_not_read_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(table(verdict="allow", command="ls"))
    os.utime(place.user, ns=(1, 1))
    monkeypatch.setattr(files, "_SETTLED", 0)
    book = place.book()
    before = book.rules()
    place.user.chmod(0o600)  # another time of change, the same text
    assert book.rules() == before
    monkeypatch.setattr("agentls.storage.rules.read_text", lambda path: pytest.fail("read again"))
    assert book.rules() == before


def test_asking_again_for_unchanged_rules_is_cheap(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SETTLED", 0)
    for file in (place.user, place.project, place.repository):
        place.write(table(verdict="deny", command="rm") * 20, file)
    book = place.book()
    assert len(book.rules()) == 60
    each = min(timeit.repeat(book.rules, number=100, repeat=5)) / 100
    assert each < 200e-6  # ten times what it takes: only a change of kind fails


def test_the_list_of_rules_can_be_changed_without_harm(place: Place) -> None:
    place.write(table(verdict="deny", command="rm"))
    book = place.book()
    book.rules().clear()
    assert len(book.rules()) == 1


# --- changes by us


def test_a_rule_that_is_added_is_read_back_equal(place: Place) -> None:
    book = place.book()
    added = book.add(Rule(verdict=ALLOW, command="git status"), "user")
    assert book.rules() == [added]
    assert place.book().rules() == [added]
    assert (added.scope, added.source) == ("user", str(place.user))
    assert place.user.read_text().splitlines()[added.line - 1] == "[[rule]]"


def test_a_rule_for_a_project_is_kept_outside_of_it(place: Place) -> None:
    added = place.book().add(Rule(verdict=ALLOW, kind="edit"), "project")
    assert added.project == str(place.root)
    assert added.source == str(place.project)
    assert place.project.parent == place.config / "projects"
    assert re.fullmatch(r"project-[0-9a-f]{16}\.toml", place.project.name)
    assert place.book().rules() == [added]
    assert RuleBook(place.config, ("/elsewhere",)).rules() == []


def test_files_and_folders_we_make_are_for_the_user_alone(place: Place) -> None:
    place.book().add(Rule(verdict=ALLOW, command="ls"), "project")
    assert stat.S_IMODE(place.project.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.project.parent.stat().st_mode) == 0o700
    assert [file.name for file in place.project.parent.iterdir()] == [place.project.name]


def test_adding_a_rule_twice_writes_it_once(place: Place) -> None:
    book = place.book()
    one = book.add(Rule(verdict=ALLOW, command="ls"), "user")
    text = place.user.read_text()
    assert book.add(Rule(verdict=ALLOW, command="ls"), "user") == one
    assert place.user.read_text() == text


HAND_WRITTEN = """\
# My rules

[[rule]]   # the first
verdict = "deny"
command = 'rm'   # never

# About git:
[[rule]]
verdict="allow"
command = "git status"

# The end.
"""


def test_what_is_written_by_hand_stays_as_it_is(place: Place) -> None:
    place.write(HAND_WRITTEN)
    book = place.book()
    added = book.add(Rule(verdict=ALLOW, command="ls"), "user")
    assert place.user.read_text() == (
        HAND_WRITTEN + '\n[[rule]]\nverdict = "allow"\ncommand = "ls"\n'
    )
    book.remove(added)
    assert place.user.read_text() == HAND_WRITTEN
    book.remove(book.rules()[0])
    first = "[[rule]]   # the first\nverdict = \"deny\"\ncommand = 'rm'   # never\n\n"
    assert place.user.read_text() == HAND_WRITTEN.replace(first, "")
    book.remove(book.rules()[0])
    assert place.user.read_text() == "# My rules\n\n# About git:\n\n# The end.\n"


def test_the_last_rule_of_a_file_without_a_last_line_end_can_be_removed(place: Place) -> None:
    place.write('[[rule]]\nverdict = "deny"\ncommand = """\\\n  rm"""')
    book = place.book()
    book.add(Rule(verdict=ALLOW, command="ls"), "user")
    for rule in reversed(book.rules()):
        book.remove(rule)
    assert place.user.read_text() == ""
    place.write('# a\n[[rule]]\nverdict = "deny"')
    book.remove(book.rules()[0])
    assert place.user.read_text() == "# a\n"


def test_windows_line_ends_stay(place: Place) -> None:
    place.write(table(verdict="allow", command="a").replace("\n", "\r\n"))
    place.book().add(Rule(verdict=ALLOW, command="b"), "user")
    data = place.user.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") == 7


def test_a_link_to_a_rule_file_stays_a_link(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(table(verdict="allow", command="a"))
    place.config.mkdir()
    place.user.symlink_to(real)
    place.book().add(Rule(verdict=ALLOW, command="b"), "user")
    assert place.user.is_symlink()
    assert [rule["command"] for rule in tomllib.loads(real.read_text())["rule"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[[rule]]\nverdict = \n", "correct the TOML"),
        ("rule = []\n", "by hand"),
        ('[rule]\nverdict = "deny"\n', "by hand"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(
    place: Place, text: str, part: str
) -> None:
    place.write(text)
    with pytest.raises(SettingsError, match=part):
        place.book().add(Rule(verdict=ALLOW, command="ls"), "user")
    assert place.user.read_text() == text


@pytest.mark.parametrize(
    "fields", [{}, {"command": "a | b"}, {"command": "a\nb"}, {"path": "../x"}, {"path": "\ud800"}]
)
def test_a_rule_that_would_not_be_read_back_is_not_written(
    place: Place, fields: dict[str, str]
) -> None:
    with pytest.raises(SettingsError, match="cannot be written"):
        place.book().add(Rule(verdict=ALLOW, **fields), "user")  # type: ignore[arg-type]
    assert not place.user.exists()


def test_only_the_users_own_files_are_written(place: Place) -> None:
    book = place.book()
    for scope in ("repository", "session", "built in"):
        with pytest.raises(SettingsError, match="not kept in a file"):
            book.add(Rule(verdict=DENY, command="rm"), scope)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="not open"):
        book.add(Rule(verdict=DENY, command="rm", project="/elsewhere"), "project")
    place.write(table(verdict="deny", command="rm"), place.repository)
    with pytest.raises(SettingsError, match="by hand"):
        book.remove(book.rules()[0])


def test_a_rule_that_is_gone_cannot_be_removed(place: Place) -> None:
    book = place.book()
    added = book.add(Rule(verdict=ALLOW, command="ls"), "user")
    place.write("")
    with pytest.raises(SettingsError, match="no such rule"):
        book.remove(added)


def test_of_two_equal_rules_the_one_in_that_line_is_removed(place: Place) -> None:
    one = table(verdict="allow", command="ls")
    place.write(f"# a\n{one}# b\n{one}")
    book = place.book()
    book.remove(book.rules()[1])
    assert place.user.read_text() == f"# a\n{one}# b\n"


def test_a_full_disk_is_said_and_leaves_the_file_as_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(HAND_WRITTEN)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsError, match="No space left on device"):
        place.book().add(Rule(verdict=ALLOW, command="ls"), "user")
    assert place.user.read_text() == HAND_WRITTEN
    assert [file.name for file in place.config.iterdir()] == ["rules.toml"]


def test_a_configuration_folder_that_cannot_be_made_is_said(place: Place) -> None:
    place.config.write_text("")
    with pytest.raises(SettingsError, match="cannot be used"):
        place.book().add(Rule(verdict=ALLOW, command="ls"), "user")


def test_a_lock_that_is_never_given_up_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LOCK_WAIT", 0)
    with files.locked(place.config), pytest.raises(SettingsError, match="Try again"):
        place.book().add(Rule(verdict=ALLOW, command="ls"), "user")


ADD_TEN = """
import sys
from pathlib import Path
from agentls.core.policy.rules import Rule
from agentls.core.policy.verdicts import Verdict
from agentls.storage.rules import RuleBook
book = RuleBook(Path(sys.argv[1]))
for number in range(10):
    book.add(Rule(verdict=Verdict.ALLOW, command=f"{sys.argv[2]} {number}"), "user")
"""


def test_writers_in_several_processes_lose_nothing(place: Place) -> None:
    names = ["a", "b", "c"]
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD_TEN, str(place.config), name]) for name in names
    ]
    assert [writer.wait(30) for writer in writers] == [0, 0, 0]
    commands = {rule.command for rule in place.book().rules()}
    assert commands == {f"{name} {number}" for name in names for number in range(10)}


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
_ANY_RULE = st.fixed_dictionaries(
    {"verdict": st.sampled_from(list(Verdict))},
    optional={key: _TEXT for key in FIELDS if key != "project"},
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_ANY_RULE, min_size=1, max_size=4), st.sampled_from(["user", "project"]))
@example([{"verdict": ALLOW, "command": "a \"b\\\\c\" 'd'", "agent": "\x7f\x85é"}], "user")
@example([{"verdict": DENY, "command": "'", "tool": "[[rule]]"}], "user")
def test_every_rule_that_is_written_is_read_back_equal_and_can_be_removed(
    tmp_path_factory: pytest.TempPathFactory, given_rules: list[dict[str, Any]], scope: Any
) -> None:
    place = Place(tmp_path_factory.mktemp("rules"))
    book = place.book()
    added = []
    for fields in given_rules:
        try:
            rule = book.add(Rule(**fields), scope)
        except SettingsError:
            continue
        assert same(rule, Rule(**{**fields, "project": rule.project, "path": rule.path}))
        if rule not in added:
            added.append(rule)
    assert [r for r in place.book().rules() if r in added] == added
    for rule in reversed(added):
        book.remove(rule)
    assert book.rules() == []
    assert book.problems() == []
