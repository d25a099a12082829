"""The server as real editors see it, through pytest-lsp, with the capabilities they really send."""

from __future__ import annotations

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

    @client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(params: lsp.ShowMessageRequestParams) -> lsp.MessageActionItem | None:
        client.questions.append(params)
        return next((a for a in params.actions or [] if a.title.startswith("Allow")), None)

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


async def test_an_ask_reaches_an_editor_without_plugin_as_a_message(client: LanguageClient) -> None:
    started = await run(
        client, "agentls.session.prompt", {"agent": "demo", "text": "/run echo done"}
    )
    window = client.capabilities.window
    if window is None or window.show_message is None:
        listed = await _asks(client)
        await run(
            client,
            "agentls.ask.decide",
            {"askId": listed[0]["askId"], "optionId": "reject_once"},
        )
        assert "reject_once" in await turn_over(client, started["sessionId"])
        return
    markdown = await turn_over(client, started["sessionId"])
    assert "allow_once, by you, in a message" in markdown
    assert len(client.questions) == 1


async def _asks(client: LanguageClient) -> list[Any]:
    for _ in range(PATIENCE * 50):
        listed = await run(client, "agentls.ask.list", {})
        if listed["asks"]:
            return list(listed["asks"])
        await asyncio.sleep(0.02)
    raise AssertionError("no ask came")


async def test_nothing_is_left_when_all_editors_are_gone() -> None:
    await nothing_left(MARK)
