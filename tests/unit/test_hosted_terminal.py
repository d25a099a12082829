"""Commands in real pseudo-terminals: what they see, what is heard of them, how they end."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agentls.core.errors import TerminalFailed
from agentls.core.model import SessionId, TerminalId
from agentls.core.policy.git_environment import git_safety
from agentls.core.tail import Tail
from agentls.core.terminals import Exit, Source, Terminal, TerminalBackend, TerminalSpec
from agentls.terminal import hosted as module
from agentls.terminal import screen, trees
from agentls.terminal.hosted import HostedTerminal, HostedTerminals
from agentls.warden import VARIABLE, Warden
from fakes.processes import gone, until_gone

SECONDS = 10.0
GRACE = 0.25

PRELUDE = """
import os, signal, sys
def say(*words): os.write(1, " ".join(map(str, words)).encode() + b"\\n")
def pause():
    while True: signal.pause()
def deaf(*numbers):
    for number in numbers: signal.signal(number, signal.SIG_IGN)
def child(work):
    pid = os.fork()
    if pid: return pid
    try: work()
    finally: os._exit(0)
def daemon(work):
    reading, writing = os.pipe()
    def first():
        os.setsid()
        os.write(writing, b"%d" % child(second))
    def second():
        for fd in (0, 1, 2): os.close(fd)
        work()
    os.waitpid(child(first), 0)
    return int(os.read(reading, 20))
"""


class Guarded(Warden):
    """A real warden that remembers for whom it is there."""

    def __init__(self) -> None:
        super().__init__()
        self.now: set[int] = set()

    def guard(self, group: int) -> None:
        super().guard(group)
        self.now.add(group)

    def forget(self, group: int) -> None:
        super().forget(group)
        self.now.discard(group)


class Run:
    """A command, what it wrote and how it ended."""

    handle: HostedTerminal

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.exits: list[Exit] = []
        self.at_exit = b""
        self._changed = asyncio.Event()

    def data(self, data: bytes) -> None:
        self.pieces.append(data)
        self._changed.set()

    def exited(self, exit: Exit) -> None:
        self.at_exit = self.out
        self.exits.append(exit)
        self._changed.set()

    @property
    def out(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def text(self) -> str:
        return self.out.decode().replace("\r\n", "\n")

    async def until(self, condition: Callable[[], object], why: str) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pytest.fail(f"{why}; it wrote {self.out[-200:]!r}, its exits: {self.exits}")

    async def says(self, words: str) -> None:
        await self.until(lambda: words in self.text, f"it never said {words!r}")

    async def line(self, number: int = 0) -> str:
        await self.until(lambda: self.text.count("\n") > number, f"line {number} never came")
        return self.text.split("\n")[number]

    async def exit(self) -> Exit:
        await self.until(lambda: self.exits, "its end was not told")
        assert len(self.exits) == 1
        return self.exits[0]


class Host:
    """The backend, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "COLUMNS": "7", "LINES": "3", "PAGER": "less", "TERM": "dumb"}
        self.warden = Guarded()
        self.backend = HostedTerminals(self.warden, self.env, grace=GRACE)
        self.runs: list[Run] = []

    def spec(self, command: str, *args: str, cwd: str = "", **env: str) -> TerminalSpec:
        return TerminalSpec(command=command, args=args, cwd=cwd or str(self.folder), env=env)

    async def run(self, command: str, *args: str, cwd: str = "", **env: str) -> Run:
        return await self.start(self.backend, self.spec(command, *args, cwd=cwd, **env))

    async def start(self, backend: TerminalBackend, spec: TerminalSpec) -> Run:
        run = Run()
        terminal = Terminal(
            id=TerminalId("t"),
            session=SessionId("s"),
            command=spec.shown,
            cwd=spec.cwd,
            source=Source.HOSTED,
            created=0.0,
            tail=Tail(0),
        )
        handle = await backend.start(terminal, spec, run)
        assert isinstance(handle, HostedTerminal)
        run.handle = handle
        self.runs.append(run)
        return run

    async def python(self, script: str, **env: str) -> Run:
        return await self.run(sys.executable, "-S", "-E", "-c", PRELUDE + script, **env)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def eventually(condition: Callable[[], object], why: str) -> None:
    """For what nobody tells about."""
    try:
        async with asyncio.timeout(SECONDS):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.005)
    except TimeoutError:
        pytest.fail(why)


