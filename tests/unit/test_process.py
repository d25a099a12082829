"""An agent's process: all it says is heard, and nothing of it is left behind."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from agentls.agent import process as module
from agentls.agent.process import AgentProcess
from agentls.core.errors import AgentStartFailed
from fakes.processes import NoWarden, gone, until_gone

SECONDS = 10.0
PATIENCE = 0.25
"""For the rungs of the ladder that a process ignores."""

PRELUDE = """
import os, signal, sys, time
def say(text): os.write(1, text.encode() + b"\\n")
def eof():
    while os.read(0, 1 << 16): pass
def pause():
    while True: signal.pause()
def child(*closed):
    pid = os.fork()
    if pid: return pid
    for fd in closed: os.close(fd)
    pause()
"""


class Run:
    """A process and what it said."""

    def __init__(self) -> None:
        self.process = AgentProcess(self.on_data, self.on_stderr, self.on_exit, NoWarden())
        self.out = b""
        self.err: list[str] = []
        self.exits = 0
        self.at_exit = b""
        self._changed = asyncio.Event()

    def on_data(self, data: bytes) -> None:
        self.out += data
        self._changed.set()

    def on_stderr(self, line: str) -> None:
        self.err.append(line)
        self._changed.set()

    def on_exit(self) -> None:
        self.exits += 1
        self.at_exit = self.out
        self._changed.set()

    async def until(self, condition: Callable[[], bool], why: str) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pytest.fail(f"{why}; it said {self.out[-200:]!r}, {self.err[-3:]}")

    async def line(self) -> bytes:
        await self.until(lambda: b"\n" in self.out, "no line came")
        return self.out.split(b"\n")[0]

    async def over(self) -> None:
        await self.until(lambda: self.exits > 0, "its end was not told")


@asynccontextmanager
async def running(script: str, tmp_path: Path) -> AsyncIterator[Run]:
    run = Run()
    await run.process.start(
        [sys.executable, "-S", "-E", "-c", PRELUDE + script],
        cwd=str(tmp_path),
        env={**os.environ, "MARK": "yes"},
    )
    try:
        yield run
    finally:
        await run.process.stop(PATIENCE)
        await run.over()
        # A few hops, for asyncio to close its pipes.
        for _ in range(5):
            await asyncio.sleep(0)
        assert run.exits == 1
        assert gone(run.process.pid)


# -- what it says


async def test_what_it_prints_is_heard_in_order_and_before_its_end(tmp_path: Path) -> None:
    script = "for n in range(20000): say(str(n))"
    async with running(script, tmp_path) as run:
        await run.over()
        assert run.at_exit.split() == [b"%d" % n for n in range(20000)]
        assert run.process.over
        assert run.process.how_it_ended() == "ended with exit code 0"


async def test_what_we_write_is_read_by_it(tmp_path: Path) -> None:
    async with running("say(sys.stdin.readline().strip().upper()); eof()", tmp_path) as run:
        run.process.write(b"hello\n")
        assert await run.line() == b"HELLO"


async def test_its_last_words_are_heard_after_it_has_exited(tmp_path: Path) -> None:
    script = """
os.write(2, b"x" * 30000 + b"\\n" + b"\\n".join(b"line %d" % n for n in range(4000)))
os.write(2, b"\\nlast words\\n\\nwithout end")
say("bye")
os._exit(3)
"""
    async with running(script, tmp_path) as run:
        await run.over()
        assert run.at_exit == b"bye\n"
        assert run.process.last_words(2) == "last words\nwithout end"
        assert run.process.last_words(1) == "without end"
        assert run.process.how_it_ended() == "ended with exit code 3"
        assert run.process.returncode == 3


async def test_stderr_is_heard_to_its_end_though_stdout_ended_first(tmp_path: Path) -> None:
    script = """
os.close(1)
for n in range(3000): os.write(2, b"%04d" % n + b"." * 95 + b"\\n")
os._exit(1)
"""
    async with running(script, tmp_path) as run:
        await run.over()
        assert run.err[-1].startswith("2999")
        assert run.process.last_words(1).startswith("2999")


async def test_a_megabyte_of_stderr_does_not_block_it_and_little_is_kept(tmp_path: Path) -> None:
    script = """
for n in range(10000): os.write(2, b"%05d" % n + b"." * 100 + b"\\n")
os.write(2, b"y" * 100000)
say("done")
eof()
"""
    async with running(script, tmp_path) as run:
        assert await run.line() == b"done"
    kept = list(run.process._stderr)
    assert len(kept) == 200
    assert kept[0].startswith("09801")
    assert kept[-1] == "y" * 2000
    assert all(len(line) <= 2000 for line in run.err)


async def test_a_character_that_comes_in_two_pieces_is_one(tmp_path: Path) -> None:
    script = """
