"""Whatever happens to the server, nothing that it started is left a second later."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import agentls
from agentls import warden as module
from agentls.warden import VARIABLE, Warden
from fakes.processes import gone, until_gone

SECONDS = 10.0
SHELLS = [path for name in ("dash", "bash", "ksh") if (path := shutil.which(name))]
"""What /bin/sh is, here and there."""

SERVER = """
import asyncio, os, signal, subprocess, sys
from agentls.core.model import SessionId
from agentls.core.terminals import Terminals, TerminalSpec
from agentls.runtime import LoopClock, new_id
from agentls.terminal.hosted import HostedTerminals
from agentls.warden import Warden

class Show:
    def opened(self, terminal): pass
    def grew(self, terminal): os.write(1, terminal.tail.text().encode())
    def exited(self, terminal): pass

DAEMON = '''
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writing, b"%d %d." % (os.getppid(), os.getpid()))
    while True: signal.pause()
os.write(1, b"pids %d %s" % (os.getpid(), os.read(reading, 100)))
while True: signal.pause()
'''

async def main():
    warden = Warden()
    env, _ = warden.mark(os.environ)
    agent = subprocess.Popen(["sleep", "1000"], start_new_session=True, env=env)
    warden.guard(agent.pid)
    terminals = Terminals(HostedTerminals(warden, os.environ), LoopClock(), new_id)
    terminals.observers.append(Show())
    args = ("-S", "-E", "-c", DAEMON)
    spec = TerminalSpec(command=sys.executable, args=args, cwd=os.getcwd())
    await terminals.create(SessionId("s"), spec)
    os.write(1, b"agent %d " % agent.pid)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def warden() -> Iterator[Warden]:
    warden = Warden()
    yield warden
    warden.close()


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts programs in groups of their own, which end with the test."""
    programs: list[subprocess.Popen[bytes]] = []

    def start(*command: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        words = command or ("sleep", "1000")
        programs.append(
            subprocess.Popen(words, start_new_session=True, env=env, stdout=subprocess.PIPE)
        )
        return programs[-1]

    yield start
    for program in programs:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()


def watchers(warden: Warden) -> list[int]:
    """The processes that watch for it: none, or one."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if warden._mark.encode() in words and not gone(int(folder.name)):
                found.append(int(folder.name))
    return found


def watcher(warden: Warden) -> int:
    [pid] = watchers(warden)
    return pid


async def ended(program: subprocess.Popen[bytes]) -> int:
    await until_gone(program.pid)
    return program.wait()