def state(pid: int) -> str:
    """What a process does, as one letter: S for sleeping, T for stopped…"""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    host = Host(tmp_path.resolve())
    before = open_files()
    yield host
    async with asyncio.timeout(SECONDS):
        await host.backend.close()
    assert host.warden.now == set()
    host.warden.close()
    for run in host.runs:
        assert len(run.exits) == 1
        assert gone(run.handle.pid)
    assert open_files() == before, "something was left open"


async def over(run: Run) -> None:
    """Wait until nothing is left of it."""
    live = run.handle._all.live
    await eventually(lambda: run.handle not in live, "something is left of the command")


def marked(host: Host) -> list[int]:
    """Whatever is left of all commands."""
    mark = host.warden._mark.encode()
    return [process.pid for process in trees.running() or () if mark in process.environment]


# -- what is run


async def test_a_program_with_its_arguments_gets_them_as_they_are(host: Host) -> None:
    run = await host.run("printf", r"%s|", "a b", "$HOME", "", "ü;'\"")
    assert await run.exit() == Exit(0)
    assert run.text == "a b|$HOME||ü;'\"|"


async def test_a_command_without_arguments_is_a_shell_line(host: Host) -> None:
    run = await host.run("cd / && [[ $PWD == / ]] && echo one | tr a-z A-Z; exit 3")
    assert await run.exit() == Exit(3)
    assert run.text == "ONE\n"


async def test_a_command_without_arguments_may_be_the_path_of_a_program(host: Host) -> None:
    program = host.folder / "my-tool"
    program.write_text("#!/bin/sh\necho mine\n")
    program.chmod(0o755)
    run = await host.run(str(program))
    assert await run.exit() == Exit(0)
    assert run.text == "mine\n"


async def test_what_a_shell_would_read_otherwise_is_a_shell_line_whatever_files_there_are(
    host: Host,
) -> None:
    program = host.folder / "my tool; echo no"
    program.write_text("#!/bin/sh\necho mine\n")
    program.chmod(0o755)
    run = await host.run(str(program))
    assert await run.exit() == Exit(0)
    assert run.text.endswith("no\n"), "the policy has judged two commands, so two are run"
    assert "mine" not in run.text


async def test_a_relative_program_is_one_of_the_folder(host: Host) -> None:
    (host.folder / "sub").mkdir()
    program = host.folder / "sub" / "tool"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    run = await host.run("./tool", "x", cwd=str(host.folder / "sub"))
    await run.exit()
    assert run.text == "x\n"


async def test_without_bash_a_shell_line_goes_to_sh(host: Host) -> None:
    run = await host.run("echo it is $0", PATH=str(host.folder))
    await run.exit()
    assert run.text == "it is /bin/sh\n"


async def test_a_shell_line_that_names_nothing_says_so_in_the_terminal(host: Host) -> None:
    run = await host.run("no-such-program-at-all")
    assert await run.exit() == Exit(127)
    assert "not found" in run.text


async def test_a_program_that_is_not_there_is_one_sentence(host: Host) -> None:
    with pytest.raises(TerminalFailed, match=r"'no-such' is not on the PATH\. Is it installed\?$"):
        await host.run("no-such", "x")
    with pytest.raises(TerminalFailed, match=r"/no-such is not a program that can be run\.$"):
        await host.run("./no-such", "x")


async def test_a_relative_folder_on_the_path_is_not_looked_into(host: Host) -> None:
    (host.folder / "ls-like").write_text("#!/bin/sh\n")
    (host.folder / "ls-like").chmod(0o755)
    with pytest.raises(TerminalFailed, match="not on the PATH"):
        await host.run("ls-like", "x", PATH=".:")


async def test_a_file_that_no_system_can_run_says_so_in_the_terminal(host: Host) -> None:
    program = host.folder / "noise"
    program.write_bytes(b"\0\1\2")
    program.chmod(0o755)
    run = await host.run(str(program), "x")
    assert await run.exit() == Exit(126)
    assert run.text == f"{program}: Exec format error\n"


