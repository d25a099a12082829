"""Tools for what the editor's language servers know, with an editor that says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakes.bench import Bench
from fakes.conversation import ended
from fakes.editor import Editor

Json = dict[str, Any]


async def begin(bench: Bench, *, knows_code: bool = True) -> tuple[Editor, str]:
    bench.add_puppet()
    (bench.workspace / "tea.py").write_text("def Tea():\n    '𝄞', Tea()\n")
    editor = await bench.editor(knows_code=knows_code)
    session = (await editor.request("agentls/session/new", {"agent": "puppet"}))["session"]["id"]
    return editor, str(session)


async def play(editor: Editor, session: str, *steps: tuple[str, Json], turns: int = 1) -> list[str]:
    """What the tools said, in all turns."""
    text = json.dumps([{"tool": name, "args": args} for name, args in steps])
    await editor.request("agentls/session/prompt", {"sessionId": session, "text": text})
    await ended(editor, session, turns)
    said = [json.loads(line) for line in editor.mirror(session).text().splitlines()]
    return [answer["result"]["content"][0]["text"] for answer in said]


def problem(bench: Bench, line: int, message: str, folder: Path | None = None) -> Json:
    uri = ((folder or bench.workspace) / "tea.py").as_uri()
    return {
        "uri": uri,
        "line": line,
        "character": 4,
        "severity": "error",
        "message": message,
        "source": "tea",
    }


async def test_diagnostics_say_what_is_new_and_what_is_gone(bench: Bench) -> None:
    editor, session = await begin(bench)
    found = [problem(bench, 0, "too hot"), problem(bench, 1, "too weak")]
    editor.answers["agentls/code/problems"] = lambda _: {"problems": found}
    step = ("diagnostics", {"wait": 0})
    (first,) = await play(editor, session, step)
    assert first == "tea.py:1:5: error: too hot [tea]\ntea.py:2:5: error: too weak [tea]"
    found[0] = problem(bench, 1, "too cold")
    second = (await play(editor, session, step, turns=2))[-1]
    assert second.splitlines() == [
        "New:",
        "tea.py:2:5: error: too cold [tea]",
        "As before:",
        "tea.py:2:5: error: too weak [tea]",
        "Gone:",
        "tea.py:1:5: error: too hot [tea]",
    ]


async def test_problems_of_files_outside_the_project_are_not_told(bench: Bench) -> None:
    editor, session = await begin(bench)
    found = [problem(bench, 0, "private", folder=bench.workspace.parent)]
    editor.answers["agentls/code/problems"] = lambda _: {"problems": found}
    (said,) = await play(editor, session, ("diagnostics", {"wait": 0}))
    assert said == "No errors or warnings."


async def test_a_name_in_a_line_becomes_a_place_and_places_come_back(bench: Bench) -> None:
    editor, session = await begin(bench)
    asked: list[Json] = []

    def definition(message: Json) -> Json:
        asked.append(message["params"])
        uri = (bench.workspace / "tea.py").as_uri()
        return {"spots": [{"uri": uri, "line": 0, "character": 4}], "known": True}

    editor.answers["agentls/code/definition"] = definition
    place = {"path": "tea.py", "line": 2, "symbol": "Tea"}
    (said,) = await play(editor, session, ("definition", place))
    assert said == "tea.py:1:5"
    (params,) = asked
    assert (params["line"], params["character"]) == (1, len("    '𝄞', ") + 1), "in UTF-16"


async def test_nonsense_of_the_editor_is_no_answer(bench: Bench) -> None:
    editor, session = await begin(bench)
    editor.answers["agentls/code/references"] = lambda _: {"spots": "everywhere"}
    place = {"path": "tea.py", "line": 1, "symbol": "Tea"}
    said = await play(editor, session, ("references", place), ("references", {**place, "line": 9}))
    assert said[0].startswith("No language server in the editor can tell.")
    assert said[1].startswith("There is no 'Tea' in line 9 of tea.py.")


async def test_an_editor_that_knows_no_code_is_not_asked(bench: Bench) -> None:
    editor, session = await begin(bench, knows_code=False)
    said = await play(
        editor, session, ("diagnostics", {}), ("document_symbols", {"path": "tea.py"})
    )
    assert said[0].startswith("There is no tool 'diagnostics' here.")
    assert said[1] == "1: def Tea"
