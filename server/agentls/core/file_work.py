"""What an agent does to files through us, in one session.

Invariants: whatever it wants is decided first and gets one answer; a person who is asked sees the
change that would really happen; nothing that somebody wrote since the agent looked is overwritten.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from . import events as ev
from .errors import (
    AgentlsError,
    FileEdited,
    FileError,
    FileFailed,
    FileMissing,
    FileMoved,
    FileRefused,
)
from .files import AllFiles, FileWritten
from .grants import Change, as_shown
from .model import Diff, Level, ToolCallId, ToolCallPatch
from .permission import Permit, diffs_of
from .policy.verdicts import PathUse, Subject, Verdict
from .ports import FileText, Tasks
from .text import excerpt, line_end, same_text, with_line_end

if TYPE_CHECKING:
    from .session import Session

log = logging.getLogger(__name__)

Resolve = Callable[[str, str], str]
"""A path and the folder it is relative to; the real place, at this moment. Raises `BadRequest`."""
Read = Callable[[str | AgentlsError], None]
Written = Callable[[AgentlsError | None], None]
_MOST_SEEN = 32
_MOST_SEEN_TEXT = 4_000_000
"""Files, and characters in all, of which is remembered what the agent has seen."""


class _Wish:
    """Something that the agent waits for, and may call off as long as it is not being done."""

    def __init__(self) -> None:
        self.called_off = False
        self.withdraw: Callable[[], None] = lambda: None

    def call_off(self) -> None:
        self.called_off = True
        self.withdraw()


class FileWork:
    """The files of one session."""

    def __init__(self, session: Session, files: AllFiles, resolve: Resolve, tasks: Tasks) -> None:
        self._session = session
        self._files = files
        self._resolve = resolve
        self._tasks = tasks
        self._seen: dict[str, str | None] = {}
        """What the agent has read here and not by itself, the latest last."""

    # -- reading

    def read(
        self, path: str, line: int | None, limit: int | None, then: Read
    ) -> Callable[[], None]:
        wish = _Wish()
        self._start(self._ask_to_read(wish, path, line, limit, then), then)
        return wish.call_off

    async def _ask_to_read(
        self, wish: _Wish, path: str, line: int | None, limit: int | None, then: Read
    ) -> None:
        place = self._resolve(path, self._session.cwd)
        subject = self._subject("read", path)
        permission = self._session.permission

        def decided(permit: Permit) -> None:
            if permit.given and not wish.called_off:
                self._start(self._read(path, place, line, limit, then), then)
            else:
                then(_refused("Reading", path, permit))

        # Some agents look for files that mostly are not there, in folders above the workspace:
        # nobody wants to be asked about those.
        if permission.policy.ruling(subject).verdict is Verdict.ASK and await self._is_missing(
            place
        ):
            then(FileMissing(f"There is no file {path}."))
            return
        wish.withdraw = permission.permit(subject, f"Read {path}", decided)

    async def _is_missing(self, place: str) -> bool:
        try:
            return await self._files.read(place) is None
        except FileError:
            return False

    async def _read(
        self, path: str, place: str, line: int | None, limit: int | None, then: Read
    ) -> None:
        self._check_place(path, place)
        found = await self._files.read(place)
        self._remember(place, found.text if found else None)
        if found is None:
            then(FileMissing(f"There is no file {path}."))
        else:
            then(excerpt(found.text, line, limit))

    # -- writing

    def write(self, path: str, text: str, then: Written) -> Callable[[], None]:
        wish = _Wish()
        self._start(self._ask_to_write(wish, path, text, then), then)
        return wish.call_off

    async def _ask_to_write(self, wish: _Wish, path: str, text: str, then: Written) -> None:
        place = self._resolve(path, self._session.cwd)
        try:
            found = await self._files.read(place)
        except FileError:
            found = None  # writing will say what is wrong, if it is allowed at all
        seen = self._what_was_seen(place, found)
        now = found.text if found else None
        change = Change(diff=Diff(path, now, _shown_after(seen, now, text)), seen=seen, text=text)

        def decided(permit: Permit) -> None:
            if permit.given and not wish.called_off:
                wanted = _edited(change, permit.text)
                self._start(self._write(place, wanted, permit, then), then)
            else:
                then(_refused("Writing", path, permit))

        subject = self._subject("edit", path)
        title = f"Write {path}"
        wish.withdraw = self._session.permission.permit(subject, title, decided, change)

    async def _write(self, place: str, change: Change, permit: Permit, then: Written) -> None:
        path = change.diff.path
        try:
            before, after = await self._put(path, place, change)
        except FileError as error:
            self._show_failure(permit.call, error)
            then(error)
            return
        if place in self._seen or not same_text(after, change.text):
            # What the agent believes to be there: the lines of others it has not seen.
            self._remember(place, with_line_end(change.text, line_end(after)))
        self._written(place, permit.call, Diff(path, before, after))
        then(_told(path, change, after))

    async def write_for_person(self, path: str, before: str | None, text: str) -> None:
        """Implements `ports.Workplace`."""
        place = self._resolve(path, self._session.cwd)
        change = Change(diff=Diff(path, before, text), seen=before, text=text)
        try:
            before, after = await self._put(path, place, change)
        except FileError as error:
            self._show_failure(None, error)
            raise
        self._remember(place, after)
        self._written(place, None, Diff(path, before, after))

    def _written(self, place: str, call: ToolCallId | None, diff: Diff) -> None:
        written = FileWritten(
            session=self._session.id,
            turn=self._session.transcript.turn,
            call=self._show(call, diff),
            path=place,
            before=diff.old,
            after=diff.new,
        )
        self._files.tell(written)

    async def _put(self, path: str, place: str, change: Change) -> tuple[str | None, str]:
        """Write; once more if the file changed meanwhile. The text before and after."""
        try:
            return await self._put_once(path, place, change)
        except FileMoved:
            return await self._put_once(path, place, change)

    async def _put_once(self, path: str, place: str, change: Change) -> tuple[str | None, str]:
        if self._session.ending:
            raise FileRefused(f"{path} was not written: it was cancelled.")
        self._check_place(path, place)
        found = await self._files.read(place)
        before = found.text if found else None
        after = merged(change.seen, before, change.text)
        if after is None:
            raise FileMoved(
                f"{path} has changed since {self._session.agent_name} looked at it, in the same"
                " lines; nothing was written.",
                hint="Read it again.",
            )
        return before, await self._files.write(place, after, found)

    def _what_was_seen(self, place: str, found: FileText | None) -> str | None:
        """What the agent made its text from: what it read here, or else what is on disk."""
        return self._seen.get(place, found.saved if found else None)

    def _remember(self, place: str, text: str | None) -> None:
        self._seen.pop(place, None)
        self._seen[place] = text
        while len(self._seen) > 1 and (
            len(self._seen) > _MOST_SEEN
            or sum(len(each or "") for each in self._seen.values()) > _MOST_SEEN_TEXT
        ):
            del self._seen[next(iter(self._seen))]

    def _check_place(self, path: str, place: str) -> None:
        """Links may have changed while somebody decided."""
        if self._resolve(path, self._session.cwd) != place:
            raise FileRefused(f"{path} leads to another file by now.", hint="Try again.")

    # -- what people see

    def _show(self, call: ToolCallId | None, diff: Diff) -> ToolCallId:
        """Have a tool call show what was written, unless one does."""
        own = call is not None and call.startswith("agentls:")
        card = self._session.transcript.call(call) if call else None
        if call is None or card is None:
            call, own = self._session.permission.own_card(f"Write {diff.path}", "edit", diff), True
        elif not own:
            shown = [each for each in diffs_of(card) if each.path == diff.path]
            if not shown or not as_shown(shown, diff.old, diff.new):
                self._tell(ToolCallPatch(id=call, content=(*card.content, diff)))
        if own:
            self._tell(ToolCallPatch(id=call, content=(diff,), status="completed"))
        return call

    def _show_failure(self, call: ToolCallId | None, error: FileError) -> None:
        if call is not None and call.startswith("agentls:"):
            self._tell(ToolCallPatch(id=call, status="failed"))
        if not self._session.ending:
            self._session.deliver(ev.NoticeShown(Level.WARNING, str(error)))

    def _tell(self, patch: ToolCallPatch) -> None:
        self._session.deliver(ev.ToolCallChanged(patch))

    # -- work

    def _subject(self, kind: str, path: str) -> Subject:
        return Subject(
            agent=self._session.agent_name,
            kind=kind,
            cwd=self._session.cwd,
            paths=(PathUse(path, kind == "edit"),),
        )

    def _start(self, work: Coroutine[Any, Any, None], then: Callable[[AgentlsError], None]) -> None:
        self._tasks.start(_answered(work, then), f"files of {self._session.id}")


async def _answered(work: Coroutine[Any, Any, None], then: Callable[[AgentlsError], None]) -> None:
    """Whatever goes wrong, the agent hears of it."""
    try:
        await work
    except AgentlsError as error:
        then(error)
    except Exception:
        log.exception("a file could not be read or written")
        then(FileFailed("It failed inside agentls; see its log."))


def merged(seen: str | None, now: str | None, text: str) -> str | None:
    """What the agent wrote, with what somebody else wrote since it looked; None if both wrote in
    the same place, or nothing would be left of what the agent wrote."""
    if now is None:
        return text
    text = with_line_end(text, line_end(now))
    if now in (seen, text):
        return text
    if seen is None:
        return text if not now else None
    from .changes.merge import merge  # noqa: PLC0415 - few files change under an agent's hands

    result = merge(seen, now, text).text
    return None if result == now else result


def _shown_after(seen: str | None, now: str | None, text: str) -> str:
    """What would be there; what the agent sent where that cannot be said."""
    result = merged(seen, now, text)
    return text if result is None else result


def _edited(change: Change, text: str | None) -> Change:
    """With the text that the person made of what they were shown."""
    if text is None:
        return change
    diff = change.diff
    return Change(diff=Diff(diff.path, diff.old, text), seen=diff.old, text=text, proposed=diff.new)


def _told(path: str, change: Change, after: str) -> FileEdited | None:
    """What the agent has to know beyond that its text was written."""
    if change.proposed is None:
        return None
    from .proposals import told  # noqa: PLC0415 - few proposals are edited

    return FileEdited(told(path, change.proposed, after))


def _refused(what: str, path: str, permit: Permit) -> FileRefused:
    return FileRefused(f"{what} {path} was not allowed ({permit.decision.by}).")
