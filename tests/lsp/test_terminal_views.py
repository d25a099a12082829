"""An agent's commands live in the editor: watched, typed into, or run by the editor itself."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from fakes.bench import Bench
from fakes.commands import (
    KILL,
    OUTPUT,
    RELEASE,
    WAIT,
    begin,
    create,
    exited,
    ids,
    opened,
    play,
    said,
    shown,
    there_is,
    trusted,
)
from fakes.conversation import ended
from fakes.editor import Editor, RequestFailed

Json = dict[str, Any]


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
    await there_is(done)
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
