"""Agents' writes as real editors take them, through pytest-lsp, with the capabilities they send.

What the buffers do is played here; what the editor says it can do is what was captured.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import converters
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, make_test_lsp_client

from fakes.bench import PUPPET
from fakes.file_agent import CAPABILITIES, write
from fakes.leftovers import VARIABLE, new_mark, nothing_left

MARK = new_mark()
FOLDER = Path(tempfile.gettempdir()) / "agentls-tests" / MARK
PATIENCE = 20
EDITORS = ["emacs30.1-eglot", "helix-25.01.1", "nvim-0.12.4", "vscode-lc11.0.0"]
"""One of each kind: all three encodings, with and without file operations."""
OLD = "one\nä😀 two\nthree\n"
NEW = "one\nä😀 TWO\nthree\n"
Edit = lsp.TextDocumentEdit


class Buffer:
    """A document in an editor that does what it is told, unless `manner` says otherwise."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.path, self.version = client, path, 1
        self.manner: Callable[[Edit], bool] = self.apply
        self.edits: list[Edit] = []
        self.operations: list[Any] = []

    def edit(self, params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        for change in params.edit.document_changes or []:
            if not isinstance(change, lsp.TextDocumentEdit):
                self.operations.append(change)
                continue
            self.edits.append(change)
            manner, self.manner = self.manner, self.apply
            if not manner(change):
                return lsp.ApplyWorkspaceEditResult(applied=False)
        return lsp.ApplyWorkspaceEditResult(applied=True)

    def apply(self, change: Edit) -> bool:
        if change.text_document.version != self.version:
            return False
        self.version += 1
        self._tell(
            [
                lsp.TextDocumentContentChangePartial(range=it.range, text=it.new_text)
                for it in reversed(change.edits)
                if isinstance(it, lsp.TextEdit)
            ]
        )
        return True

    def type(self, text: str) -> None:
        self.version += 1
        self._tell([lsp.TextDocumentContentChangeWholeDocument(text=text)])

    def _tell(self, changes: list[Any]) -> None:
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                text_document=lsp.VersionedTextDocumentIdentifier(
                    uri=self.path.as_uri(), version=self.version
                ),
                content_changes=changes,
            )
        )

    def close(self) -> None:
        document = lsp.TextDocumentIdentifier(uri=self.path.as_uri())
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))


def client_factory() -> LanguageClient:
    client = make_test_lsp_client()

    @client.feature(lsp.WORKSPACE_APPLY_EDIT)
    def apply(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult:
        result: lsp.ApplyWorkspaceEditResult = client.buffer.edit(params)
        return result

    @client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(params: lsp.ShowMessageRequestParams) -> None:
        return None

    @client.feature(lsp.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(*_: object) -> None:
        return None

    return client


@pytest_lsp.fixture(
    config=ClientServerConfig(
        client_factory=client_factory,
        server_command=[sys.executable, "-m", "agentls"],
        server_env={
            **os.environ,
            VARIABLE: MARK,
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
    config = FOLDER / "config" / "agentls"
    config.mkdir(parents=True, exist_ok=True)
    (config / "agents.toml").write_text(
        f'[agents.puppet]\ncommand = ["{sys.executable}", "{PUPPET}"]\n'
    )
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


def opened(client: LanguageClient, name: str = "a.txt") -> Buffer:
    path = Path(client.root) / name
    path.write_bytes(OLD.encode())
    buffer = client.buffer = Buffer(client, path)
    item = lsp.TextDocumentItem(uri=path.as_uri(), language_id="text", version=1, text=OLD)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return buffer


async def written(client: LanguageClient, path: Path, text: str) -> str:
    """What the agent was answered, as it says it."""
    session = (await run(client, "agentls.session.new", {"agent": "puppet"}))["session"]["id"]
    await run(client, "agentls.session.setPolicy", {"sessionId": session, "policy": "trust"})
    prompt = {"sessionId": session, "text": json.dumps([write(path, text)])}
    await run(client, "agentls.session.prompt", prompt)
    for _ in range(PATIENCE * 50):
        snapshot = await run(client, "agentls.session.snapshot", {"sessionId": session})
        entries = snapshot["entries"]
        if any(entry["kind"] == "turn_end" for entry in entries):
            said = [e["text"] for e in entries if e["kind"] == "message" and e["role"] == "agent"]
            return "".join(said)
        await asyncio.sleep(0.02)
    raise AssertionError("the turn never ended")


async def test_an_edit_is_applied_in_the_encoding_that_was_agreed(client: LanguageClient) -> None:
    buffer = opened(client)
    assert '"result"' in await written(client, buffer.path, NEW)
    assert buffer.path.read_bytes() == NEW.encode()
    (change,) = buffer.edits
    assert change.text_document.version == 1


async def test_one_that_refuses_and_says_applied_is_not_believed(client: LanguageClient) -> None:
    buffer = opened(client)
    buffer.manner = lambda _: True
    assert "did not take the change" in await written(client, buffer.path, NEW)
    assert buffer.path.read_bytes() == OLD.encode()


async def test_one_that_types_during_a_write_keeps_what_was_typed(client: LanguageClient) -> None:
    buffer = opened(client)

    def type_first(change: Edit) -> bool:
        buffer.type("typed\n" + OLD)
        return buffer.apply(change)

    buffer.manner = type_first
    assert '"result"' in await written(client, buffer.path, NEW)
    assert buffer.path.read_bytes() == b"typed\n" + NEW.encode()


async def test_one_that_closes_the_file_has_it_written_to_disk(client: LanguageClient) -> None:
    buffer = opened(client)

    def close_first(_: Edit) -> bool:
        buffer.close()
        return False

    buffer.manner = close_first
    assert '"result"' in await written(client, buffer.path, NEW)
    assert buffer.path.read_bytes() == NEW.encode()


async def test_files_are_made_without_file_operations(client: LanguageClient) -> None:
    """Emacs has none, so that nobody is asked for one."""
    buffer = opened(client)
    made = Path(client.root) / "deep" / "er" / "new.txt"
    assert '"result"' in await written(client, made, NEW)
    assert made.read_bytes() == NEW.encode()
    assert (buffer.edits, buffer.operations) == ([], [])


async def test_nothing_is_left_when_all_editors_are_gone() -> None:
    await nothing_left(MARK)
