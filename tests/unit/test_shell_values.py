"""Values that a line writes out itself (loops, braces, fixed text) are read as the shell fills them
in; folders are followed, and what `find` runs is judged on its own."""

from __future__ import annotations

import fnmatch
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agentls.core.policy.commands import Redirect, SimpleCommand
from agentls.core.policy.fixed_text import fixed_text
from agentls.core.policy.options import alternatives
from agentls.core.policy.shell import allowed, covers, read_shell

SHELLS = [path for path in map(shutil.which, ("bash", "dash")) if path]


def is_allowed(line: str, *rules: str) -> bool:
    return allowed(line, [shlex.split(rule) for rule in rules])[0]


def words_of(line: str) -> list[tuple[str, ...]]:
    reading = read_shell(line)
    assert not reading.doubts, reading.doubts
    return [command.words for command in reading.commands]


# --- loops


def test_a_loop_runs_its_commands_once_for_each_value() -> None:
    assert words_of('for f in a "b c"; do x "$f" "d/${f}.e"; done') == [
        ("x", "a", "d/a.e"),
        ("x", "b c", "d/b c.e"),
    ]
    assert words_of("for f in a -o; do x $f; done") == [("x", "a"), ("x", "-o")]


def test_the_values_of_a_loop_are_judged_like_words() -> None:
    assert is_allowed('for f in a b; do rm "$f"; done', "rm")
    assert not is_allowed('for f in a .git/x; do rm "$f"; done', "rm")
    assert not is_allowed('for f in x; do rm ".git/$f"; done', "rm")
    assert not is_allowed('for f in -o; do sort "$f" x; done', "sort")
    assert not is_allowed("for f in *; do sort $f; done", "sort")
    assert not is_allowed("for f in 'a -o b'; do sort $f; done", "sort")
    assert is_allowed("for f in 'a -o b'; do cat $f; done", "cat")


@pytest.mark.parametrize(
    "line",
    [
        'ls "$f"; for f in a; do ls; done',
        'for f in a; do ls; done; ls "$f"',
        "for f in ls; do $f; done",
        'for f in ls; do "$f"; done',
        "for f in a; do f=b ls; done",
        'for f in a; do for f in b; do ls; done; ls "$f"; done',
        'for f in a; do ls > "$f"; done',
        'for f in a; do ls < "$f"; done',
        'for f in $x; do ls "$f"; done',
        'for f in $(a); do ls "$f"; done',
        'for f in a; do read f; ls "$f"; done',
        'for f in a; do ls "${f:-b}"; done',
        'for f in a; do ls "$f[1]"; done',
        'for f in a; do ls "$f:h"; done',
        'for f; do ls "$f"; done',
        "for f in 'a[$(rm x)]'; do [[ f -eq 1 ]]; done",
        "for f in 'a[$(rm x)]'; do [ -v f ]; ls; done",
        'while read -r PATH; do ls "$PATH"; done',
        'while read -r l; do ls; done; ls "$l"',
        'while read -p x l; do ls "$l"; done',
        'read -r l; ls "$l"',
        "while IFS=$x read -r l; do ls; done",
        'for f in a; do [[ -f "$f" ]] && ls; done',
        "done",
    ],
)
def test_other_uses_of_variables_are_not_allowed(line: str) -> None:
    assert not is_allowed(line, "ls")


def test_what_a_loop_reads_may_be_anything() -> None:
    assert is_allowed('ls | while read -r line; do echo "> $line"; done', "ls", "echo")
    assert is_allowed('ls | while IFS= read -r line; do cat "$line"; done', "ls", "cat")
    assert not is_allowed('ls | while read -r line; do sort "$line"; done', "ls", "sort")
    assert not is_allowed('ls | while read -r line; do git log "$line"; done', "ls", "git log")
    assert not is_allowed('ls | while read -r line; do rm "$line"; done', "ls", "rm")
    assert not is_allowed('ls | while read -r line; do "$line"; done', "ls")


def test_a_variable_that_tells_where_one_is_may_be_shown() -> None:
    assert is_allowed('echo $PATH "in $PWD as ${USER}"', "echo")
    assert not is_allowed("echo $API_TOKEN", "echo")
    assert not is_allowed("rm $OLDPWD", "rm")
    assert not is_allowed('sort "$TMPDIR"', "sort")
    assert not is_allowed("$SHELL", "$SHELL", "*")


def test_a_loop_in_too_many_ways_is_a_doubt() -> None:
    numbers = " ".join(map(str, range(10)))
    nested = f"for a in {numbers}; do for b in {numbers}; do x $a $b; done; done"
    assert read_shell(nested).doubts
    assert not read_shell(f"for a in {numbers}; do x $a; done").doubts