@pytest.mark.parametrize("folder", ["missing", "file", "nul\0", "half\ud800", "relative"])
async def test_a_folder_that_is_none_is_one_sentence(host: Host, folder: str) -> None:
    (host.folder / "file").touch()
    path = folder if folder == "relative" else f"{host.folder}/{folder}"
    with pytest.raises(TerminalFailed, match="does not exist"):
        await host.run("ls", cwd=path)


@pytest.mark.parametrize("word", ["nul\0", "half\ud800"])
async def test_words_that_no_program_can_get_are_one_sentence(host: Host, word: str) -> None:
    with pytest.raises(TerminalFailed, match="could not be started: it has impossible characters"):
        await host.run("printf", word)
    with pytest.raises(TerminalFailed, match="could not be started: it has impossible characters"):
        await host.run("ls", NAME=word)


async def test_no_terminal_to_be_had_is_one_sentence(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def openpty() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "openpty", openpty)
    with pytest.raises(TerminalFailed, match="No terminal could be opened: No space left"):
        await host.run("ls")


async def test_nothing_is_left_of_a_start_that_was_called_off(host: Host) -> None:
    for hops in range(12):
        task = asyncio.create_task(host.run("exec sleep 1000"))
        for _ in range(hops):
            await asyncio.sleep(0)
        if not task.cancel():
            (await task).handle.kill()
        await asyncio.gather(task, return_exceptions=True)
    await host.backend.close()
    assert marked(host) == []


# -- what it sees


async def test_the_environment_is_the_editors_and_the_agents(host: Host) -> None:
    names = ("HOME", "TERM", "PAGER", "GIT_PAGER", "COLUMNS", "LINES", "PWD", "ODD.ONE")
    script = f"for name in {names!r}: say(name, os.environ.get(name))"
    run = await host.python(script, **{"GIT_PAGER": "more", "ODD.ONE": "kept"})
    await run.exit()
    assert dict(line.split(" ", 1) for line in run.text.splitlines()) == {
        "HOME": host.env["HOME"],
        "TERM": "xterm-256color",
        "PAGER": "cat",
        "GIT_PAGER": "more",
        "COLUMNS": "None",
        "LINES": "None",
        "PWD": str(host.folder),
        "ODD.ONE": "kept",
    }


@pytest.mark.parametrize("locale", ["", "C", "C.UTF-8"])
async def test_how_it_is_started_leaves_no_trace_in_its_environment(
    host: Host, locale: str
) -> None:
    backend = HostedTerminals(host.warden, {"PATH": os.environ["PATH"]}, grace=GRACE)
    asked = {"LC_CTYPE": locale} if locale else {}
    run = await host.start(backend, host.spec("/usr/bin/env", **asked))
    await run.exit()
    await backend.close()
    seen = dict(line.split("=", 1) for line in run.text.splitlines())
    assert seen.pop(VARIABLE)
    assert seen == {
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "PWD": str(host.folder),
        **git_safety({}),
        **asked,
    }


async def test_it_has_a_terminal_for_its_own(host: Host) -> None:
    script = """
say(all(os.isatty(fd) for fd in (0, 1, 2)), len(os.listdir("/proc/self/fd")))
say(os.getsid(0) == os.getpgid(0) == os.tcgetpgrp(0) == os.getpid())
say(os.path.samestat(os.fstat(os.open("/dev/tty", os.O_RDWR)), os.fstat(0)) or os.ttyname(0))
say(*[line for line in open("/proc/self/status") if line.startswith(("SigIgn", "SigBlk"))])
"""
    run = await host.python(script)
    await run.exit()
    terminal, session, controlling, *signals = run.text.splitlines()
    assert terminal == "True 4", "of the open files, one is the folder that is listed"
    assert session == "True"
    assert controlling.startswith("/dev/")
    ignored = {line.split()[0]: int(line.split()[1], 16) for line in signals if line.strip()}
    assert ignored["SigBlk:"] == 0
    python_ignores = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    of_the_c_library = 1 << 31 | 1 << 32  # signals 32 and 33, which no program can set back
    assert ignored["SigIgn:"] & ~(python_ignores | of_the_c_library) == 0


async def test_a_pipe_whose_reader_is_gone_ends_the_writer(host: Host) -> None:
    run = await host.run("set -o pipefail; yes | head -n 1")
    assert await run.exit() == Exit(128 + signal.SIGPIPE)


