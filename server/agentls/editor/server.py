"""The language server: joins the wire, the dispatcher, the documents and the observers."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from typing import Protocol as Interface

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import lsp_method
from pygls.uris import to_fs_path

from ..core.asks import Asks
from ..core.decisions import Decisions
from ..core.errors import AgentlsError, BadRequest
from ..core.files import AllFiles
from ..core.lasting import Lasting
from ..core.logins import Logins
from ..core.model import SessionId
from ..core.policy.gate import RuleBook, SessionPolicy
from ..core.ports import AgentDirectory, Clock, Tasks
from ..core.sessions import Sessions
from ..core.settings import Settings, settings_from
from ..core.terminal_backends import Backends
from ..core.terminals import Terminals, TerminalSpec
from ..core.text import Encoding
from . import protocol as p
from .ask_handlers import AskHandlers
from .ask_surface import AskSurface
from .capabilities import EditorAbilities, abilities
from .change_handlers import ChangeHandlers
from .change_surface import ChangeSurface
from .diagnostics import Diagnostics
from .dispatch import Dispatcher
from .documents import Documents
from .editor_files import EditorFiles
from .editor_terminals import EditorTerminals
from .handlers import Handlers
from .login_handlers import LoginHandlers
from .past_handlers import PastHandlers
from .plain import PlainEditor
from .progress import Progress
from .publisher import Publisher
from .reviews import Reviews
from .session_documents import SessionDocuments
from .terminal_handlers import TerminalHandlers
from .terminal_views import TerminalViews
from .wire import INVALID_PARAMS, Frames, Protocol, Writer, converter_factory

if TYPE_CHECKING:
    from ..core.changes.looking import Person
    from ..core.changes.reviewing import Reviewing

log = logging.getLogger(__name__)


class Services(Interface):
    """What the server stands on; built once the editor's settings are known."""

    told: Callable[[str], None]
    """Told what a person should know that is no session's business."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def lasting(self) -> Lasting: ...
    @property
    def asks(self) -> Asks: ...
    @property
    def decisions(self) -> Decisions: ...
    @property
    def terminals(self) -> Terminals: ...
    @property
    def backends(self) -> Backends: ...
    @property
    def files(self) -> AllFiles: ...
    @property
    def agents(self) -> AgentDirectory: ...
    @property
    def logins(self) -> Logins: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def tasks(self) -> Tasks: ...

    def reviewing(self, person: Person) -> Reviewing: ...

    def launch(self, spec: TerminalSpec) -> tuple[list[str], dict[str, str]]: ...

    def book(self, root: str) -> RuleBook: ...

    def policy(self, agent: str, root: str) -> SessionPolicy: ...


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

    def __init__(
        self, version: str, build: Callable[[Settings], Services], state_folder: Path
    ) -> None:
        self._build = build
        self._state_folder = state_folder
        self._server = _LanguageServer(
            "agentls", version, protocol_cls=_Protocol, converter_factory=converter_factory
        )
        self._wire = cast("_Protocol", self._server.protocol)
        self._wire.editor = self
        self._stopped = asyncio.Event()
        self._wire.on_exit = self._stopped.set
        self.documents = Documents()
        self._dispatcher: Dispatcher | None = None
        self._progress: Progress | None = None
        self._register()
        self._wire.own_prefix = (p.NAMESPACE, self._own_message)
        self._wire.own = {
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
            return [*self._surface.actions(params), *self._changes.actions(params)]

        @self._server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
        def code_lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
            return [*self._surface.lenses(params), *self._changes.lenses(params)]

        @self._server.feature(lsp.TEXT_DOCUMENT_HOVER)
        def hover(params: lsp.HoverParams) -> lsp.Hover | None:
            return self._changes.hover(params)

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
        settings, problems = settings_from(params.initialization_options)
        services = self._build(settings)
        editor = abilities(params)
        self.documents.encoding = Encoding(
            self._wire.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        )
        publisher = Publisher(
            self._did_change_session if editor.plugin else lambda _: None,
            self._backlog,
            services.clock,
            time.monotonic,
        )
        handlers = Handlers(
            services.sessions,
            services.lasting,
            services.agents,
            settings=settings,
            state_folder=self._state_folder,
        )
        handlers.workspace = _workspace(params)
        files = SessionDocuments(self._state_folder)
        self._ask_handlers = AskHandlers(
            services.sessions,
            services.asks,
            services.decisions,
            books=services.book,
            policy=services.policy,
            documents=self.documents,
            files=files,
            show=lambda uri: self._show_document(services, editor, uri),
            folder=handlers.folder,
        )
        services.files.editor = EditorFiles(
            self.documents, services.files.disk, self._request, edits=editor.applies_edits
        )
        diagnostics = Diagnostics(self._wire.tell)
        changes = self._review(services, editor, diagnostics)
        terminals = self._terminals(services, editor)
        self._dispatcher = Dispatcher(
            handlers,
            PastHandlers(services.sessions, services.lasting, publisher),
            self._ask_handlers,
            LoginHandlers(services.logins, handlers.folder),
            changes,
            *terminals,
        )
        self._observe(services, editor, publisher, files, diagnostics)
        services.sessions.forgotten.append(publisher.forget)
        services.told = lambda sentence: self._tell_problems([sentence])

        def initialized(_: Any) -> None:
            book = services.book(handlers.workspace)
            self._tell_problems([*problems, *services.agents.problems(), *book.problems()])
            services.tasks.start(_recover(services.lasting), "mark the sessions of dead servers")

        self._wire.own["initialized"] = initialized

    def _review(
        self, services: Services, editor: EditorAbilities, diagnostics: Diagnostics
    ) -> ChangeHandlers:
        """What handles messages about changes."""
        refresh = self._refresher(services)
        edits = services.files.editor
        assert isinstance(edits, EditorFiles)
        self._reviews = Reviews(
            services.sessions,
            self.documents,
            services.reviewing,
            say=lambda text: self._tell_problems([text]),
            merge_in=edits.make,
            tasks=services.tasks,
        )
        self._changes = ChangeSurface(
            editor,
            diagnostics,
            services.clock,
            services.tasks,
            tell=self._wire.tell,
            met=self._reviews.met,
            refresh_lenses=refresh,
        )
        self._reviews.surface = self._changes
        services.sessions.prepare = self._reviews.prepare
        return ChangeHandlers(self._reviews.get, self._changes)

    def _refresher(self, services: Services) -> Callable[[], None]:
        return lambda: services.tasks.start(self._refresh_lenses(), "refresh lenses")

    def _terminals(self, services: Services, editor: EditorAbilities) -> tuple[object, object]:
        """What handles messages about terminals."""
        views = TerminalViews(
            services.terminals, self._wire.tell, self._backlog, services.clock, time.monotonic
        )
        if editor.plugin:
            services.terminals.observers.append(views)
        runs = EditorTerminals(self._request, services.launch, services.clock, services.tasks)
        if editor.runs_terminals:
            services.backends.editor = runs
        return TerminalHandlers(services.sessions, services.terminals, views), runs

    def _observe(
        self,
        services: Services,
        editor: EditorAbilities,
        publisher: Publisher,
        files: SessionDocuments,
        diagnostics: Diagnostics,
    ) -> None:
        observers = services.sessions.observers
        self._surface = AskSurface(
            editor,
            self.documents,
            files,
            diagnostics=diagnostics,
            refresh_lenses=self._refresher(services),
        )
        observers.append(self._surface)
        if editor.plugin:
            observers.append(publisher)
        else:
            observers.append(
                PlainEditor(
                    editor,
                    self._request,
                    self._wire.tell,
                    decisions=services.decisions,
                    tasks=services.tasks,
                    files=files,
                )
            )
        if editor.progress:
            self._progress = Progress(
                self._create_progress,
                self._wire.tell,
                services.clock,
                services.tasks,
                lambda session: self._cancel_turn(services, session),
            )
            observers.append(self._progress)

    # -- to the editor

    def _tell_problems(self, problems: list[str]) -> None:
        for problem in problems:
            self._wire.tell("window/showMessage", {"type": 2, "message": f"agentls: {problem}"})

    def _did_change_session(self, params: p.DidChangeParams) -> None:
        self._wire.tell("agentls/session/didChange", params)

    def _backlog(self) -> int:
        return cast("Writer", self._wire.writer).backlog

    def _request(self, method: str, params: Any, id: str | None = None) -> Awaitable[Any]:
        return cast("Awaitable[Any]", self._wire.send_request_async(method, params, id))

    async def _refresh_lenses(self) -> None:
        with suppress(JsonRpcException):
            await self._request(lsp.WORKSPACE_CODE_LENS_REFRESH, None)

    def _show_document(self, services: Services, editor: EditorAbilities, uri: str) -> None:
        if editor.show_document:
            params = lsp.ShowDocumentParams(uri=uri, take_focus=True)
            services.tasks.start(self._ask_to_show(params), "show a document")

    async def _ask_to_show(self, params: lsp.ShowDocumentParams) -> None:
        with suppress(JsonRpcException):
            await self._request(lsp.WINDOW_SHOW_DOCUMENT, params)

    def _create_progress(self, token: str) -> Awaitable[Any]:
        return self._request(
            lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WorkDoneProgressCreateParams(token=token)
        )

    @staticmethod
    def _cancel_turn(services: Services, id: SessionId) -> None:
        services.sessions.get(id).cancel()

    # -- from the editor: messages that pygls does not see

    def _own_message(self, message: dict[str, Any]) -> None:
        assert self._dispatcher is not None
        method, params = message["method"], message.get("params")
        if "id" not in message:
            self._dispatcher.notification(method, params)
            return
        self._dispatcher.request(message["id"], method, params, self._answer(message["id"]))

    def _command(self, message: dict[str, Any]) -> None:
        assert self._dispatcher is not None
        id, params = message.get("id"), message.get("params")
        if not isinstance(params, dict) or not isinstance(params.get("command"), str):
            self._wire.fail(id, INVALID_PARAMS, "workspace/executeCommand needs a command.")
            return
        self._dispatcher.command(id, params["command"], params.get("arguments"), self._answer(id))

    def _answer(self, id: Any) -> Callable[[Any, tuple[int, str] | None], None]:
        def answer(result: Any, error: tuple[int, str] | None) -> None:
            if error is None:
                self._wire.succeed(id, result)
            else:
                self._wire.fail(id, *error)

        return answer

    def _cancel_request(self, message: dict[str, Any]) -> None:
        assert self._dispatcher is not None
        params = message.get("params")
        id = params.get("id") if isinstance(params, dict) else None
        if isinstance(id, str | int) and not self._dispatcher.cancel(id):
            self._wire.cancel(id)

    def _progress_cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if self._progress is not None and isinstance(params, dict):
            self._progress.cancelled(params.get("token"))

    def _did_open(self, message: dict[str, Any]) -> None:
        with _logged(message):
            item = message["params"]["textDocument"]
            self.documents.open(
                item["uri"], item.get("languageId", ""), item.get("version", 0), item["text"]
            )
            self._reviews.opened(item["uri"], item["text"])

    def _did_change(self, message: dict[str, Any]) -> None:
        with _logged(message):
            params = message["params"]
            document = params["textDocument"]
            self.documents.change(
                document["uri"], document.get("version", 0), params["contentChanges"]
            )
            self._reviews.changed(document["uri"])

    def _did_close(self, message: dict[str, Any]) -> None:
        with _logged(message):
            self.documents.close(message["params"]["textDocument"]["uri"])
            self._reviews.saves.closed(message["params"]["textDocument"]["uri"])

    def _did_save(self, message: dict[str, Any]) -> None:
        with _logged(message):
            params = message["params"]
            self.documents.saved(params["textDocument"]["uri"])
            self._reviews.saves.saved(params["textDocument"]["uri"])
            said = self._ask_handlers.saved(params["textDocument"]["uri"], params.get("text"))
            if said:
                self._wire.tell("window/showMessage", {"type": 3, "message": f"agentls: {said}"})


async def _recover(lasting: Lasting) -> None:
    try:
        await lasting.recover()
    except AgentlsError as error:
        log.warning("%s", error)  # whoever wants to read or store something hears of it


@contextmanager
def _logged(message: dict[str, Any]) -> Iterator[None]:
    """A notification cannot be answered: what is wrong with it goes to the log."""
    try:
        yield
    except (BadRequest, KeyError, TypeError, AttributeError) as error:
        log.warning("%s ignored: %r", message.get("method"), error)


def _workspace(params: lsp.InitializeParams) -> str:
    for folder in params.workspace_folders or []:
        if path := to_fs_path(folder.uri):
            return path
    if params.root_uri and (path := to_fs_path(params.root_uri)):
        return path
    return params.root_path or str(Path.cwd())