# --- text in a here-document


def commit(body: str, end: str = "EOF", quote: str = "'") -> str:
    return f'git commit -m "$(cat <<{quote}{end}{quote}\n{body}\n{end}\n)"'


def test_fixed_text_is_one_word() -> None:
    body = 'feat(x): it\'s "done"\n\n- `a` and $(b)\n\nCo-Authored-By: C <c@example.org>'
    assert words_of(commit(body)) == [("git", "commit", "-m", body)]
    assert words_of(commit("a b", "END", "")) == [("git", "commit", "-m", "a b")]
    assert words_of(f"ls && {commit('x')} && pwd")[::2] == [("ls",), ("pwd",)]


@pytest.mark.parametrize(
    "line",
    [
        commit("$(rm x)", quote=""),
        commit("`rm x`", quote=""),
        commit('a ) " ; rm x ; " ('),
        commit("a )\" ; rm x ; echo '"),
        commit('# )" ; rm x ; "'),
        commit('"') + " ; echo ' \" ; rm x ; \" '",
        commit("x\nEOF\n)\" ; rm x ; \"$(cat <<'EOF'\ny"),
        "git commit -m \"$(cat <<'EOF'\nx\nEOF\nrm x\n)\"",
        "git commit -m \"$(cat f <<'EOF'\nx\nEOF\n)\"",
        "git commit -m \"$(sh <<'EOF'\nrm x\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF' | sh\nrm x\nEOF\n)\"",
        "git commit -m \"$(cat <<'EOF'\nx\n EOF\n)\"",
        commit("x") + "y",
        "$(cat <<'EOF'\nrm x\nEOF\n)",
        commit("x").removeprefix("git commit -m "),
        commit("x").replace("git commit -m", "sh -c"),
        commit("x").replace("git commit -m", "for f in") + "; do ls; done",
        commit("x").replace("git commit -m", "ls >"),
        commit("--output=y").replace("commit -m", "log"),
    ],
)
def test_text_that_is_not_certainly_fixed_is_not_allowed(line: str) -> None:
    assert not is_allowed(line, "git commit", "git log", "ls", "echo")


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text("ab \n'\"`$()\\#EOF!{}", max_size=40))
def test_bash_passes_on_the_text_that_was_read(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    line = commit(body).removeprefix("git commit -m ")
    found = fixed_text(line, 0)
    assume(found is not None and found[1] == len(line))
    assert found is not None
    folder = tmp_path_factory.mktemp("text")
    for shell in SHELLS:
        ran = subprocess.run(
            [shell, "-c", f"printf %s {line}"],
            cwd=folder,
            capture_output=True,
            timeout=20,
            check=True,
        )
        assert ran.stdout.decode() == found[0]


# --- braces


def test_braces_stand_for_each_of_their_words() -> None:
    assert alternatives("a{b,c}d{,e}") == ["abd", "abde", "acd", "acde"]
    assert alternatives("a{b}{}") == ["a{b}{}"]
    assert is_allowed("ls {src,tests}", "ls")
    assert is_allowed("cp a{,.bak}", "cp")
    assert is_allowed("mkdir -p {a,b}/c", "mkdir")
    assert not is_allowed("mkdir {a,.git}", "mkdir")
    assert not is_allowed("rm x/{a,../../b}", "rm")
    assert not is_allowed("rm {-rf,.}", "rm")
    assert not is_allowed("git stash {drop,x}", "git stash")
    assert not is_allowed("sort {a,b}", "sort")
    assert not is_allowed("ls > {a,b}", "ls")
    assert not is_allowed("{ls,rm}", "ls")


# --- folders


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cd a; ls; cd ..", ["a"]),
        ("cd a && ls && cd .. && ls", ["a"]),
        ("cd a; ls; cd ..; ls", ["a", ".."]),
        ("false && cd a && ls; cd ..; ls", ["a", ".."]),
        ("cd a && ls\ncd .. && ls", ["a", ".."]),
        ("cd a || cd b; ls", ["a", "b", "a/b"]),
        ("(cd a && ls) && cd .. && ls", ["a", ".."]),
        ("cd a | cat && cd .. && ls", ["a", ".."]),
        ("cd ..", [".."]),
        ("cd a && cd b && ls", ["a/b"]),
        ("cd a && cd /b && ls", ["/b"]),
        ("bash -c 'cd a && ls' && cd .. && ls", ["a", ".."]),
        ("git -C /a/b status", ["/a/b"]),
        ("git -C a -C b status", ["a/b"]),
        ("git -C . status", []),
    ],
)
def test_every_folder_in_which_something_may_run_is_listed(line: str, expected: list[str]) -> None:
    reading = read_shell(line)
    assert not reading.doubts
    assert set(reading.redirects) >= {Redirect(path, write=False) for path in expected}
    assert all(not redirect.write for redirect in reading.redirects)
    if "||" not in line:
        assert len(reading.redirects) <= len(expected) + 1


