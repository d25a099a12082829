"""Shell lines are read as the shell reads them, and anything less than certain is a doubt."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agentls.core.policy import second_reader
from agentls.core.policy.scripts import awk_only_prints, sed_only_prints
from agentls.core.policy.shell import (
    Redirect,
    SimpleCommand,
    allowed,
    covers,
    harmless_variable,
    objection,
    read_argv,
    read_shell,
    touches,
)
from agentls.core.policy.words import Operator, Unreadable, tokens

ORDINARY = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "corpus" / "ordinary.jsonl")
    .read_text("utf-8")
    .splitlines()
]
BASH = shutil.which("bash")
SHELLS = [path for path in map(shutil.which, ("bash", "dash")) if path]
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=400, deadline=None)


def words_of(line: str) -> list[tuple[str, ...]]:
    reading = read_shell(line)
    assert not reading.doubts, reading.doubts
    return [command.words for command in reading.commands]


def rules(*lines: str) -> list[list[str]]:
    return [shlex.split(line) for line in lines]


# --- what a line runs


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git status", [("git", "status")]),
        ("a && b || c; d | e & f\ng", [(x,) for x in "abcdefg"]),
        ("echo 'a b' \"c d\" e\\ f a\"b\"'c'", [("echo", "a b", "c d", "e f", "abc")]),
        ('echo "a\\"b\\\\c\\$d\\e"', [("echo", 'a"b\\c$d\\e')]),
        ("echo '' \"\"", [("echo", "", "")]),
        ("ls \\\n  -la", [("ls", "-la")]),
        ("# first\nls # then\nls -a", [("ls",), ("ls", "-a")]),
        ("find . \\( -name x \\)", [("find", ".", "(", "-name", "x", ")")]),
        ("git show HEAD@{1} x{}", [("git", "show", "HEAD@{1}", "x{}")]),
        ("if a; then b; elif c; then d; else e; fi", [(x,) for x in "abcde"]),
        ("while a; do b; done; until c; do d; done", [(x,) for x in "abcd"]),
        ("for i in x y *.c; do a; done", [("a",)]),
        ("(a; { b; }) && ! c", [("a",), ("b",), ("c",)]),
        ("LC_ALL=C sort f", [("sort", "f")]),
        ("a 2>&1 >/dev/null b", [("a", "b")]),
        ("grep 'x$(y)' \"z$\"", [("grep", "x$(y)", "z$")]),
        ("a && a && a", [("a",)]),
    ],
)
def test_a_plain_line_is_read_into_its_commands(line: str, expected: list[tuple[str, ...]]) -> None:
    assert words_of(line) == expected


def test_patterns_are_marked_and_kept_as_written() -> None:
    (command,) = read_shell("ls *.py '*.c' [ab] x d/y.{c,h}").commands
    assert command.words == ("ls", "*.py", "*.c", "[ab]", "x", "d/y.{c,h}")
    assert command.globs == (1, 3, 5)


@pytest.mark.parametrize(
    "line",
    [
        "$CMD x",
        "ls $x",
        'ls "$x"',
        "ls $(a)",
        "ls `a`",
        "ls <(a)",
        "cat <<E\nE",
        "cat <<< x",
        "f() { a; }",
        "function f { a; }",
        "case x in x) a;; esac",
        "[[ -f x && -f y ]]",
        "[[ -f $x ]]",
        "[[ x < y ]]",
        "((1))",
        "X=1",
        "PATH=/x ls",
        "'a'{b,c}",
        "ls 'a'{b,c}",
        "ls ;; a",
        "g\\it status",
        "'git' status",
        "ls $'x'",
        "ls !!",
        "ls ~root",
        "=ls",
        "*",
        "ls *(x)",
        "ls\r",
        "ls \u200b",
        "ls \u2013la",
        "ls --\u0430ll",
        "ls bu\u0456ld",
        "g\u0456t status",
        "ls 'x",
        "ls &>f x",
        "ls 10>f",
        "ls && ",
        "ls )",
        "eval x",
        "for PATH in x; do ls; done",
        "set -- x",
        "ls 'a\\'",
        "cd x && ./y",
    ],
)
def test_what_is_not_plain_is_a_doubt(line: str) -> None:
    assert read_shell(line).doubts


def test_a_doubt_says_what_is_wrong() -> None:
    assert read_shell("ls $x").doubts == ("it uses a value that is computed when it runs: $x",)
    assert "U+202E" in read_shell("ls \u202ex").doubts[0]


def test_commands_inside_a_doubtful_line_are_still_found() -> None:
    reading = read_shell('echo "$(r\\m -rf x)" && eval "curl y; dd"; bash -c "wget z" a')
    assert reading.doubts
    for name in ("rm", "curl", "dd", "wget"):
        assert any(touches([name], command) for command in reading.commands), name


def test_text_in_quotes_is_not_taken_for_a_command() -> None:
    line = "git commit -m \"$(cat <<'E'\nrm old files; don't push\nrm x\nE\n)\""
    reading = read_shell(line)
    assert not reading.doubts
    assert not any(touches(["rm"], command) for command in reading.commands)
    assert any(touches(["cat"], command) for command in reading.harmless)
    reading = read_shell(f"{line} $x")
    assert reading.doubts
    assert not any(touches(["rm"], command) for command in reading.commands)


def test_the_grammar_has_a_veto(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not read_shell("ls").doubts
    monkeypatch.setattr("agentls.core.policy.shell.disagrees", lambda line, starts: True)
    assert read_shell("ls").doubts == ("it cannot be read with certainty",)


def test_the_grammar_has_to_find_the_same_commands_at_the_same_places() -> None:
    assert not second_reader.disagrees("cat é && ls", [0, 9])
    assert second_reader.disagrees("cat é && ls", [0])
    assert second_reader.disagrees("cat é && ls", [0, 10])
    assert second_reader.disagrees("ls $(rm x)", [0, 5])
    assert second_reader.disagrees("ls (", [0])


# --- files and folders


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a > f", [Redirect("f", write=True)]),
        ("a >> 'g h'", [Redirect("g h", write=True)]),
        ("a 2> f >| g", [Redirect("f", write=True), Redirect("g", write=True)]),
        ("a &> f", [Redirect("f", write=True)]),
        ("a < f", [Redirect("f", write=False)]),
        ("a > b c", [Redirect("b", write=True)]),
        ("(a) > f", [Redirect("f", write=True)]),
        ("{ a; } > f; while a; do a; done < g", [Redirect("f", True), Redirect("g", False)]),
        ("a > /dev/null 2>&1 <&- >&2 < /dev/null &>/dev/null", []),
        ("cd src && a", [Redirect("src", write=False)]),
        ("true > f; a", [Redirect("f", write=True)]),
    ],
)
def test_files_that_a_line_opens_are_listed(line: str, expected: list[Redirect]) -> None:
    reading = read_shell(line)
    assert not reading.doubts
    assert list(reading.redirects) == expected


@pytest.mark.parametrize(
    "line",
    [
        "a > $x",
        "a > *",
        "a > ~/x",
        "a > /dev/tcp/x/80",
        "a < /proc/self/environ",
        "a > //dev/sda",
        "a > /dev/stdout",
        "a >& f",
        "a > !",
        "> f",
        "cd x; a > y",
        "cd",
        "cd -",
        "cd ~",
        "cd .git",
        "for i in 1 2; do cd a; a; done",
        "cd a b",
    ],
)
def test_files_and_folders_that_are_not_plain_are_doubts(line: str) -> None:
    reading = read_shell(line)
    assert reading.doubts or [c.words[0] for c in reading.commands] == ["cd"]
    assert not allowed(line, rules("a"))[0]


def test_harmless_commands_need_no_rule_but_can_be_denied() -> None:
    reading = read_shell("set -e; [ -f x ] && cd src && git status || exit 1")
    assert [command.words for command in reading.commands] == [("git", "status")]
    assert [command.words[0] for command in reading.harmless] == ["set", "[", "cd", "exit"]
    assert touches(["cd"], reading.harmless[2])


def test_a_line_of_nothing_but_harmless_commands_needs_its_rule() -> None:
    assert words_of("cd src") == [("cd", "src")]
    assert not allowed("cd src", rules("ls"))[0]
    assert allowed("cd src", rules("cd"))[0]


# --- wrappers and argument arrays


def test_a_harmless_wrapper_is_taken_off() -> None:
    (command,) = read_shell("timeout -k 5 10 nice -n 3 git status").commands
    assert command == SimpleCommand(
        ("git", "status"), (), ("timeout", "-k", "5", "10", "nice", "-n", "3")
    )
    assert covers(["git", "status"], command)
    assert covers(["timeout", "-k", "5", "10", "nice", "-n", "3", "git"], command)
    assert not covers(["timeout"], command)


@pytest.mark.parametrize(
    "line",
    [
        "sudo git status",
        "env -i git status",
        "timeout --weird 5 git status",
        "time -o f git status",
    ],
)
def test_other_wrappers_stay_and_need_a_rule_that_names_what_they_run(line: str) -> None:
    (command,) = read_shell(line).commands
    assert command.words == tuple(line.split())
    assert not covers(["git", "status"], command)
    assert not covers([line.split(maxsplit=1)[0]], command)
    assert touches(["git", "status"], command)


def test_what_xargs_adds_may_be_an_option() -> None:
    (command,) = read_shell("xargs -n1 sort").commands
    assert command == SimpleCommand(("sort", "*"), (1,), ("xargs", "-n1"), ("sort",))
    assert not covers(["sort"], command)
    (command,) = read_shell("xargs -I{} grep x src/{}").commands
    written = ("grep", "x", "src/{}")
    assert command == SimpleCommand(("grep", "x", "*"), (2,), ("xargs", "-I{}"), written)
    assert covers(["grep"], command)
    assert covers(["xargs", "grep"], command)


def test_a_shell_with_a_line_is_read_as_that_line() -> None:
    assert words_of("bash -lc 'cd src && git status'") == [("git", "status")]
    assert read_argv(["/bin/zsh", "-lc", "ls | wc"]).commands == (
        SimpleCommand(("ls",)),
        SimpleCommand(("wc",)),
    )
    assert read_argv(["bash", "-c", "ls $x"]).doubts
    assert read_argv(["bash", "-euo", "pipefail", "-c", "ls"]).commands == (SimpleCommand(("ls",)),)


def test_an_argument_array_is_used_as_it_is() -> None:
    reading = read_argv(["echo", "$(rm x); a > b", "*"])
    assert reading.commands == (SimpleCommand(("echo", "$(rm x); a > b", "*")),)
    assert not reading.doubts
    assert not reading.redirects


@pytest.mark.parametrize(
    "argv", [[], [""], ["ls", "a\x00"], ["l\u200bs"], ["a b"], ["\u0455h", "x"]]
)
def test_an_argument_array_that_deceives_is_a_doubt(argv: list[str]) -> None:
    assert read_argv(argv).doubts


def test_only_variables_known_to_be_harmless_are() -> None:
    assert harmless_variable("LC_ALL", "C.UTF-8")
    assert harmless_variable("TZ", "Europe/Berlin")
    assert harmless_variable("GIT_PAGER", "cat")
    for name, value in [
        ("PATH", "x"),
        ("LD_PRELOAD", "x"),
        ("GIT_PAGER", "less"),
        ("LC_ALL", "../x"),
        ("TZ", "/etc/x"),
        ("FOO", "1"),
        ("LC_ALL", "$(x)"),
    ]:
        assert not harmless_variable(name, value), name


# --- rules


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("git status", "git status -s -- src", True),
        ("git status", "git --no-pager status", True),
        ("git status", "git -C x status", False),
        ("git status", "git -C . status", True),
        ("git status", "git -C /x/y status", True),
        ("git status", "git -C /x/.git status", False),
        ("git status", "git -C .. status", False),
        ("git status", "git stash", False),
        ("git status", "/usr/bin/git status", False),
        ("git status", "git", False),
        ("git", "git log", True),
        ("git", "git push", False),
        ("git log", "git log --outp=x", False),
        ("git log --output=x", "git log --output=x -3", True),
        ("ls", "ls -la x", True),
        ("python", "python x.py", False),
        ("python x.py", "python x.py --verbose", True),
        ("python x.py", "python -i x.py", False),
        ("python -m pytest", "python -u -m pytest -q", True),
        ("python -m pytest", "python -m pytest -p x", False),
        ("python -m", "python -m pytest", False),
        ("python -c", "python -c 1", False),
        ("python -c 1", "python -c 1", True),
        ("java -jar a.jar", "java -jar a.jar x", True),
        ("npx tsc", "npx tsc --noEmit", True),
        ("npx", "npx tsc", False),
        ("sudo apt update", "sudo apt update", True),
        ("sudo", "sudo apt update", False),
        ("ssh host ls", "ssh host ls", True),
        ("ssh host", "ssh host ls", False),
        ("ssh host", "ssh host", False),
        ("sort", "sort -t -- -o x", False),
        ("tool", "tool --verbose x", True),
        ("tool", "tool --config=x", False),
        ("tool --config=x", "tool --config=x y", True),
        ("tool", "tool -vo x", False),
        ("cp", "cp a b/c", True),
        ("cp", "cp a .git/hooks/x", False),
        ("make test", "make -j4 test", True),
        ("make test", "make test deploy", False),
        ("node", "node --version", True),
        ("node", "node --version -e x", False),
        ("node --test", "node --test tests", True),
        ("node --test", "node --test -r x", False),
        ("command -v", "command -v git", True),
        ("env", "env", True),
        ("psql", "psql", False),
        ("bash -s x", "bash -s x", False),
        ("git -C sub config", "git -C sub config core.pager rm", False),
        ("git -C sub log", "git -C sub log -3", True),
        ("rm -rf build", "rm -rf build src", False),
        ("chmod +x", "chmod +x a.sh", True),
        ("sed -i", "sed -i s/a/b/ x", True),
        ("sed -i", "sed -i 'w y' x", False),
        ("tar xf", "tar xf a.tar", True),
        ("tar xf", "tar xf a.tar --to-command=x", False),
    ],
)
def test_a_rule_covers_its_words_and_harmless_arguments(
    rule: str, command: str, covered: bool
) -> None:
    simple = SimpleCommand(tuple(shlex.split(command)))
    assert covers(shlex.split(rule), simple) is covered
    assert bool(objection(shlex.split(rule), simple)) is not covered


def test_a_rule_without_words_covers_and_touches_nothing() -> None:
    for rule in ([], [""]):
        assert not covers(rule, SimpleCommand(("ls",)))
        assert not touches(rule, SimpleCommand(("ls",)))


@pytest.mark.parametrize(
    ("rule", "command", "touched"),
    [
        ("rm", "rm x", True),
        ("rm", "/bin/rm x", True),
        ("rm", "RM x", True),
        ("rm", "sudo -u root rm x", True),
        ("rm", "find . -exec rm {} ;", True),
        ("rm", "docker exec web rm x", True),
        ("rm", "git rm x", False),
        ("rm", "echo rm", False),
        ("rm -rf", "rm -f x -r", True),
        ("rm -rf", "rm -f x", False),
        ("git push", "git -C x push origin", True),
        ("git push", "git stash push", False),
        ("git push", "git commit -m push", False),
        ("git push --force", "git push origin main --force", True),
        ("git push --force", "git push --forc", True),
        ("git push --force", "git push", False),
        ("npm run deploy", "npm --silent run deploy -- x", True),
    ],
)
def test_a_rule_that_denies_touches_more(rule: str, command: str, touched: bool) -> None:
    assert touches(shlex.split(rule), SimpleCommand(tuple(shlex.split(command)))) is touched


def test_a_rule_that_denies_sees_what_a_line_would_run() -> None:
    for line in ("ls | xargs rm", "timeout 5 rm x", "bash -c 'rm x'", "echo $(rm x)", "X=1 rm x"):
        assert any(touches(["rm"], command) for command in read_shell(line).commands), line


@pytest.mark.parametrize("script", ["1,5p", "s/a/b/g;p", "/x/{p;q}", "s|[[:space:]]*$||"])
def test_a_sed_script_that_only_prints_is_known(script: str) -> None:
    assert sed_only_prints(script)


@pytest.mark.parametrize(
    "script", ["w x", "1e id", "s/a/b/e", "s/a/b/w x", "p;w x", "s/[/]/e;p", "{p", "p}", "r x"]
)
def test_a_sed_script_that_may_do_more_is_not(script: str) -> None:
    assert not sed_only_prints(script)


@pytest.mark.parametrize(
    "program", ["{print $1}", "$3 > 10", "/a|b/ {n++} END {print n/NR}", '{print "a > b | c"}']
)
def test_an_awk_program_that_only_prints_is_known(program: str) -> None:
    assert awk_only_prints(program)


@pytest.mark.parametrize(
    "program",
    [
        'BEGIN{system("x")}',
        '{print > "x"}',
        '{print | "sh"}',
        '"id" | getline',
        'x++ / system("x") /1',
        '{ if (1) /"/; system("x"); /"/ }',
        "@load",
        "{",
    ],
)
def test_an_awk_program_that_may_do_more_is_not(program: str) -> None:
    assert not awk_only_prints(program)


# --- laws

FRAGMENTS = [
    "pwn",
    "sudo pwn",
    "timeout 5 pwn",
    "env A=b pwn",
    "bash -c pwn",
    "xargs pwn",
    "eval pwn",
    "echo $(pwn)",
    "echo `pwn`",
    "cat <(pwn)",
    "cat <<< pwn",
    "{ pwn; }",
    "(pwn)",
    "! pwn",
    "if pwn; then ls; fi",
    "for i in 1; do pwn; done",
    "./pwn",
    "PATH=pwn ls",
    "ls > pwn",
    "f() { pwn; }",
    "alias ls=pwn",
    "p\\wn",
    "$PWN",
    "source pwn",
    "cat <<E\npwn\nE\n",
]
SEPARATORS = ["; ", " && ", " || ", " | ", "\n", " & "]


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_a_hostile_fragment_at_any_place_spoils_an_ordinary_line(data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(ORDINARY))
    fragment = data.draw(st.sampled_from(FRAGMENTS))
    separator = data.draw(st.sampled_from(SEPARATORS))
    line = entry["command"]
    ends = [token.start for token in tokens(line) if isinstance(token, Operator)]
    place = data.draw(st.sampled_from([0, len(line), *ends]))
    if place == 0:
        spoiled = fragment + separator + line
    else:
        spoiled = line[:place] + separator + fragment + line[place:]
    assert not allowed(spoiled, rules(*entry["rules"]))[0], spoiled


PIECES = (
    "stub|stub a|a|-b| | |'|\"|\\|$|`|(|)|{|}|;|&|<|>|\n|#|!|*|?|[|]|~|=|X=1|if |then |fi|for i in "
    "|do |done|$(stub x)|$?|@{1}|{}|é|&&|2>&1|>/dev/null|&>/dev/null|\\\n|! |''|LC_ALL=C "
    "|$HOME|\\ |'a b'|\"a b\"|10|~/a|\t|{ |; }|true|exit|[ -f a ]"
)
SOUP = st.lists(
    st.sampled_from([*PIECES.split("|"), "|", "||", "|&"]), min_size=1, max_size=12
).map("".join)


@many
@given(st.one_of(st.text(max_size=200), SOUP, st.binary().map(lambda b: b.decode("latin-1"))))
def test_reading_never_fails(text: str) -> None:
    for reading in (read_shell(text), read_argv([text, text])):
        assert all(reading.doubts)
        for command in reading.commands:
            assert command.words
            covers(["git", "status"], command)
            touches(["git", "push", "-f"], command)


def test_the_grammar_gets_only_lines_that_were_read_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is native code, and crashes on lines such as these."""
    monkeypatch.setattr("agentls.core.policy.shell.disagrees", lambda *_: pytest.fail("it got it"))
    for line in ("cat <<\u1138\n", "ls $(", "a <<\U00108430 'x", "$["):
        assert read_shell(line).doubts


