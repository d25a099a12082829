"""Changes that an agent asks for, as texts that a person can edit before accepting them.

Invariants: what is accepted is what is on the page at that moment; the agent never writes a text
that the person has edited, and is told what was written in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from posixpath import basename, join, normpath

from msgspec import Struct

from .asks import Asks, PendingAsk
from .errors import BadRequest, FileError
from .files import AllFiles
from .grants import applied
from .model import AskId, Block, Diff, Prompt
from .permission import diffs_of
from .sessions import Sessions
from .text import same_text

WritePage = Callable[[AskId, int, str, str], str]
"""Writes an ordinary file for a part of an ask, with this name and text; its path."""
_MOST_LINES = 200


class Proposed(Struct, frozen=True, kw_only=True):
    """A file, and what would become of it."""

    path: str
    """As the agent names it."""
    before: str | None
    after: str
    page: str
    """A file with `after`, to be edited."""


class Proposals:
    """Those that somebody has looked at, by the ask."""

    def __init__(self, sessions: Sessions, asks: Asks, files: AllFiles, write: WritePage) -> None:
        self._sessions = sessions
        self._asks = asks
        self._files = files
        self._write = write
        self._open: dict[AskId, tuple[Proposed, ...]] = {}

    async def open(self, id: AskId) -> tuple[Proposed, ...]:
        """The texts that accepting writes; on pages that are the same each time."""
        ask = self._asks.get(id)
        found = self._open.get(id)
        if found is None:
            self._forget_settled()
            found = self._open[id] = await self._proposed(ask)
        return found

    async def edited(self, id: AskId) -> bool:
        """Whether the person made something else of what is asked for."""
        files = self._open.get(id, ())
        return any([not same_text(file.after, await self._text(file)) for file in files])

    async def accept(self, id: AskId, by: str) -> bool:
        """Accept what the person made of it; False if that is just what was asked for."""
        if not await self.edited(id):
            return False
        files = self._open[id]
        texts = [await self._text(file) for file in files]
        ask = self._asks.get(id)
        self._open.pop(id, None)
        if ask.request.amend is not None:
            ask.request.amend(texts[0])
            self._asks.decide(id, "allow", by)
        else:
            self._asks.reject(id, f"{by}, with another text")
            await self._write_instead(ask, files, texts)
        return True

    async def _proposed(self, ask: PendingAsk) -> tuple[Proposed, ...]:
        session = self._sessions.get(ask.session)
        call = session.transcript.call(ask.request.patch.id)
        by_path: dict[str, list[Diff]] = {}
        for diff in diffs_of(call) if call else ():
            by_path.setdefault(diff.path, []).append(diff)
        found: list[Proposed] = []
        for number, (path, diffs) in enumerate(by_path.items()):
            if ask.request.amend is not None:
                before, after = diffs[0].old, diffs[0].new
            else:
                now = await self._files.read(normpath(join(session.cwd, path)))
                before = now.text if now else None
                after = _whole(path, diffs, before)
            page = self._write(ask.id, number, basename(path), after)
            found.append(Proposed(path=path, before=before, after=after, page=page))
        if not found:
            raise BadRequest("This ask is not about the text of a file.")
        return tuple(found)

    async def _text(self, file: Proposed) -> str:
        """What is on its page, also if that is not saved."""
        found = await self._files.read(file.page)
        if found is None:
            raise BadRequest(
                f"The page with the text for {file.path} is gone.", hint="Open it again."
            )
        return found.text

    async def _write_instead(
        self, ask: PendingAsk, files: tuple[Proposed, ...], texts: list[str]
    ) -> None:
        """The agent would write its own text, so that it is told no, and we write."""
        session = self._sessions.get(ask.session)
        said: list[str] = []
        for file, text in zip(files, texts, strict=True):
            try:
                assert session.workplace is not None, "it asked for a file"
                await session.workplace.write_for_person(file.path, file.before, text)
            except FileError as error:
                said.append(str(error))
            else:
                said.append(told(file.path, file.after, text))
        self._sessions.prompt(session.id, Prompt((Block(kind="text", text="\n\n".join(said)),)))

    def _forget_settled(self) -> None:
        open = {ask.id for ask in self._asks.pending()}
        self._open = {id: files for id, files in self._open.items() if id in open}


def told(path: str, proposed: str, written: str) -> str:
    """What an agent has to know about a text that was written in place of its own."""
    if same_text(proposed, written):
        return f"{path} is written as you proposed; do not write it again."
    from difflib import unified_diff  # noqa: PLC0415 - few proposals are edited

    lines = list(
        unified_diff(
            proposed.splitlines(), written.splitlines(), "as proposed", "as written", lineterm=""
        )
    )
    more = "\n… read the file for the rest." if len(lines) > _MOST_LINES else ""
    return (
        f"{path} is written, but not as you proposed: the person edited the text before accepting"
        " it. Do not write it again; go on from what is there. The difference:\n\n"
        "```diff\n" + "\n".join(lines[:_MOST_LINES]) + f"{more}\n```"
    )


def _whole(path: str, diffs: list[Diff], now: str | None) -> str:
    after = applied(diffs, now)
    if after is None:
        raise BadRequest(
            f"The agent shows only a part of {path}, and it is not clear where that would go.",
            hint="Accept or reject it, and edit the file afterwards.",
        )
    return after
