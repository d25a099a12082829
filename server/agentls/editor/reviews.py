"""The review of changes on the side of the editor, built with the first prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core import events as ev
from ..core.errors import FileError, UnknownSession
from ..core.model import Level, Prompt
from ..core.ports import Files, Tasks
from ..core.session import Session
from ..core.sessions import Sessions
from ..core.text import same_text
from .change_surface import ChangeSurface
from .conflicts import Conflicts
from .documents import Document, Documents, path_of
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
        disk: Files,
        busy: Callable[[Document], bool],
    ) -> None:
        self._sessions = sessions
        self._documents = documents
        self._build = build
        self._say = say
        self._built: Reviewing | None = None
        self.conflicts = conflicts
        self._tasks = tasks
        self._disk = disk
        self._busy = busy
        """Whether a document is being changed for somebody else than the person."""
        self._in_step: dict[str, int] = {}
        """By path, the stamp of the review when it had the text of the document."""
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
        """Hunks follow the text of open documents: by what was typed, as long as they had the
        same text before, since a look at all of a long text is felt at every key."""
        document, path = self._documents.get(uri), path_of(uri)
        if document is not None:
            self.conflicts.moved(document)
        if self._built is None or document is None or not self._built.review.knows(path):
            return
        review = self._built.review
        edits = [(it.range, it.text) for it in document.last if it.range is not None]
        if len(edits) == len(document.last) > 0 and self._in_step.get(path) == review.stamp(path):
            for range, text in edits:
                review.edited(path, range, text, self._documents.encoding)
        else:
            from ..core.changes.record import FileState  # noqa: PLC0415 - not at start

            review.seen(path, FileState(document.text))
            self._in_step[path] = review.stamp(path)
        if self.surface is not None:
            self.surface.moved(path)
        if (
            review.missing_person(path)
            and not self._busy(document)
            and not review.written_so(path, document.text)
        ):
            self._tasks.start(self._typed(path, document), f"look who changed {path}")

    async def _typed(self, path: str, document: Document) -> None:
        """Whether the person did that: an editor may just have read the file again."""
        then = document.text
        try:
            on_disk = await self._disk.read(path)
        except FileError:
            return
        texts = (then, document.text)
        if on_disk is None or not any(same_text(on_disk.text, text) for text in texts):
            self.get().review.typed(path)

    def saved(self, uri: str) -> None:
        self.saves.saved(uri)
        self.conflicts.over(uri)

    def closed(self, uri: str) -> None:
        self._in_step.pop(path_of(uri), None)
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