@many
@given(st.text("ab \u1138\U00108430é\"'\n", max_size=30))
def test_foreign_letters_do_not_harm_the_grammar(text: str) -> None:
    read_shell(f"ls {text}")
    read_shell(f"ls '{text}'")


def test_lone_surrogates_are_a_doubt() -> None:
    assert read_shell("ls \udc80").doubts
    assert read_argv(["ls", "\udc80"]).doubts


@pytest.mark.parametrize(
    "line",
    [
        "ls " + "a" * 70_000,
        "a|" * 30_000 + "a",
        "a;" * 30_000,
        "$(" * 20_000,
        "`" * 60_000,
        "(" * 60_000,
        "<<a " * 16_000,
        "a=(" * 20_000,
        "$[" * 1_900,
        "a|" * 1_900,
        "'a' " * 16_000,
        "ls " + "-" * 60_000,
        "{" * 60_000,
        '"' + "\\a" * 30_000,
        "bash -c '" * 5_000,
        "ls " + "{}" * 30_000,
    ],
)
def test_reading_takes_bounded_time(line: str) -> None:
    start = time.process_time()
    reading = read_shell(line)
    assert all(not covers(["git"], command) for command in reading.commands)
    assert all(not touches(["git", "push"], command) for command in reading.commands)
    assert time.process_time() - start < 1


