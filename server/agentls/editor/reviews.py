"""The review of changes on the side of the editor, built with the first prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core import events as ev
from ..core.errors import UnknownSession
from ..core.model import Level, Prompt
from ..core.ports import Tasks
from ..core.session import Session
from ..core.sessions import Sessions
from .change_surface import ChangeSurface
from .conflicts import Conflicts
from .documents import Documents, path_of
from .saves import MergeIn, Saves

if TYPE_CHECKING:
    from ..core.changes.looking import Person
    from ..core.changes.radar import Meeting
    from ..core.changes.reviewing import Reviewing


class Reviews:
    """What joins sessions, documents and the review."""

    def __init__(
        self,
        sessions: Sessions,
        documents: Documents,
        build: Callable[[Person], Reviewing],
        *,
        say: Callable[[str], None],
        merge_in: MergeIn,
        tasks: Tasks,
        conflicts: Conflicts,
    ) -> None:
        self._sessions = sessions
        self._documents = documents
        self._build = build
        self._say = say
        self._built: Reviewing | None = None
        self.conflicts = conflicts
        self.saves = Saves(documents, say, merge_in, tasks, conflicts)
        self.surface: ChangeSurface | None = None

    def get(self) -> Reviewing:
        if self._built is None:
            self._built = self._build(self.saves)
            self._sessions.observers.append(self._built.watch)
            if self.surface is not None:
                self.surface.show(self._built)
        return self._built

    def prepare(self, session: Session, prompt: Prompt, go: Callable[[], None]) -> None:
        """Implements `core.session.Prepare`."""
        self.get().watch.prepare(session, prompt, go)

    # -- what happens to documents

    def opened(self, uri: str, text: str) -> None:
        self.saves.opened(uri, text)
        self.changed(uri)

    def changed(self, uri: str) -> None:
        """Hunks follow the text of open documents."""
        document, path = self._documents.get(uri), path_of(uri)
        if document is not None:
            self.conflicts.moved(document)
        if self._built is None or document is None or not self._built.review.knows(path):
            return
        from ..core.changes.record import FileState  # noqa: PLC0415 - not at start

        self._built.review.seen(path, FileState(document.text))
        if self.surface is not None:
            self.surface.moved(path)

    def saved(self, uri: str) -> None:
        self.saves.saved(uri)
        self.conflicts.over(uri)

    def closed(self, uri: str) -> None:
        self.saves.closed(uri)
        self.conflicts.over(uri)

    # -- radar

    def met(self, meeting: Meeting) -> None:
        """Several are at work in one file: all of them are told."""
        others = "you and an agent" if meeting.user else "several agents"
        text = f"{meeting.path} is being changed by {others} at the same time."
        for id in meeting.sessions:
            try:
                self._sessions.get(id).deliver(ev.NoticeShown(Level.WARNING, text))
            except UnknownSession:
                continue
        self._say(text)