async def test_programs_find_a_terminal_of_the_default_size(host: Host) -> None:
    run = await host.run("stty size; python3 -c 'import sys; print(sys.stdin.isatty())'")
    await run.exit()
    assert run.text == "40 120\nTrue\n"


async def test_a_new_size_reaches_the_program(host: Host) -> None:
    script = """
signal.signal(signal.SIGWINCH, lambda *_: say(*os.get_terminal_size(0)))
say("ready")
pause()
"""
    run = await host.python(script)
    await run.says("ready")
    run.handle.resize(90, 25)
    await run.says("90 25")


async def test_a_person_can_answer_a_prompt(host: Host) -> None:
    run = await host.run('read -p "Go on? [y/N] " answer; echo "said: $answer"')
    await run.says("Go on? [y/N] ")
    run.handle.write("jä\n".encode())
    assert await run.exit() == Exit(0)
    assert run.text == "Go on? [y/N] jä\nsaid: jä\n"


async def test_a_password_is_not_shown(host: Host) -> None:
    script = """
import site; site.main()
import getpass
say("it was", getpass.getpass("Password: ")[::-1])
"""
    run = await host.python(script)
    await run.says("Password: ")
    run.handle.write(b"secret\n")
    await run.exit()
    assert run.text.split("\n") == ["Password: ", "it was terces", ""]


async def test_the_keys_for_interrupt_and_end_of_input_work(host: Host) -> None:
    run = await host.run("echo up; exec cat")
    await run.says("up")
    run.handle.write(b"\x03")
    assert await run.exit() == Exit(signal="SIGINT")
    run = await host.run("cat; echo end")
    run.handle.write(b"x\n\x04")
    assert await run.exit() == Exit(0)
    assert "end\n" in run.text


async def test_erasing_takes_a_whole_character(host: Host) -> None:
    run = await host.run('read line; echo "got $line"')
    run.handle.write("aé\x7fb\n".encode())
    await run.exit()
    assert run.text.endswith("got ab\n")


# -- what is heard of it


async def test_all_it_writes_is_heard_in_order_and_before_its_end(host: Host) -> None:
    run = await host.run("seq 30000")
    assert await run.exit() == Exit(0)
    assert run.at_exit.split() == [b"%d" % n for n in range(1, 30001)]


@pytest.mark.parametrize(
    "wrote",
    [
        b"no end of line",
        b"\0\x01\x1b[31mred\x1b[0m\x1b]0;title\x07\x7f",
        "é€💩".encode(),
        b"\xff\xfe\xc3(\xe2\x82",
        b"x" * 1_000_000,
        "💩".encode() * 50_000,
    ],
    ids=["no newline", "controls", "characters", "no text", "long line", "many characters"],
)
async def test_bytes_come_as_they_were_written(host: Host, wrote: bytes) -> None:
    (host.folder / "bytes").write_bytes(wrote)
    run = await host.run("cat bytes")
    assert await run.exit() == Exit(0)
    assert run.at_exit == wrote


async def test_a_flood_lets_everybody_else_have_a_turn() -> None:
    loop, run = asyncio.get_running_loop(), Run()
    flood = b"x" * (4 * screen._SLICE)
    turns = 0
    at: list[int] = []

    def turn() -> None:
        nonlocal turns
        turns += 1
        if not run.exits:
            loop.call_soon(turn)

    def data(piece: bytes) -> None:
        at.append(turns)
        run.data(piece)

    shown = screen.Screen(120, 40, data)
    loop.call_soon(turn)
    # More than a terminal holds: the writer waits until it is read.
    assert await asyncio.to_thread(os.write, shown.program_side, flood) == len(flood)
    await run.until(lambda: len(run.out) == len(flood), "not all came")
    run.exited(Exit())
    shown.close()
    assert len(set(at)) == len(at), "two pieces came in one turn"
    assert max(map(len, run.pieces)) < screen._SLICE + screen._READ