def test_what_is_too_long_or_too_much_is_a_doubt() -> None:
    for line in (
        "ls " + "a" * 70_000,
        "ls;" * 300,
        "ls " + "x " * 6000,
        "( " * 50 + "ls" + " )" * 49,
    ):
        assert read_shell(line).doubts


def test_long_plain_text_in_quotes_is_no_reason_for_a_doubt() -> None:
    message = "a line of text\n" * 3000
    assert allowed(f"git commit -m '{message}'", rules("git commit"))[0]


def test_patterns_for_scripts_take_linear_time() -> None:
    start = time.process_time()
    for script in (
        "s/" + "a" * 1990,
        "/[a/" * 499,
        "\n" * 1999 + "w",
        "p \n" * 600 + "w",
        "{" * 1999,
    ):
        assert not sed_only_prints(script)
        awk_only_prints(script)
    assert time.process_time() - start < 1


def quoted(word: str, style: int) -> str:
    if style == 0 or "\n" in word or "!" in word:
        return shlex.quote(word)
    if style == 1:
        return '"' + "".join(f"\\{c}" if c in '"\\$`' else c for c in word) + '"'
    if style == 2:
        return "".join(c if c.isalnum() or c > "\x7f" else f"\\{c}" for c in word) or "''"
    middle = len(word) // 2
    return quoted(word[:middle], 0) + quoted(word[middle:], 1)


