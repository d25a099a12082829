"""Real agents through the real server: text, cancel, errors, asks, terminals."""

from __future__ import annotations

import time
from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt, same_as_snapshot
from fakes.editor import Editor
from fakes.real_agents import AGENTS

pytestmark = [pytest.mark.real_agent, pytest.mark.timeout(120)]


@pytest.mark.parametrize("agent", AGENTS)
async def test_text_is_complete_and_in_order(bench: Bench, agent: str) -> None:
    editor = await bench.editor()
    session = await prompt(editor, agent, "#fake text 30")
    assert (await ended(editor, session))["reason"] == "end_turn"
    assert editor.mirror(session).text() == "".join(f"chunk {i} " for i in range(30))
    await same_as_snapshot(editor, session)


@pytest.mark.parametrize("agent", AGENTS)
async def test_cancel_takes_less_than_a_second(bench: Bench, agent: str) -> None:
    editor = await bench.editor()
    session = await prompt(editor, agent, "#fake slow 200")
    await editor.until(lambda: "chunk 2" in editor.mirror(session).text(), "some text")
    began = time.monotonic()
    await editor.request("agentls/session/cancel", {"sessionId": session})
    assert (await ended(editor, session))["reason"] == "cancelled"
    assert time.monotonic() - began < 1.0
    again = {"sessionId": session, "text": "#fake text 3"}
    await editor.request("agentls/session/prompt", again)
    assert (await ended(editor, session, turns=2))["reason"] == "end_turn"


@pytest.mark.parametrize("agent", AGENTS)
async def test_an_error_of_the_model_is_shown_in_words(bench: Bench, agent: str) -> None:
    editor = await bench.editor()
    session = await prompt(editor, agent, "#fake error 400")
    end = await ended(editor, session)
    words = end.get("error", "") + editor.mirror(session).text()
    assert "scripted failure" in words, words


ASKS = {"shell": "#fake shell touch made.txt", "edit": "#fake edit greeting.txt hello goodbye"}


async def _asked(editor: Editor, session: str) -> dict[str, Any]:
    def open_asks() -> list[dict[str, Any]]:
        return [a for a in editor.mirror(session).of_kind("ask") if "decision" not in a]

    (ask,) = await editor.until(open_asks, "an ask", patience=60)
    return ask


async def _decide(editor: Editor, ask: dict[str, Any], **answer: str) -> None:
    result = await editor.request("agentls/ask/decide", {"askId": ask["askId"], **answer})
    assert result["settled"]


def _done(bench: Bench, what: str) -> bool:
    if what == "shell":
        return (bench.workspace / "made.txt").exists()
    return "goodbye" in (bench.workspace / "greeting.txt").read_text()


@pytest.mark.parametrize("what", ASKS)
@pytest.mark.parametrize("agent", AGENTS)
async def test_asks_of_real_agents(bench: Bench, agent: str, what: str) -> None:
    """Rejected, then allowed once, then always: not asked again after a restart of everything."""
    (bench.workspace / "greeting.txt").write_text("one\nhello\nthree\n")
    editor = await bench.editor()
    session = await prompt(editor, agent, ASKS[what])
    await _decide(editor, await _asked(editor, session), verdict="reject")
    end = await ended(editor, session)
    # Codex ends the turn when it is told no; the others go on.
    assert end["reason"] == ("cancelled" if agent == "codex" else "end_turn")
    assert not _done(bench, what)

    again = {"sessionId": session, "text": ASKS[what]}
    await editor.request("agentls/session/prompt", again)
    ask = await _asked(editor, session)
    assert ask.get("always"), f"a rule is offered: {ask}"
    await _decide(editor, ask, verdict="allow")
    await ended(editor, session, turns=2)
    assert _done(bench, what)

    _undo(bench)
    await editor.request("agentls/session/prompt", again)
    ask = await _asked(editor, session)
    await _decide(editor, ask, always=ask["always"][0]["id"])
    await ended(editor, session, turns=3)
    assert _done(bench, what)
    await editor.close()

    _undo(bench)
    editor = await bench.editor()
    session = await prompt(editor, agent, ASKS[what])
    assert (await ended(editor, session))["reason"] == "end_turn"
    assert _done(bench, what)
    for ask in editor.mirror(session).of_kind("ask"):
        assert "rule" in ask["decision"]["by"]


@pytest.mark.parametrize("agent", [a for a in AGENTS if a in {"claude", "codex"}])
async def test_a_command_that_the_agent_runs_itself_is_a_mirrored_terminal(
    bench: Bench, agent: str
) -> None:
    editor = await bench.editor()
    session = await prompt(editor, agent, "#fake shell touch made.txt && echo out-loud")
    await _decide(editor, await _asked(editor, session), verdict="allow")
    await ended(editor, session)
    (terminal,) = (await editor.request("agentls/terminal/list"))["terminals"]
    assert (terminal["source"], terminal["running"]) == ("mirrored", False)
    assert "echo out-loud" in terminal["command"]
    ids = {"sessionId": session, "terminalId": terminal["terminalId"]}
    view = await editor.request("agentls/terminal/attach", ids)
    assert view["text"].strip() == "out-loud"


def _undo(bench: Bench) -> None:
    (bench.workspace / "made.txt").unlink(missing_ok=True)
    (bench.workspace / "greeting.txt").write_text("one\nhello\nthree\n")
