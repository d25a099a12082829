"""The demo agent as its users meet it: a process that speaks newline-delimited JSON-RPC."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from hypothesis import given
from hypothesis import strategies as st

import agentls
from agentls.demo import commands
from agentls.demo.facts import code, fenced
from agentls.demo.repairs import find_repair
from agentls.demo.sample_project import copy_sample

Frame = dict[str, Any]
WAIT = 10.0
RESPONSES = {
    "initialize": schema.InitializeResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/close": schema.CloseSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}
REQUESTS = {
    "session/update": schema.SessionNotification,
    "session/request_permission": schema.RequestPermissionRequest,
    "fs/read_text_file": schema.ReadTextFileRequest,
    "fs/write_text_file": schema.WriteTextFileRequest,
    "terminal/create": schema.CreateTerminalRequest,
    "terminal/output": schema.TerminalOutputRequest,
    "terminal/wait_for_exit": schema.WaitForTerminalExitRequest,
    "terminal/kill": schema.KillTerminalRequest,
    "terminal/release": schema.ReleaseTerminalRequest,
}


class RawClient:
    """A client with no library between: it sees every frame and checks each against the schema."""

    def __init__(self, capabilities: dict[str, Any] | None = None) -> None:
        package = str(Path(agentls.__file__).parents[1])
        self.stderr = tempfile.TemporaryFile()  # noqa: SIM115 -- closed in end()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentls.demo"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env={**os.environ, "PYTHONPATH": package, "AGENTLS_DEMO_DELAY": "0"},
        )
        self.frames: list[Frame] = []
        self.answers: dict[str, Callable[[Frame], Any]] = {}
        self.refuses = False
        self._sent: dict[int, str] = {}
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.call("initialize", protocolVersion=1, clientCapabilities=capabilities or {})

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, *messages: Frame) -> None:
        lines = [json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages]
        self.process.stdin.write("".join(lines).encode())
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> Frame:
        number = len(self._sent) + 1
        self._sent[number] = method
        return {"id": number, "method": method, "params": params}

    def wait_for(self, wanted: Callable[[Frame], bool], reason: str) -> Frame:
        """Return the first frame from now on that is wanted; answer the agent's requests."""
        deadline = time.monotonic() + WAIT
        while True:
            try:
                line = self._lines.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"{reason} did not come; last frames: {self.frames[-3:]}")
            assert line, f"the agent ended before {reason}: {self.complaints()}"
            frame = json.loads(line)
            check(frame, self._sent)
            self.frames.append(frame)
            if "method" in frame and "id" in frame:
                self._answer(frame)
            if wanted(frame):
                return frame

    def _answer(self, frame: Frame) -> None:
        if frame["method"] in self.answers:
            result = self.answers[frame["method"]](frame["params"])
            self.send({"id": frame["id"], "result": result})
        elif self.refuses:
            self.send({"id": frame["id"], "error": {"code": -32603, "message": "not here"}})

    def response(self, request: Frame) -> Frame:
        return self.wait_for(
            lambda frame: "method" not in frame and frame["id"] == request["id"],
            f"the response to {request['method']}",
        )

    def call(self, method: str, **params: Any) -> Any:
        request = self.request(method, **params)
        self.send(request)
        frame = self.response(request)
        assert "result" in frame, frame
        return frame["result"]

    def open(self, cwd: Path) -> str:
        self.frames.clear()
        return self.call("session/new", cwd=str(cwd), mcpServers=[])["sessionId"]

    def prompting(self, session: str, text: str) -> Frame:
        content = [{"type": "text", "text": text}]
        return self.request("session/prompt", sessionId=session, prompt=content)

    def prompt(self, session: str, text: str) -> str:
        """Take a turn and return the text of its messages."""
        before = len(self.frames)
        request = self.prompting(session, text)
        self.send(request)
        assert self.response(request)["result"] == {"stopReason": "end_turn"}
        return spoken(self.frames[before:], session)

    def complaints(self) -> str:
        self.stderr.seek(0)
        return self.stderr.read().decode()

    def end(self) -> int:
        """Close the agent's input and return its exit code."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            return self.process.wait(WAIT)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join()
            self.process.stdout.close()


def check(frame: Frame, sent: dict[int, str]) -> None:
    """A frame is valid when the schema reads it and gives back all of it."""
    assert frame["jsonrpc"] == "2.0"
    if "error" in frame:
        assert schema.Error.model_validate(frame["error"]).message
        return
    model = REQUESTS[frame["method"]] if "method" in frame else RESPONSES[sent[frame["id"]]]
    body = frame["params"] if "method" in frame else frame["result"]
    read = model.model_validate(body).model_dump(mode="json", by_alias=True, exclude_unset=True)
    assert read == body


def updates(frames: list[Frame], session: str, kind: str) -> list[Frame]:
    return [
        frame["params"]["update"]
        for frame in frames
        if frame.get("method") == "session/update"
        and frame["params"]["sessionId"] == session
        and frame["params"]["update"]["sessionUpdate"] == kind
    ]


def spoken(frames: list[Frame], session: str) -> str:
    chunks = updates(frames, session, "agent_message_chunk")
    return "".join(chunk["content"]["text"] for chunk in chunks)


def asked(frames: list[Frame]) -> list[str]:
    asks = [frame for frame in frames if frame.get("method") == "session/request_permission"]
    return [ask["params"]["toolCall"]["kind"] for ask in asks]


def choosing(**choices: str) -> Callable[[Frame], Frame]:
    """Answer an ask by the kind of its tool call; what has no choice is rejected."""

    def choose(params: Frame) -> Frame:
        choice = choices.get(params["toolCall"]["kind"], "reject_once")
        assert choice in [option["optionId"] for option in params["options"]]
        return {"outcome": {"outcome": "selected", "optionId": choice}}

    return choose


ALLOWING = choosing(edit="allow_once", execute="allow_once")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wait_until_gone(group: int) -> None:
    """Wait until no process of a group lives; one that only waits to be reaped is dead."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        listing = subprocess.run(
            ["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True
        ).stdout
        rows = [line.split() for line in listing.splitlines()]
        if not any(int(pgid) == group and not state.startswith("Z") for pgid, state in rows):
            return
    pytest.fail(f"processes of the group {group}, started by the agent, still run")