os.write(2, b"caf\\xc3")
say("half")
sys.stdin.readline()
os.write(2, b"\\xa9\\r\\n\\xff\\n")
eof()
"""
    async with running(script, tmp_path) as run:
        await run.line()
        run.process.write(b"\n")
        await run.until(lambda: len(run.err) == 2, "stderr is not complete")
        assert run.err == ["café", "\ufffd"]


async def test_it_gets_its_folder_its_environment_and_a_group_of_its_own(tmp_path: Path) -> None:
    script = "say(os.getcwd() + ' ' + os.environ['MARK']); eof()"
    async with running(script, tmp_path) as run:
        assert await run.line() == f"{tmp_path.resolve()} yes".encode()
        assert os.getpgid(run.process.pid) == run.process.pid
        assert os.getsid(run.process.pid) == run.process.pid


# -- how it is stopped


async def test_one_that_ends_with_its_input_is_not_signalled(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: os._exit(9)); say('up'); eof(); os._exit(5)"
    async with running(script, tmp_path) as run:
        await run.line()
        await run.process.stop(SECONDS)
        assert run.process.returncode == 5


async def test_one_that_ignores_the_end_of_its_input_gets_a_term(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, lambda *_: os._exit(9)); say('up'); pause()"
    async with running(script, tmp_path) as run:
        await run.line()
        await run.process.stop(PATIENCE)
        assert run.process.returncode == 9


async def test_one_that_ignores_everything_is_killed(tmp_path: Path) -> None:
    script = "signal.signal(signal.SIGTERM, signal.SIG_IGN); say('up'); pause()"
    async with running(script, tmp_path) as run:
        await run.line()
        await run.process.stop(PATIENCE)
        assert run.process.returncode == -9
        assert run.process.how_it_ended() == "was ended by SIGKILL"


@pytest.mark.parametrize("holds", ["", "0, 1, 2"], ids=["holds the pipes", "has no pipes"])
@pytest.mark.parametrize("term", ["SIG_DFL", "SIG_IGN"], ids=["minds TERM", "ignores TERM"])
async def test_a_child_that_it_leaves_in_its_group_is_gone(
    tmp_path: Path, holds: str, term: str
) -> None:
    script = f"signal.signal(signal.SIGTERM, signal.{term}); say(str(child({holds}))); eof()"
    async with running(script, tmp_path) as run:
        pid = int(await run.line())
        assert not gone(pid)
        await run.process.stop(SECONDS)
        await until_gone(pid)


async def test_the_end_is_told_though_a_child_holds_the_pipes(tmp_path: Path) -> None:
    async with running("say(str(child())); os._exit(0)", tmp_path) as run:
        pid = int(await run.line())
        await run.over()
        assert not gone(pid)
        run.process.pipe_data_received(1, b"from the child")
        run.process.pipe_data_received(2, b"from the child\n")
        assert run.out == run.at_exit
        assert run.err == []
        await run.process.stop(PATIENCE)
        await until_gone(pid)


async def test_one_that_closes_its_output_is_over_though_it_lives(tmp_path: Path) -> None:
    async with running("os.close(1); eof()", tmp_path) as run:
        await run.over()
        assert run.process.returncode is None
        assert run.process.how_it_ended() == "closed its output"


async def test_nothing_is_left_when_the_waiting_for_its_end_is_cut_short(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say(str(child()))
eof()
say("deaf")
pause()
"""
    async with running(script, tmp_path) as run:
        pid = int(await run.line())
        stopping = asyncio.create_task(run.process.stop(SECONDS))
        await run.until(lambda: b"deaf" in run.out, "its input was not closed")
        stopping.cancel()
        with suppress(asyncio.CancelledError):
            await stopping
        await until_gone(run.process.pid)
        await until_gone(pid)


async def test_stopping_twice_and_writing_after_the_end_are_harmless(tmp_path: Path) -> None:
    async with running("eof()", tmp_path) as run:
        await asyncio.gather(run.process.stop(), run.process.stop())
        run.process.write(b"anybody there?\n")
        await run.process.stop()


async def test_one_that_does_not_read_its_input_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_UNREAD_LIMIT", 100_000)
    async with running("say('up'); pause()", tmp_path) as run:
        await run.line()
        for _ in range(10):
            run.process.write(b"x" * 100_000)
        assert run.process.deaf
        await run.over()
        assert run.process.how_it_ended() == "was ended by SIGKILL"


# -- how it fails to start


async def start(*command: str, cwd: str) -> None:
    await Run().process.start(command, cwd=cwd, env={})


async def test_a_program_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AgentStartFailed, match=r"no-such-program could not be started: .*\.$"):
        await start("/no-such-program", cwd=str(tmp_path))


async def test_a_file_that_is_no_program_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(AgentStartFailed, match="Permission denied"):
        await start(str(tmp_path / "notes.txt"), cwd=str(tmp_path))


@pytest.mark.parametrize("folder", ["missing", "file", "nul\0", "half\ud800"])
async def test_a_folder_that_is_none_is_one_sentence(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AgentStartFailed, match="does not exist"):
        await start(sys.executable, cwd=f"{tmp_path}/{folder}")
