"""Tools for the text that is open in the editor: read it as the person sees it, and show it.

Invariant: a file is read, or shown, only if the policy lets the agent read it.
"""

from __future__ import annotations

from collections.abc import Callable
from posixpath import join, relpath
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from ..errors import AgentlsError, FileRefused, ToolRefused
from ..permission import Permit
from ..policy.verdicts import PathUse, Subject
from .desk import Desk, Desktop, OpenText
from .tool import Answer, Arguments, Caller, Tool
from .waiting import Waiting

if TYPE_CHECKING:
    from ..session import Session

Path = Annotated[
    str, Meta(description="A path, absolute or in the project's folder.", min_length=1)
]


class ReadBuffer(Arguments, frozen=True):
    path: Path
    line: Annotated[int, Meta(description="The first line to read, from 1.", ge=1)] = 1
    limit: Annotated[int, Meta(description="How many lines to read.", ge=1)] = 2000


class OpenBuffers(Arguments, frozen=True):
    pass


class Show(Arguments, frozen=True):
    path: Path
    line: Annotated[int, Meta(description="The line to go to, from 1.", ge=1)] = 1


def buffer_tools(desktop: Desktop, waiting: Waiting) -> list[Tool]:
    tools = _BufferTools(desktop, waiting)
    return [
        Tool(
            name="read_buffer",
            title="Read buffer",
            description=(
                "The text of a file as the person sees it in the editor, unsaved changes included;"
                " from disk if it is not open there. Use it before you change what open_buffers"
                " calls unsaved."
            ),
            arguments=ReadBuffer,
            kind="read",
            run=tools.read,
        ),
        Tool(
            name="open_buffers",
            title="Open buffers",
            description=(
                "Which files of the project are open in the person's editor, and which of them"
                " have changes that are not on disk."
            ),
            arguments=OpenBuffers,
            kind="search",
            run=tools.open,
            offered=tools.has_editor,
        ),
        Tool(
            name="show",
            title="Show in editor",
            description="Open a file at a line in the person's editor, to point at something.",
            arguments=Show,
            kind="read",
            run=tools.show,
            offered=tools.has_editor,
        ),
    ]


class _BufferTools:
    def __init__(self, desktop: Desktop, waiting: Waiting) -> None:
        self._desktop = desktop
        self._waiting = waiting

    def has_editor(self, _: Session) -> bool:
        return self._desktop.editor is not None

    async def read(self, caller: Caller, given: ReadBuffer) -> Answer:
        place, path = caller.session.workplace, join(caller.session.cwd, given.path)
        if place is None:
            raise ToolRefused("There are no files here.")

        def begin(then: Callable[[str | AgentlsError], None]) -> Callable[[], None]:
            return place.read(path, given.line, given.limit, then)

        text = await self._waiting.answer(begin)
        if isinstance(text, AgentlsError):
            raise text
        unsaved = any(t.unsaved for t in self._open_texts() if t.path == path)
        note = "(The editor has changes of this file that are not on disk.)\n" if unsaved else ""
        return Answer(f"{note}{text}")

    async def open(self, caller: Caller, _: OpenBuffers) -> Answer:
        root = caller.session.cwd
        found = [t for t in self._open_texts() if t.path.startswith(f"{root}/")]
        lines = [_line(text, root) for text in found]
        return Answer("\n".join(lines) or "No file of the project is open.")

    async def show(self, caller: Caller, given: Show) -> Answer:
        desk = desk_of(self._desktop)
        path = await may_read(caller, self._waiting, given.path)
        if not await desk.show(path, given.line):
            raise ToolRefused("The editor did not show it.")
        return Answer(f"The editor shows {given.path} at line {given.line}.")

    def _open_texts(self) -> list[OpenText]:
        return self._desktop.editor.open_texts() if self._desktop.editor else []


def desk_of(desktop: Desktop) -> Desk:
    if desktop.editor is None:
        raise ToolRefused("There is no editor here.")
    return desktop.editor


async def may_read(caller: Caller, waiting: Waiting, path: str) -> str:
    """The whole path, if the agent may read what is there. Raises `FileRefused`."""
    session = caller.session
    whole = join(session.cwd, path)
    subject = Subject(
        agent=session.agent_name, kind="read", cwd=session.cwd, paths=(PathUse(whole, False),)
    )
    permit: Permit = await waiting.answer(
        lambda then: session.permission.permit(subject, f"Read {path}", then, call=caller.call)
    )
    if not permit.given:
        raise FileRefused(f"Reading {path} was not allowed ({permit.decision.by}).")
    return whole


def _line(text: OpenText, root: str) -> str:
    state = ", unsaved changes" if text.unsaved else ""
    return f"{relpath(text.path, root)} ({text.language or 'text'}, {text.lines} lines{state})"