@pytest.fixture(scope="module")
def shared_agent() -> Iterator[RawClient]:
    client = RawClient()
    yield client
    assert client.end() == 0
    assert client.complaints() == ""
    client.stderr.close()


@pytest.fixture
def agent(shared_agent: RawClient) -> RawClient:
    shared_agent.answers = {"session/request_permission": ALLOWING}
    return shared_agent


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    folder = tmp_path / "greetings"
    copy_sample(folder)
    return folder


@pytest.fixture
def start() -> Iterator[Callable[..., RawClient]]:
    started: list[RawClient] = []

    def begin(**capabilities: Any) -> RawClient:
        started.append(RawClient(capabilities))
        return started[-1]

    yield begin
    for client in started:
        client.end()
        client.stderr.close()


def test_an_allowed_tour_repairs_the_sample_and_its_tests_pass(agent, sample):
    before = contents(sample)
    session = agent.open(sample)
    text = agent.prompt(session, "hello")

    changed = {name for name, data in contents(sample).items() if before.get(name) != data}
    assert changed == {"greet.py"}
    assert asked(agent.frames) == ["edit", "execute"]
    edit = updates(agent.frames, session, "tool_call")[1]
    assert edit["content"] == [
        {
            "type": "diff",
            "path": str(sample / "greet.py"),
            "oldText": before["greet.py"].decode(),
            "newText": (sample / "greet.py").read_text(),
        }
    ]
    assert edit["locations"] == [{"path": str(sample / "greet.py"), "line": 9}]
    assert "`greet.py` has 12 lines, with the functions `greet` and `seat`." in text
    assert re.search(r"\n- Ran `python3 .*`: exit code 0\.\n", text)
    assert re.search(r"```text\n(.*\n)*Ran 3 tests in .*\n\nOK\n```\n", text)