def test_too_many_folders_are_a_doubt() -> None:
    assert read_shell("cd a; cd b; cd c; cd d; cd e; ls").doubts
    assert read_shell("cd a && git -C b status").doubts


# --- find


def test_what_find_runs_is_a_command_of_its_own() -> None:
    grep, find = read_shell("find . -name x -exec grep -n 'a b' {} + -print").commands
    assert find == SimpleCommand(("find", ".", "-name", "x", "-print"))
    assert grep.words == ("grep", "-n", "a b", "./.*")
    assert grep.under == ("find", ".", "-name", "x", "-exec")


@pytest.mark.parametrize(
    "line",
    [
        "find . -exec rm {} \\;",
        "find . -exec {} \\;",
        "find . -exec cat",
        "find . -exec cat {} + -delete",
        "find . -exec cat {} \\; -exec rm {} \\;",
        "find . -exec cat + -delete \\;",
        "find . -execdir cat {} \\;",
        "find . -exec sort {}x \\;",
        "find . -exec sh -c 'cat {}' \\;",
        "find . -exec tee {} \\;",
        "find . -exec cp x {} \\;",
        "find * -exec cat {} \\;",
        "find . -exec sed -i s/a/b/ {} \\;",
        "find . -exec cat {} \\; > x",
    ],
)
def test_a_rule_for_find_covers_nothing_that_it_runs(line: str) -> None:
    assert not is_allowed(line, "find", "cat", "sort", "tee", "cp", "sed", "sed -i")


def test_a_rule_cannot_name_the_files_that_are_found() -> None:
    (rm, _) = read_shell("find . -exec rm {} +").commands
    assert rm.written == ("rm", "{}")
    assert not covers(["rm", "./.*"], rm)
    assert not covers(["rm", "{}"], rm)
    (sort,) = read_shell("xargs sort").commands
    assert not covers(["sort", "*"], sort)


# --- a law

PIECES = [
    *("stub ", "stub a ", "a ", "-b ", "; ", "; ", "\n", "&& ", "'a b' ", "{a,b} ", "x{,a} "),
    *("for i in a -b; do ", "for f in 'a b' \"$i\" c; do ", "for w in x y; do ", "done; ", "done "),
    *('"$i" ', "$i ", '"x$f" ', "$f ", "${w} ", '"${w}/$i" ', "while read -r l; do ", '"$l" '),
    *("[[ -f a ]] ", "[[ a == b ]] ", "]] ", "if ", "then ", "fi ", "( ", ") ", "$PATH ", "| "),
    '"$(cat <<\'EOF\'\na "b" `c` $(stub d)\nEOF\n)" ',
]


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), min_size=3, max_size=12).map("".join))
def test_no_shell_runs_anything_but_what_was_read(
    shell: str, tmp_path_factory: pytest.TempPathFactory, line: str
) -> None:
    reading = read_shell(line)
    assume(not reading.doubts)
    folder = tmp_path_factory.mktemp("values")
    patterns = [_pattern(command) for command in (*reading.commands, *reading.harmless)]
    for argv in _ran(shell, line, folder):
        text = "\x01".join(argv)
        assert any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns), (line, argv)
    assert [path.name for path in folder.iterdir()] == ["out"]


def _pattern(command: SimpleCommand) -> str:
    words = ["*" if at in command.globs else _literal(w) for at, w in enumerate(command.words)]
    return "\x01".join(words).replace("\x01*", "*")


def _literal(word: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in word)


def _ran(shell: str, line: str, folder: Path) -> list[list[str]]:
    out = folder / "out"
    stub = "() { printf '%s\\001' NAME \"$@\" END >&3; }\n"
    script = "".join(f"{name}{stub.replace('NAME', name)}" for name in ("stub", "a"))
    script += "cat() { while IFS= read -r r; do printf '%s\\n' \"$r\"; done; }\n"
    subprocess.run(
        [shell, "-c", f"exec 3>>out\n{script}{line}\nwait\n"],
        cwd=folder,
        env={"PATH": "/nonexistent", "HOME": "/nonexistent"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    found = out.read_text().split("END\x01")[:-1]
    return [part.split("\x01")[:-1] for part in found]
