"""What is on its way from the sessions to the database: copies that nobody changes any more."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgspec import Struct

from agentls.core.model import SessionId
from agentls.core.store import Head
from agentls.core.transcript import Entry

from .codec import Grown


class EntryChange(Struct, frozen=True):
    """An entry as it is now."""

    number: int
    entry: Entry
    """A copy, whose texts that grow are in `texts` instead."""
    texts: Grown
    growing: bool = False
    """It is not worth indexing yet."""


class SessionChange(Struct, frozen=True, kw_only=True):
    """What happened in a session since it was last stored."""

    id: SessionId
    active: float
    stored: int
    """How many of its entries must be in the database already."""
    total: int
    """How many there are with these."""
    head: Head | None
    """None when only entries have changed."""
    entries: Sequence[EntryChange]


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a batch."""

    fault: str = ""
    """What kind of thing went wrong; empty when all is stored."""
    sentence: str = ""
    may_pass: bool = False
    """It is nobody's fault and may be over in a moment."""
    for_good: bool = False
    """Trying again is no use."""
    begun_anew: bool = False
    """The database is a new one, or has lost a session: everything must be stored again."""
    remark: str = ""
    """What a person should know although it is all right."""


class Batch:
    """Changes that are stored together."""

    __slots__ = ("changes", "done", "doubtful", "notes", "outcome", "urgent")

    def __init__(
        self,
        changes: Sequence[SessionChange],
        *,
        urgent: bool = False,
        notes: int = 0,
        doubtful: bool = False,
    ) -> None:
        self.changes = changes
        self.doubtful = doubtful
        """Somebody could not read the database: look at the file again before writing."""
        self.urgent = urgent
        """There is a decision in it: it must outlive a power failure too."""
        self.notes = notes
        """How many decisions had been noted down when it was made."""
        self.outcome = Outcome()
        self.done = threading.Event()
