"""The command line without an agent: what it teaches, what it refuses, and how things look."""

from __future__ import annotations

import io
import json
import logging
import os
import pty
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from agentls import __version__, log
from agentls.cli import COMMANDS, main
from agentls.cli.answers import (
    ALLOW,
    REJECT,
    Answer,
    automatic,
    choices,
    chosen,
    keys,
    offered_rule,
)
from agentls.cli.options import parse
from agentls.cli.view.blocks import Blocks
from agentls.cli.view.diffs import diff_lines
from agentls.cli.view.pieces import asked, call_body, call_line, duration, plan_lines
from agentls.cli.view.rendering import THEME, AgentMarkdown, Lines
from agentls.cli.view.screen import Screen
from agentls.core.errors import BadRequest
from agentls.core.growing import GrowingText
from agentls.core.model import (
    Always,
    AskId,
    Block,
    Diff,
    EntryId,
    Location,
    Option,
    PlanStep,
    TerminalId,
    ToolCallId,
)
from agentls.core.output import Output
from agentls.core.transcript import Ask, ToolCall

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always", "", "allow_maybe")
OPTIONS = st.lists(
    st.builds(
        Option, st.uuids().map(str), st.sampled_from(["Allow", "Reject"]), st.sampled_from(KINDS)
    )
)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("AGENTLS_LOG", "")


# -- help, version, mistakes


