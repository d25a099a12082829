"""What agents made of files, written down by session: the bytes before and after.

Invariant: a row is written at once or not at all; one that is cut off, or too big, is left out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from agentls.core.changes.record import FileState, Origin
from agentls.core.changes.remembering import Deed
from agentls.core.errors import FileError
from agentls.core.model import SessionId

log = logging.getLogger(__name__)

_LARGEST = 4 << 20
_DAYS = 30
_SIZE = 4
"""Bytes that say how long a row is."""


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    turn: int
    agent: str
    prompt: str
    path: bytes
    old_path: bytes
    before: bytes | None
    before_mode: int | None
    after: bytes | None
    after_mode: int | None


ToBytes = Callable[[str, FileState], bytes | None]
FromBytes = Callable[[str, bytes | None, int | None], FileState]


class ChangeJournal:
    """Implements `core.changes.remembering.Journal`: one file for each session."""

    def __init__(self, folder: Path, to_bytes: ToBytes, from_bytes: FromBytes) -> None:
        self._folder = folder
        self._to_bytes = to_bytes
        self._from_bytes = from_bytes
        self._tidied = False

    async def add(self, deeds: Sequence[Deed]) -> None:
        try:
            await asyncio.to_thread(self._add, deeds)
        except (OSError, FileError, ValueError) as error:
            log.warning("what an agent changed was not written down: %s", error)

    async def of(self, session: SessionId) -> list[Deed]:
        return await asyncio.to_thread(self._of, session)

    def _add(self, deeds: Sequence[Deed]) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._tidy()
        for deed in deeds:
            data = msgspec.msgpack.encode(self._row(deed))
            if len(data) > 2 * _LARGEST:
                log.warning("a change of %s is too big to be written down", deed.path)
                continue
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            file = os.open(self._file(deed.origin.session), flags, 0o600)
            try:
                os.write(file, len(data).to_bytes(_SIZE, "big") + data)
            finally:
                os.close(file)

    def _row(self, deed: Deed) -> _Row:
        return _Row(
            turn=deed.origin.turn,
            agent=deed.origin.agent,
            prompt=deed.origin.prompt.encode("utf-8", "replace").decode(),
            path=os.fsencode(deed.path),
            old_path=os.fsencode(deed.old_path),
            before=self._to_bytes(deed.old_path or deed.path, deed.before),
            before_mode=deed.before.mode,
            after=self._to_bytes(deed.old_path or deed.path, deed.after),
            after_mode=deed.after.mode,
        )

    def _of(self, session: SessionId) -> list[Deed]:
        try:
            data = self._file(session).read_bytes()
        except OSError:
            return []
        found: list[Deed] = []
        at = 0
        while at + _SIZE <= len(data):
            end = at + _SIZE + int.from_bytes(data[at : at + _SIZE], "big")
            try:
                row = msgspec.msgpack.decode(data[at + _SIZE : end], type=_Row)
            except msgspec.DecodeError:
                break
            found.append(self._deed(session, row))
            at = end
        return found

    def _deed(self, session: SessionId, row: _Row) -> Deed:
        path, old_path = os.fsdecode(row.path), os.fsdecode(row.old_path)
        return Deed(
            origin=Origin(session=session, turn=row.turn, agent=row.agent, prompt=row.prompt),
            path=path,
            old_path=old_path,
            before=self._from_bytes(old_path or path, row.before, row.before_mode),
            after=self._from_bytes(path, row.after, row.after_mode),
        )

    def _file(self, session: SessionId) -> Path:
        return self._folder / f"{session.replace('/', '_')}.deeds"

    def _tidy(self) -> None:
        """Once: what nobody has added to for long."""
        if not self._tidied:
            self._tidied = True
            for file in self._folder.glob("*.deeds"):
                with suppress(OSError):
                    if file.stat().st_mtime < time.time() - _DAYS * 86_400:
                        file.unlink()
