"""The composition root: builds every part and joins them. It contains no behaviour."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from . import __version__
from .agent.agents import Agents
from .agent.catalog import Catalog, user_file_path
from .core.asks import Asks
from .core.decisions import Decisions
from .core.family.family import Family
from .core.family.limits import Limits
from .core.file_work import FileWork
from .core.files import AllFiles
from .core.lasting import Lasting
from .core.logins import Logins
from .core.policy.gate import SessionPolicy
from .core.questions import Questions
from .core.session import Session
from .core.sessions import Sessions
from .core.settings import Settings
from .core.terminal_backends import Backends
from .core.terminal_reports import TerminalReports
from .core.terminals import Terminals, TerminalSpec
from .core.tools.desk import Desktop
from .core.vigil import Vigil
from .core.workplace import Workplace
from .files.on_disk import DiskFiles
from .runtime import LoopClock, TaskOwner, new_id
from .storage.paths import config_folder, database_file, protected_places, resolve, state_folder
from .storage.store import Store
from .warden import Warden

if TYPE_CHECKING:
    from .core.changes.looking import Person
    from .core.changes.reviewing import Reviewing
    from .core.ports import ToolDoor
    from .core.tools.desk import Spot
    from .core.tools.own_asks import OwnAsks
    from .core.tools.tool import Tool
    from .core.tools.waiting import Waiting
    from .files.label_process import Labels
    from .storage.rules import RuleBook
    from .terminal.hosted import HostedTerminals
    from .tools.host import Tools


class App:
    """Everything but a user interface: the editor or the command line sits on top."""

    def __init__(self, settings: Settings, tasks: TaskOwner) -> None:
        self.settings = settings
        self.catalog = catalog = Catalog.load(user_file_path(os.environ))
        self.tasks = tasks
        self.state_folder = state_folder(os.environ)
        self.clock = LoopClock()
        self.asks = Asks()
        self.questions = Questions()
        self._books: dict[str, RuleBook] = {}
        self.warden = Warden()
        self._hosted: HostedTerminals | None = None
        self._closing: list[Callable[[], None]] = []
        """What else has to end with it."""
        self.backends = Backends(self._host_terminals)
        self.terminals = Terminals(self.backends, self.clock, new_id)
        self.files = AllFiles(DiskFiles())
        self.desktop = Desktop()
        self._tools: Tools | None = None
        self._own_asks: OwnAsks
        self._labelled: Labels | None = None
        self.agents = Agents(
            catalog,
            tasks,
            version=__version__,
            timeout=settings.handshake_timeout,
            warden=self.warden,
            line_limit=settings.line_limit,
            keep=settings.idle_agent_timeout if settings.warm_agent else None,
        )
        self.store = Store(
            database_file(os.environ),
            self.clock,
            new_id,
            problem=self._cannot_store,
            days=settings.store_days,
            megabytes=settings.store_megabytes,
        )
        self.told: Callable[[str], None] = lambda _: None
        """Told what a person should know that is no session's business."""
        self.sessions = Sessions(
            self.agents,
            self.asks,
            self.clock,
            tasks,
            new_id,
            cancel_grace=settings.cancel_grace,
            ask_timeout=settings.ask_timeout,
            policy=self.policy,
            workplace=self._workplace,
            memory=self.store,
            questions=self.questions,
            admit=self._admit,
        )
        self.family = Family(
            self.sessions,
            self.questions,
            self.clock,
            tasks,
            limits=Limits(
                depth=settings.family_depth,
                children=settings.family_children,
                turns=settings.family_turns,
                cost=settings.family_cost,
            ),
            policy=self.policy,
        )
        self.sessions.born = self.family.born
        self.sessions.observers.append(self.family)
        self._reports = TerminalReports(self.sessions, self.terminals, self.clock)
        self.sessions.observers.append(self._reports)
        self.terminals.observers.append(self._reports)
        self.sessions.forgotten.append(self._reports.forget)
        self.decisions = Decisions(self.sessions, self.asks)
        self.logins = Logins(self.agents, self.sessions, self.terminals)
        self.vigil = Vigil(
            self.sessions,
            self.clock,
            stuck_after=settings.stuck_after,
            idle_after=settings.idle_agent_timeout,
            busy=lambda session: any(t.running for t in self.terminals.of(session.id)),
        )
        self.vigil.begin()
        self.sessions.observers.append(self.store.observe)
        self.store.when_ended = self.sessions.forget
        self.lasting = Lasting(
            self.sessions,
            self.agents,
            self.store,
            off_loop=asyncio.to_thread,
            new_signal=asyncio.Event,
        )

    def reviewing(self, person: Person) -> Reviewing:
        """What finds and decides what agents change; built when the first prompt is sent."""
        from .core.changes.going_back import Restores
        from .core.changes.remembering import Memory
        from .core.changes.review import Review
        from .core.changes.reviewing import Reviewing
        from .core.changes.watch import Watch
        from .files.change_journal import ChangeJournal
        from .files.folders import Contents, Folders
        from .files.review_files import ReviewFiles

        contents = Contents()
        files = ReviewFiles(self.files, contents)
        review = Review(files)
        self.sessions.forgotten.append(review.session_closed)
        folders = Folders(state_folder(os.environ), os.environ, contents)
        journal = ChangeJournal(
            state_folder(os.environ) / "changes", files.bytes_of, files.state_of
        )
        memory = Memory(review, files, journal)
        self.sessions.forgotten.append(memory.forget)
        watch = Watch(review, folders, person, self.clock, self.tasks, memory=memory)
        files.decided = watch.decided
        labels = self._labels()
        self._closing.append(folders.close)

        async def label(path: str, text: str, parts: Sequence[tuple[int, int]]) -> list[str]:
            return await asyncio.to_thread(labels.of, path, text, parts)

        return Reviewing(review, watch, Restores(review, files, memory), files, label)

    async def close(self) -> None:
        """End everything that was started, whoever started it."""
        self.vigil.end()
        self.sessions.close_all()
        if self._tools is not None:
            await self._tools.close()
        await self.agents.close()
        if self._hosted is not None:
            await self._hosted.close()
        for close in self._closing:
            await asyncio.to_thread(close)
        self.warden.close()
        await asyncio.to_thread(self.store.close)

    def _cannot_store(self, sentence: str) -> None:
        self.told(sentence)

    def _admit(self, session: Session) -> ToolDoor | None:
        """The tools that its agent may call back."""
        directs = session.spawn.orchestrates or session.spawn.orchestrator
        if not (self.settings.editor_tools or self.settings.offer_orchestration or directs):
            return None
        if self._tools is None:
            self._tools, self._own_asks = self._build_tools()
            self.sessions.observers += [self._tools, self._own_asks]
        session.permission.lets_through = partial(self._own_asks.lets_through, session)
        return self._tools.admit(session)

    def _build_tools(self) -> tuple[Tools, OwnAsks]:
        from .core.tools.buffer_tools import buffer_tools
        from .core.tools.calls import ToolCalls
        from .core.tools.code_tools import code_tools
        from .core.tools.own_asks import OwnAsks
        from .core.tools.person_tools import person_tools
        from .core.tools.terminal_tools import terminal_tools
        from .core.tools.tool import Toolbox
        from .core.tools.waiting import Waiting
        from .tools.host import Tools

        waiting = Waiting(asyncio.Event, self.clock)
        tools = self._family_tools(waiting)
        if self.settings.editor_tools:
            tools += [
                *terminal_tools(waiting),
                *buffer_tools(self.desktop, waiting),
                *person_tools(waiting, self.settings.ask_timeout),
                *code_tools(self.desktop, waiting, asyncio.sleep, self._outline),
            ]
        toolbox = Toolbox(tools)
        own = OwnAsks(toolbox)
        calls = ToolCalls(toolbox, waiting, asyncio.sleep, came=own.came, listed=own.listed)
        return Tools(calls, self.tasks, version=__version__), own

    def _family_tools(self, waiting: Waiting) -> list[Tool]:
        from .core.family.starting import Starting
        from .core.family.tools import family_tools

        starting = Starting(
            self.family,
            self.sessions,
            agents=lambda: [agent.name for agent in self.agents.known() if agent.installed],
            resolve=resolve,
            is_folder=os.path.isdir,
        )
        everybody = self.settings.offer_orchestration
        return family_tools(self.family, starting, waiting, for_all=everybody)

    async def _outline(self, path: str, text: str) -> Sequence[Spot]:
        from .files.outlines import outline

        return await asyncio.to_thread(outline, self._labels(), path, text)

    def _labels(self) -> Labels:
        if self._labelled is None:
            from .files.label_process import Labels

            self._labelled = Labels()
            self._closing.append(self._labelled.close)
        return self._labelled

    def _workplace(self, session: Session) -> Workplace:
        files = FileWork(session, self.files, resolve, self.tasks)
        return Workplace(session, self.terminals, self._reports, self.tasks, files)

    def _host_terminals(self) -> HostedTerminals:
        from .terminal.hosted import (
            HostedTerminals,  # 5 ms, and most agents run commands themselves
        )

        self._hosted = HostedTerminals(self.warden, os.environ)
        return self._hosted

    def launch(self, spec: TerminalSpec) -> tuple[list[str], dict[str, str]]:
        """What an editor is to run for a command, and what to set for it."""
        from .terminal import launch  # as above

        launch.check_folder(spec.cwd)
        words = launch.words_of(spec, os.environ.get("PATH", os.defpath))
        return words, self.warden.mark(launch.additions(spec, os.environ))[0]

    def book(self, root: str) -> RuleBook:
        """The rules that hold in a folder."""
        from .storage.rules import RuleBook  # rules are read when the first is needed

        book = self._books.get(root)
        if book is None:
            book = self._books[root] = RuleBook(config_folder(os.environ), (root,))
        return book

    def policy(self, agent: str, root: str) -> SessionPolicy:
        return SessionPolicy(
            agent,
            root,
            book=self.book(root),
            resolve=resolve,
            protected=protected_places(os.environ),
            review_first=self.settings.review == "before",
        )


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[App]:
    """An app whose agents and tasks all end with the block."""
    async with TaskOwner() as tasks:
        app = App(settings, tasks)
        try:
            yield app
        finally:
            await app.close()