SINGLE = [
    (reading.commands[0].words, rules(*entry["rules"]))
    for entry in ORDINARY
    for reading in [read_shell(entry["command"])]
    if len(reading.commands) == 1
    and not reading.commands[0].under
    and reading.commands[0].words[0] != "["
    and not any(word.endswith("\\") or "$" in word for word in reading.commands[0].words)
]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SINGLE), st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_other_quotes_change_nothing(
    example: tuple[tuple[str, ...], list[list[str]]], styles: list[int]
) -> None:
    words, ours = example
    rest = [quoted(word, style) for word, style in zip(words[1:], styles, strict=False)]
    line = " ".join([words[0], *rest])
    assert words_of(line) == [words]
    assert allowed(line, ours)[0], line


def ran(shell: str, line: str, folder: Path) -> list[tuple[str, ...]]:
    """What a shell runs, with functions in place of programs and nothing on its PATH."""
    out = folder.parent / f"{folder.name}.out"
    out.write_bytes(b"")
    stub = "() { printf '%s\\001' NAME \"$@\" END >&3; }\n"
    script = "".join(name + stub.replace("NAME", name) for name in ("stub", "a"))
    script += "command_not_found_handle" + stub.replace("NAME", "") + f"exec 3>>{out}\n"
    subprocess.run(
        [shell, "-c", f"{script}{line}\nwait\n"],
        cwd=folder,
        env={"PATH": "/nonexistent", "HOME": "$HOME"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    found = out.read_text(errors="surrogateescape").split("END\x01")[:-1]
    return [tuple(part.split("\x01")[:-1]) for part in found]


@few
@given(
    st.lists(st.text("ab -_=.,:;|&<>()'\"\\$`*?[]{}~!#%^@+é\t\n", max_size=8), max_size=5),
    st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_bash_gets_the_words_that_were_read(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], styles: list[int]
) -> None:
    line = " ".join(["stub", *map(quoted, words, styles)])
    reading = read_shell(line)
    assume(not reading.doubts)
    assert reading.commands[0].words == ("stub", *words)
    assert BASH is not None
    assert ran(BASH, line, tmp_path_factory.mktemp("bash")) == [("stub", *words)]


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOUP)
def test_no_shell_runs_anything_that_was_not_read(
    shell: str, tmp_path_factory: pytest.TempPathFactory, line: str
) -> None:
    reading = read_shell(line)
    assume(not reading.doubts and not reading.redirects)
    expected = {tuple(map(_loose, command.words)) for command in reading.commands}
    folder = tmp_path_factory.mktemp("soup")
    for words in ran(shell, line, folder):
        argv = words if words[0] else words[1:]
        assert tuple(map(_loose, argv)) in expected, line
    assert not list(folder.iterdir())


def _loose(word: str) -> str:
    """A word without what only the shell knows: the home folder and the last status."""
    return re.sub(r"\$\?|[0-9]+", "0", re.sub(r"\A~(?=/|\Z)", "$HOME", word))


def test_a_doubt_is_safe_to_show() -> None:
    for line in ("l\x1b[2Js", "'a\nb' x", "ls \x1b]0;x\x07"):
        for doubt in read_shell(line).doubts:
            assert doubt.isprintable()


def test_a_rule_that_denies_takes_bounded_time() -> None:
    start = time.process_time()
    assert not touches(["rm", "x"], SimpleCommand(("xargs", *["rm"] * 20_000)))
    assert not touches(["rm"], SimpleCommand(("find", *["."] * 20_000)))
    assert time.process_time() - start < 1


def test_unreadable_places_are_named_for_a_person() -> None:
    for line, part in [
        ("ls `x`", "runs a command to compute"),
        ("ls 'x'{a,b}", "braces"),
        ("ls 'x", "quote is not closed"),
        ('ls "$(x)"', "computed"),
        ("ls \\x", "escape"),
        ("ls # `x`", "comment"),
    ]:
        with pytest.raises(Unreadable, match=part):
            list(tokens(line))
