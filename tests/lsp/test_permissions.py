"""An ask shows up everywhere it can, is answered once from anywhere, and is remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from fakes.bench import Bench
from fakes.conversation import ended, prompt
from fakes.editor import Editor, RequestFailed

FULL = {
    "window": {"workDoneProgress": True, "showMessage": {}, "showDocument": {"support": True}},
    "workspace": {"codeLens": {"refreshSupport": True}},
    "textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    },
}
Json = dict[str, Any]


async def asked(editor: Editor, session: str) -> Json:
    """The open ask of a session, once there is one."""

    def open_asks() -> list[Json]:
        return [a for a in editor.mirror(session).of_kind("ask") if "decision" not in a]

    (ask,) = await editor.until(open_asks, "an ask")
    return dict(ask)


async def decided(editor: Editor, session: str, ask: Json) -> Json:
    mirror = editor.mirror(session)
    await editor.until(lambda: "decision" in mirror.entries[ask["id"]], "a decision")
    return dict(mirror.entries[ask["id"]]["decision"])


def diagnostics(editor: Editor) -> list[Json]:
    """The asks that the editor shows now: of the last list for each document."""
    last = {
        n["uri"]: n["diagnostics"] for n in editor.notifications("textDocument/publishDiagnostics")
    }
    shown = [{**d, "uri": uri} for uri, found in last.items() for d in found]
    hints = [d for d in shown if d["severity"] == lsp.DiagnosticSeverity.Hint.value]
    assert all(" changed this" in d["message"] for d in hints), hints
    return [d for d in shown if d not in hints]


async def actions(editor: Editor, uri: str, line: int) -> list[Json]:
    place = {"line": line, "character": 0}
    result = await editor.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": []},
        },
    )
    return list(result)


async def run(editor: Editor, action: Json) -> Any:
    command = action["command"]
    return await editor.command(command["command"], *command["arguments"])


@pytest.fixture
def greeting(bench: Bench) -> Path:
    path = bench.workspace / "greeting.txt"
    path.write_text("one\ntwo\nhello\nfour\n")
    return path


async def ask_for_an_edit(editor: Editor) -> tuple[str, Json]:
    session = await prompt(editor, "demo", "/edit greeting.txt hello goodbye")
    return session, await asked(editor, session)


async def test_an_ask_for_an_edit_is_a_diagnostic_and_code_actions_at_the_line(
    bench: Bench, greeting: Path
) -> None:
    editor = await bench.editor(capabilities=FULL)
    session, ask = await ask_for_an_edit(editor)
    (shown,) = diagnostics(editor)
    assert shown["uri"] == greeting.as_uri()
    assert shown["range"]["start"]["line"] == 2
    assert shown["code"] == ask["askId"]
    assert await actions(editor, greeting.as_uri(), 0) == []
    offered = await actions(editor, greeting.as_uri(), 2)
    titles = [a["title"] for a in offered]
    assert any("Reject and say why" in t for t in titles)
    assert any("Always allow every edit in this project" in t for t in titles)
    assert any("Show what it asks" in t for t in titles)
    allow = next(a for a in offered if a["command"]["arguments"][0].get("optionId") == "allow_once")
    assert await run(editor, allow) == {"settled": True}
    assert (await decided(editor, session, ask))["allowed"] is True
    await ended(editor, session)
    assert greeting.read_text() == "one\ntwo\ngoodbye\nfour\n"
    await editor.until(lambda: not diagnostics(editor), "the diagnostic is gone")
    left = await actions(editor, greeting.as_uri(), 2)
    named = {a["command"]["command"] for a in left}
    assert all(name.startswith("agentls.change.") for name in named), "only about what was changed"


async def test_code_lenses_offer_the_same_and_are_refreshed(bench: Bench, greeting: Path) -> None:
    editor = await bench.editor(capabilities=FULL)
    await ask_for_an_edit(editor)
    lenses = await editor.request(
        "textDocument/codeLens", {"textDocument": {"uri": greeting.as_uri()}}
    )
    reject = next(
        lens for lens in lenses if lens["command"]["arguments"][0].get("optionId") == "reject_once"
    )
    assert lenses[0]["range"]["start"]["line"] == 2
    await run(editor, reject)
    await editor.until(
        lambda: any(m.get("method") == "workspace/codeLens/refresh" for m in editor.received),
        "a refresh of the lenses",
    )
    assert greeting.read_text() == "one\ntwo\nhello\nfour\n"


async def test_an_ask_without_a_file_shows_in_the_sessions_document(bench: Bench) -> None:
    editor = await bench.editor(capabilities=FULL)
    session = await prompt(editor, "demo", "/run echo hi")
    ask = await asked(editor, session)
    (shown,) = diagnostics(editor)
    assert shown["uri"].endswith(f"/transcripts/{session}.md")
    assert "echo hi" in shown["message"]
    offered = await actions(editor, shown["uri"], 0)
    assert any("Always allow `echo`" in a["title"] for a in offered)
    result = await editor.request(
        "agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"}
    )
    assert result == {"settled": True}


async def test_always_is_remembered_across_a_restart_of_everything(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/run echo first")
    ask = await asked(editor, session)
    offer = ask["always"][0]
    assert offer["label"] == "Always allow `echo`"
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "always": offer["id"]})
    await ended(editor, session)
    assert (await decided(editor, session, ask))["remembered"] == offer["label"]
    await editor.close()

    again = await bench.editor()
    session = await prompt(again, "demo", "/run echo second && echo third")
    await ended(again, session)
    (ask,) = again.mirror(session).of_kind("ask")
    assert ask["decision"]["allowed"] is True
    assert "echo" in ask["decision"]["by"]
    assert "project rules" in ask["decision"]["by"]


async def test_the_agents_own_always_becomes_our_rule(bench: Bench) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/run echo first")
    ask = await asked(editor, session)
    option = next(o["id"] for o in ask["options"] if o["kind"] == "allow_always")
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "optionId": option})
    await ended(editor, session)
    rules = (await editor.request("agentls/rule/list"))["rules"]
    assert [(r["verdict"], r["command"], r["agent"]) for r in rules] == [("allow", "echo", "demo")]


async def test_a_rule_decides_without_asking_and_says_which(bench: Bench) -> None:
    editor = await bench.editor(capabilities=FULL)
    await editor.request("agentls/rule/add", {"verdict": "deny", "command": "rm"})
    session = await prompt(editor, "demo", "/run rm -f x")
    await ended(editor, session)
    (ask,) = editor.mirror(session).of_kind("ask")
    assert ask["decision"]["allowed"] is False
    assert ask["decision"]["optionId"] == "reject_once"
    assert "rm" in ask["decision"]["by"]
    assert diagnostics(editor) == []
    explained = await editor.request("agentls/rule/explain", {"command": "ls && rm x"})
    assert explained["verdict"] == "deny"
    removed = await editor.request("agentls/rule/remove", {"verdict": "deny", "command": "rm"})
    assert removed["rules"] == []


async def test_a_new_rule_settles_other_open_asks_too(bench: Bench) -> None:
    editor = await bench.editor()
    first = await prompt(editor, "demo", "/run echo one")
    second = await prompt(editor, "demo", "/run echo two")
    ask = await asked(editor, first)
    other = await asked(editor, second)
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "always": "command"})
    assert (await decided(editor, second, other))["allowed"] is True
    await ended(editor, first)
    await ended(editor, second)


async def test_reject_with_a_reason_sends_the_reason_as_the_next_prompt(
    bench: Bench, greeting: Path
) -> None:
    editor = await bench.editor()
    session, ask = await ask_for_an_edit(editor)
    await editor.request(
        "agentls/ask/decide",
        {"askId": ask["askId"], "verdict": "reject", "reason": "/say 2"},
    )
    await ended(editor, session, turns=2)
    mirror = editor.mirror(session)
    assert mirror.text("user").endswith("/say 2")
    assert mirror.text().endswith("word1 word2")
    assert greeting.read_text() == "one\ntwo\nhello\nfour\n"


async def test_a_reason_can_be_written_in_any_editor_and_saved(
    bench: Bench, greeting: Path
) -> None:
    editor = await bench.editor(capabilities=FULL)
    session, _ = await ask_for_an_edit(editor)
    offered = await actions(editor, greeting.as_uri(), 2)
    page = await run(editor, next(a for a in offered if "say why" in a["title"]))
    await editor.until(
        lambda: any(m.get("method") == "window/showDocument" for m in editor.received),
        "the page is shown",
    )
    uri = page["uri"]
    editor.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "markdown", "version": 1, "text": ""}},
    )
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    editor.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": uri, "version": 2},
            "contentChanges": [{"text": "<!-- Write below -->\n/say 1\n"}],
        },
    )
    editor.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    await ended(editor, session, turns=2)
    assert editor.mirror(session).text().endswith("word1")


async def test_dismissing_a_message_leaves_the_ask_open(bench: Bench) -> None:
    editor = await bench.editor(plugin=False, capabilities=FULL)
    questions: list[Json] = []
    editor.answers["window/showMessageRequest"] = lambda m: questions.append(m)
    result = await editor.command("agentls.session.prompt", {"agent": "demo", "text": "/run ls"})
    await editor.until(lambda: questions, "a question")
    titles = [a["title"] for a in questions[0]["params"]["actions"]]
    assert any(t.startswith("Always allow `ls`") for t in titles)
    (ask,) = (await editor.command("agentls.ask.list"))["asks"]
    await editor.command("agentls.ask.decide", {"askId": ask["askId"], "verdict": "reject"})
    exported = await editor.command("agentls.session.export", {"sessionId": result["sessionId"]})
    assert "reject_once, by you" in exported["markdown"]


async def test_a_message_is_withdrawn_when_the_ask_is_answered_elsewhere(bench: Bench) -> None:
    editor = await bench.editor(plugin=False, capabilities=FULL)
    questions: list[Json] = []
    editor.answers["window/showMessageRequest"] = editor.keep(questions)
    await editor.command("agentls.session.prompt", {"agent": "demo", "text": "/run ls"})
    await editor.until(lambda: questions, "a question")
    (ask,) = (await editor.command("agentls.ask.list"))["asks"]
    await editor.command("agentls.ask.decide", {"askId": ask["askId"], "verdict": "reject"})
    await editor.until(
        lambda: {"id": questions[0]["id"]} in editor.notifications("$/cancelRequest"),
        "the message is withdrawn",
    )
    editor.send({"jsonrpc": "2.0", "id": questions[0]["id"], "result": {"title": "Allow once"}})
    assert (await editor.command("agentls.ask.list")) == {"asks": []}


async def test_all_open_asks_can_be_answered_at_once(bench: Bench) -> None:
    editor = await bench.editor()
    sessions = [await prompt(editor, "demo", f"/run echo {n}") for n in range(3)]
    for session in sessions:
        await asked(editor, session)
    assert (await editor.request("agentls/ask/decideAll", {"verdict": "reject"})) == {"settled": 3}
    for session in sessions:
        await ended(editor, session)
    with pytest.raises(RequestFailed, match="neither allow nor reject"):
        await editor.request("agentls/ask/decideAll", {"verdict": "perhaps"})


async def test_an_ask_that_nobody_answers_is_rejected_in_the_end(bench: Bench) -> None:
    editor = await bench.editor(options={"askTimeout": 0.2})
    session = await prompt(editor, "demo", "/run echo hi")
    await ended(editor, session)
    (ask,) = editor.mirror(session).of_kind("ask")
    assert ask["decision"] == {"optionId": "reject_once", "allowed": False, "by": "time-out"}


@pytest.mark.parametrize(
    ("policy", "command", "edit"),
    [("read_only", False, False), ("accept_edits", None, True), ("trust", True, True)],
)
async def test_the_policy_of_a_session(
    bench: Bench, greeting: Path, policy: str, command: bool | None, edit: bool | None
) -> None:
    editor = await bench.editor()
    session = await prompt(editor, "demo", "/say 1")
    await ended(editor, session)
    head = await editor.request(
        "agentls/session/setPolicy", {"sessionId": session, "policy": policy}
    )
    assert head["session"]["policy"] == policy
    for text, expected in (
        ("/run echo hi", command),
        ("/edit greeting.txt hello goodbye", edit),
    ):
        turns = len(editor.mirror(session).of_kind("turn_end")) + 1
        await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})
        if expected is None:
            ask = await asked(editor, session)
            await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
        await ended(editor, session, turns)
        ask = editor.mirror(session).of_kind("ask")[-1]
        assert ask["decision"]["allowed"] is bool(expected)


async def test_a_repository_cannot_loosen_the_policy(bench: Bench) -> None:
    folder = bench.workspace / ".agentls"
    folder.mkdir()
    (folder / "rules.toml").write_text(
        '[[rule]]\nverdict = "allow"\ncommand = "echo"\n'
        '[[rule]]\nverdict = "deny"\ncommand = "ls"\n'
    )
    editor = await bench.editor()
    await editor.until(
        lambda: any(
            "rules.toml" in n["message"] for n in editor.notifications("window/showMessage")
        ),
        "a word about the rule that was ignored",
    )
    session = await prompt(editor, "demo", "/run echo hi")
    ask = await asked(editor, session)
    await editor.request("agentls/ask/decide", {"askId": ask["askId"], "verdict": "reject"})
    await ended(editor, session)
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": "/run ls"})
    await ended(editor, session, turns=2)
    assert editor.mirror(session).of_kind("ask")[-1]["decision"]["allowed"] is False
