"""Everything that serves one editor, built once the handshake is answered and joined here."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Protocol as Interface

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from ..core.asks import Asks
from ..core.decisions import Decisions
from ..core.errors import AgentlsError
from ..core.family.family import Family
from ..core.files import AllFiles
from ..core.lasting import Lasting
from ..core.logins import Logins
from ..core.model import SessionId
from ..core.policy.gate import RuleBook, SessionPolicy
from ..core.ports import AgentDirectory, Clock, Tasks
from ..core.proposals import Proposals
from ..core.questions import Questions
from ..core.sessions import Sessions
from ..core.settings import Settings, settings_from
from ..core.terminal_backends import Backends
from ..core.terminals import Terminals, TerminalSpec
from ..core.tools.desk import Desktop
from . import protocol as p
from .ask_handlers import AskHandlers
from .ask_surface import AskSurface
from .capabilities import EditorAbilities, abilities
from .change_handlers import ChangeHandlers
from .change_surface import ChangeSurface
from .conflict_handlers import ConflictHandlers
from .conflicts import Conflicts
from .desk import EditorDesk
from .diagnostics import Diagnostics
from .dispatch import Dispatcher
from .documents import Documents
from .editor_edits import EditorEdits
from .editor_files import EditorFiles
from .editor_terminals import EditorTerminals
from .family_handlers import FamilyHandlers
from .handlers import Handlers
from .login_handlers import LoginHandlers
from .past_handlers import PastHandlers
from .plain import PlainEditor
from .progress import Progress
from .publisher import Publisher
from .question_handlers import QuestionHandlers
from .reviews import Reviews
from .session_documents import SessionDocuments
from .terminal_handlers import TerminalHandlers
from .terminal_views import TerminalViews

if TYPE_CHECKING:
    from ..core.changes.looking import Person
    from ..core.changes.reviewing import Reviewing

log = logging.getLogger(__name__)


class Services(Interface):
    """What the server stands on; built once the editor's settings are known."""

    told: Callable[[str], None]
    """Told what a person should know that is no session's business."""

    @property
    def state_folder(self) -> Path: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def lasting(self) -> Lasting: ...
    @property
    def asks(self) -> Asks: ...
    @property
    def questions(self) -> Questions: ...
    @property
    def family(self) -> Family: ...
    @property
    def decisions(self) -> Decisions: ...
    @property
    def terminals(self) -> Terminals: ...
    @property
    def backends(self) -> Backends: ...
    @property
    def files(self) -> AllFiles: ...
    @property
    def desktop(self) -> Desktop: ...
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


class Line(Interface):
    """The way to the editor."""

    def tell(self, method: str, params: Any) -> None: ...
    def request(self, method: str, params: Any, id: str | None = None) -> Awaitable[Any]: ...
    def backlog(self) -> int: ...