def test_a_tour_shows_a_plan_a_read_the_usage_and_a_title(agent, sample):
    session = agent.open(sample)
    agent.prompt(session, "Tour this project")

    plans = [
        [entry["status"] for entry in update["entries"]]
        for update in updates(agent.frames, session, "plan")
    ]
    assert plans[0] == ["pending"] * 4
    assert plans[-1] == ["completed"] * 4
    assert [list(step) for step in zip(*plans, strict=True)] == [
        ["pending"] * (1 + number) + ["in_progress"] + ["completed"] * (4 - number)
        for number in range(4)
    ]
    read = updates(agent.frames, session, "tool_call")[0]
    assert (read["kind"], read["locations"]) == ("read", [{"path": str(sample / "greet.py")}])
    assert updates(agent.frames, session, "usage_update")[0]["used"] > 0
    title = updates(agent.frames, session, "session_info_update")[0]["title"]
    assert title == "Tour of greetings"
    listed = agent.call("session/list", cwd=str(sample))["sessions"]
    assert listed == [{"sessionId": session, "cwd": str(sample), "title": title}]


def test_a_rejected_tour_leaves_the_folder_byte_for_byte(agent, sample):
    (sample / "greet.py").write_bytes((sample / "greet.py").read_bytes().replace(b"\n", b"\r\n"))
    before = contents(sample)
    agent.answers = {"session/request_permission": choosing()}
    session = agent.open(sample)
    text = agent.prompt(session, "hello")

    assert contents(sample) == before
    assert asked(agent.frames) == ["edit", "execute"]
    assert "You rejected the edit" in text
    assert "You rejected the command" in text
    ends = [u["status"] for u in updates(agent.frames, session, "tool_call_update")]
    assert ends == ["in_progress", "completed", "failed", "failed"]


def test_the_tests_of_the_sample_fail_when_only_the_edit_is_rejected(agent, sample):
    agent.answers = {"session/request_permission": choosing(execute="allow_once")}
    text = agent.prompt(agent.open(sample), "hello")
    assert "FAILED (failures=1)" in text
    assert "exit code 1" in text


def test_a_tour_of_an_empty_folder_creates_a_note_and_the_next_one_adds_to_it(agent, tmp_path):
    session = agent.open(tmp_path)
    assert "There is no text file here" in agent.prompt(session, "hello")
    assert list(contents(tmp_path)) == ["agentls-demo.md"]
    agent.prompt(session, "/tour")
    notes = (tmp_path / "agentls-demo.md").read_text().splitlines()
    assert [line[:8] for line in notes if line.startswith("- ")] == ["- Tour 1", "- Tour 2"]


def test_always_is_remembered_for_the_kind_and_the_session_only(agent, sample):
    agent.answers = {"session/request_permission": choosing(edit="allow_always")}
    session = agent.open(sample)
    agent.prompt(session, "/edit greet.py Hello Hi")
    agent.prompt(session, "/edit greet.py Hi 'Good day'")
    agent.prompt(session, "/run ls")
    assert asked(agent.frames) == ["edit", "execute"]
    assert 'f"Good day, {name}!"' in (sample / "greet.py").read_text()
    agent.prompt(agent.open(sample), "/edit greet.py Good Nice")
    assert asked(agent.frames) == ["edit"]


def test_an_edit_keeps_the_line_ends_of_the_file(agent, tmp_path):
    (tmp_path / "mixed.txt").write_bytes(b"one\r\ntwo\nthree\r")
    agent.prompt(agent.open(tmp_path), "/edit mixed.txt two zwei")
    assert contents(tmp_path) == {"mixed.txt": b"one\r\nzwei\nthree\r"}


