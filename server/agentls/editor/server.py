"""The language server: the handshake, and which part takes which message.

The handshake needs little, so it is answered before the parts are built.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method

from ..core.errors import BadRequest
from ..core.text import Encoding
from . import protocol as p
from .documents import Documents
from .wire import INVALID_PARAMS, Frames, Protocol, Writer, converter_factory

if TYPE_CHECKING:
    from ..core.settings import Settings
    from .workbench import Services, Workbench

log = logging.getLogger(__name__)


class _Protocol(Protocol):
    """Adds what pygls does not announce by itself."""

    editor: EditorServer

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Any:
        result = yield from super().lsp_initialize(params)
        self.editor.initialize(params)
        result.capabilities.execute_command_provider = lsp.ExecuteCommandOptions(
            commands=[m.command for m in p.REQUESTS]
        )
        result.capabilities.experimental = {"agentls": {"version": p.VERSION}}
        return result


class _LanguageServer(LanguageServer):
    def report_server_error(self, error: Exception, source: Any) -> None:
        log.error("%s", error, exc_info=error)  # the log is the place, not a pop-up


class EditorServer:
    """One editor on the other side of stdin and stdout."""

    def __init__(self, version: str, build: Callable[[Settings], Services]) -> None:
        self._build = build
        self._server = _LanguageServer(
            "agentls", version, protocol_cls=_Protocol, converter_factory=converter_factory
        )
        self._wire = cast("_Protocol", self._server.protocol)
        self._wire.editor = self
        self._stopped = asyncio.Event()
        self._wire.on_exit = self._stopped.set
        self.documents = Documents()
        self._params: lsp.InitializeParams | None = None
        self._bench: Workbench | None = None
        self._register()
        self._wire.own_prefix = (p.NAMESPACE, self._own_message)
        self._wire.own = {
            "initialized": lambda _: self._work().initialized(),
            "workspace/executeCommand": self._command,
            "$/cancelRequest": self._cancel_request,
            "window/workDoneProgress/cancel": self._progress_cancel,
            "textDocument/didOpen": self._did_open,
            "textDocument/didChange": self._did_change,
            "textDocument/didClose": self._did_close,
            "textDocument/didSave": self._did_save,
        }

    def _register(self) -> None:
        """What pygls structures and announces; it wants plain functions."""

        @self._server.feature(
            lsp.TEXT_DOCUMENT_CODE_ACTION,
            lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]),
        )
        def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command]:
            work = self._work()
            surfaces = (work.surface, work.reviews.conflicts, work.changes)
            return [action for surface in surfaces for action in surface.actions(params)]

        @self._server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
        def code_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
            return [*self._work().surface.lenses(params), *self._work().changes.lenses(params)]

        @self._server.feature(lsp.TEXT_DOCUMENT_HOVER)
        def hover(params: lsp.HoverParams) -> lsp.Hover | None:
            return self._work().changes.hover(params)

        @self._server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
        def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
            """Only announced here: `own` takes the message before pygls sees it."""

    async def run(self) -> int:
        """Serve until the editor says `exit` or goes away. The exit code."""
        loop = asyncio.get_running_loop()
        writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout.buffer)
        self._wire.set_writer(Writer(writer))
        reader, _ = await loop.connect_read_pipe(
            lambda: Frames(self._wire.body, self._stopped.set), sys.stdin.buffer
        )
        await self._stopped.wait()
        reader.close()
        return 1 if self._wire.exit_code is None else self._wire.exit_code

    def stop(self) -> None:
        self._stopped.set()

    # -- initialize

    def initialize(self, params: lsp.InitializeParams) -> None:
        """The rest is built after the answer: an editor does not wait for it."""
        self.documents.encoding = Encoding(
            self._wire.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        )
        self._params = params
        asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> Workbench:
        if self._bench is None:
            from .workbench import Workbench

            assert self._params is not None, "the wire lets nothing through before initialize"
            self._bench = Workbench(self._params, self.documents, self, self._build)
        return self._bench

    # -- to the editor

    def tell(self, method: str, params: Any) -> None:
        self._wire.tell(method, params)

    def request(self, method: str, params: Any, id: str | None = None) -> Awaitable[Any]:
        return cast("Awaitable[Any]", self._wire.send_request_async(method, params, id))

    def backlog(self) -> int:
        return cast("Writer", self._wire.writer).backlog

    # -- from the editor: messages that pygls does not see

    def _own_message(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params")
        if "id" not in message:
            self._work().dispatcher.notification(method, params)
            return
        self._work().dispatcher.request(message["id"], method, params, self._answer(message["id"]))

    def _command(self, message: dict[str, Any]) -> None:
        id, params = message.get("id"), message.get("params")
        if not isinstance(params, dict) or not isinstance(params.get("command"), str):
            self._wire.fail(id, INVALID_PARAMS, "workspace/executeCommand needs a command.")
            return
        self._work().dispatcher.command(
            id, params["command"], params.get("arguments"), self._answer(id)
        )

    def _answer(self, id: Any) -> Callable[[Any, tuple[int, str] | None], None]:
        def answer(result: Any, error: tuple[int, str] | None) -> None:
            if error is None:
                self._wire.succeed(id, result)
            else:
                self._wire.fail(id, *error)

        return answer

    def _cancel_request(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        id = params.get("id") if isinstance(params, dict) else None
        if isinstance(id, str | int) and not self._work().dispatcher.cancel(id):
            self._wire.cancel(id)

    def _progress_cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        progress = self._work().progress
        if progress is not None and isinstance(params, dict):
            progress.cancelled(params.get("token"))

    def _did_open(self, message: dict[str, Any]) -> None:
        with _logged(message):
            item = message["params"]["textDocument"]
            self.documents.open(
                item["uri"], item.get("languageId", ""), item.get("version", 0), item["text"]
            )
            self._work().reviews.opened(item["uri"], item["text"])

    def _did_change(self, message: dict[str, Any]) -> None:
        with _logged(message):
            params = message["params"]
            document = params["textDocument"]
            self.documents.change(
                document["uri"], document.get("version", 0), params["contentChanges"]
            )
            self._work().reviews.changed(document["uri"])

    def _did_close(self, message: dict[str, Any]) -> None:
        with _logged(message):
            self.documents.close(message["params"]["textDocument"]["uri"])
            self._work().reviews.closed(message["params"]["textDocument"]["uri"])

    def _did_save(self, message: dict[str, Any]) -> None:
        with _logged(message):
            params = message["params"]
            self.documents.saved(params["textDocument"]["uri"])
            self._work().reviews.saved(params["textDocument"]["uri"])
            said = self._work().asks.saved(params["textDocument"]["uri"], params.get("text"))
            if said:
                self._wire.tell("window/showMessage", {"type": 3, "message": f"agentls: {said}"})


@contextmanager
def _logged(message: dict[str, Any]) -> Iterator[None]:
    """A notification cannot be answered: what is wrong with it goes to the log."""
    try:
        yield
    except (BadRequest, KeyError, TypeError, AttributeError) as error:
        log.warning("%s ignored: %r", message.get("method"), error)
