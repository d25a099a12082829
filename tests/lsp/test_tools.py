"""Tools that agents call back: what they do, what people see of it, and who gets in."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentls.tools.peers import is_a_strangers
from fakes.bench import Bench
from fakes.buffers import Buffers
from fakes.conversation import ended
from fakes.editor import Editor
from fakes.mcp_client import HttpClient, client

Json = dict[str, Any]
NOBODY = 65534


async def begin(bench: Bench, *, policy: str = "trust", **more: Any) -> tuple[Editor, str]:
    """An editor, and a session in which the puppet may do what the policy says."""
    bench.add_puppet(*more.pop("arguments", ()))
    editor = await bench.editor(**more)
    return editor, await new_session(editor, policy)


async def new_session(editor: Editor, policy: str = "trust") -> str:
    session = (await editor.request("agentls/session/new", {"agent": "puppet"}))["session"]["id"]
    await editor.request("agentls/session/setPolicy", {"sessionId": session, "policy": policy})
    return str(session)


async def send(editor: Editor, session: str, *steps: Json) -> None:
    text = json.dumps(steps)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})


async def play(editor: Editor, session: str, *steps: Json, turns: int = 1) -> list[Json]:
    """What the puppet says about each step."""
    await send(editor, session, *steps)
    await ended(editor, session, turns)
    return said(editor, session)


def said(editor: Editor, session: str) -> list[Json]:
    return [json.loads(line) for line in editor.mirror(session).text().splitlines()]


def words(answer: Json) -> str:
    return str(answer["result"]["content"][0]["text"])


def tool(name: str, **args: Any) -> Json:
    return {"tool": name, "args": args}


async def our_server(editor: Editor, session: str) -> Json:
    (told,) = await play(editor, session, {"servers": True})
    (server,) = told["servers"]
    return dict(server)


# -- what they do


async def test_a_command_runs_in_a_terminal_of_the_editor_and_its_end_is_told(bench: Bench) -> None:
    editor, session = await begin(bench)
    (ran,) = await play(editor, session, tool("run_in_terminal", command="echo one; exit 3"))
    assert words(ran) == "Exit code 3.\n\none"
    (opened,) = editor.notifications("agentls/terminal/didOpen")
    assert opened["terminal"]["command"] == "echo one; exit 3"
    (card,) = editor.mirror(session).of_kind("tool_call")
    assert (card["title"], card["tool"], card["status"]) == (
        "Run in terminal: echo one; exit 3",
        "execute",
        "failed",
    )


async def test_what_takes_longer_goes_on_and_can_be_read_and_ended(bench: Bench) -> None:
    editor, session = await begin(bench)
    command = "echo begun; sleep 600"
    (ran,) = await play(editor, session, tool("run_in_terminal", command=command, timeout=0.2))
    terminal = words(ran).removeprefix("Still running in terminal ").partition(".")[0]
    _, read, killed = await play(
        editor,
        session,
        tool("read_terminal", terminal=terminal),
        tool("kill_terminal", terminal=terminal),
        turns=2,
    )
    assert "begun" in words(read)
    assert "Ended by SIG" in words(killed)


async def test_a_command_that_no_rule_allows_is_asked_about_once_and_not_run_when_rejected(
    bench: Bench,
) -> None:
    editor, session = await begin(bench, policy="ask")
    await send(editor, session, tool("run_in_terminal", command="touch made.txt"))
    mirror = editor.mirror(session)
    (ask,) = await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    assert ask["shown"] == "touch made.txt"
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
    await ended(editor, session)
    (ran,) = said(editor, session)
    assert ran["result"]["isError"]
    assert "was not allowed" in words(ran)
    assert len(mirror.of_kind("ask")) == 1
    assert not (bench.workspace / "made.txt").exists()


async def test_unsaved_text_is_read_and_listed(bench: Bench) -> None:
    editor, session = await begin(bench, policy="ask")
    path = bench.workspace / "notes.txt"
    path.write_text("saved\n")
    buffers = Buffers(editor)
    buffers.type(buffers.open(path), "not saved\n")
    listed, read = await play(
        editor, session, tool("open_buffers"), tool("read_buffer", path="notes.txt")
    )
    assert words(listed) == "notes.txt (text, 2 lines, unsaved changes)"
    assert words(read).endswith(" not on disk.)\nnot saved\n")
    assert not editor.mirror(session).of_kind("ask")


async def test_a_file_outside_the_project_is_asked_about_before_it_is_read(bench: Bench) -> None:
    editor, session = await begin(bench, policy="ask")
    other = bench.workspace.parent / "other.txt"
    other.write_text("private")
    await send(editor, session, tool("read_buffer", path=str(other)))
    mirror = editor.mirror(session)
    (ask,) = await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
    await ended(editor, session)
    (read,) = said(editor, session)
    assert read["result"]["isError"]
    assert "private" not in json.dumps(read)


async def test_wrong_arguments_and_unknown_tools_are_explained(bench: Bench) -> None:
    editor, session = await begin(bench)
    wrong, unknown = await play(editor, session, tool("read_buffer", file="a"), tool("fly"))
    assert "The arguments of read_buffer are wrong" in words(wrong)
    assert "There is no tool 'fly' here." in words(unknown)


async def test_a_cancelled_turn_ends_what_its_tools_run(bench: Bench) -> None:
    editor, session = await begin(bench)
    await send(editor, session, tool("run_in_terminal", command="sleep 600"))
    await editor.until(lambda: editor.notifications("agentls/terminal/didOpen"), "the terminal")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await editor.until(lambda: editor.notifications("agentls/terminal/didExit"), "its end")
    assert (await ended(editor, session))["reason"] == "cancelled"


async def test_a_question_waits_for_the_person_and_the_agent_gets_the_words(bench: Bench) -> None:
    editor, session = await begin(bench, policy="ask")
    mirror = editor.mirror(session)
    await send(editor, session, tool("ask_user", question="Which?", options=["this", "that"]))
    (question,) = await editor.until(lambda: mirror.of_kind("question"), "a question")
    assert (question["text"], question["options"]) == ("Which?", ["this", "that"])
    assert mirror.head["state"] == "waiting_for_you"
    answer = {"questionId": question["questionId"], "text": "neither"}
    await editor.request("agentls/question/answer", answer)
    await ended(editor, session)
    (told,) = said(editor, session)
    assert words(told) == "neither"


async def test_a_question_that_nobody_answers_ends_with_the_turn(bench: Bench) -> None:
    editor, session = await begin(bench)
    mirror = editor.mirror(session)
    await send(editor, session, tool("ask_user", question="Anybody?"))
    await editor.until(lambda: mirror.of_kind("question"), "a question")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)
    (question,) = mirror.of_kind("question")
    assert question["reply"]["by"] == "turn cancelled"


# -- the agent's own asks about them


LISTS: Json = {"tools": True}


def asks_for(name: str, call: str = "c1", **patch: Any) -> Json:
    """The agent asks before it calls an MCP tool, as most do."""
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    about = {"toolCallId": call, "title": f"mcp__agentls__{name}", "kind": "other", **patch}
    params = {"toolCall": about, "options": options}
    return {"call": "session/request_permission", "params": params}


def done(call: str = "c1") -> Json:
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "completed"}
    return {"update": update}


async def test_a_person_is_asked_once_for_one_command(bench: Bench) -> None:
    editor, session = await begin(bench, policy="ask")
    mirror = editor.mirror(session)
    command = {"command": "touch made.txt"}
    await send(
        editor,
        session,
        LISTS,
        asks_for("run_in_terminal", rawInput=command),
        tool("run_in_terminal", **command),
        done(),
    )

    def open_asks() -> list[Json]:
        return [ask for ask in mirror.of_kind("ask") if "decision" not in ask]

    (ask,) = await editor.until(open_asks, "the ask of the tool")
    assert ask["shown"] == "touch made.txt"
    assert not (bench.workspace / "made.txt").exists(), "what was let through granted nothing"
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "allow"})
    await ended(editor, session)
    let_through, allowed = mirror.of_kind("ask")
    assert let_through["decision"]["by"] == "allowed: a tool of agentls, which asks by itself"
    assert allowed["decision"]["by"] == "you"
    assert (bench.workspace / "made.txt").exists()
    assert len(mirror.of_kind("tool_call")) == 1, "the agent's card is the card of the tool"
    assert not mirror.of_kind("notice")


OTHER = {"type": "diff", "path": "a.txt", "oldText": None, "newText": "x"}


@pytest.mark.parametrize(
    "ask",
    [
        asks_for("fly"),
        asks_for("read_buffer", rawInput={"path": "a", "command": "rm -rf ."}),
        asks_for("read_buffer", rawInput={"path": "a"}, content=[OTHER]),
        asks_for("read_buffer", rawInput={"path": "a"}, locations=[{"path": "/etc/passwd"}]),
        asks_for("read_buffer", title="mcp__agentls__read_buffer && rm -rf ."),
    ],
)
async def test_a_name_alone_lets_nothing_through(bench: Bench, ask: Json) -> None:
    editor, session = await begin(bench, policy="ask")
    mirror = editor.mirror(session)
    await send(editor, session, LISTS, ask)
    (asked,) = await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    assert "decision" not in asked
    await editor.request("agentls/ask/decide", {"askId": asked["askId"], "verdict": "reject"})
    await ended(editor, session)


async def test_an_agent_that_has_not_come_for_the_list_means_something_else_by_the_name(
    bench: Bench,
) -> None:
    editor, session = await begin(bench, policy="ask")
    mirror = editor.mirror(session)
    await send(editor, session, asks_for("open_buffers"))
    (asked,) = await editor.until(lambda: mirror.of_kind("ask"), "an ask")
    assert "decision" not in asked
    await editor.request("agentls/ask/decide", {"askId": asked["askId"], "verdict": "reject"})
    await ended(editor, session)


async def test_a_rule_about_one_of_them_holds_for_the_ask_and_at_the_door(bench: Bench) -> None:
    editor, session = await begin(bench, policy="ask")
    rule = {"verdict": "deny", "tool": "mcp__agentls__open_buffers", "scope": "user"}
    await editor.request("agentls/rule/add", {"cwd": str(bench.workspace), **rule})
    asked, called = await play(editor, session, asks_for("open_buffers"), tool("open_buffers"))
    assert asked["result"]["outcome"]["optionId"] == "no"
    assert "was not allowed (denied by" in words(called)


async def test_whoever_uses_the_name_of_one_of_them_for_something_else_does_it_once(
    bench: Bench,
) -> None:
    editor, session = await begin(bench, policy="ask")
    mirror = editor.mirror(session)
    await play(editor, session, LISTS, asks_for("open_buffers"), done())
    (notice,) = mirror.of_kind("notice")
    assert "is not the tool of agentls" in notice["text"]
    await send(editor, session, asks_for("open_buffers", call="c2"))
    asks = await editor.until(
        lambda: len(mirror.of_kind("ask")) == 2 and mirror.of_kind("ask"), "a second ask"
    )
    assert "decision" not in asks[-1]
    await editor.request("agentls/ask/decide", {"askId": asks[-1]["askId"], "verdict": "reject"})
    await ended(editor, session, turns=2)


async def test_an_agent_that_cannot_use_addresses_gets_a_program_that_leads_there(
    bench: Bench,
) -> None:
    editor, session = await begin(bench, arguments=["--no-http"])
    told, ran = await play(
        editor, session, {"servers": True}, tool("run_in_terminal", command="echo by a program")
    )
    (server,) = told["servers"]
    secrets = [each["value"] for each in server["env"] if each["name"].endswith("SECRET")]
    assert len(secrets) == 1
    assert secrets[0] not in " ".join([server["command"], *server["args"]])
    assert words(ran) == "Exit code 0.\n\nby a program"


async def test_the_setting_switches_them_off(bench: Bench) -> None:
    editor, session = await begin(bench, options={"editorTools": False})
    (told,) = await play(editor, session, {"servers": True})
    assert told["servers"] == []


# -- who gets in


async def test_a_secret_opens_the_tools_of_its_own_session_only(bench: Bench) -> None:
    editor, first = await begin(bench)
    second = await new_session(editor, "ask")
    one, other = await our_server(editor, first), await our_server(editor, second)
    assert one["url"] == other["url"]
    assert one["headers"] != other["headers"]
    guest = client(one)
    assert isinstance(guest, HttpClient)
    guest.open()
    # The other's conversation with the server, with one's own secret.
    host = client(other)
    assert isinstance(host, HttpClient)
    host.open()
    guest._session = host._session
    assert guest.tool("open_buffers")["error"]["code"] == 404
    # What it runs, it runs as itself: the first may do everything, the second is asked.
    guest._session = None
    guest.open()
    assert "Exit code 0" in words(guest.tool("run_in_terminal", {"command": "true"}))
    assert not editor.mirror(second).of_kind("tool_call")


async def test_a_secret_is_worth_nothing_when_its_session_is_closed(bench: Bench) -> None:
    editor, session = await begin(bench)
    server = await our_server(editor, session)
    keep = await new_session(editor)
    assert (await our_server(editor, keep))["url"] == server["url"]
    await editor.request("agentls/session/close", {"sessionId": session})
    assert client(server).open()["error"]["code"] == 401


PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": "Bearer x"}, 401),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "localhost"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Content_Type": "text/plain"}, 400),
    ],
)
async def test_what_a_web_page_or_a_stranger_sends_gets_nothing(
    bench: Bench, headers: dict[str, str], status: int
) -> None:
    editor, session = await begin(bench)
    server = await our_server(editor, session)
    visitor = client(server)
    assert isinstance(visitor, HttpClient)
    got, answered, body = visitor.post(PING, **headers)
    assert got == status
    assert not [name for name in answered if name.startswith("access-control")]
    assert b"jsonrpc" not in body
    assert "error" not in visitor.open(), "with the right headers it is let in"


async def test_only_loopback_is_listened_on(bench: Bench) -> None:
    editor, session = await begin(bench)
    port = int((await our_server(editor, session))["url"].split(":")[2].split("/")[0])
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    more = [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    listening = [
        row[1] for row in rows + more if row[3] == "0A" and row[1].endswith(f":{port:04X}")
    ]
    assert listening == [f"0100007F:{port:04X}"]


async def test_another_user_of_the_machine_gets_nothing_even_with_the_secret(bench: Bench) -> None:
    editor, session = await begin(bench)
    server = await our_server(editor, session)
    (secret,) = [each["value"] for each in server["headers"] if each["name"] == "Authorization"]
    program = (  # everything is imported before it becomes another user, who may not read it
        "import os, socket, sys\n"
        "door = socket.socket()\n"
        "if len(sys.argv) > 3: os.setuid(int(sys.argv[3])); door = socket.socket()\n"
        "door.settimeout(20)\n"
        "host = sys.argv[1].split('/')[2]\n"
        "door.connect(('127.0.0.1', int(host.split(':')[1])))\n"
        "head = f'POST /mcp HTTP/1.1\\nHost: {host}\\nAuthorization: {sys.argv[2]}\\n'\n"
        "door.sendall(f'{head}Content-Length: 2\\n\\n{{}}'.replace('\\n', '\\r\\n').encode())\n"
        "print(door.recv(1000).split()[1].decode())\n"
    )
    words = [sys.executable, "-I", "-c", program, server["url"], secret]

    async def status(*more: str) -> str:
        done = await asyncio.to_thread(
            subprocess.run, [*words, *more], capture_output=True, text=True, check=True, timeout=50
        )
        return done.stdout.strip()

    assert await status() != "401", "our own user is let in to be told what is wrong"
    if os.getuid() == 0:  # nobody else may become another user
        assert await status(str(NOBODY)) == "401"


async def test_whose_connection_it_is_is_read_from_the_tables(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    other = os.getuid() + 1
    table.write_text(
        "  sl  local_address rem_address   st tx rx tr when retr   uid\n"
        f"   0: 0100007F:1F90 0100007F:C001 01 0:0 0:0 0 {other}\n"
        f"   1: 0100007F:C001 0100007F:1F90 01 0:0 0:0 0 {other}\n"
        f"   2: 0100007F:C002 0100007F:1F90 01 0:0 0:0 0 {os.getuid()}\n"
        "   3: 0000000000000000FFFF00000100007F:C003"
        f" 0000000000000000FFFF00000100007F:1F90 01 0:0 0:0 0 {other}\n"
    )
    here = ("127.0.0.1", 0x1F90)
    found = [is_a_strangers(("127.0.0.1", 0xC001 + n), here, (table,)) for n in range(4)]
    assert found == [True, False, True, False], "who is not found is no known stranger"