def test_the_help_names_every_command_and_where_the_files_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert command in text
    assert str(tmp_path / "config/agentls/agents.toml") in text
    assert str(tmp_path / "state/agentls/agentls.log") in text
    assert max(map(len, text.replace(str(tmp_path), "").split("\n"))) <= 100


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("usage: agentls ")
    assert not told.err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agentls {__version__}\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["rnu"], "there is no command 'rnu'; did you mean agentls run?"),
        (["--frobnicate"], "there is no option '--frobnicate'; agentls --help lists the commands."),
        (["serve", "--port"], "serve does not know '--port'"),
        (["demo-agent", "now"], "demo-agent takes no arguments."),
        (["run"], "There is no prompt."),
        (["run", "--cwd", "/no/such/folder", "hi"], "There is no folder /no/such/folder."),
        (["run", "--json", "--answer", "ask", "hi"], "With --json nobody can be asked."),
        (["run", "--chat", "hi"], "--chat needs a terminal."),
        (["run", "--answer", "ask", "-"], "cannot both come from stdin"),
        (["record", "-o", "/no/such/folder/x", "hi"], "There is no folder /no/such/folder."),
        (["record", "hi"], "the following arguments are required: -o"),
        (["run", "--timeout", "0", "hi"], "must be more than 0"),
    ],
)
def test_a_mistake_is_told_in_one_sentence_and_exits_with_2(
    args: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert not told.out


def test_a_recording_is_never_written_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("precious")
    assert main(["record", "-o", str(tmp_path / "taken"), "hi"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "taken").read_text() == "precious"


def test_words_and_options_may_be_mixed(tmp_path: Path) -> None:
    given = parse(["Fix", "--agent", "demo", "the bug", "--cwd", str(tmp_path)], recording=False)
    assert (given.prompt, given.agent, given.cwd) == ("Fix the bug", "demo", str(tmp_path))


def test_nobody_is_asked_without_a_terminal() -> None:
    given = parse(["hi"], recording=False)
    assert (given.answer, given.nobody_to_ask) == (REJECT, True)
    given = parse(["--answer", "reject", "hi"], recording=False)
    assert (given.answer, given.nobody_to_ask) == (REJECT, False)


def test_an_unreadable_command_line_is_our_error() -> None:
    with pytest.raises(BadRequest):
        parse(["--cwd", "/no/such/folder", "hi"], recording=False)


# -- the server


def test_the_server_at_a_terminal_says_in_two_lines_that_an_editor_starts_it() -> None:
    controller, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "agentls"],
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    finally:
        os.close(controller)
        os.close(terminal)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    assert "agentls --help" in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("args", [[], ["serve"], ["--stdio"], ["serve", "--stdio"]])
def test_starting_the_server_imports_no_parser_and_no_terminal_library(args: list[str]) -> None:
    program = f"""
import sys, types
before = set(sys.modules)
async def serve(): return 7
sys.modules["agentls.serving"] = types.ModuleType("agentls.serving")
sys.modules["agentls.serving"].serve = serve
from agentls.cli import main
code = main({args!r})
heavy = {{"argparse", "rich", "msgspec", "platformdirs", "difflib", "logging.handlers"}}
print(code, sorted(heavy & (set(sys.modules) - before)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.stdout == "7 []\n", done.stderr


# -- agents


def test_the_agents_are_listed_with_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config/agentls").mkdir(parents=True)
    (tmp_path / "config/agentls/agents.toml").write_text(
        f'[agents.mine]\ncommand = ["{sys.executable}"]\ntitle = "My own"\n'
        '[agents.gone]\ncommand = ["no-such-program"]\n[agents.bad]\ncommand = 7\n'
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["agents"]) == 0
    told = capsys.readouterr()
    lines = {line.split()[0]: line for line in told.out.splitlines()}
    assert lines["mine"].split("  ")[0] == "mine"
    assert f"My own              installed: {sys.executable}" in lines["mine"]
    assert lines["gone"].endswith("missing: put no-such-program on your PATH")
    assert "missing: npm install -g @google/gemini-cli" in lines["gemini"]
    assert "agents.bad.command must be a list" in told.err

    assert main(["agents", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    by_name = {agent["name"]: agent for agent in found["agents"]}
    assert list(by_name)[:2] == ["mine", "gone"]
    assert by_name["mine"]["installed"] is True
    assert by_name["gone"]["program"] is None
    assert len(found["problems"]) == 1


# -- answers


@given(OPTIONS, st.sampled_from([ALLOW, REJECT]))
def test_only_a_kind_decides_without_a_person(options: list[Option], answer: str) -> None:
    option = automatic(options, answer)
    offered = {each.kind for each in options}
    if answer == ALLOW and "allow_once" in offered:
        assert option is not None
        assert option.kind == "allow_once"
    elif "reject_once" in offered:
        assert option is not None
        assert option.kind == "reject_once"
    else:
        assert option is None


@given(OPTIONS, st.text())
def test_only_a_number_or_a_letter_of_an_option_chooses_it(
    options: list[Option], typed: str
) -> None:
    offered = keys(options)
    words = [word for key in offered for word in (key.number, key.letter) if word]
    assert len(words) == len(set(words))
    answer = chosen(offered, typed)
    word, _, reason = typed.strip().partition(" ")
    key = next((k for k in offered if word and word.lower() in (k.number, k.letter)), None)
    if key is None or (reason.strip() and not key.option.kind.startswith("reject")):
        assert answer is None
    else:
        assert answer == Answer(key.option, reason.strip())


def test_a_no_can_say_why_and_a_yes_cannot_have_an_if() -> None:
    options = [Option(kind, kind, kind) for kind in KINDS[:4]]
    answer = chosen(keys(options), "n use tabs, please")
    assert answer is not None
    assert (answer.option.kind, answer.reason) == ("reject_once", "use tabs, please")
    assert chosen(keys(options), "y but only once") is None


def test_a_rule_is_offered_where_the_agent_has_no_always() -> None:
    once, always = Option("o", "Allow", "allow_once"), Option("a", "Always", "allow_always")
    offer = Always("command", "Always allow `ls`")

    def offered(*options: Option) -> list[str]:
        ask = Ask(
            id=EntryId("e1"),
            at=0.0,
            turn=1,
            ask=AskId("a1"),
            call=ToolCallId("c1"),
            title="ls",
            options=options,
            always=(offer,),
        )
        return [offered_rule(option) for option in choices(ask)]

    assert offered(once) == ["", "command"]
    assert offered(once, always) == ["", ""]


@pytest.mark.parametrize("typed", ["", " ", "\n", "\t\n", "yes please", "0", "5"])
def test_enter_alone_and_stray_words_choose_nothing(typed: str) -> None:
    options = [Option(kind, kind, kind) for kind in KINDS[:4]]
    assert chosen(keys(options), typed) is None


def test_letters_go_by_kind_and_unknown_kinds_have_none() -> None:
    options = [Option(kind, "Allow", kind) for kind in (*KINDS, "allow_once")]
    assert [key.letter for key in keys(options)] == ["y", "a", "n", "d", "", "", ""]


# -- Markdown that is still being written


def blocks_of(text: str, cuts: list[int]) -> list[str]:
    blocks, found, last = Blocks(), [], 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        found += blocks.feed(text[last:cut])
        last = cut
    return [*found, *blocks.finish()]


WORDS = st.sampled_from(["a word", "**bold**", "`code`", "[link](x)", "3 * 4", "#no heading"])
PARAGRAPH = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)
CODE = st.lists(
    st.sampled_from(["x = 1", "", "# no heading", "- no item", "    in"]), max_size=4
).map(lambda lines: "\n".join(["```py", *lines, "```"]))
ITEMS = st.lists(
    st.one_of(WORDS, st.just("two\n\n  paragraphs"), st.just("code\n\n  ```\n  x\n\n  y\n  ```")),
    min_size=1,
    max_size=4,
)
BLOCK = st.one_of(
    PARAGRAPH,
    CODE,
    st.sampled_from(
        ["# One", "### Three", "---", "> quoted\n> more", "| a | b |\n|---|---|\n| 1 | 2 |"]
    ),
    ITEMS.map(lambda items: "\n".join(f"- {item}" for item in items)),
    ITEMS.map(lambda items: "\n\n".join(f"- {item}" for item in items)),
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=6).map("\n\n".join)


@given(DOCUMENT, st.lists(st.integers(0, 500), max_size=20))
def test_blocks_shown_one_by_one_read_like_the_whole(text: str, cuts: list[int]) -> None:
    parser = MarkdownIt("commonmark").enable("table")

    def tokens(source: str) -> list[tuple[str, str]]:
        return [(token.type, token.content) for token in parser.parse(source)]

    assert [t for block in blocks_of(text, cuts) for t in tokens(block)] == tokens(text)


@given(st.text(st.sampled_from("ab\n `-#>~1. |")), st.lists(st.integers(0, 500), max_size=20))
def test_blocks_do_not_depend_on_how_the_text_arrived(text: str, cuts: list[int]) -> None:
    blocks = blocks_of(text, cuts)
    assert blocks == blocks_of(text, [])
    flat = [line for line in text.split("\n") if line.strip()]
    assert [line for block in blocks for line in block.split("\n") if line.strip()] == flat


def test_a_finished_block_comes_out_before_the_text_is_over() -> None:
    blocks = Blocks()
    assert blocks.feed("# Title\nSome te") == ["# Title"]
    assert blocks.feed("xt.\n\n```py\nx = 1\n\n") == ["Some text."]
    assert blocks.feed("y = 2\n```\n") == ["```py\nx = 1\n\ny = 2\n```"]
    assert blocks.feed("- a\n\n- b\n\n") == []
    assert blocks.feed("Next\n```\n") == ["- a\n\n- b", "Next"]
    assert blocks.feed("code\n```\nLast") == ["```\ncode\n```"]
    assert blocks.finish() == ["Last"]


def test_the_tail_of_a_long_block_is_as_long_as_a_screen() -> None:
    blocks = Blocks()
    blocks.feed("```py\n" + "".join(f"line {number}\n" for number in range(1000)) + "par")
    assert blocks.tail(3, 80).split("\n") == ["```py", "line 997", "line 998", "line 999", "par"]
    blocks = Blocks()
    blocks.feed("word " * 10_000)
    assert len(blocks.tail(10, 80)) == 800


# -- pieces


def tool_call(**fields: Any) -> ToolCall:
    return ToolCall(id=EntryId("e1"), at=0.0, turn=1, call=ToolCallId("c"), **fields)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (tool_call(title="Look", kind="read", status="completed"), "✓ read Look"),
        (tool_call(title="Look", kind="read", status="failed"), "✗ read Look"),
        (tool_call(title="Look", kind="read", status="in_progress"), "● read Look"),
        (tool_call(title="Look", status="failed", rejected=True), "⊘ other Look  rejected"),
        (tool_call(title="Look", status="unfinished"), "⊘ other Look  unfinished"),
        (tool_call(title="a\nb\x1b[2J\tc", status="completed"), "✓ other a b c"),
        (tool_call(name="tool", status="completed"), "✓ other tool"),
        (
            tool_call(
                title="Edit x.py",
                kind="edit",
                status="completed",
                locations=(Location("/p/x.py", 3), Location("/p/y.py")),
                content=(Diff("/p/x.py", "a\n", "b\nc\n"),),
            ),
            "✓ edit Edit x.py  line 3 +1 · +2 -1",
        ),
        (
            tool_call(title="Edit", status="completed", locations=(Location("/p/s/x.py", 3),)),
            "✓ other Edit  s/x.py:3",
        ),
        (
            tool_call(
                title="make",
                kind="execute",
                status="failed",
                terminals={TerminalId("t"): Output(exit_code=2)},
            ),
            "✗ execute make  exit code 2",
        ),
    ],
)
def test_a_tool_call_is_one_line(call: ToolCall, line: str) -> None:
    assert str(call_line(call, "/p")) == line


def test_of_long_output_the_last_lines_are_shown_and_the_others_counted() -> None:
    output = Output(text=GrowingText("".join(f"line {number}\n" for number in range(1, 101))))
    call = tool_call(kind="execute", status="completed", terminals={TerminalId("t"): output})
    lines = list(map(str, call_body(call, "/p")))
    assert lines[0] == "  │ … 89 lines above"
    assert lines[1:] == [f"  │ line {number}" for number in range(90, 101)]


def test_a_file_that_was_read_is_not_shown_again_unless_that_failed() -> None:
    content = (Block(kind="text", text="```\nwhole file\n```"),)
    assert not call_body(tool_call(kind="read", status="completed", content=content), "/p")
    (line,) = call_body(tool_call(kind="read", status="failed", content=content), "/p")
    assert str(line) == "  │ whole file"


def test_a_long_diff_is_shortened_with_a_count() -> None:
    diff = Diff("x", None, "".join(f"{number}\n" for number in range(100)))
    lines = [f"{lead}{text}" for lead, text, _ in diff_lines(diff, 3)]
    assert lines == ["    1 + 0", "    2 + 1", "    3 + 2", "      … 97 more lines"]


def test_a_diff_has_the_numbers_of_both_sides_and_a_gap_between_its_parts() -> None:
    old = "".join(f"{number}\n" for number in range(1, 13))
    new = old.replace("2\n", "two\n", 1).replace("11\n", "", 1).removesuffix("\n")
    assert [f"{lead}{text}" for lead, text, _ in diff_lines(Diff("x", old, new), None)] == [
        *("   1   1", "   2 - 2", "   2 + two", "   3   3", "   4   4", "     ⋯"),
        *("   9   9", "  10   10", "  11 - 11", "  12 - 12", "  11 + 12"),
        "     \\ No newline at end of file",
    ]


def test_an_ask_shows_the_true_command_and_all_of_it() -> None:
    call = tool_call(title="List files", kind="execute", input={"command": "ls\nrm -rf \x1b[8m/"})
    lines, shortened = asked(call, "/p")
    assert list(map(str, lines)) == ["  $ ls", "  $ rm -rf /"]
    assert not shortened
    call = tool_call(title="x", input={"command": ["sh", "-c", "echo 'a b'"]})
    assert str(asked(call, "/p")[0][0]) == "  $ sh -c 'echo '\"'\"'a b'\"'\"''"
    assert asked(tool_call(title="`ls`", input={"command": "ls"}), "/p") == ([], False)


def test_an_ask_without_command_or_diff_shows_what_the_tool_gets() -> None:
    lines, _ = asked(tool_call(title="Fetch", kind="fetch", input={"url": "http://x"}), "/p")
    assert list(map(str, lines)) == ["  │ {", '  │   "url": "http://x"', "  │ }"]


def test_an_ask_about_a_long_diff_can_be_seen_whole() -> None:
    diff = Diff("/p/x", None, "".join(f"{number}\n" for number in range(300)))
    call = tool_call(title="Write", kind="edit", content=(diff,))
    lines, shortened = asked(call, "/p")
    assert shortened
    assert str(lines[-1]).endswith("… 100 more lines")
    lines, shortened = asked(call, "/p", whole=True)
    assert not shortened
    assert len(lines) == 301


def test_a_plan_is_a_list_to_tick_off() -> None:
    steps = [
        PlanStep("a", "completed"),
        PlanStep("b", "in_progress"),
        PlanStep("c"),
        PlanStep("d", "?"),
    ]
    assert list(map(str, plan_lines(steps))) == ["  ☑ a", "  ◐ b", "  ☐ c", "  ⊘ d"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.6, "1 min 0 s"),
        (3, "3 s"),
        (61, "1 min 1 s"),
    ],
)
def test_a_duration_is_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


# -- the screen


def console(width: int, height: int = 10) -> Console:
    return Console(
        file=io.StringIO(),
        width=width,
        height=height,
        force_terminal=True,
        theme=THEME,
        highlight=False,
    )


@given(st.integers(1, 60), DOCUMENT)
def test_no_line_is_wider_than_the_window(width: int, text: str) -> None:
    drawn = console(width)
    drawn.print(AgentMarkdown(text), Lines([call_line(tool_call(title=text), "/p")]))
    if width > 12:
        plain = drawn.file.getvalue()  # type: ignore[attr-defined]
        assert max(len(line) for line in _without_codes(plain).split("\n")) <= width


def _without_codes(text: str) -> str:
    from agentls.core.printable import printable

    return printable(text)


class FakeTerminal:
    """Understands just what a screen writes: text, line ends, up, back, clear."""

    def __init__(self) -> None:
        self.lines = [""]
        self.row = self.column = 0

    def write(self, text: str) -> None:
        for part in _tokens(text):
            if part == "\n":
                self.row, self.column = self.row + 1, 0
                if self.row == len(self.lines):
                    self.lines.append("")
            elif part == "\r":
                self.column = 0
            elif part.endswith("A"):
                self.row -= int(part[2:-1])
                assert self.row >= 0
            elif part == "\x1b[K":
                self.lines[self.row] = self.lines[self.row][: self.column]
            elif part == "\x1b[J":
                self.lines[self.row] = self.lines[self.row][: self.column]
                del self.lines[self.row + 1 :]
            elif not part.startswith("\x1b"):
                line = self.lines[self.row]
                self.lines[self.row] = line[: self.column] + part + line[self.column + len(part) :]
                self.column += len(part)


def _tokens(text: str) -> Iterator[str]:
    import re

    yield from re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", text)


FRAMES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["stays", "stays too"])),
        st.lists(st.text("xyz", min_size=1, max_size=30)),
    ),
    max_size=8,
)


@given(FRAMES)
def test_what_stays_is_written_once_and_what_is_drawn_is_replaced(
    frames: list[tuple[list[str], list[str]]],
) -> None:
    drawn, terminal = console(40), FakeTerminal()
    screen, kept = Screen(drawn), []
    file: Any = drawn.file
    for staying, live in frames:
        for line in staying:
            screen.keep(line)
        kept += staying
        screen.draw(*live)
        terminal.write(file.getvalue())
        file.seek(0)
        file.truncate()
        assert terminal.lines == [*kept, *(live[-9:] or [""])]
    screen.draw()
    terminal.write(file.getvalue())
    assert terminal.lines == [*kept, ""]


def test_the_same_frame_is_not_written_twice() -> None:
    drawn = console(40)
    screen = Screen(drawn)
    screen.draw("busy")
    file: Any = drawn.file
    length = len(file.getvalue())
    screen.draw("busy")
    assert len(file.getvalue()) == length


# -- logging


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    noisy = {name: logging.getLogger(name).level for name in ("asyncio", "pygls")}
    yield root
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in noisy.items():
        logging.getLogger(name).setLevel(before)


def test_the_log_file_is_made_with_the_first_record_and_only_its_owner_reads_it(
    tmp_path: Path, root_logger: logging.Logger
) -> None:
    path = tmp_path / "state/agentls/agentls.log"
    log.setup(0, to_file=True)
    root_logger.debug("not at this level")
    assert not path.exists()
    root_logger.info("hello %s", "world")
    assert path.read_text().endswith(" INFO root: hello world\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_log_is_three_files_of_a_megabyte_at_most(
    tmp_path: Path, root_logger: logging.Logger
) -> None:
    log.setup(0, to_file=True)
    for _ in range(9):
        root_logger.info("x" * 600_000)
    files = sorted((tmp_path / "state/agentls").iterdir())
    assert [file.name for file in files] == ["agentls.log", "agentls.log.1", "agentls.log.2"]
    for file in files:
        assert file.stat().st_size <= 1 << 20
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_no_log_can_be_written_there_is_none_and_no_error(
    tmp_path: Path, root_logger: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    log.setup(0, to_file=True)
    root_logger.error("lost")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("setting", "verbose", "shown"),
    [
        ("", 0, []),
        ("", 1, ["info", "warning"]),
        ("", 2, ["debug", "info", "warning"]),
        ("warning", 1, ["warning"]),
        ("DEBUG", 1, ["debug", "info", "warning"]),
        ("nonsense", 1, ["info", "warning"]),
    ],
)
def test_how_much_is_logged_to_stderr(
    setting: str,
    verbose: int,
    shown: list[str],
    root_logger: logging.Logger,
    capsys: pytest.CaptureFixture[str],
) -> None:
    os.environ["AGENTLS_LOG"] = setting  # taken back with the folders
    log.setup(verbose, to_file=False)
    for level in ("debug", "info", "warning"):
        getattr(root_logger, level)("this is %s", level)
    told = capsys.readouterr()
    assert [line.rsplit(" ", 1)[1] for line in told.err.splitlines()] == shown
    assert not told.out