async def test_a_program_waits_while_nobody_wants_its_output(host: Host) -> None:
    script = """
done = os.open("done", os.O_RDWR | os.O_CREAT)
for n in range(1000):
    os.write(1, b"%07d" % n + b"." * 1000)
    os.pwrite(done, b"%07d" % n, 0)
"""
    run = await host.python(script)
    run.handle.pause()
    run.handle.pause()
    before = len(run.out)
    done = host.folder / "done"
    await eventually(
        lambda: done.exists() and done.read_bytes() and state(run.handle.pid) == "S",
        "it never wrote, or did not wait",
    )
    assert len(run.out) == before
    assert int(done.read_bytes()) < 999
    run.handle.resume()
    await run.exit()
    assert len(run.at_exit) == 1000 * 1007


async def test_the_end_and_the_last_words_are_told_though_nobody_wants_output(host: Host) -> None:
    run = await host.run("sleep 0; echo last words")
    run.handle.pause()
    assert await run.exit() == Exit(0)
    assert run.at_exit == b"last words\r\n"


async def test_it_may_close_its_terminal_and_open_it_again(host: Host) -> None:
    script = """
for fd in (0, 1, 2): os.close(fd)
os.open("/dev/tty", os.O_RDWR); os.dup(0)
say("back")
"""
    run = await host.python(script)
    assert await run.exit() == Exit(0)
    assert run.at_exit == b"back\r\n"


@pytest.mark.parametrize(
    ("line", "exit"),
    [
        ("exit 0", Exit(0)),
        ("exit 255", Exit(255)),
        ("kill -TERM $$", Exit(signal="SIGTERM")),
        ("kill -SEGV $$", Exit(signal="SIGSEGV")),
        ("kill -KILL $$", Exit(signal="SIGKILL")),
        ("kill -40 $$", Exit(signal="SIG40")),
    ],
)
async def test_how_it_ended_is_a_code_or_a_signal(host: Host, line: str, exit: Exit) -> None:
    run = await host.run(line)
    assert await run.exit() == exit


async def test_what_is_typed_to_a_program_that_does_not_read_is_bounded(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "_UNREAD_LIMIT", 100_000)
    run = await host.run("stty raw -echo; echo up; sleep 1000")
    await run.says("up")
    run.handle.write(b"x" * 90_000)
    with pytest.raises(TerminalFailed, match="does not read what is typed"):
        run.handle.write(b"x" * 90_000)


async def test_what_does_not_fit_at_once_is_typed_later(host: Host) -> None:
    typed = b"".join(b"%06d\n" % n for n in range(9000))
    script = f"""
import tty; tty.setraw(0)
say("up")
got = b""
while len(got) < {len(typed)}: got += os.read(0, 1000)
open("got", "wb").write(got)
"""
    run = await host.python(script)
    await run.says("up")
    run.handle.write(typed)
    assert await run.exit() == Exit(0)
    assert (host.folder / "got").read_bytes() == typed


async def test_after_its_end_nothing_matters_any_more(host: Host) -> None:
    run = await host.run("true")
    await run.exit()
    await over(run)
    run.handle.write(b"anybody there?\n")
    run.handle.resize(1, 1)
    run.handle.pause()
    run.handle.resume()
    run.handle.kill()
    assert host.warden.now == set()


# -- how it is ended


async def killed(run: Run, *pids: int) -> None:
    assert not any(map(gone, pids))
    run.handle.kill()
    run.handle.kill()
    for pid in pids:
        await until_gone(pid)
    await over(run)


async def test_one_that_minds_term_gets_nothing_worse(host: Host) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: os._exit(7)); say('up'); pause()"
    run = await host.python(script)
    await run.says("up")
    await killed(run, run.handle.pid)
    assert run.exits == [Exit(7)]


async def test_one_that_ignores_everything_is_killed(host: Host) -> None:
    script = "deaf(signal.SIGTERM, signal.SIGHUP, signal.SIGINT); say('up'); pause()"
    run = await host.python(script)
    await run.says("up")
    await killed(run, run.handle.pid)
    assert run.exits == [Exit(signal="SIGKILL")]


async def test_one_that_was_stopped_still_hears_that_it_shall_end(host: Host) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: os._exit(7)); say('up'); pause()"
    run = await host.python(script)
    await run.says("up")
    pid = run.handle.pid
    os.kill(pid, signal.SIGSTOP)
    await eventually(lambda: state(pid) == "T", "it was not stopped")
    await killed(run, pid)
    assert run.exits == [Exit(7)]


