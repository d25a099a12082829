"""How stored sessions are named and shown on the command line: which ones, when, in what state."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from agentls.core.errors import UnknownSession
from agentls.core.model import SessionId, State
from agentls.core.printable import one_line
from agentls.core.store import Filter, Place, SessionStore, SessionSummary

_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SOME = 1000
_FEWEST = 3
"""Characters of an id that may stand for the whole."""


def add_filters(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-a", "--agent", default="", metavar="NAME", help="only of this agent")
    add("-p", "--project", default="", metavar="DIR", help="only in this folder and below")
    add("--since", type=moment, metavar="WHEN", help="active since: 2026-11-01, or 3d, 12h, 30m")
    add("--until", type=moment, metavar="WHEN", help="active until, written likewise")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--live", action="store_true", help="only those that are open somewhere")
    which.add_argument("--past", action="store_true", help="only those that are open nowhere")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--archived", action="store_true", help="only archived ones")
    kept.add_argument("--all", action="store_true", help="archived ones, too")


def filter_of(given: argparse.Namespace, *, title: str = "", file: str = "") -> Filter:
    places: tuple[Place, ...] = ()
    if given.live:
        places = (Place.HERE, Place.ELSEWHERE)
    elif given.past:
        places = (Place.PAST,)
    return Filter(
        agent=given.agent,
        project=str(Path(given.project).expanduser().resolve()) if given.project else "",
        places=places,
        archived=None if given.all else given.archived,
        since=given.since,
        until=given.until,
        title=title,
        file=file,
    )


def moment(text: str) -> float:
    """A point in time: a date, a date and a time, or how long ago."""
    if found := re.fullmatch(r"(\d{1,6})([mhdw])", text):
        return time.time() - int(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("write 2026-11-01, 3d, 12h or 30m") from None


def named(store: SessionStore, id: str) -> SessionSummary:
    """The session of that id, or the only one whose id begins so. Raises `UnknownSession`."""
    try:
        return store.get(SessionId(id))
    except UnknownSession:
        if len(id) < _FEWEST:
            raise
        found = [s for s in _all(store) if s.id.startswith(id)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise
        ids = ", ".join(s.id for s in found[:5])
        raise UnknownSession(
            f"Several sessions begin with {id!r}: {ids}.", hint="Write more of it."
        ) from None


def _all(store: SessionStore) -> Iterable[SessionSummary]:
    after: SessionSummary | None = None
    while page := store.summaries(Filter(archived=None), limit=_SOME, after=after):
        yield from page
        after = page[-1]


def state_words(summary: SessionSummary) -> str:
    """What a session is doing; one that lives nowhere does nothing, whatever was stored."""
    if summary.place is not Place.PAST:
        return str(summary.state.value).replace("_", " ")
    if summary.archived:
        return "archived"
    return "ended" if summary.state is State.CLOSED and not summary.died else "cut off"


def title_words(summary: SessionSummary) -> str:
    return one_line(summary.title) or "(no title)"


def when(at: float) -> str:
    """Short: the time of today, the date of other days."""
    then, now = time.localtime(at), time.localtime()
    if then[:3] == now[:3]:
        return time.strftime("%H:%M", then)
    return time.strftime("%d %b" if then[0] == now[0] else "%Y-%m-%d", then)


def short_folder(path: str) -> str:
    home = str(Path.home())
    shown = "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
    return one_line(shown)
