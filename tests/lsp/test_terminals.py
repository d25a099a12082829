"""An agent's commands: behind the policy, live in the editor, and gone when nobody owns them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor, RequestFailed
from fakes.processes import until_gone

Json = dict[str, Any]
WAIT = {"call": "terminal/wait_for_exit", "params": {"terminalId": "$t"}}
OUTPUT = {"call": "terminal/output", "params": {"terminalId": "$t"}}
RELEASE = {"call": "terminal/release", "params": {"terminalId": "$t"}}
KILL = {"call": "terminal/kill", "params": {"terminalId": "$t"}}


def create(*words: str, **params: Any) -> Json:
    command, *args = words
    return {"call": "terminal/create", "params": {"command": command, "args": args, **params}}


async def trusted(bench: Bench, **options: Any) -> tuple[Editor, str]:
    """An editor, and a session in which the puppet may do anything."""
    bench.add_puppet()
    editor = await bench.editor(**options)
    session = await new_session(editor)
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": "trust"})
    return editor, session


async def new_session(editor: Editor) -> str:
    result = await editor.request("agentls/session/new", {"agent": "puppet"})
    return str(result["session"]["id"])


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    """Let the puppet do that; what each of its calls was answered with."""
    await begin(editor, session, *steps)
    end = await ended(editor, session, turns)
    assert end["reason"] == "end_turn", end
    return said(editor, session)


async def begin(editor: Editor, session: str, *steps: Json) -> None:
    text = json.dumps(steps)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})


def said(editor: Editor, session: str) -> list[Json]:
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


async def opened(editor: Editor, count: int = 1) -> Json:
    found = await editor.until(
        lambda: len(all := editor.notifications("agentls/terminal/didOpen")) >= count and all,
        f"terminal {count}",
    )
    return dict(found[count - 1]["terminal"])


async def exited(editor: Editor, terminal: Json) -> Json:
    def found() -> list[Json]:
        told = editor.notifications("agentls/terminal/didExit")
        return [n["terminal"] for n in told if n["terminal"]["terminalId"] == name(terminal)]

    return dict((await editor.until(found, f"the end of {terminal['command']}"))[0])


def name(terminal: Json) -> str:
    return str(terminal["terminalId"])


def ids(terminal: Json) -> Json:
    return {"sessionId": terminal["sessionId"], "terminalId": name(terminal)}


def shown(editor: Editor, terminal: Json) -> str:
    """What came for the view of a terminal, after it was attached."""
    text = ""
    for data in editor.notifications("agentls/terminal/data"):
        if data["terminalId"] == name(terminal):
            text = data["text"] if data.get("reset") else text + data["text"]
    return text


def card(editor: Editor, session: str) -> Json:
    return dict(editor.mirror(session).of_kind("tool_call")[-1])


async def open_ask(editor: Editor, session: str) -> Json:
    mirror = editor.mirror(session)
    (ask,) = await editor.until(
        lambda: [a for a in mirror.of_kind("ask") if "decision" not in a], "an ask"
    )
    return dict(ask)


async def decide(editor: Editor, session: str, ask: Json, verdict: str) -> None:
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": verdict})
    mirror = editor.mirror(session)
    await editor.until(lambda: "decision" in mirror.entries[ask["id"]], "the decision")


# -- the agent's side


async def test_a_command_runs_and_the_agent_gets_its_output_and_exit(bench: Bench) -> None:
    editor, session = await trusted(bench)
    created, waited, output, released, after = await play(
        editor,
        session,
        create("sh", "-c", "printf 'ünï \\033[31mred\\033[0m\\n'; exit 3"),
        WAIT,
        OUTPUT,
        RELEASE,
        OUTPUT,
    )
    assert created["result"]["terminalId"]
    assert waited["result"] == {"exitCode": 3, "signal": None}
    assert output["result"] == {
        "output": "ünï red\n",
        "truncated": False,
        "exitStatus": {"exitCode": 3, "signal": None},
    }
    assert released["result"] == {}
    assert after["error"]["message"].endswith("has been released.")
    assert after["error"]["code"] == -32002


async def test_it_has_a_terminal_a_folder_and_the_agents_variables(bench: Bench) -> None:
    editor, session = await trusted(bench)
    (bench.workspace / "sub").mkdir()
    line = "import os,sys; print(sys.stdin.isatty(), os.getcwd(), os.environ['FROM_AGENT'])"
    *_, output = await play(
        editor,
        session,
        create(
            "python3",
            "-c",
            line,
            cwd=str(bench.workspace / "sub"),
            env=[{"name": "FROM_AGENT", "value": "1"}],
        ),
        WAIT,
        OUTPUT,
    )
    assert output["result"]["output"] == f"True {bench.workspace / 'sub'} 1\n"


async def test_output_is_cut_from_the_front_on_a_character(bench: Bench) -> None:
    editor, session = await trusted(bench)
    *_, output = await play(
        editor, session, create("printf", "ab€€", outputByteLimit=5), WAIT, OUTPUT
    )
    assert output["result"]["output"] == "€"
    assert output["result"]["truncated"] is True


async def test_two_wait_and_a_kill_is_heard_by_both(bench: Bench) -> None:
    editor, session = await trusted(bench)
    wait = {**WAIT, "nowait": True}
    _, killed, first, second = await play(editor, session, create("sleep", "600"), wait, KILL, WAIT)
    assert {json.dumps(a, sort_keys=True) for a in (first, second)} == {
        json.dumps(
            {"call": "terminal/wait_for_exit", "result": {"exitCode": None, "signal": "SIGTERM"}},
            sort_keys=True,
        )
    }
    assert killed == {"call": "terminal/kill", "result": {}}


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"command": ""}, "command is missing"),
        ({"command": "ls", "args": "x"}, "args is not a list"),
        ({"command": "ls", "env": [{"name": "A=B", "value": "x"}]}, "env is not a list"),
        ({"command": "ls", "outputByteLimit": -1}, "not a number of bytes"),
        ({"command": "no-such-program", "args": ["x"]}, "is not on the PATH"),
        ({"command": "ls", "cwd": "/no/such/folder"}, "does not exist"),
    ],
)
async def test_what_cannot_be_run_is_one_sentence(bench: Bench, params: Json, words: str) -> None:
    editor, session = await trusted(bench)
    (answer,) = await play(editor, session, {"call": "terminal/create", "params": params})
    assert words in answer["error"]["message"]


async def test_a_terminal_that_never_was_is_not_found(bench: Bench) -> None:
    editor, session = await trusted(bench)
    answers = await play(editor, session, WAIT, OUTPUT, KILL, RELEASE)
    assert {a["error"]["code"] for a in answers} == {-32002}


async def test_sessions_cannot_reach_each_others_terminals(bench: Bench) -> None:
    editor, first = await trusted(bench)
    await begin(editor, first, create("sleep", "600"), {"await": "cancel"})
    terminal = await opened(editor)
    second = await new_session(editor)
    params = {"terminalId": name(terminal)}
    (answer,) = await play(editor, second, {"call": "terminal/kill", "params": params})
    assert answer["error"]["code"] == -32002
    with pytest.raises(RequestFailed, match="There is no terminal"):
        await editor.request("agentls/terminal/kill", {"sessionId": second, **params})


# -- the policy


async def test_a_command_is_asked_about_first_and_runs_once_it_is_allowed(bench: Bench) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    session = await new_session(editor)
    made = bench.workspace / "made"
    await begin(editor, session, create("touch", str(made)), WAIT)
    ask = await open_ask(editor, session)
    assert ask["shown"].startswith("touch ")
    assert not made.exists()
    assert editor.notifications("agentls/terminal/didOpen") == []
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})
    await ended(editor, session)
    assert made.exists()
    assert card(editor, session)["status"] == "completed"
    assert card(editor, session)["content"] == [
        {"type": "terminal", "terminalId": name(await opened(editor))}
    ]


async def test_what_is_rejected_does_not_run_and_the_agent_is_told(bench: Bench) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    session = await new_session(editor)
    await begin(editor, session, create("touch", "made"))
    ask = await open_ask(editor, session)
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
    await ended(editor, session)
    (answer,) = said(editor, session)
    assert answer["error"] == {"code": -32003, "message": "'touch made' was not allowed (you)."}
    assert not (bench.workspace / "made").exists()


async def test_a_rule_decides_about_commands_of_ours_too(bench: Bench) -> None:
    bench.add_puppet()
    (bench.config / "agentls" / "rules.toml").write_text(
        '[[rule]]\nverdict = "allow"\ncommand = "echo"\n'
        '[[rule]]\nverdict = "deny"\ncommand = "touch"\n'
    )
    editor = await bench.editor()
    session = await new_session(editor)
    answers = await play(
        editor, session, create("echo hello"), WAIT, OUTPUT, create("touch", "made")
    )
    assert answers[2]["result"]["output"] == "hello\n"
    assert "denied by the rule" in answers[3]["error"]["message"]
    assert not (bench.workspace / "made").exists()
    assert [a["decision"]["allowed"] for a in editor.mirror(session).of_kind("ask")] == [
        True,
        False,
    ]


@pytest.mark.parametrize("name", ["LD_PRELOAD", "GIT_SSH_COMMAND", "PATH"])
async def test_a_rule_does_not_cover_variables_that_change_what_runs(
    bench: Bench, name: str
) -> None:
    bench.add_puppet()
    (bench.config / "agentls" / "rules.toml").write_text(
        '[[rule]]\nverdict = "allow"\ncommand = "echo"\n'
    )
    editor = await bench.editor()
    session = await new_session(editor)
    await begin(editor, session, create("echo", "x", env=[{"name": name, "value": "./evil"}]))
    ask = await open_ask(editor, session)
    assert name in ask["why"]


async def test_what_was_just_allowed_is_not_asked_twice(bench: Bench) -> None:
    """The agent asks in its own words, and then wants us to run just that."""
    bench.add_puppet()
    editor = await bench.editor()
    session = await new_session(editor)
    call = {"toolCallId": "c1", "title": "Run it", "kind": "execute"}
    options = [
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    permission = {
        "call": "session/request_permission",
        "params": {"toolCall": {**call, "rawInput": {"command": "touch made"}}, "options": options},
    }
    wrapped = f"cd '{bench.workspace}' && touch made"
    await begin(
        editor,
        session,
        permission,
        create("/bin/bash", "-c", wrapped),
        WAIT,
        create("/bin/bash", "-c", wrapped),
    )
    ask = await open_ask(editor, session)
    await decide(editor, session, ask, "allow")
    second = await open_ask(editor, session)
    assert (bench.workspace / "made").exists()
    assert second["id"] != ask["id"], "once is once: the second run is asked about again"
    await editor.request("agentls/ask/decide", {"askId": second["askId"], "verdict": "reject"})
    await ended(editor, session)


async def test_another_command_than_the_allowed_one_is_asked_about(bench: Bench) -> None:
    bench.add_puppet()
    editor = await bench.editor()
    session = await new_session(editor)
    call = {"toolCallId": "c1", "title": "Run it", "kind": "execute"}
    options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
    permission = {
        "call": "session/request_permission",
        "params": {"toolCall": {**call, "rawInput": {"command": "touch made"}}, "options": options},
    }
    await begin(editor, session, permission, create("sh", "-c", "touch made; touch more"))
    ask = await open_ask(editor, session)
    await decide(editor, session, ask, "allow")
    second = await open_ask(editor, session)
    assert "touch more" in second["shown"]
    await editor.request("agentls/ask/decide", {"askId": second["askId"], "verdict": "reject"})
    await ended(editor, session)
    assert not (bench.workspace / "made").exists()


# -- the editor's view


async def test_a_person_watches_a_command_and_answers_its_question(bench: Bench) -> None:
    editor, session = await trusted(bench)
    line = 'read -p "Sure? [y/N] " x; stty size; echo "you said $x"'
    await begin(editor, session, create("bash", "-c", line), WAIT, OUTPUT)
    terminal = await opened(editor)
    assert terminal["source"] == "hosted"
    assert terminal["running"] is True
    view = await editor.request(
        "agentls/terminal/attach", {**ids(terminal), "columns": 77, "rows": 11}
    )
    await editor.until(
        lambda: "Sure? [y/N] " in view["text"] + shown(editor, terminal), "the question"
    )
    await editor.request("agentls/terminal/input", {**ids(terminal), "text": "y\r"})
    await ended(editor, session)
    assert (await exited(editor, terminal))["exitCode"] == 0
    seen = view["text"] + shown(editor, terminal)
    assert seen.endswith("11 77\r\nyou said y\r\n"), seen


async def test_output_comes_before_the_exit_and_only_while_attached(bench: Bench) -> None:
    editor, session = await trusted(bench)
    await play(editor, session, create("seq", "1000"), WAIT)
    terminal = await opened(editor)
    await exited(editor, terminal)
    assert editor.notifications("agentls/terminal/data") == []
    view = await editor.request("agentls/terminal/attach", ids(terminal))
    assert view["text"].split() == [str(n) for n in range(1, 1001)]
    assert view["terminal"]["exitCode"] == 0


async def test_attaching_again_shows_all_and_detaching_ends_it(bench: Bench) -> None:
    editor, session = await trusted(bench)
    fifo = bench.workspace / "go"
    os.mkfifo(fifo)
    await begin(editor, session, create("sh", "-c", "echo one; cat go; echo three"), WAIT)
    terminal = await opened(editor)
    first = await editor.request("agentls/terminal/attach", ids(terminal))
    await editor.until(lambda: "one" in first["text"] + shown(editor, terminal), "the first line")
    again = await editor.request("agentls/terminal/attach", ids(terminal))
    assert again["text"] == "one\r\n"
    await editor.request("agentls/terminal/detach", ids(terminal))
    before = len(editor.notifications("agentls/terminal/data"))
    await asyncio.to_thread(fifo.write_text, "two\n")
    await exited(editor, terminal)
    assert len(editor.notifications("agentls/terminal/data")) == before
    listed = await editor.request("agentls/terminal/list", {"sessionId": session})
    assert [t["running"] for t in listed["terminals"]] == [False]


async def test_a_flood_in_a_view_is_paced_and_complete(bench: Bench) -> None:
    """Few messages, every line; other requests are answered meanwhile."""
    editor, session = await trusted(bench)
    await begin(
        editor,
        session,
        create("bash", "-c", "read; seq 300000", outputByteLimit=16_000_000),
        WAIT,
    )
    terminal = await opened(editor)
    await editor.request("agentls/terminal/attach", ids(terminal))
    began = time.monotonic()
    await editor.request("agentls/terminal/input", {**ids(terminal), "text": "\r"})
    slowest = 0.0
    while not editor.notifications("agentls/terminal/didExit"):
        asked = time.monotonic()
        await editor.request("agentls/ask/list")
        slowest = max(slowest, time.monotonic() - asked)
    took = time.monotonic() - began
    lines = shown(editor, terminal).split()
    assert lines == [str(n) for n in range(1, 300_001)]
    assert len(editor.notifications("agentls/terminal/data")) <= took * 30 + 3
    assert slowest < 5, "the server was stuck"


async def test_an_editor_that_reads_nothing_does_not_stop_a_command(bench: Bench) -> None:
    editor, session = await trusted(bench)
    done = bench.workspace / "done"
    await begin(editor, session, create("bash", "-c", f"read; seq 3000000; touch {done.name}"))
    terminal = await opened(editor)
    await editor.request("agentls/terminal/attach", ids(terminal))
    editor.stop_reading()
    editor.notify_request("agentls/terminal/input", {**ids(terminal), "text": "\r"})
    await _exists(done)
    editor.go_on_reading()
    await exited(editor, terminal)
    assert shown(editor, terminal).endswith("2999999\r\n3000000\r\n")


async def test_odd_output_is_right_in_the_view_and_for_the_agent(bench: Bench) -> None:
    editor, session = await trusted(bench)
    script = bench.workspace / "odd.py"
    script.write_text(
        "import os,time\n"
        "for piece in (b'\\xe2', b'\\x82', b'\\xac', b'\\xff', b'a\\0b', b'x' * 1_000_000):\n"
        "    os.write(1, piece); time.sleep(0.01)\n"
    )
    *_, output = await play(
        editor,
        session,
        create("python3", str(script), outputByteLimit=2_000_000),
        WAIT,
        OUTPUT,
    )
    view = await editor.request("agentls/terminal/attach", ids(await opened(editor)))
    assert view["text"] == "€\ufffda\0b" + "x" * 1_000_000
    assert output["result"]["output"] == "€\ufffdab" + "x" * 1_000_000


# -- ends


TRICKY = {
    "ignores TERM": "trap '' TERM; echo $$ > pid; sleep 600 & wait; sleep 600",
    "daemonises": "setsid sh -c 'echo $$ > pid; exec sleep 600' & sleep 600",
    "leaves a grandchild": "(sleep 600 & echo $! > pid); sleep 600",
    "is stopped": "echo $$ > pid; kill -STOP $$; sleep 600",
}


@pytest.mark.parametrize("how", list(TRICKY))
async def test_a_killed_command_takes_everything_with_it(bench: Bench, how: str) -> None:
    editor, session = await trusted(bench)
    await begin(editor, session, create("bash", "-c", TRICKY[how]), WAIT)
    terminal = await opened(editor)
    pid = await _pid(bench.workspace / "pid")
    listed = await editor.request("agentls/terminal/kill", ids(terminal))
    await until_gone(pid)
    assert (await exited(editor, terminal))["running"] is False
    await ended(editor, session)
    assert len(listed["terminals"]) <= 1


async def test_cancelling_a_turn_ends_its_commands_even_if_the_agent_does_not(
    bench: Bench,
) -> None:
    editor, session = await trusted(bench)
    line = "echo $$ > pid; exec sleep 600"
    await begin(editor, session, {"stubborn": True}, create("sh", "-c", line), WAIT)
    pid = await _pid(bench.workspace / "pid")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await until_gone(pid)
    await ended(editor, session)


async def test_a_background_command_outlives_its_turn_visibly_and_can_be_ended(
    bench: Bench,
) -> None:
    editor, session = await trusted(bench)
    await play(editor, session, create("sh", "-c", "echo $$ > pid; exec sleep 600"))
    pid = await _pid(bench.workspace / "pid")
    listed = await editor.request("agentls/terminal/list", {"running": True})
    (job,) = listed["terminals"]
    assert job["command"] == "echo $$ > pid; exec sleep 600"
    assert job["created"] > 0
    result = await editor.request("agentls/terminal/killAll", {"sessionId": session})
    assert result == {}
    await until_gone(pid)


@pytest.mark.parametrize("how", ["session closed", "agent killed", "editor gone"])
async def test_nothing_survives_its_owner(bench: Bench, how: str) -> None:
    editor, session = await trusted(bench)
    line = "trap '' TERM HUP; echo $$ > pid; while :; do sleep 1; done"
    await play(editor, session, create("sh", "-c", line))
    pid = await _pid(bench.workspace / "pid")
    if how == "session closed":
        await editor.request("agentls/session/close", {"sessionId": session})
    elif how == "agent killed":
        (agent,) = [p for p, command in bench.processes().items() if "puppet" in command]
        os.kill(agent, signal.SIGKILL)
    else:
        await editor.close()
    await until_gone(pid)


async def test_a_killed_server_leaves_no_command_and_no_agent(bench: Bench) -> None:
    editor, session = await trusted(bench)
    line = "trap '' TERM HUP; (setsid sleep 600 & echo $! > daemon); echo $$ > pid; sleep 600"
    await play(editor, session, create("bash", "-c", line))
    command = await _pid(bench.workspace / "pid")
    daemon = await _pid(bench.workspace / "daemon")
    (agent,) = [p for p, command in bench.processes().items() if "puppet" in command]
    os.kill(editor.process.pid, signal.SIGKILL)
    await editor.gone()
    for pid in (command, daemon, agent):
        await until_gone(pid)


# -- run by the editor


class EditorSide:
    """Plays an editor that runs terminals itself, without running anything."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.asked: list[tuple[str, Json]] = []
        self.answer: Callable[[Json], Any] = lambda _: {}
        for method in ("run", "kill", "release"):
            editor.answers[f"agentls/terminal/{method}"] = self._request

    def _request(self, message: Json) -> Any:
        method = message["method"].rpartition("/")[2]
        self.asked.append((method, message["params"]))
        return self.answer(message)

    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]

    def output(self, run: Json, text: str) -> None:
        self.editor.notify("agentls/terminal/output", {**ids(run), "text": text})

    def exited(self, run: Json, **how: Any) -> None:
        self.editor.notify("agentls/terminal/exited", {**ids(run), **how})

    async def runs(self, count: int = 1) -> Json:
        runs = await self.editor.until(
            lambda: len(all := [p for m, p in self.asked if m == "run"]) >= count and all,
            "terminal/run",
        )
        return dict(runs[count - 1])


