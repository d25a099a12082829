"""The server as real editors see it, through pytest-lsp, with the capabilities they really send."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import converters
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, make_test_lsp_client

from fakes.leftovers import VARIABLE, new_mark, nothing_left

CAPABILITIES = Path(__file__).parent.parent / "capabilities"
EDITORS = sorted(p.stem for p in CAPABILITIES.glob("*.json"))
MARK = new_mark()
FOLDER = Path(tempfile.gettempdir()) / "agentls-tests" / MARK
PATIENCE = 20


def client_factory() -> LanguageClient:
    """pytest-lsp's client, which answers asks like a person who clicks the first `allow`."""
    client = make_test_lsp_client()
    client.questions = []
    client.clicks = True
    client.refreshed = 0

    @client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem | None:
        client.questions.append(params)
        if not client.clicks:
            return None  # dismissed
        return next((a for a in params.actions or [] if a.title.startswith("Allow")), None)

    @client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(*_: object) -> None:
        client.refreshed += 1

    return client


@pytest_lsp.fixture(
    config=ClientServerConfig(
        client_factory=client_factory,
        server_command=[sys.executable, "-m", "agentls"],
        server_env={
            **os.environ,
            VARIABLE: MARK,
            "AGENTLS_DEMO_DELAY": "0",
            "XDG_CONFIG_HOME": str(FOLDER / "config"),
            "XDG_STATE_HOME": str(FOLDER / "state"),
        },
    ),
    params=EDITORS,
)
async def client(
    request: pytest.FixtureRequest,
    lsp_client: LanguageClient,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[None]:
    params = json.loads((CAPABILITIES / f"{request.param}.json").read_text())
    root = tmp_path_factory.mktemp("workspace")
    params |= {
        "processId": os.getpid(),
        "rootUri": root.as_uri(),
        "rootPath": str(root),
        "workspaceFolders": [{"uri": root.as_uri(), "name": "ws"}],
    }
    structured = converters.get_converter().structure(params, lsp.InitializeParams)
    lsp_client.root = str(root)
    await lsp_client.initialize_session(structured)
    yield
    await lsp_client.shutdown_session()


async def run(client: LanguageClient, command: str, params: dict[str, Any]) -> Any:
    return await asyncio.wait_for(
        client.workspace_execute_command_async(
            lsp.ExecuteCommandParams(command=command, arguments=[params])
        ),
        PATIENCE,
    )


async def turn_over(client: LanguageClient, session: str) -> str:
    """The conversation as Markdown, once the turn has ended."""
    for _ in range(PATIENCE * 50):
        exported = await run(client, "agentls.session.export", {"sessionId": session})
        if "*Turn 1 ended" in exported["markdown"]:
            return str(exported["markdown"])
        await asyncio.sleep(0.02)
    raise AssertionError(f"the turn never ended:\n{exported['markdown']}")


async def test_a_prompt_by_command_runs_a_turn_in_any_editor(client: LanguageClient) -> None:
    started = await run(client, "agentls.session.prompt", {"agent": "demo", "text": "/say 3"})
    assert "word1 word2 word3" in await turn_over(client, started["sessionId"])


def means(client: LanguageClient) -> set[str]:
    """By what an editor can show and answer an ask, as it declared."""
    window, document = client.capabilities.window, client.capabilities.text_document
    found = {"command"}
    if window and window.show_message:
        found.add("message")
    if document and document.code_action:
        found.add("code action")
    if document and document.code_lens:
        found.add("code lens")
    return found


@pytest.mark.parametrize("by", ["message", "code action", "code lens", "command"])
async def test_an_ask_shows_up_and_is_answered_by_every_means_an_editor_has(
    client: LanguageClient, by: str
) -> None:
    if by not in means(client):
        return
    root = Path(client.root)
    (root / "greeting.txt").write_text("one\nhello\n")
    client.questions.clear()
    client.clicks = by == "message"
    started = await run(
        client,
        "agentls.session.prompt",
        {"agent": "demo", "text": "/edit greeting.txt hello goodbye"},
    )
    if by != "message":
        (ask,) = await _asks(client)
        uri = (root / "greeting.txt").as_uri()
        await _answer(client, by, ask["askId"], uri)
    markdown = await turn_over(client, started["sessionId"])
    assert "allow_once, by you" in markdown
    assert (root / "greeting.txt").read_text() == "one\ngoodbye\n"
    if "message" in means(client):
        assert len(client.questions) == 1
    shown = client.diagnostics.get((root / "greeting.txt").as_uri())
    assert shown is not None, "a diagnostic came"
    assert all("changed this" in it.message for it in shown), "and went; what is left is the change"


async def _answer(client: LanguageClient, by: str, ask: str, uri: str) -> None:
    if by == "command":
        answer = {"askId": ask, "verdict": "allow"}
        assert (await run(client, "agentls.ask.decide", answer))["settled"]
        return
    document = lsp.TextDocumentIdentifier(uri=uri)
    if by == "code lens":
        params = lsp.CodeLensParams(text_document=document)
        commands = [lens.command for lens in await client.text_document_code_lens_async(params)]
    else:
        where = lsp.Range(start=lsp.Position(1, 0), end=lsp.Position(1, 0))
        found = await client.text_document_code_action_async(
            lsp.CodeActionParams(
                text_document=document,
                range=where,
                context=lsp.CodeActionContext(diagnostics=client.diagnostics[uri]),
            )
        )
        commands = [_command(action) for action in found]
    allow = next(c for c in commands if c.arguments[0].get("optionId") == "allow_once")
    await run(client, allow.command, allow.arguments[0])


def _command(action: lsp.CodeAction | lsp.Command) -> lsp.Command:
    """The client library reads a code action that has a command as if it were that command."""
    if isinstance(action, lsp.CodeAction):
        assert action.command is not None
        return action.command
    if not action.command.startswith("{"):
        return action
    return lsp.Command(**ast.literal_eval(action.command))


async def _asks(client: LanguageClient) -> list[Any]:
    for _ in range(PATIENCE * 50):
        listed = await run(client, "agentls.ask.list", {})
        if listed["asks"]:
            return list(listed["asks"])
        await asyncio.sleep(0.02)
    raise AssertionError("no ask came")


async def test_nothing_is_left_when_all_editors_are_gone() -> None:
    await nothing_left(MARK)
