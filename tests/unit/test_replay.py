"""The scripted agent, driven by a client that knows nothing but lines of JSON."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentls.agent.recording import FRAME_BYTES, Frame, FrameRing, load
from agentls.agent.replay import MISMATCH, outline, script, segments
from agentls.core.errors import BadRequest

TESTS = Path(__file__).parent.parent
TRACES = sorted((TESTS / "traces").glob("*.jsonl"))
SCENARIOS = sorted((TESTS / "scenarios").glob("*.jsonl"))
SECONDS = 10
ID_SHIFT = 1000  # our ids differ from the recorded ones, so that answers must be mapped


class Agent:
    """A replay process and our end of its pipes."""

    def __init__(self, errors: Path, path: Path, *options: str, stdout: Any = None) -> None:
        self._errors = errors
        with errors.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "agentls.agent.replay", str(path), *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if stdout is None else stdout,
                stderr=stderr,
                bufsize=0,
            )
        self._unread = bytearray()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def request(self, number: int, method: str) -> None:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": {}})

    def line(self, why: str) -> bytes:
        """The next line, without its end."""
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        deadline = time.monotonic() + SECONDS
        end, seen = -1, 0
        while (end := self._unread.find(b"\n", seen)) < 0:
            seen = len(self._unread)
            ready = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]
            data = os.read(fd, 1 << 20) if ready else b""
            assert data, f"no line for {why}; stderr: {self.stderr()[-500:]}"
            self._unread += data
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    def message(self, why: str) -> Any:
        return json.loads(self.line(why))

    def stderr(self) -> str:
        return self._errors.read_text("utf-8", "surrogateescape")

    def until_stderr(self, text: str) -> str:
        """Waits for a text on stderr, which is a file: there is nothing to wait on but time."""
        deadline = time.monotonic() + SECONDS
        while text not in self.stderr():
            assert time.monotonic() < deadline, f"{text!r} is not on stderr: {self.stderr()[-500:]}"
            time.sleep(0.005)
        return self.stderr()

    def close(self) -> int:
        """Closes stdin, checks that nothing more comes, and returns the exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        assert bytes(self._unread) + self.process.stdout.read() == b""
        return self.process.wait(SECONDS)

    def end(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(SECONDS)


Start = Callable[..., Agent]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    agents: list[Agent] = []

    def start_one(path: Path, *options: str, stdout: Any = None) -> Agent:
        agents.append(Agent(tmp_path / f"stderr-{len(agents)}", path, *options, stdout=stdout))
        return agents[-1]

    yield start_one
    for agent in agents:
        agent.end()


def scenario(tmp_path: Path, *frames: dict[str, Any]) -> Path:
    path = tmp_path / "scenario.jsonl"
    path.write_text("".join(f"{json.dumps(frame)}\n" for frame in frames))
    return path


def named(name: str) -> Path:
    return TESTS / "scenarios" / f"{name}.jsonl"


def sent(method: str, number: int | None = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method}
    return {"dir": "out", "msg": message if number is None else {**message, "id": number}}


def got(message: Any) -> dict[str, Any]:
    return {"dir": "in", "msg": message}


def do(verb: str, **fields: Any) -> dict[str, Any]:
    return {"dir": "do", "msg": {"do": verb, **fields}}


def answer(number: Any, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


# Playing whole files.


def as_lived(message: Any) -> Any:
    """A recorded answer with the id that we gave to our request."""
    if isinstance(message, dict) and "method" not in message and "id" in message:
        number = message["id"]
        if isinstance(number, int) and number < ID_SHIFT:
            return {**message, "id": number + ID_SHIFT}
        if isinstance(number, str) and number.isdecimal():
            return {**message, "id": str(int(number) + ID_SHIFT)}
    return message


def expected_lines(frames: list[Frame]) -> Iterator[tuple[Frame, Any]]:
    """The frames that reach the client or come from it, each as often as it does."""
    times = 1
    for frame in frames:
        if frame.dir == "do" and frame.msg["do"] == "repeat":
            times = frame.msg["count"]
        elif frame.dir == "do" and frame.msg["do"] == "garbage":
            yield frame, frame.msg["text"]
        elif frame.dir in ("in", "stderr"):
            for turn in range(times if frame.dir == "in" else 0):
                text = json.dumps(frame.msg)
                yield frame, json.loads(text if times == 1 else text.replace("{i}", str(turn)))
            times = 1
        elif frame.dir == "out" or (frame.dir == "do" and frame.msg["do"] in ("big", "deaf")):
            yield frame, frame.msg


def drive(agent: Agent, path: Path, segment: int = 0) -> None:
    """Does what the client did, step by step, and checks every line that comes."""
    actions = {action.line: action for action in outline(path) if action.segment == segment}
    for frame, expected in expected_lines(script(path, segment)):
        why = f"line {frame.line} of {path.name}"
        if frame.dir == "out":
            action = actions.pop(frame.line)
            message = {"jsonrpc": "2.0", "method": action.method, "params": action.params}
            if action.kind == "response":
                message = {"jsonrpc": "2.0", "id": action.id, **action.answer}
            elif action.kind == "request":
                assert isinstance(action.id, int)
                message["id"] = action.id + ID_SHIFT
            agent.send(message)
        elif frame.dir == "do" and frame.msg["do"] == "deaf":
            continue
        elif frame.dir == "do" and frame.msg["do"] == "big":
            line = agent.line(why)
            assert len(line) + 1 == frame.msg["bytes"]
            assert line.startswith(b'{"jsonrpc": "2.0", "method": "session/update"')
            assert line.endswith(b'xxx"}}}}')
        elif isinstance(expected, str):
            assert agent.line(why) == expected.encode("utf-8", "surrogateescape")
        else:
            assert agent.message(why) == as_lived(expected), why
    assert actions == {}


RECORDED = [
    pytest.param(path, number, id=f"{path.stem}-{number}")
    for path in TRACES
    for number in range(len(segments(load(path))))
]


@pytest.mark.parametrize(("path", "segment"), RECORDED)
def test_a_recording_of_a_real_agent_plays_from_first_to_last(
    start: Start, path: Path, segment: int
) -> None:
    agent = start(path, "--segment", str(segment))
    drive(agent, path, segment)
    assert agent.close() == 0
    recorded = [frame.msg for frame in script(path, segment) if frame.dir == "stderr"]
    assert agent.stderr().split("\n") == [*recorded, ""]


def test_there_are_fifty_recordings_and_four_have_a_second_process() -> None:
    assert len(TRACES) == 50
    assert [param.id for param in RECORDED if param.values[1]] == [
        f"{agent}-sessions-1" for agent in ("claude", "codex", "gemini", "opencode")
    ]


EXIT_CODES = {"dies_mid_turn": 70, "exits_at_start": 1}
NEED_MORE = {"hangs_at_start", "deaf", "forks_children", "flood"}


@pytest.mark.parametrize(
    "path", [path for path in SCENARIOS if path.stem not in NEED_MORE], ids=lambda path: path.stem
)
def test_a_scenario_plays_from_first_to_last(start: Start, path: Path) -> None:
    agent = start(path)
    drive(agent, path)
    assert agent.close() == EXIT_CODES.get(path.stem, 0)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_says_what_it_is_about(path: Path) -> None:
    first = script(path, 0)[0]
    assert first.dir == "note"
    assert isinstance(first.msg, str)


def test_a_saved_recording_plays_like_the_agent_it_came_from(start: Start, tmp_path: Path) -> None:
    original = TESTS / "traces" / "gemini-edit.jsonl"
    ring = FrameRing(0.0)
    for frame in load(original):
        if frame.dir in ("in", "out"):
            ring.add("in" if frame.dir == "in" else "out", json.dumps(frame.msg).encode(), frame.t)
    saved = tmp_path / "saved.jsonl"
    ring.save(saved, "gemini")
    agent = start(saved)
    drive(agent, saved)
    assert agent.close() == 0
    messages = [frame.msg for frame in load(saved) if frame.dir != "note"]
    assert messages == [frame.msg for frame in load(original) if frame.dir in ("in", "out")]


def test_frames_that_were_cut_keep_the_conversation_going(start: Start, tmp_path: Path) -> None:
    long = "x" * FRAME_BYTES
    ring = FrameRing(0.0)
    for direction, message in (
        ("out", {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": long}),
        ("in", {"jsonrpc": "2.0", "id": "w", "method": "fs/write_text_file", "params": long}),
        ("out", {"jsonrpc": "2.0", "id": "w", "result": long}),
        ("in", {"jsonrpc": "2.0", "id": 7, "result": long}),
    ):
        ring.add("in" if direction == "in" else "out", json.dumps(message).encode(), 0.0)
    saved = tmp_path / "saved.jsonl"
    ring.save(saved, "scripted")
    agent = start(saved)
    agent.request(1, "initialize")
    ask = {"jsonrpc": "2.0", "id": "w", "method": "fs/write_text_file", "params": {}}
    assert agent.message("the request that was cut") == ask
    agent.send(answer("w", None))
    reply = agent.message("the answer that was cut")
    assert (reply["id"], reply["error"]["code"]) == (1, -32603)
    assert agent.close() == 0
    assert "line 3 was cut when it was recorded" in agent.stderr()


# Matching what the client sends.


def test_a_request_that_the_recording_does_not_have_is_refused(start: Start) -> None:
    agent = start(named("text"))
    agent.request(1, "authenticate")
    refusal = agent.message("the refusal")
    assert (refusal["id"], refusal["error"]["code"]) == (1, -32601)
    drive(agent, named("text"))
    agent.request(2, "session/prompt")  # the recording had it, but is over
    assert agent.message("the refusal at the end")["error"]["code"] == -32601
    assert agent.close() == 0


def test_a_request_that_the_recording_has_later_waits_its_turn(
    start: Start, tmp_path: Path
) -> None:
    frames = [sent("a", 1), got(answer(1, "a")), sent("b", 2), sent("b", 3)]
    path = scenario(tmp_path, *frames, got(answer(3, "second")), got(answer(2, "first")))
    agent = start(path)
    for number, method in ((11, "b"), (12, "b"), (13, "b"), (14, "a")):
        agent.request(number, method)
    assert agent.message("one b too many")["error"]["code"] == -32601
    replies = [agent.message(f"answer {number}") for number in range(3)]
    assert replies == [answer(14, "a"), answer(12, "second"), answer(11, "first")]
    assert agent.close() == 0


def test_notifications_that_nobody_waits_for_are_ignored(start: Start) -> None:
    agent = start(named("text"))
    agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
    agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {}})
    drive(agent, named("text"))
    assert agent.close() == 0


def test_a_recorded_cancel_request_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    path = scenario(tmp_path, sent("$/cancel_request"), got({"jsonrpc": "2.0", "method": "next"}))
    assert start(path).message("what follows") == {"jsonrpc": "2.0", "method": "next"}


def test_asks_can_be_answered_in_the_other_order(start: Start, tmp_path: Path) -> None:
    asks = [got({"jsonrpc": "2.0", "id": number, "method": "ask"}) for number in (0, 1)]
    answers = [{"dir": "out", "msg": answer(number, "yes")} for number in (0, 1)]
    path = scenario(tmp_path, *asks, *answers, got({"jsonrpc": "2.0", "method": "done"}))
    agent = start(path)
    assert [agent.message("an ask")["id"] for _ in asks] == [0, 1]
    agent.send(answer(1, "no"))
    agent.send(answer(0, "no"))
    assert agent.message("what follows")["method"] == "done"


def test_an_answer_with_an_id_of_another_type_does_not_count(start: Start, tmp_path: Path) -> None:
    ask = got({"jsonrpc": "2.0", "id": 0, "method": "ask"})
    path = scenario(tmp_path, ask, {"dir": "out", "msg": answer(0, "yes")})
    agent = start(path, "--patience", "0.5")
    agent.message("the ask")
    agent.send(answer("0", "yes"))
    assert agent.process.wait(SECONDS) == MISMATCH
    said = "line 2 waited 0.5 seconds for response to id 0; unmatched so far: response to id '0'"
    assert said in agent.stderr()


def test_a_barrier_that_is_not_met_ends_the_play_with_a_sentence(
    start: Start, tmp_path: Path
) -> None:
    path = scenario(tmp_path, sent("initialize", 0), sent("session/new", 1), sent("late", 2))
    agent = start(path, "--patience", "0.2")
    agent.request(1, "initialize")
    agent.request(2, "late")
    agent.request(3, "session/list")
    agent.send({"jsonrpc": "2.0", "method": "hello"})
    assert agent.process.wait(SECONDS) == MISMATCH
    assert agent.stderr() == (
        f"replay: {path}, line 2 waited 0.2 seconds for request session/new; "
        "unmatched so far: request late, request session/list, notification hello\n"
    )


def test_nothing_at_all_is_reported_as_nothing(start: Start) -> None:
    agent = start(named("text"), "--patience", "0")
    assert agent.process.wait(SECONDS) == MISMATCH
    said = "line 2 waited 0 seconds for request initialize; unmatched so far: nothing"
    assert said in agent.stderr()


def test_a_client_that_closes_early_is_not_a_mismatch(start: Start) -> None:
    assert start(named("text")).close() == 0


# Verbs.


def test_a_burst_is_one_write(start: Start) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(SECONDS)
    with ours, theirs:  # a socket that keeps the bounds of each write
        agent = start(named("glued"), stdout=theirs)
        for number, method in enumerate(("initialize", "session/new", "session/prompt")):
            agent.request(number, method)
        writes = [ours.recv(1 << 20) for _ in range(3)]
    assert [write.count(b"\n") for write in writes] == [1, 1, 21]
    assert b'"19 "' in writes[2]
    assert b"end_turn" in writes[2]


def test_a_flood_arrives_completely(start: Start) -> None:
    agent = start(named("flood"))
    for number, method in enumerate(("initialize", "session/new", "session/prompt")):
        agent.request(number, method)
    assert agent.process.stdin is not None
    assert agent.process.stdout is not None
    agent.process.stdin.close()
    lines = agent.process.stdout.read().splitlines()
    assert len(lines) == 100_003
    assert b"word99999 " in lines[-2]


def test_a_hanging_agent_ignores_the_end_of_stdin_and_sigterm(start: Start) -> None:
    agent = start(named("hangs_at_start"))
    agent.until_stderr("hangs\n")
    assert agent.process.stdin is not None
    agent.process.stdin.close()
    agent.process.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        agent.process.wait(0.05)
    agent.process.kill()
    assert agent.process.wait(SECONDS) == -signal.SIGKILL


def fill(fd: int) -> None:
    for _ in range(1000):
        os.write(fd, b" " * 65536)


def test_a_deaf_agent_goes_on_writing_and_reads_nothing(start: Start) -> None:
    agent = start(named("deaf"))
    for number, method in enumerate(("initialize", "session/new", "session/prompt")):
        agent.request(number, method)
    texts = [agent.line(f"update {number}") for number in range(53)][2:]
    assert b"still 49 " in texts[49]
    assert b"never stops." in texts[50]
    assert agent.process.stdin is not None
    os.set_blocking(agent.process.stdin.fileno(), False)
    with pytest.raises(BlockingIOError):
        fill(agent.process.stdin.fileno())
    agent.process.terminate()
    assert agent.process.wait(SECONDS) == -signal.SIGTERM


def test_a_forked_child_outlives_the_agent_and_keeps_its_pipes(start: Start) -> None:
    agent = start(named("forks_children"))
    for number, method in enumerate(("initialize", "session/new", "session/prompt")):
        agent.request(number, method)
    for number in range(4):
        agent.line(f"line {number}")
    child = int(agent.until_stderr("\n").split()[1])
    try:
        agent.request(3, "session/prompt")
        assert agent.process.wait(SECONDS) == 0
        assert agent.process.stdout is not None
        assert select.select([agent.process.stdout], [], [], 0.0)[0] == []
    finally:
        os.kill(child, signal.SIGKILL)
    assert agent.process.stdout.read() == b""


def test_the_flood_of_stderr_is_a_megabyte(start: Start) -> None:
    agent = start(named("stderr_flood"))
    drive(agent, named("stderr_flood"))
    assert agent.close() == 0
    assert len(agent.stderr()) > 1_000_000
    assert agent.stderr().endswith("\nno line break")


def test_a_delay_still_refuses_what_comes_meanwhile(start: Start, tmp_path: Path) -> None:
    path = scenario(tmp_path, do("delay", ms=60_000))
    agent = start(path)
    agent.request(1, "authenticate")
    assert agent.message("the refusal")["error"]["code"] == -32601
    assert agent.close() == 0


def test_garbage_can_be_of_any_size_and_bytes(start: Start, tmp_path: Path) -> None:
    path = scenario(
        tmp_path,
        do("big", bytes=3_000_000, kind="garbage"),
        do("repeat", count=2),
        do("garbage", text="{i} \udcff"),
    )
    agent = start(path)
    assert agent.line("the big line") == b"x" * 2_999_999
    assert [agent.line("garbage") for _ in range(2)] == [b"0 \xff", b"1 \xff"]
    assert agent.close() == 0


# Files that cannot be played.


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (do("dance"), "line 1: there is no verb 'dance'"),
        (do("exit"), "line 1: exit needs 'code'"),
        (do("big", bytes=5), "line 1: big needs 'kind'"),
        ({"dir": "in"}, "line 1: msg is missing"),
    ],
)
def test_a_wrong_frame_is_named(tmp_path: Path, frame: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        script(scenario(tmp_path, frame), 0)


def test_a_segment_that_does_not_exist_is_an_error(start: Start) -> None:
    agent = start(named("text"), "--segment", "1")
    assert agent.process.wait(SECONDS) == 2
    assert "has 1 segments, counted from 0; 1 is none." in agent.stderr()


# The outline.


def test_an_outline_tells_what_the_client_did_and_to_what_it_answered() -> None:
    actions = outline(TESTS / "traces" / "gemini-edit.jsonl")
    assert [(action.line, action.kind, action.method, action.id) for action in actions] == [
        (1, "request", "initialize", 0),
        (4, "request", "session/new", 1),
        (7, "request", "session/prompt", 2),
        (12, "response", "fs/read_text_file", 0),
        (14, "response", "session/request_permission", 1),
        (16, "response", "fs/read_text_file", 2),
        (18, "response", "fs/write_text_file", 3),
    ]
    assert actions[2].params["prompt"][0]["text"].startswith("#fake edit")
    assert actions[3].params["path"] == "/project/greeting.txt"
    assert actions[3].answer == {"result": {"content": "one\nhello\nthree\n"}}
    assert actions[6].answer == {"result": None}


def test_an_outline_counts_segments() -> None:
    actions = outline(TESTS / "traces" / "opencode-sessions.jsonl")
    starts = [action.segment for action in actions if action.method == "initialize"]
    assert starts == [0, 1]
    assert [action.segment for action in actions] == sorted(action.segment for action in actions)


def test_the_scripted_agent_imports_nothing_heavy() -> None:
    heavy = "{'asyncio', 'msgspec', 'acp', 'pygls', 'pydantic', 'attrs'}"
    code = f"import sys, agentls.agent.replay; print({heavy} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout == "set()\n"
