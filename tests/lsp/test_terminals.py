"""An agent's commands: behind the policy, in a terminal of ours."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.commands import (
    KILL,
    OUTPUT,
    RELEASE,
    WAIT,
    begin,
    card,
    create,
    decide,
    ids,
    name,
    new_session,
    open_ask,
    opened,
    play,
    said,
    trusted,
)
from fakes.conversation import ended, prompt
from fakes.editor import RequestFailed

Json = dict[str, Any]


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