async def test_an_editor_that_can_runs_the_command_itself(bench: Bench) -> None:
    editor, session = await trusted(bench, runs_terminals=True)
    side = EditorSide(editor)
    await begin(editor, session, create("echo $HOME"), WAIT, OUTPUT, RELEASE)
    run = await side.runs()
    assert run["argv"][1:] == ["-c", "echo $HOME"]
    assert run["title"] == "echo $HOME"
    assert run["cwd"] == str(bench.workspace)
    side.output(run, "hel")
    side.output(run, "lo\r\n")
    side.exited(run, exitCode=0)
    await ended(editor, session)
    assert said(editor, session)[2]["result"]["output"] == "hello\n"
    await editor.until(lambda: "release" in side.methods(), "the release")
    assert (await opened(editor))["source"] == "editor"


async def test_output_and_exit_may_come_before_the_editor_says_that_it_runs(bench: Bench) -> None:
    editor, session = await trusted(bench, runs_terminals=True)
    side = EditorSide(editor)

    def quick(message: Json) -> Any:
        if message["method"].endswith("run"):
            side.output(message["params"], "quick\r\n")
            side.exited(message["params"], exitCode=7)
        return {}

    side.answer = quick
    _, waited, output = await play(editor, session, create("echo", "quick"), WAIT, OUTPUT)
    assert waited["result"]["exitCode"] == 7
    assert output["result"]["output"] == "quick\n"


