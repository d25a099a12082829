"""What agents did in sessions that began in another server, so that it can still be gone back.

Invariant: what was done before is known before anything that is done now, so that it is undone
last; and it is kept, since whatever was pending then was decided, or left, by the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ..model import SessionId
from .record import FileState, Origin
from .review import Files, Review, Selection


class Deed(Struct, frozen=True, kw_only=True):
    """What an agent made of a file."""

    origin: Origin
    path: str
    before: FileState
    after: FileState
    old_path: str = ""


class Journal(Protocol):
    """Deeds by session, which last longer than a server. Neither way fails."""

    async def add(self, deeds: Sequence[Deed]) -> None: ...

    async def of(self, session: SessionId) -> list[Deed]:
        """In the order in which they were done."""
        ...


class Memory:
    """Brings them back into the review, once for each session."""

    def __init__(self, review: Review, files: Files, journal: Journal) -> None:
        self._review = review
        self._files = files
        self._journal = journal
        self._known: set[SessionId] = set()

    async def recall(self, session: SessionId) -> None:
        if session in self._known:
            return
        self._known.add(session)
        if self._review.changes(Selection(session=session)):
            return  # it was closed in this server, and what it did is still there
        paths: dict[str, None] = {}
        for it in await self._journal.of(session):
            self._review.wrote(it.origin, it.path, it.before, it.after, old_path=it.old_path)
            paths[it.path] = None
        self._review.keep(Selection(session=session))
        for path in paths:
            self._review.seen(path, await self._files.current(path))

    def forget(self, session: SessionId) -> None:
        """The session is closed; if it comes again, so may what it did."""
        self._known.discard(session)

    async def keep(self, deeds: Sequence[Deed]) -> None:
        if deeds:
            await self._journal.add(deeds)
