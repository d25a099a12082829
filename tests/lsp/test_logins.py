"""An agent that wants a login: refused, logged in, and back to the prompt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.editor import Editor, RequestFailed

AGENT = Path(__file__).parent.parent / "fakes" / "login_agent.py"
Json = dict[str, Any]


async def refused(bench: Bench, tmp_path: Path, when: str) -> tuple[Editor, str]:
    """An editor with a session whose first prompt waits for a login."""
    bench.add_agent("guarded", [sys.executable, str(AGENT), str(tmp_path / "token"), when])
    editor = await bench.editor()
    result = await editor.request("agentls/session/new", {"agent": "guarded"})
    session = str(result["session"]["id"])
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "hello"})
    await editor.until(lambda: editor.mirror(session).head.get("login"), "the ways to log in")
    return editor, session


async def login(editor: Editor, method: str, **more: Any) -> Json:
    return dict(
        await editor.request("agentls/agent/login", {"agent": "guarded", "method": method, **more})
    )


async def answered(editor: Editor, session: str) -> None:
    await editor.until(
        lambda: editor.mirror(session).text() == "You said: hello", "the answer to the prompt"
    )
    await editor.until(
        lambda: editor.mirror(session).head["state"] == "idle", "the end of the turn"
    )
    assert not editor.mirror(session).head.get("login")


@pytest.mark.parametrize("when", ["new", "prompt"])
async def test_after_a_login_by_the_agent_itself_the_prompt_is_answered(
    bench: Bench, tmp_path: Path, when: str
) -> None:
    editor, session = await refused(bench, tmp_path, when)
    methods = editor.mirror(session).head["login"]
    assert [(m["id"], m.get("kind", "agent")) for m in methods] == [
        ("browser", "agent"),
        ("term", "terminal"),
        ("key", "env_var"),
    ]
    assert methods[1]["command"].endswith(f"{when} --login")
    assert "agentls login guarded" in editor.mirror(session).head["detail"]
    assert (await login(editor, "browser"))["state"] == "done"
    await answered(editor, session)


@pytest.mark.parametrize("when", ["new", "prompt"])
async def test_a_login_program_is_shown_first_then_run_in_a_terminal_then_the_prompt_is_answered(
    bench: Bench, tmp_path: Path, when: str
) -> None:
    editor, session = await refused(bench, tmp_path, when)
    asked = await login(editor, "term")
    assert asked["state"] == "confirm"
    assert asked["command"].endswith("--login")
    assert asked["command"] in asked["text"]
    assert not editor.notifications("agentls/terminal/didOpen"), "nothing runs unseen"
    running = await login(editor, "term", confirmed=True)
    assert (running["state"], running["sessionId"]) == ("running", session)
    place = {"sessionId": session, "terminalId": running["terminalId"]}
    await editor.request("agentls/terminal/input", {**place, "text": "ada\r"})
    await answered(editor, session)


async def test_a_login_program_that_fails_is_told_and_the_prompt_waits_on(
    bench: Bench, tmp_path: Path
) -> None:
    editor, session = await refused(bench, tmp_path, "new")
    running = await login(editor, "term", confirmed=True)
    place = {"sessionId": session, "terminalId": running["terminalId"]}
    await editor.request("agentls/terminal/input", {**place, "text": "bad\r"})
    await editor.until(
        lambda: any(
            "ended with exit code 3" in n["text"] for n in editor.mirror(session).of_kind("notice")
        ),
        "the notice about the login",
    )
    assert editor.mirror(session).head["queue"] == ["hello"]
    assert editor.mirror(session).head["login"]


async def test_variables_are_told_and_mistakes_are_refused(bench: Bench, tmp_path: Path) -> None:
    editor, _ = await refused(bench, tmp_path, "new")
    told = await login(editor, "key")
    assert told["state"] == "variables"
    assert "LOGIN_KEY" in told["text"]
    with pytest.raises(RequestFailed, match="Use one of browser, term, key"):
        await login(editor, "magic")
    with pytest.raises(RequestFailed, match="offers no way to log in"):
        await editor.request("agentls/agent/login", {"agent": "demo"})