async def test_killing_is_left_to_the_editor(bench: Bench) -> None:
    editor, session = await trusted(bench, runs_terminals=True)
    side = EditorSide(editor)
    await begin(editor, session, create("sleep", "600"), KILL, WAIT)
    run = await side.runs()
    await editor.until(lambda: "kill" in side.methods(), "the kill")
    side.exited(run, signal="SIGTERM")
    side.exited(run, exitCode=0)  # twice is harmless
    side.output(run, "late")
    await ended(editor, session)
    assert said(editor, session)[-1]["result"] == {"exitCode": None, "signal": "SIGTERM"}


async def test_after_an_editor_has_failed_the_server_runs_the_next_command(bench: Bench) -> None:
    editor, session = await trusted(bench, runs_terminals=True)
    side = EditorSide(editor)
    side.answer = lambda _: RequestFailed({"code": -32803, "message": "no room"})
    failed, created, waited = await play(
        editor, session, create("echo", "one"), create("echo", "two"), WAIT
    )
    assert "no room" in failed["error"]["message"]
    assert created["result"]["terminalId"]
    assert waited["result"]["exitCode"] == 0
    assert (await opened(editor))["source"] == "hosted"
    assert side.methods() == ["run"]


# -- without a front end


async def test_a_plain_editor_needs_no_views(bench: Bench) -> None:
    bench.add_puppet()
    editor = await bench.editor(plugin=False)
    session = await new_session(editor)
    await editor.command("agentls.session.setPolicy", {"sessionId": session, "policy": "trust"})
    await begin(editor, session, create("seq", "3"), WAIT)
    listed: Json = {}
    for _ in range(500):
        listed = await editor.command("agentls.terminal.list", {"sessionId": session})
        if listed["terminals"] and not listed["terminals"][0]["running"]:
            break
        await asyncio.sleep(0.02)
    (terminal,) = listed["terminals"]
    view = await editor.command("agentls.terminal.attach", ids(terminal))
    assert view["text"] == "1\r\n2\r\n3\r\n"
    assert not any(m.get("method", "").startswith("agentls/") for m in editor.received)
    exported = await editor.command("agentls.session.export", {"sessionId": session})
    assert "seq 3" in exported["markdown"]


async def test_the_demo_agent_uses_our_terminal(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/run echo from-a-terminal")
    ask = await open_ask(editor, session)
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})
    await ended(editor, session)
    (terminal,) = (await editor.request("agentls/terminal/list"))["terminals"]
    assert terminal["source"] == "hosted"
    assert len(editor.mirror(session).of_kind("ask")) == 1, "asked once"
    (output,) = card(editor, session)["terminals"]
    assert output["output"]["text"].strip() == "from-a-terminal"
    assert output["exitCode"] == 0


async def _exists(path: Path) -> None:
    for _ in range(1000):
        if path.exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path.name} was never made")


async def _pid(path: Path) -> int:
    for _ in range(1000):
        if path.exists() and (text := path.read_text().strip()):
            return int(text)
        await asyncio.sleep(0.02)
    raise AssertionError(f"nothing wrote {path.name}")