def test_the_mode_auto_never_asks(agent, sample):
    session = agent.open(sample)
    agent.call("session/set_mode", sessionId=session, modeId="auto")
    text = agent.prompt(session, "hello")
    assert asked(agent.frames) == []
    assert "I will not ask" in text
    assert "exit code 0" in text


def test_a_later_message_is_answered_from_what_happened(agent, sample):
    agent.answers = {"session/request_permission": choosing(execute="allow_once")}
    session = agent.open(sample)
    agent.prompt(session, "hello")
    text = agent.prompt(session, "/etc/hosts is a path; what did I say?")
    assert text.startswith("This is message 2 of our conversation.")
    assert "You allowed `python3 -B -m unittest -q`." in text
    assert "You rejected `Edit greet.py`." in text


def test_cancelling_stops_a_slow_turn_and_the_session_goes_on(agent, tmp_path):
    session = agent.open(tmp_path)
    slow = agent.prompting(session, "/slow 1000")
    agent.send(slow)
    agent.wait_for(lambda frame: "agent_message_chunk" in str(frame), "the first word")
    cancelled_at = time.monotonic()
    agent.send({"method": "session/cancel", "params": {"sessionId": session}})
    assert agent.response(slow)["result"] == {"stopReason": "cancelled"}
    assert time.monotonic() - cancelled_at < 1
    assert agent.prompt(session, "/say 3") == "word1 word2 word3"


@pytest.mark.parametrize("first", ["session/cancel", "the answer"])
def test_cancelling_an_open_ask_cancels_the_turn(agent, sample, first):
    agent.answers = {}
    session = agent.open(sample)
    edit = agent.prompting(session, "/edit greet.py Hello Hi")
    agent.send(edit)
    ask = agent.wait_for(lambda frame: "options" in frame.get("params", {}), "the ask")
    cancel = {"method": "session/cancel", "params": {"sessionId": session}}
    answer = {"id": ask["id"], "result": {"outcome": {"outcome": "cancelled"}}}
    agent.send(*([cancel, answer] if first == "session/cancel" else [answer, cancel]))
    assert agent.response(edit)["result"] == {"stopReason": "cancelled"}
    assert "Hello" in (sample / "greet.py").read_text()
    assert updates(agent.frames, session, "tool_call_update")[-1]["status"] == "failed"


def test_two_sessions_talk_at_the_same_time(agent, tmp_path):
    one, two = agent.open(tmp_path), agent.open(tmp_path)
    prompts = [agent.prompting(session, "/say 300") for session in (one, two)]
    agent.send(*prompts)
    agent.wait_for(lambda frame: frame.get("id") == prompts[0]["id"], "the end of the first")
    agent.wait_for(lambda frame: frame.get("id") == prompts[1]["id"], "the end of the second")
    order = [frame["params"]["sessionId"] for frame in agent.frames if "word" in str(frame)]
    assert order.index(two) < len(order) - order[::-1].index(one)
    expected = " ".join(f"word{number}" for number in range(1, 301))
    assert spoken(agent.frames, one) == spoken(agent.frames, two) == expected


def test_a_hanging_turn_ignores_cancel_and_harms_no_other_session(agent, tmp_path):
    hanging = agent.open(tmp_path)
    prompt = agent.prompting(hanging, "/hang")
    agent.send(prompt, {"method": "session/cancel", "params": {"sessionId": hanging}})
    agent.send({"method": "session/cancel", "params": {"sessionId": hanging}})
    assert agent.prompt(agent.open(tmp_path), "/say 1") == "word1"
    assert prompt["id"] not in [frame.get("id") for frame in agent.frames]