class Workbench:
    """The parts that serve one editor; the server takes messages to them."""

    def __init__(
        self,
        params: lsp.InitializeParams,
        documents: Documents,
        line: Line,
        build: Callable[[Settings], Services],
    ) -> None:
        self._line = line
        self._documents = documents
        settings, self._problems = settings_from(params.initialization_options)
        self._services = services = build(settings)
        self._workspace = _workspace(params)
        editor = abilities(params)
        publisher = Publisher(
            self._did_change_session if editor.plugin else lambda _: None,
            line.backlog,
            services.clock,
            time.monotonic,
        )
        handlers = Handlers(
            services.sessions,
            services.lasting,
            services.agents,
            settings=settings,
            state_folder=services.state_folder,
        )
        handlers.workspace = self._workspace
        files = SessionDocuments(services.state_folder)
        diagnostics = Diagnostics(line.tell)
        self.surface = AskSurface(
            editor,
            documents,
            files,
            diagnostics=diagnostics,
            refresh_lenses=self._refresher(),
        )
        self.asks = AskHandlers(
            services.sessions,
            services.asks,
            services.decisions,
            books=services.book,
            policy=services.policy,
            documents=documents,
            files=files,
            show=lambda uri: self._show_document(editor, uri),
            folder=handlers.folder,
            proposals=Proposals(services.sessions, services.asks, services.files, files.write_page),
            page_opened=self.surface.page_opened,
        )
        services.desktop.editor = EditorDesk(editor, documents, line.request)
        self.dispatcher = Dispatcher(
            handlers,
            PastHandlers(services.sessions, services.lasting, publisher),
            self.asks,
            LoginHandlers(services.logins, handlers.folder),
            QuestionHandlers(services.sessions, services.questions),
            FamilyHandlers(
                services.sessions,
                services.family,
                self._tell_activity if editor.plugin else lambda _: None,
            ),
            *self._review(editor, diagnostics),
            *self._terminals(editor),
        )
        self.progress: Progress | None = None
        self._observe(editor, publisher, files)
        services.sessions.forgotten.append(publisher.forget)
        services.told = lambda sentence: self._tell_problems([sentence])

    def initialized(self) -> None:
        """The editor is ready to hear of problems."""
        services = self._services
        book = services.book(self._workspace)
        self._tell_problems([*self._problems, *services.agents.problems(), *book.problems()])
        services.tasks.start(_recover(services.lasting), "mark the sessions of dead servers")

    def _review(self, editor: EditorAbilities, diagnostics: Diagnostics) -> tuple[object, object]:
        """What handles messages about changes and conflicts."""
        services = self._services
        edits = EditorEdits(
            self._documents,
            self._line.request,
            applies=editor.applies_edits,
            saves=editor.saves_documents,
        )
        services.files.editor = files = EditorFiles(self._documents, services.files.disk, edits)
        self.reviews = Reviews(
            services.sessions,
            self._documents,
            services.reviewing,
            say=lambda text: self._tell_problems([text]),
            merge_in=edits.make,
            tasks=services.tasks,
            disk=services.files.disk,
            busy=lambda document: document in files.busy,
            conflicts=Conflicts(editor, self._documents, diagnostics, tell=self._line.tell),
        )
        files.writing = self.reviews.saves.writing
        self.changes = ChangeSurface(
            editor,
            diagnostics,
            services.clock,
            services.tasks,
            tell=self._line.tell,
            met=self.reviews.met,
            refresh_lenses=self._refresher(),
        )
        self.reviews.surface = self.changes
        services.sessions.prepare = self.reviews.prepare
        return (
            ChangeHandlers(self.reviews.get, self.changes),
            ConflictHandlers(self.reviews.conflicts, edits, services.files.disk),
        )

    def _refresher(self) -> Callable[[], None]:
        return lambda: self._services.tasks.start(self._refresh_lenses(), "refresh lenses")

    def _terminals(self, editor: EditorAbilities) -> tuple[object, object]:
        """What handles messages about terminals."""
        services = self._services
        views = TerminalViews(
            services.terminals, self._line.tell, self._line.backlog, services.clock, time.monotonic
        )
        if editor.plugin:
            services.terminals.observers.append(views)
            services.sessions.forgotten.append(views.forget)
        runs = EditorTerminals(self._line.request, services.launch, services.clock, services.tasks)
        if editor.runs_terminals:
            services.backends.editor = runs
        return TerminalHandlers(services.sessions, services.terminals, views), runs

    def _observe(
        self,
        editor: EditorAbilities,
        publisher: Publisher,
        files: SessionDocuments,
    ) -> None:
        services = self._services
        observers = services.sessions.observers
        observers.append(self.surface)
        if editor.plugin:
            observers.append(publisher)
        else:
            observers.append(
                PlainEditor(
                    editor,
                    self._line.request,
                    self._line.tell,
                    decide=self.asks.answer,
                    tasks=services.tasks,
                    files=files,
                )
            )
        if editor.progress:
            self.progress = Progress(
                self._create_progress,
                self._line.tell,
                services.clock,
                services.tasks,
                self._cancel_turn,
            )
            observers.append(self.progress)

    # -- to the editor

    def _tell_problems(self, problems: list[str]) -> None:
        for problem in problems:
            self._line.tell("window/showMessage", {"type": 2, "message": f"agentls: {problem}"})

    def _did_change_session(self, params: p.DidChangeParams) -> None:
        self._line.tell("agentls/session/didChange", params)

    def _tell_activity(self, params: p.FamilyDidActParams) -> None:
        self._line.tell("agentls/family/didAct", params)

    async def _refresh_lenses(self) -> None:
        with suppress(JsonRpcException):
            await self._line.request(lsp.WORKSPACE_CODE_LENS_REFRESH, None)

    def _show_document(self, editor: EditorAbilities, uri: str) -> None:
        if editor.show_document:
            params = lsp.ShowDocumentParams(uri=uri, take_focus=True)
            self._services.tasks.start(self._ask_to_show(params), "show a document")

    async def _ask_to_show(self, params: lsp.ShowDocumentParams) -> None:
        with suppress(JsonRpcException):
            await self._line.request(lsp.WINDOW_SHOW_DOCUMENT, params)

    def _create_progress(self, token: str) -> Awaitable[Any]:
        return self._line.request(
            lsp.WINDOW_WORK_DONE_PROGRESS_CREATE, lsp.WorkDoneProgressCreateParams(token=token)
        )

    def _cancel_turn(self, id: SessionId) -> None:
        self._services.sessions.get(id).cancel()


async def _recover(lasting: Lasting) -> None:
    try:
        await lasting.recover()
    except AgentlsError as error:
        log.warning("%s", error)  # whoever wants to read or store something hears of it


def _workspace(params: lsp.InitializeParams) -> str:
    for folder in params.workspace_folders or []:
        if path := to_fs_path(folder.uri):
            return path
    if params.root_uri and (path := to_fs_path(params.root_uri)):
        return path
    return params.root_path or str(Path.cwd())
