"""`agentls run` and `agentls record` as people start them: real processes, pipes and terminals."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentls.agent.recording import load
from agentls.core.printable import printable
from agentls.demo.sample_project import copy_sample
from fakes.leftovers import VARIABLE, marked, new_mark

SCENARIOS = Path(__file__).parent.parent / "scenarios"
AGENTLS = [sys.executable, "-m", "agentls"]
LOGIN_AGENT = Path(__file__).parent.parent / "fakes" / "login_agent.py"
PATIENCE = 15.0


class Machine:
    """A person's machine: configuration, a project, and a way to run agentls in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        copy_sample(self.project)
        self.mark = new_mark()
        self.started: list[subprocess.Popen[bytes]] = []
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "AGENTLS_DEMO_DELAY": "0",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            VARIABLE: self.mark,
        }

    def agent(self, name: str, command: list[str]) -> str:
        """Describe an agent in agents.toml."""
        path = self.folder / "config/agentls/agents.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(f"[agents.{name}]\ncommand = {json.dumps(command)}\n")
        return name

    def scenario(self, name: str, change: Callable[[str], str] = lambda text: text) -> str:
        """An agent that plays a scenario, maybe with some of its text replaced."""
        path = self.folder / f"{name}.jsonl"
        path.write_text(change((SCENARIOS / f"{name}.jsonl").read_text("utf-8")), "utf-8")
        return self.agent(name, [sys.executable, "-m", "agentls.agent.replay", str(path)])

    def run(
        self, *args: str, command: str = "run", typed: str | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end, without a terminal."""
        done = subprocess.run(
            [*AGENTLS, command, *args],
            cwd=self.project,
            env=self.env | env,
            input=typed or "",
            capture_output=True,
            timeout=30,
            check=False,
            encoding="utf-8",
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        """Run without a terminal, to be watched and disturbed."""
        run = subprocess.Popen(
            [*AGENTLS, "run", *args],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(run)
        return run

    def assert_nothing_left(self) -> None:
        _until(lambda: not marked(self.mark), lambda: f"left behind: {marked(self.mark)}")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path)
    yield made
    for run in made.started:
        if run.poll() is None:  # the test has failed already
            run.terminate()
            run.wait()
    made.assert_nothing_left()


def _until(is_so: Callable[[], bool], complaint: Callable[[], str]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < end, complaint()
        select.select([], [], [], 0.01)


def _read_until(stream: int, wanted: str, seen: str = "") -> str:
    """What comes until the wanted words are there, and they must come."""
    end = time.monotonic() + PATIENCE
    data = seen.encode()
    while wanted not in data.decode("utf-8", "ignore"):
        ready, _, _ = select.select([stream], [], [], max(0.0, end - time.monotonic()))
        more = os.read(stream, 65536) if ready else b""
        assert more, f"{wanted!r} did not come, but: {data.decode('utf-8', 'replace')!r}"
        data += more
    return data.decode("utf-8", "ignore")


class Terminal:
    """agentls at a terminal of its own."""

    def __init__(self, machine: Machine, *args: str, columns: int = 80) -> None:
        self._controller, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(terminal)
        self.seen = ""
        self._from = 0
        self.process = subprocess.Popen(
            [*AGENTLS, "run", *args],
            cwd=machine.project,
            env=machine.env,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        self._terminal = terminal
        machine.started.append(self.process)

    def wait_for(self, wanted: str) -> str:
        """Wait for words that come after those waited for before; escape codes do not count."""
        end = time.monotonic() + PATIENCE
        while (at := self.screen.find(wanted, self._from)) < 0:
            ready, _, _ = select.select([self._controller], [], [], 0.05)
            if ready:
                self.seen += os.read(self._controller, 65536).decode("utf-8", "replace")
            assert time.monotonic() < end, f"{wanted!r} did not come, but: {self.screen!r}"
        self._from = at + len(wanted)
        return self.screen

    @property
    def screen(self) -> str:
        return printable(self.seen)

    def type(self, keys: str) -> None:
        os.write(self._controller, keys.encode())

    def attributes(self) -> list[Any]:
        return termios.tcgetattr(self._terminal)

    def echoes(self) -> bool:
        return bool(self.attributes()[3] & termios.ECHO)

    def end(self) -> int:
        def over() -> bool:
            while select.select([self._controller], [], [], 0)[0]:
                self.seen += os.read(self._controller, 65536).decode("utf-8", "replace")
            return self.process.poll() is not None

        _until(over, lambda: f"it did not end, but showed: {self.screen!r}")
        over()
        after = self.attributes()
        os.close(self._controller)
        os.close(self._terminal)
        assert after == self.before, "the terminal was not left as it was found"
        return self.process.returncode


# -- without a terminal


def test_text_comes_plain_and_without_escape_codes(machine: Machine) -> None:
    done = machine.run("--agent", machine.scenario("text"), "Say", "hello", FORCE_COLOR="1")
    assert done.returncode == 0
    thought, blank, text, blank_too, end = done.stdout.splitlines()
    assert (thought, text) == ("  ┊ A greeting.", "Hello, wörld 👋.")
    assert (blank, blank_too) == ("", "")
    assert end.startswith("✓ done · ")
    assert not done.stderr


def test_what_an_agent_says_after_the_end_of_the_turn_is_shown_too(machine: Machine) -> None:
    done = machine.run("--agent", machine.scenario("late"), "hi")
    assert done.stdout.startswith("Hello, late and later.\n\n✓ done · ")


def test_what_an_agent_says_cannot_steer_the_terminal(machine: Machine) -> None:
    evil = r"\u001b[2J\u001b]0;pwned\u0007\u009b1A\rgone"
    agent = machine.scenario(
        "permission", lambda text: text.replace("touch notes.txt", evil).replace("Done.", evil)
    )
    done = machine.run("--agent", agent, "hi")
    assert done.returncode == 0
    assert "gone" in done.stdout
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\x9b\r")


def test_json_lines_hold_every_event_and_nothing_else_is_on_stdout(machine: Machine) -> None:
    done = machine.run("--json", "--agent", machine.scenario("text"), "Say hello")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert {event["session"] for event in events} == {events[0]["session"]}
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert "".join(e["text"] for e in events if e["event"] == "text" and e["role"] == "agent") == (
        "Hello, wörld 👋."
    )
    kinds = [event["event"] for event in events]
    assert kinds[0] == "state"
    assert kinds.index("turn_started") < kinds.index("text") < kinds.index("turn_ended")
    (ended,) = [event for event in events if event["event"] == "turn_ended"]
    assert (ended["turn"], ended["reason"]) == (1, "end_turn")


def test_json_tells_errors_as_events_and_on_stderr(machine: Machine) -> None:
    done = machine.run("--json", "--agent", "nobody", "hi")
    assert done.returncode == 2
    (event,) = map(json.loads, done.stdout.splitlines())
    assert (event["event"], event["level"]) == ("notice", "error")
    assert "There is no agent named 'nobody'." in event["text"]
    assert "There is no agent named 'nobody'." in done.stderr


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("error_answer", "error_answer: model overloaded."),
        ("login_needed", "wants you to log in first"),
        ("dies_mid_turn", "ended with exit code 70; the last it said was: panic: index"),
        ("exits_at_start", "exit"),
    ],
)
def test_an_agent_that_fails_is_exit_code_1_and_one_sentence(
    machine: Machine, scenario: str, words: str
) -> None:
    done = machine.run("--agent", machine.scenario(scenario), "hi")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("agentls: ")
    assert words in last


def test_an_agent_that_is_not_installed_says_how_to_install_it(machine: Machine) -> None:
    done = machine.run("--agent", "gemini", "hi", PATH="/nowhere")
    assert done.returncode == 1
    assert "Install it with: npm install -g @google/gemini-cli" in done.stderr


@pytest.mark.parametrize("reason", ["refusal", "max_tokens", "max_turn_requests", "something new"])
def test_a_turn_that_stops_early_is_exit_code_3(machine: Machine, reason: str) -> None:
    agent = machine.scenario("text", lambda text: text.replace("end_turn", reason))
    assert machine.run("--agent", agent, "hi").returncode == 3


def test_the_prompt_can_come_from_stdin(machine: Machine) -> None:
    done = machine.run("--agent", "demo", "-", typed="/say 2\n")
    assert done.stdout.startswith("word1 word2\n")


def test_problems_of_the_configuration_are_told(machine: Machine) -> None:
    machine.agent("Bad Name".replace(" ", "_"), ["x"])
    done = machine.run("--agent", "demo", "/say 1")
    assert done.returncode == 0
    assert "agents.Bad_Name is left out" in done.stderr


# -- asks without a terminal


def settled(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    events = map(json.loads, done.stdout.splitlines())
    return [event["decision"] for event in events if event["event"] == "ask_settled"]


@pytest.mark.parametrize(
    ("args", "chosen"),
    [(["--answer", "allow"], "once"), (["--answer", "reject"], "no"), ([], "no")],
)
def test_asks_are_answered_by_the_kind_of_their_options(
    machine: Machine, args: list[str], chosen: str
) -> None:
    # The options in another order, and with names that say the opposite.
    def misleading(text: str) -> str:
        lines = [json.loads(line) for line in text.splitlines()]
        for line in lines:
            if "options" in (
                params := line["msg"].get("params", {}) if "id" in line["msg"] else {}
            ):
                params["options"].reverse()
                for option in params["options"]:
                    option["name"] = "No" if "allow" in option["kind"] else "Yes"
        return "\n".join(map(json.dumps, lines))

    done = machine.run("--json", *args, "--agent", machine.scenario("permission", misleading), "hi")
    (decision,) = settled(done)
    assert decision["option"]["id"] == chosen
    assert decision["by"] == f"--answer {'allow' if chosen == 'once' else 'reject'}"


@pytest.mark.parametrize("answer", ["allow", "reject"])
def test_an_ask_with_no_fitting_option_is_cancelled(machine: Machine, answer: str) -> None:
    def unknown(text: str) -> str:
        return text.replace('"allow_once"', '"allow_now"').replace('"reject_once"', '"reject_now"')

    agent = machine.scenario("permission", unknown)
    (decision,) = settled(machine.run("--json", "--answer", answer, "--agent", agent, "hi"))
    assert decision["option"] is None


def test_what_nobody_allowed_does_not_happen_and_that_is_said_once(machine: Machine) -> None:
    before = (machine.project / "greet.py").read_text()
    done = machine.run("--agent", "demo", "Tour")
    assert done.returncode == 0
    assert (machine.project / "greet.py").read_text() == before
    assert done.stderr.count("Nobody can be asked here") == 1
    assert "⊘ edit Edit greet.py  line 9 · +3 -1 · rejected" in done.stdout
    assert "? python3 -B -m unittest -q  Reject · --answer reject" in done.stdout


def test_what_is_allowed_happens_and_is_shown(machine: Machine) -> None:
    done = machine.run("--answer", "allow", "--agent", "demo", "Tour")
    assert done.returncode == 0
    assert "table: list[str] | None = None" in (machine.project / "greet.py").read_text()
    assert "  9 + def seat(name: str, table: list[str] | None = None)" in done.stdout
    assert "✓ execute python3 -B -m unittest -q" in done.stdout
    assert "  │ OK" in done.stdout
    assert "  ☑ Sum up" in done.stdout
    assert not done.stderr


def test_answers_can_come_through_a_pipe_and_its_end_rejects(machine: Machine) -> None:
    done = machine.run("--answer", "ask", "--agent", "demo", "Tour", typed="\nnonsense\ny\n")
    assert "table: list[str] | None = None" in (machine.project / "greet.py").read_text()
    assert "⊘ execute python3 -B -m unittest -q  rejected" in done.stdout
    assert done.stderr.count("Type y, a or n.") == 2


# -- interruptions


def _after_the_prompt(scenario: str, verb: str) -> str:
    """The scenario up to its prompt, and then only this: the turn never ends."""
    lines = scenario.splitlines()
    prompt = next(number for number, line in enumerate(lines) if '"session/prompt"' in line)
    return "\n".join([*lines[: prompt + 1], json.dumps({"dir": "do", "msg": {"do": verb}})])


def test_ctrl_c_cancels_the_turn(machine: Machine) -> None:
    run = machine.start("--agent", "demo", "/slow 1000")
    assert run.stdout is not None
    _read_until(run.stdout.fileno(), "word3")
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert b"press Ctrl-C again" in err
    assert "⊘ cancelled · ".encode() in out


def test_ctrl_c_twice_stops_an_agent_that_does_not_listen(machine: Machine) -> None:
    agent = machine.scenario("text", lambda text: _after_the_prompt(text, "hang"))
    run = machine.start("--json", "--agent", agent, "hi")
    assert run.stdout is not None
    _read_until(run.stdout.fileno(), '"state":"running"')
    run.send_signal(signal.SIGINT)
    _read_until(run.stdout.fileno(), "press Ctrl-C again")
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert time.monotonic() - began < 2, "it waited for an agent that was to be killed"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_leaves_no_agent_behind(machine: Machine, number: signal.Signals) -> None:
    agent = machine.scenario("text", lambda text: _after_the_prompt(text, "fork"))
    run = machine.start("--json", "--agent", agent, "hi")
    assert run.stdout is not None
    _read_until(run.stdout.fileno(), '"event":"turn_started"')
    run.send_signal(number)
    _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 128 + number
    assert not err


def test_ctrl_c_while_the_agent_starts_ends_at_once(machine: Machine) -> None:
    agent = machine.agent("mute", [sys.executable, "-c", "import sys; sys.stdin.read()"])
    run = machine.start("--json", "--agent", agent, "hi")
    assert run.stdout is not None
    _read_until(run.stdout.fileno(), '"state":"starting"')
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=PATIENCE)
    assert run.returncode == 130


def test_a_time_limit_cancels_and_is_a_failure(machine: Machine) -> None:
    done = machine.run("--timeout", "0.7", "--agent", "demo", "/slow 1000")
    assert done.returncode == 1
    assert "not done after 0.7 seconds. Give it more with --timeout." in done.stderr


def test_a_reader_that_has_seen_enough_ends_it_quietly(machine: Machine) -> None:
    run = machine.start("--agent", "demo", "/slow 1000")
    assert run.stdout is not None
    assert run.stderr is not None
    _read_until(run.stdout.fileno(), "word1")
    run.stdout.close()
    err = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=PATIENCE) == 141
    assert not err


# -- recordings


def test_a_recording_is_saved_and_can_be_replayed(machine: Machine) -> None:
    path = machine.folder / "it.jsonl"
    done = machine.run("-o", str(path), "--agent", "demo", "/say 3", command="record")
    assert done.returncode == 0
    assert done.stdout.startswith("word1 word2 word3\n")
    assert f"Saved to {path}" in done.stderr
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [f.msg["method"] for f in load(path) if f.dir == "out" and "method" in f.msg] == [
        *("initialize", "session/new", "session/prompt"),
    ]
    again = machine.run(
        "--agent", machine.agent("again", [*AGENTLS, "replay", str(path)]), "/say 3"
    )
    assert again.stdout.startswith("word1 word2 word3\n")


def test_a_conversation_that_failed_is_recorded_too(machine: Machine) -> None:
    path = machine.folder / "it.jsonl"
    done = machine.run("-o", str(path), "--agent", "demo", "/crash", command="record")
    assert done.returncode == 1
    assert any(frame.dir == "stderr" for frame in load(path))


# -- at a terminal


def test_a_person_allows_an_edit_by_a_key_and_it_happens(machine: Machine) -> None:
    terminal = Terminal(machine, "--agent", "demo", "Tour")
    terminal.wait_for("? Edit greet.py")
    terminal.wait_for("n 3  Reject         reject once")
    assert "None = None" not in (machine.project / "greet.py").read_text()
    terminal.type("\n")
    terminal.wait_for("Type y, a or n.")
    assert "None = None" not in (machine.project / "greet.py").read_text()
    terminal.type("y\n")
    terminal.wait_for("✓ edit Edit greet.py  line 9 · +3 -1")
    assert "None = None" in (machine.project / "greet.py").read_text()
    terminal.wait_for("? python3 -B -m unittest -q")
    terminal.wait_for("reject once")
    terminal.type("3\n")
    terminal.wait_for("⊘ execute python3 -B -m unittest -q  rejected")
    terminal.wait_for("☑ Sum up")
    terminal.wait_for("✓ done · ")
    assert terminal.end() == 0
    assert terminal.screen.count("+ def seat(") == 1, "the change was shown twice"
    assert "\x1b[?25h" in terminal.seen[terminal.seen.rindex("\x1b[?25l") :], "the cursor is hidden"


def test_keys_typed_before_the_question_are_no_answer_to_it(machine: Machine) -> None:
    terminal = Terminal(machine, "--agent", "demo", "/run touch made")
    terminal.wait_for("Starting")
    _until(lambda: not terminal.echoes(), lambda: "keys are still echoed")
    terminal.type("y\ny\n")
    terminal.wait_for("reject once")
    terminal.type("\x04")
    terminal.wait_for("Reject · no answer")
    terminal.wait_for("✓ done")
    assert terminal.end() == 0
    assert not (machine.project / "made").exists()


def test_ctrl_c_at_a_question_cancels_the_turn(machine: Machine) -> None:
    terminal = Terminal(machine, "--agent", "demo", "/run touch made")
    terminal.wait_for("reject once")
    terminal.type("y\x03")
    terminal.wait_for("Cancelling; press Ctrl-C again")
    terminal.wait_for("not allowed · turn cancelled")
    assert terminal.end() == 130
    assert not (machine.project / "made").exists()


def test_a_chat_goes_on_until_it_is_quit(machine: Machine) -> None:
    terminal = Terminal(machine, "--chat", "--agent", "demo", columns=40)
    for prompt, answer in (
        ("/say 2", "✓ done"),
        ("/crash", "exit code 3"),
        ("/say 3", "word1 word2 word3"),
    ):
        terminal.wait_for("\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} ")
        _until(terminal.echoes, lambda: "keys are not echoed")
        terminal.type(f"{prompt}\n")
        terminal.wait_for(answer)
    terminal.wait_for("\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} ")
    terminal.type("\x03")
    terminal.wait_for("! Press Ctrl-C again")
    terminal.type("/quit\n")
    assert terminal.end() == 0


def test_no_colours_are_used_when_nobody_wants_them(machine: Machine) -> None:
    machine.env["NO_COLOR"] = "1"
    terminal = Terminal(machine, "--agent", "demo", "/say 1")
    terminal.wait_for("✓ done")
    assert terminal.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9]m", terminal.seen)


def test_a_dumb_terminal_gets_plain_lines(machine: Machine) -> None:
    machine.env["TERM"] = "dumb"
    terminal = Terminal(machine, "--agent", "demo", "/say 1")
    terminal.wait_for("✓ done")
    assert terminal.end() == 0
    assert "\x1b" not in terminal.seen


# -- agents under one


def test_one_agent_directs_others_offline_and_the_run_ends_when_all_are_done(
    machine: Machine,
) -> None:
    done = machine.run("--orchestrate", "--agent", "demo", "--answer", "allow", "Direct them.")
    assert done.returncode == 0, done.stderr
    for name in ("asker", "reader", "runner"):
        assert f"{name} started: " in done.stdout
        assert f"{name} finished: " in done.stdout
        assert f"{name} ended" in done.stdout
    assert "asker asked: How many words shall I say?" in done.stdout
    assert "asker answered: Three." in done.stdout
    assert "ls  Allow · --answer allow" in done.stdout
    assert "All of them are done, and I have ended them." in done.stdout
    assert marked(machine.mark) == {}
    tree = machine.run("tree", command="sessions").stdout.splitlines()
    assert tree[0].startswith("Three agents under one  (")
    assert [line.split(":")[0] for line in tree[1:]] == ["├─ asker", "├─ reader", "└─ runner"]


def test_without_orchestrate_no_agent_is_started_by_another(machine: Machine) -> None:
    done = machine.run("--agent", "demo", "/family")
    assert "This session may not start other agents." in done.stdout
    assert machine.run("tree", command="sessions").stdout == "No agent has started another one.\n"


# -- logging in


@pytest.mark.parametrize("refuses", ["new", "prompt"])
@pytest.mark.parametrize(("way", "more"), [("1", []), ("2", ["yes\n", "ada\n"])])
def test_a_login_on_the_way_leads_back_to_the_prompt(
    machine: Machine, tmp_path: Path, refuses: str, way: str, more: list[str]
) -> None:
    agent = [sys.executable, str(LOGIN_AGENT), str(tmp_path / "logged-in"), refuses]
    name = machine.agent("secret", agent)
    terminal = Terminal(machine, "-a", name, "Say hello.")
    terminal.wait_for("nothing to leave it")
    terminal.wait_for("A key")
    terminal.type(f"{way}\n")
    for expected, keys in zip(("Type yes", "Your name?"), more, strict=False):
        terminal.wait_for(expected)
        terminal.type(keys)
    terminal.wait_for("You said: Say hello.")
    assert terminal.end() == 0


def test_a_login_that_nobody_wants_is_an_error_and_runs_nothing(
    machine: Machine, tmp_path: Path
) -> None:
    file = tmp_path / "logged-in"
    name = machine.agent("secret", [sys.executable, str(LOGIN_AGENT), str(file), "new"])
    terminal = Terminal(machine, "-a", name, "Say hello.")
    terminal.wait_for("A key")
    terminal.type("2\n")
    terminal.wait_for("Type yes")
    terminal.type("no\n")
    terminal.wait_for("Nothing was run.")
    assert terminal.end() == 1
    assert not file.exists()