def test_a_session_can_be_closed_loaded_and_resumed(agent, sample):
    session = agent.open(sample)
    live = agent.prompt(session, "hello")
    agent.call("session/close", sessionId=session)
    refused = agent.prompting(session, "more")
    agent.send(refused)
    assert "closed" in agent.response(refused)["error"]["message"]

    agent.frames.clear()
    loaded = agent.call("session/load", sessionId=session, cwd=str(sample), mcpServers=[])
    assert loaded["modes"]["currentModeId"] == "ask"
    assert spoken(agent.frames, session) == live
    said = updates(agent.frames, session, "user_message_chunk")
    assert [update["content"]["text"] for update in said] == ["hello"]
    assert len(updates(agent.frames, session, "tool_call")) == 3

    agent.frames.clear()
    agent.call("session/resume", sessionId=session, cwd=str(sample), mcpServers=[])
    assert spoken(agent.frames, session) == ""
    assert agent.prompt(session, "more").startswith("This is message 2")


def test_the_pace_can_be_set(agent, tmp_path):
    session = agent.open(tmp_path)
    setting = {"sessionId": session, "configId": "pace"}
    options = agent.call("session/set_config_option", **setting, value="calm")["configOptions"]
    assert [(option["id"], option["currentValue"]) for option in options] == [("pace", "calm")]
    wrong = agent.request("session/set_config_option", **setting, value="frantic")
    agent.send(wrong)
    assert agent.response(wrong)["error"]["message"].startswith("The only option is pace")


def test_every_command_is_documented_and_offered(agent, tmp_path):
    session = agent.open(tmp_path)
    offered = agent.wait_for(lambda frame: "availableCommands" in str(frame), "the commands")
    names = [c["name"] for c in offered["params"]["update"]["availableCommands"]]
    assert re.findall(r"^    /(\w+)", commands.__doc__, re.MULTILINE) == names
    assert re.findall(r"^- `/(\w+)", agent.prompt(session, "/help"), re.MULTILINE) == names


def test_a_failing_prompt_is_an_error_with_a_sentence(agent, tmp_path):
    session = agent.open(tmp_path)
    failing = agent.prompting(session, "/fail")
    agent.send(failing)
    assert agent.response(failing)["error"]["message"].endswith("send anything to go on.")


def test_a_thought_comes_before_the_answer_and_apart_from_it(agent, tmp_path):
    session = agent.open(tmp_path)
    assert agent.prompt(session, "/think") == "I have thought about it."
    thoughts = updates(agent.frames, session, "agent_thought_chunk")
    assert len({thought["messageId"] for thought in thoughts}) == 1
    assert agent.frames[-2]["params"]["update"]["sessionUpdate"] == "agent_message_chunk"


@pytest.mark.parametrize(
    ("prompt", "reply"),
    [
        ("/dance\nnow", "There is no command `/dance`. `/help` lists them."),
        ("/say many", "Write it as `/say N`."),
        ("/edit greet.py 'half", "Write it as `/edit PATH OLD NEW`."),
        ("/edit greet.py absent x", "`greet.py` does not contain `absent`; nothing was changed."),
        ("/read README.md", "`README.md` has 8 lines, with the heading `Greetings`."),
        ("/run exit 4", "`exit 4`: exit code 4."),
    ],
)
def test_commands_answer_in_a_sentence(agent, sample, prompt, reply):
    assert agent.prompt(agent.open(sample), prompt) == reply


