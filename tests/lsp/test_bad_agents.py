"""Agents that die, hang, flood or talk nonsense: the editor gets a clear error, others go on."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.bench import Bench
from fakes.conversation import ended, prompt, same_as_snapshot
from fakes.editor import Editor

QUICK = {"cancelGrace": 0.3}
IMPATIENT = {"handshakeTimeout": 1.0}
Json = dict[str, Any]


async def failed(editor: Editor, session: str) -> str:
    mirror = editor.mirror(session)
    await editor.until(lambda: mirror.head.get("state") == "failed", "the session has failed")
    return str(mirror.head["detail"])


async def others_go_on(editor: Editor) -> None:
    session = await prompt(editor, "demo", "/say 3")
    await ended(editor, session)
    assert editor.mirror(session).text() == "word1 word2 word3"


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("exits_at_start", "exit code"),
        ("hangs_at_start", "did not answer initialize within 1 seconds"),
        ("login_needed", "log in"),
    ],
)
async def test_an_agent_that_does_not_start_says_why(
    bench: Bench, scenario: str, words: str
) -> None:
    options = IMPATIENT if scenario == "hangs_at_start" else {}
    editor = await bench.editor(scenario, options=options)
    session = await prompt(editor, scenario)
    detail = await failed(editor, session)
    assert words in detail
    notices = editor.mirror(session).of_kind("notice")
    assert [n["text"] for n in notices] == [detail]
    if not options:
        await others_go_on(editor)


async def test_a_missing_program_says_how_to_install_it(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "vibe")
    detail = await failed(editor, session)
    assert "is not installed" in detail
    assert "Install it with:" in detail


async def test_an_unknown_agent_says_which_there_are(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "cluade")
    assert "claude" in await failed(editor, session)


async def test_the_last_words_on_stderr_are_in_the_error(bench: Bench) -> None:
    editor = await bench.editor("dies_mid_turn")
    session = await prompt(editor, "dies_mid_turn")
    detail = await failed(editor, session)
    assert "exit code 70" in detail
    assert "panic: index out of range" in detail
    mirror = editor.mirror(session)
    (ask,) = mirror.of_kind("ask")
    assert ask["decision"]["allowed"] is False
    assert [c["status"] for c in mirror.of_kind("tool_call")] == ["cancelled"]
    assert mirror.text() == "Working"
    await same_as_snapshot(editor, session)
    await others_go_on(editor)


async def test_a_dead_agent_is_restarted_in_place_by_the_next_prompt(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/say 2")
    await ended(editor, session)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "/crash"})
    assert "exit code 3" in await failed(editor, session)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "/say 1"})
    await ended(editor, session, turns=3)
    mirror = editor.mirror(session)
    texts = [e["text"] for e in mirror.of_kind("message") if e["role"] == "agent"]
    assert texts[0] == "word1 word2"
    assert texts[-1] == "word1"
    assert any("does not remember" in n["text"] for n in mirror.of_kind("notice"))


async def test_a_death_fails_all_sessions_of_that_process_and_no_other(bench: Bench) -> None:
    editor = await bench.editor("text")
    first = await prompt(editor, "demo", "/say 1")
    await ended(editor, first)
    second = await prompt(editor, "demo", "/slow 2000")
    other = await prompt(editor, "text")
    await ended(editor, other)
    await editor.until(editor.mirror(second).text, "the second session is running")
    await editor.request("agentls/session/prompt", {"sessionId": first, "text": "/crash"})
    await failed(editor, first)
    await failed(editor, second)
    assert editor.mirror(other).head["state"] == "idle"


@pytest.mark.parametrize("scenario", ["garbage", "stderr_flood", "bad_utf8_and_surrogates"])
async def test_nonsense_is_skipped_and_the_turn_goes_on(bench: Bench, scenario: str) -> None:
    editor = await bench.editor(scenario)
    session = await prompt(editor, scenario)
    assert (await ended(editor, session))["reason"] == "end_turn"
    assert editor.mirror(session).text()
    await same_as_snapshot(editor, session)


async def test_a_line_of_100_megabytes_is_left_out_and_said_so(bench: Bench) -> None:
    editor = await bench.editor("big_line")
    session = await prompt(editor, "big_line")
    assert (await ended(editor, session))["reason"] == "end_turn"
    mirror = editor.mirror(session)
    assert mirror.text() == "Hello."
    (notice,) = mirror.of_kind("notice")
    assert "too long" in notice["text"]
    await others_go_on(editor)


async def test_an_agent_that_never_answers_cancel_is_given_up_and_restarted(bench: Bench) -> None:
    editor = await bench.editor(options=QUICK)
    session = await prompt(editor, "demo", "/hang")
    mirror = editor.mirror(session)
    await editor.until(lambda: "never be answered" in mirror.text(), "the turn is running")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    assert "did not stop within 0.3 seconds" in await failed(editor, session)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "/say 1"})
    await ended(editor, session, turns=2)
    assert mirror.text().endswith("word1")


async def test_an_agent_that_stops_reading_can_be_cancelled_and_left(bench: Bench) -> None:
    editor = await bench.editor("deaf", options=QUICK)
    session = await prompt(editor, "deaf")
    await editor.until(lambda: "still 49" in editor.mirror(session).text(), "its text")
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await failed(editor, session)
    await others_go_on(editor)


async def test_children_that_an_agent_leaves_behind_end_with_it(bench: Bench) -> None:
    editor = await bench.editor("forks_children")
    session = await prompt(editor, "forks_children")
    await ended(editor, session)
    agents = [pid for pid, c in bench.processes().items() if "forks_children" in c]
    assert len(agents) == 2, "the agent and its child"
    # The fixture checks that neither is left after the server has ended.


async def test_unknown_updates_are_kept_as_they_came(bench: Bench) -> None:
    editor = await bench.editor("unknown_update")
    session = await prompt(editor, "unknown_update")
    await ended(editor, session)
    others = editor.mirror(session).of_kind("other")
    assert {o["update"] for o in others} >= {"weather_report", "_vendor/mood", "unnamed"}
    assert all(o["raw"].get("sessionUpdate", "unnamed") == o["update"] for o in others)
    (hologram,) = editor.mirror(session).of_kind("attachment")
    assert hologram["block"]["raw"] == {"type": "hologram", "data": "?"}


async def test_a_flood_of_text_arrives_whole_in_few_batches(bench: Bench) -> None:
    editor = await bench.editor("flood")
    session = await prompt(editor, "flood")
    end = await ended(editor, session)
    expected = "".join(f"word{i} " for i in range(100_000))
    assert editor.mirror(session).text() == expected
    assert editor.batches <= 60 * end["seconds"] + 20
    await same_as_snapshot(editor, session)