def environment() -> dict[str, str]:
    path = str(Path(agentls.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


async def test_nothing_is_left_a_second_after_the_server_was_killed(
    started: Callable[..., subprocess.Popen[bytes]],
) -> None:
    server = started(sys.executable, "-c", SERVER, env=environment())
    assert server.stdout is not None
    said = b""
    while not (b"agent" in said and b"." in said):
        piece = await asyncio.to_thread(os.read, server.stdout.fileno(), 1000)
        assert piece, f"the server ended after {said!r}"
        said += piece
    pids = [int(word) for word in said.replace(b".", b" ").split() if word.isdigit()]
    assert len(pids) == 4
    assert not any(map(gone, pids))
    server.kill()
    killed = time.monotonic()
    for pid in pids:
        await until_gone(pid)
    assert time.monotonic() - killed < 1.0


@pytest.mark.parametrize("shell", SHELLS, ids=lambda path: Path(path).name)
async def test_what_is_guarded_ends_and_what_is_forgotten_does_not(
    shell: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    started: Callable[..., subprocess.Popen[bytes]],
) -> None:
    sh = tmp_path / "sh"  # called by that name, each of them is a shell as POSIX has it
    sh.symlink_to(shell)
    monkeypatch.setattr(module, "_SHELL", str(sh))
    warden = Warden()
    programs = [started() for _ in range(6)]
    for program in programs:
        warden.guard(program.pid)
    spared = [programs[n] for n in (0, 3, 5)]
    for program in spared:
        warden.forget(program.pid)
        warden.forget(program.pid)
    pid = watcher(warden)
    warden.close()
    for program in programs:
        if program not in spared:
            assert await ended(program) == -signal.SIGTERM
    await until_gone(pid)
    assert not any(gone(program.pid) for program in spared)


async def test_one_that_ignores_term_is_killed(
    warden: Warden, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    deaf = started("sh", "-c", "trap '' TERM; echo up; while :; do sleep 1000; done")
    assert deaf.stdout is not None
    assert deaf.stdout.readline() == b"up\n"
    warden.guard(deaf.pid)
    warden.close()
    assert await ended(deaf) == -signal.SIGKILL


async def test_what_carries_the_mark_ends_wherever_it_is(
    warden: Warden, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    env, _ = warden.mark(os.environ)
    marked, other, guarded = started(env=env), started(), started()
    warden.guard(guarded.pid)
    warden.close()
    assert await ended(marked) == await ended(guarded) == -signal.SIGTERM
    assert not gone(other.pid)


def test_it_is_started_with_the_first_group_and_is_nobodys_child(warden: Warden) -> None:
    warden.mark({})
    assert watchers(warden) == []
    warden.guard(1_000_000_001)
    [pid] = watchers(warden)
    status = Path(f"/proc/{pid}/status").read_text()
    assert f"PPid:\t{os.getpid()}\n" not in status
    assert os.getsid(pid) != os.getsid(0)
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert Path(f"/proc/{pid}/environ").read_bytes().startswith(b"PATH=")


async def test_with_nothing_left_to_guard_it_goes_at_once(warden: Warden) -> None:
    warden.guard(1_000_000_001)
    warden.forget(1_000_000_001)
    pid = watcher(warden)
    start = time.monotonic()
    warden.close()
    warden.close()
    await until_gone(pid)
    assert time.monotonic() - start < 0.25, "it waited for nobody"


async def test_signals_that_end_a_server_do_not_end_it(
    warden: Warden, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    program = started()
    warden.guard(program.pid)
    pid = watcher(warden)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(pid, number)
    warden.close()
    assert await ended(program) == -signal.SIGTERM


async def test_one_that_was_killed_is_started_again_and_told_everything(
    warden: Warden,
    started: Callable[..., subprocess.Popen[bytes]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = started(), started()
    warden.guard(first.pid)
    pid = watcher(warden)
    os.kill(pid, signal.SIGKILL)
    await until_gone(pid)
    warden.guard(second.pid)
    assert watcher(warden) != pid
    assert "started again" in caplog.text
    warden.close()
    assert await ended(first) == await ended(second) == -signal.SIGTERM


async def test_one_that_does_not_listen_stalls_nobody_and_hears_everything_later(
    warden: Warden, started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    program, spared = started(), started()
    warden.guard(spared.pid)
    pid = watcher(warden)
    os.kill(pid, signal.SIGSTOP)
    for number in range(1_000_000_001, 1_000_003_001):
        warden.guard(number)
        warden.forget(number)
    assert warden._unsent, "the pipe took it all: more is needed"
    warden.forget(spared.pid)
    os.kill(pid, signal.SIGCONT)
    async with asyncio.timeout(SECONDS):
        warden.guard(program.pid)
        while warden._unsent:
            await asyncio.sleep(0.005)
            warden.guard(program.pid)
    warden.close()
    assert await ended(program) == -signal.SIGTERM
    await until_gone(pid)
    assert not gone(spared.pid)


def test_without_a_shell_there_is_a_warning_and_no_warden(
    warden: Warden, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_SHELL", "/no/such/shell")
    warden.guard(1_000_000_001)
    warden.forget(1_000_000_001)
    assert "no warden could be started" in caplog.text


def test_marks_are_added_to_those_of_a_server_around_this_one(warden: Warden) -> None:
    outer, mine = Warden().mark({"A": "1"})
    inner, own = warden.mark(outer)
    assert inner["A"] == "1"
    assert mine in inner[VARIABLE]
    assert own in inner[VARIABLE]
    marks = [warden.mark({})[1] for _ in range(20)]
    assert not [(a, b) for a in marks for b in marks if a != b and a in b]