def test_files_and_commands_go_through_a_client_that_offers_them(start, sample):
    agent = start(fs={"readTextFile": True, "writeTextFile": True}, terminal=True)
    unsaved = "def fresh(items={}):\n    return items\n"
    called: list[str] = []
    written: dict[str, str] = {}

    def note(method: str, result: Any) -> Callable[[Frame], Any]:
        return lambda params: (
            called.append(method) or (result(params) if callable(result) else result)
        )

    agent.answers = {
        "session/request_permission": ALLOWING,
        **{
            method: note(method, result)
            for method, result in {
                "fs/read_text_file": {"content": unsaved},
                "fs/write_text_file": lambda p: written.update({p["path"]: p["content"]}) or {},
                "terminal/create": {"terminalId": "T"},
                "terminal/wait_for_exit": {"exitCode": 0},
                "terminal/output": {"output": "all well\n", "truncated": False},
                "terminal/release": {},
            }.items()
        },
    }
    before = contents(sample)
    session = agent.open(sample)
    text = agent.prompt(session, "hello")

    assert contents(sample) == before
    assert called == [
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/wait_for_exit",
        "terminal/output",
        "terminal/release",
    ]
    assert list(written) == [str(sample / "greet.py")]
    assert "if items is None:\n        items = {}\n" in written[str(sample / "greet.py")]
    create = next(f["params"] for f in agent.frames if f.get("method") == "terminal/create")
    assert (create["command"], create["cwd"]) == ("python3", str(sample))
    assert create["args"] == ["-B", "-m", "unittest", "-q"]
    embedded = [u.get("content") for u in updates(agent.frames, session, "tool_call_update")]
    assert [{"type": "terminal", "terminalId": "T"}] in embedded
    assert "```text\nall well\n```" in text


def test_cancelling_releases_the_terminal_of_a_command_that_still_runs(start, tmp_path):
    agent = start(terminal=True)
    released: list[Frame] = []
    agent.answers = {
        "session/request_permission": ALLOWING,
        "terminal/create": lambda params: {"terminalId": "T"},
        "terminal/release": lambda params: released.append(params) or {},
    }
    session = agent.open(tmp_path)
    running = agent.prompting(session, "/run sleep 1000")
    agent.send(running)
    agent.wait_for(lambda frame: frame.get("method") == "terminal/wait_for_exit", "the wait")
    agent.send({"method": "session/cancel", "params": {"sessionId": session}})
    assert agent.response(running)["result"] == {"stopReason": "cancelled"}
    assert released == [{"sessionId": session, "terminalId": "T"}]
    assert updates(agent.frames, session, "tool_call_update")[-1]["status"] == "failed"


def test_what_the_client_refuses_is_said_and_the_tour_goes_on(start, sample):
    agent = start(fs={"readTextFile": True, "writeTextFile": True}, terminal=True)
    agent.answers = {"session/request_permission": ALLOWING}
    agent.refuses = True
    before = contents(sample)
    text = agent.prompt(agent.open(sample), "hello")
    assert contents(sample) == before
    assert "The client did not read greet.py: not here" in text
    assert "- Could not make the edit.\n- Could not run `python3 -B -m unittest -q`.\n" in text


def test_the_output_of_its_own_command_is_mirrored_to_a_client_that_shows_it(start, sample):
    agent = start(_meta={"terminal_output": True})
    agent.answers = {"session/request_permission": ALLOWING}
    session = agent.open(sample)
    agent.prompt(session, "/run printf 'caf\\303\\251'; exit 7")

    call = updates(agent.frames, session, "tool_call")[0]
    terminal = call["content"][0]["terminalId"]
    assert call["content"] == [{"type": "terminal", "terminalId": terminal}]
    assert call["_meta"] == {"terminal_info": {"terminal_id": terminal, "cwd": str(sample)}}
    metas = [u.get("_meta", {}) for u in updates(agent.frames, session, "tool_call_update")]
    data = [meta["terminal_output"]["data"] for meta in metas if "terminal_output" in meta]
    assert "".join(data) == "café"
    assert metas[-1] == {"terminal_exit": {"terminal_id": terminal, "exit_code": 7, "signal": None}}

    agent.answers = {"session/request_permission": choosing()}
    agent.prompt(session, "/run ls")
    rejected = updates(agent.frames, session, "tool_call_update")[-1]
    assert rejected["status"] == "failed"
    assert rejected["_meta"]["terminal_exit"]["exit_code"] is None

    agent.answers = {"session/request_permission": ALLOWING}
    for finish in ("cancel", "end of input"):
        running = agent.prompting(session, "/run echo pid $$; sleep 1000 & sleep 1000")
        agent.send(running)
        output = agent.wait_for(lambda frame: "terminal_output" in str(frame), "the process id")
        shell = int(re.search(r"pid (\d+)", str(output)).group(1))
        if finish == "cancel":
            agent.send({"method": "session/cancel", "params": {"sessionId": session}})
            assert agent.response(running)["result"] == {"stopReason": "cancelled"}
        else:
            ended_at = time.monotonic()
            assert agent.end() == 0
            assert time.monotonic() - ended_at < 2
        wait_until_gone(shell)