@pytest.mark.parametrize("term", ["", "deaf(signal.SIGTERM); "], ids=["minds TERM", "ignores TERM"])
@pytest.mark.parametrize(
    "left",
    [
        "child(pause)",
        "child(lambda: (os.setpgid(0, 0), say('moved'), pause()))",
        "daemon(pause)",
        "daemon(lambda: child(pause) and pause())",
    ],
    ids=["child", "child in another group", "daemon", "daemon with a child"],
)
async def test_what_it_started_ends_with_it(host: Host, left: str, term: str) -> None:
    run = await host.python(f"{term}say({left}); pause()")
    await run.until(lambda: any(w.isdigit() for w in run.text.split()), "no child")
    pid = next(int(word) for word in run.text.split() if word.isdigit())
    found = trees.Tree(run.handle.pid, run.handle._mark).members(trees.running())
    assert {run.handle.pid, pid} <= found
    await killed(run, run.handle.pid, *found)


async def test_a_daemon_that_becomes_another_all_the_time_ends(host: Host) -> None:
    script = """
deaf(signal.SIGTERM)
def heir():
    signal.sigtimedwait([], 0.01)
    daemon(heir)
say(daemon(heir))
"""
    run = await host.python(script)
    await run.exit()
    run.handle.kill()
    await over(run)
    assert marked(host) == []


@pytest.mark.parametrize("how", ["", "setsid", "env -i"])
async def test_its_end_is_told_though_something_holds_the_terminal(host: Host, how: str) -> None:
    for name in ("go", "on"):
        os.mkfifo(host.folder / name)
    left = "echo $$ >pid; read word <on; echo late $word; exec sleep 1000"
    run = await host.run(f"trap '' HUP; {how} sh -c '{left}' & read word <go; exit 4")
    pid_file = host.folder / "pid"
    await eventually(lambda: pid_file.exists() and pid_file.read_text(), "it did not begin")
    pid = int(pid_file.read_text())
    await asyncio.to_thread((host.folder / "go").write_text, "on\n")
    assert await run.exit() == Exit(4)
    assert run.handle.pid in host.warden.now
    await asyncio.to_thread((host.folder / "on").write_text, "words\n")
    await run.says("late words")
    await killed(run, pid)


async def test_what_ends_by_itself_after_the_command_is_forgotten(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_NOW_AND_THEN", 0.01)
    os.mkfifo(host.folder / "go")
    run = await host.run("trap '' HUP; read x <go & echo $!; exit 0")
    pid = int(await run.line())
    await run.exit()
    assert run.handle.pid in host.warden.now
    await asyncio.to_thread((host.folder / "go").write_text, "end\n")
    await until_gone(pid)
    await over(run)
    assert host.warden.now == set()


async def test_all_of_them_end_with_the_backend_and_no_new_one_begins(host: Host) -> None:
    runs = [await host.python("deaf(signal.SIGTERM); say('up'); pause()") for _ in range(3)]
    for run in runs:
        await run.says("up")
    await host.backend.close()
    assert [run.exits for run in runs] == [[Exit(signal="SIGKILL")]] * 3
    with pytest.raises(TerminalFailed, match="going down"):
        await host.run("ls")


async def test_without_proc_the_group_is_what_is_ended(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trees, "_PROC", str(tmp_path / "none"))
    monkeypatch.setattr(module, "_PATIENCE", 0.1)  # zombies that nobody fetches look alive
    run = await host.python("deaf(signal.SIGTERM); say(child(pause)); pause()")
    pid = int(await run.line())
    await killed(run, run.handle.pid, pid)
    assert run.exits == [Exit(signal="SIGKILL")]


async def test_one_that_cannot_be_killed_is_given_up(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As if it ran for another user, by sudo."""
    monkeypatch.setattr(module, "_PATIENCE", 0.1)
    monkeypatch.setattr(trees, "send", lambda *_: None)
    run = await host.run("trap '' HUP; echo up; exec sleep 1000")
    await run.says("up")
    run.handle.kill()
    assert await run.exit() == Exit()
    await over(run)
    assert "could not end" in caplog.text
    monkeypatch.undo()
    os.kill(run.handle.pid, signal.SIGKILL)
    await until_gone(run.handle.pid)
    assert run.exits == [Exit()]
