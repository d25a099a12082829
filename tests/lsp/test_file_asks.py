"""Asks about writing a file: what is shown is what happens."""

from __future__ import annotations

import json

import pytest

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.file_agent import (
    REFUSED,
    begin,
    cards,
    decide,
    edit_call,
    file,
    open_ask,
    read,
    started,
    write,
)


async def test_an_ask_for_a_write_shows_the_change(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\n")
    await begin(editor, session, write(path, "two\n"))
    ask = await open_ask(editor, session)
    (card,) = cards(editor, session)
    (diff,) = card["content"]
    assert (diff["path"], diff["old"]["text"], diff["new"]["text"]) == (str(path), "one\n", "two\n")
    await decide(editor, ask, "reject")
    await ended(editor, session)
    answer = json.loads(editor.mirror(session).text())
    assert answer["error"]["code"] == REFUSED
    assert path.read_text() == "one\n"


@pytest.mark.parametrize(("old", "new"), [("one\ntwo\n", "one\nTWO\n"), ("two", "TWO")])
async def test_what_was_shown_and_allowed_is_not_asked_twice(
    bench: Bench, old: str, new: str
) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\ntwo\n")
    await begin(editor, session, edit_call(path, old, new), read(path), write(path, "one\nTWO\n"))
    await decide(editor, await open_ask(editor, session), "allow")
    await ended(editor, session)
    assert path.read_text() == "one\nTWO\n"
    assert len(editor.mirror(session).of_kind("ask")) == 1
    assert len(cards(editor, session)) == 1, "the agent's own card shows it already"


@pytest.mark.parametrize(("old", "new"), [("one\ntwo\n", "one\nTWO\n"), ("two", "bad")])
async def test_another_text_than_was_shown_is_asked_with_the_real_change(
    bench: Bench, old: str, new: str
) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\ntwo\n")
    await begin(editor, session, edit_call(path, old, new), write(path, "bad"))
    await decide(editor, await open_ask(editor, session), "allow")
    mirror = editor.mirror(session)
    await editor.until(lambda: len(mirror.of_kind("ask")) == 2, "the second ask")
    ask = await open_ask(editor, session)
    (diff,) = cards(editor, session)[-1]["content"]
    assert (diff["old"]["text"], diff["new"]["text"]) == ("one\ntwo\n", "bad")
    await decide(editor, ask, "reject")
    await ended(editor, session)
    assert path.read_text() == "one\ntwo\n"


async def test_a_cancelled_turn_writes_nothing(bench: Bench) -> None:
    editor, _, session = await started(bench, policy="ask")
    path = file(bench, "one\n")
    await begin(editor, session, {"stubborn": True}, write(path, "two\n"))
    await open_ask(editor, session)
    await editor.request("agentls/session/cancel", {"sessionId": session})
    await ended(editor, session)
    answer = json.loads(editor.mirror(session).text())
    assert answer["error"]["code"] == REFUSED
    assert path.read_text() == "one\n"