def test_the_end_of_input_ends_the_agent_quietly_while_an_ask_is_open(start, sample):
    agent = start()
    session = agent.open(sample)
    agent.send(agent.prompting(session, "/run ls"))
    agent.wait_for(lambda frame: "options" in frame.get("params", {}), "the ask")
    assert agent.end() == 0
    assert agent.complaints() == ""


def test_a_crash_ends_the_process_with_code_three_and_two_lines(start, tmp_path):
    agent = start()
    session = agent.open(tmp_path)
    agent.send(agent.prompting(session, "/crash"))
    assert agent.process.wait(WAIT) == 3
    assert len(agent.complaints().splitlines()) == 2
    assert b"stopReason" not in b"".join(iter(agent._lines.get, b""))


def test_the_sample_is_never_copied_over_existing_files(tmp_path):
    (tmp_path / "greet.py").write_text("mine")
    with pytest.raises(FileExistsError, match=r"greet\.py"):
        copy_sample(tmp_path)
    assert contents(tmp_path) == {"greet.py": b"mine"}


NAMES = st.sampled_from(["a", "b", "größe", "d"])
DEFAULTS = st.sampled_from(["[]", "{}", "list()", "{'é': [1]}", "None", "()", "'[]'"])
ANNOTATIONS = st.sampled_from(["", ": list", ": 'list'", ": dict | None"])
ARGUMENTS = st.lists(st.tuples(NAMES, ANNOTATIONS, DEFAULTS), max_size=3, unique_by=lambda a: a[0])


@given(
    arguments=ARGUMENTS,
    opening=st.sampled_from(['"""Doc."""', "# note", "x = 1", ""]),
    end=st.sampled_from(["\n", "\r\n"]),
    indent=st.sampled_from(["  ", "\t"]),
)
def test_repairs_parse_keep_the_line_ends_and_come_to_an_end(arguments, opening, end, indent):
    header = ", ".join(f"{name}{annotation} = {value}" for name, annotation, value in arguments)
    lines = ["'é\f'", f"def work({header}):", f"{indent}{opening}", f"{indent}return 1", ""]
    text = end.join(lines)
    repairs = 0
    while (repair := find_repair(text)) is not None:
        ast.parse(repair.text)
        assert repair.text.count("\n") == repair.text.count(end)
        text, repairs = repair.text, repairs + 1
        assert repairs <= len(arguments) + 1
    namespace: dict[str, Any] = {}
    exec(compile(text, "work", "exec"), namespace)
    shared = namespace["work"].__defaults__ or ()
    assert not any(isinstance(value, list | dict) for value in shared)
    assert namespace["work"].__doc__
    assert namespace["work"]() == 1


@pytest.mark.parametrize("text", ["def broken(:\n", "def one(x=[]): return x\n", "a\0b", "x = 1\n"])
def test_text_that_cannot_be_repaired_safely_is_left_alone(text):
    assert find_repair(text) is None


@given(st.text(alphabet="`a \n"))
def test_no_text_ends_its_own_fence(text):
    first, *inside, last = fenced(text).split("\n")
    assert first == last
    assert not any(line.startswith(first) for line in inside)
    assert "\n".join(inside) == text.rstrip()


@given(st.text(alphabet="`a ", min_size=1))
def test_no_text_ends_its_own_inline_code(text):
    ticks = re.match("`+", code(text)).group()
    assert code(text).endswith(ticks)
    assert ticks not in text
    assert text in code(text)
