"""Tools for what the editor's language servers know: problems, definitions, references, symbols.

Invariant: an agent asks only about files that it may read; a place that is named in an answer is
no text of the file there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from posixpath import join, relpath
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from ..errors import AgentlsError, BadRequest, ToolRefused
from ..model import SessionId
from ..text import split_lines
from .buffer_tools import Path, desk_of, may_read
from .desk import Desktop, Problem, Spot
from .tool import Answer, Arguments, Caller, Tool
from .waiting import Waiting

if TYPE_CHECKING:
    from ..session import Session

Outline = Callable[[str, str], Awaitable[Sequence[Spot]]]
"""The symbols of a text by its grammar alone: a path, which says the language, and the text."""
_MOST = 200
_MOST_SESSIONS = 100
_NOBODY = "No language server in the editor can tell."


class Diagnostics(Arguments, frozen=True):
    path: Annotated[str, Meta(description="Only of this file; all of the project if empty.")] = ""
    wait: Annotated[
        float,
        Meta(description="Seconds to let language servers look at what was edited.", ge=0, le=30),
    ] = 1.0


class AtSymbol(Arguments, frozen=True):
    path: Path
    line: Annotated[int, Meta(description="The line where the name is used, from 1.", ge=1)]
    symbol: Annotated[str, Meta(description="The name, as it is in that line.", min_length=1)]


class OfDocument(Arguments, frozen=True):
    path: Path


class OfWorkspace(Arguments, frozen=True):
    query: Annotated[str, Meta(description="A name or a part of one.", min_length=1)]


def code_tools(
    desktop: Desktop, waiting: Waiting, pause: Callable[[float], Awaitable[None]], outline: Outline
) -> list[Tool]:
    tools = _CodeTools(desktop, waiting, pause, outline)
    return [
        Tool(
            name="diagnostics",
            title="Diagnostics",
            description=(
                "Errors and warnings that the person's editor shows: those of language servers and"
                " linters, also for text that is not saved. Says which are new since you last asked"
                " and which are gone. Use it after an edit."
            ),
            arguments=Diagnostics,
            kind="read",
            run=tools.diagnostics,
            offered=tools.knows_code,
        ),
        Tool(
            name="definition",
            title="Definition",
            description="Where a name is defined, by the language server of the person's editor.",
            arguments=AtSymbol,
            kind="search",
            run=tools.definition,
            offered=tools.knows_code,
        ),
        Tool(
            name="references",
            title="References",
            description="Where a name is used, by the language server of the person's editor.",
            arguments=AtSymbol,
            kind="search",
            run=tools.references,
            offered=tools.knows_code,
        ),
        Tool(
            name="document_symbols",
            title="Symbols of a file",
            description="The classes, functions and so on of a file, with their lines.",
            arguments=OfDocument,
            kind="search",
            run=tools.document_symbols,
        ),
        Tool(
            name="workspace_symbols",
            title="Symbols of the project",
            description="Classes, functions and so on of the whole project, by a part of the name.",
            arguments=OfWorkspace,
            kind="search",
            run=tools.workspace_symbols,
            offered=tools.knows_code,
        ),
    ]


class _CodeTools:
    def __init__(
        self,
        desktop: Desktop,
        waiting: Waiting,
        pause: Callable[[float], Awaitable[None]],
        outline: Outline,
    ) -> None:
        self._desktop = desktop
        self._waiting = waiting
        self._pause = pause
        self._outline = outline
        self._told: dict[tuple[SessionId, str], set[str]] = {}
        """What was said last to a session about a file, or about all."""

    def knows_code(self, _: Session) -> bool:
        return self._desktop.editor is not None and self._desktop.editor.knows_code

    async def diagnostics(self, caller: Caller, given: Diagnostics) -> Answer:
        root = caller.session.cwd
        path = await may_read(caller, self._waiting, given.path) if given.path else ""
        if given.wait:
            await self._pause(given.wait)
        found = await desk_of(self._desktop).problems(path)
        if found is None:
            raise ToolRefused("The editor did not say.")
        inside = [p for p in found if p.path == path or p.path.startswith(f"{root}/")]
        now = {_problem(problem, root): None for problem in inside}
        before = self._told.pop((caller.session.id, path), set())
        self._told[caller.session.id, path] = set(now)
        if len(self._told) > _MOST_SESSIONS:
            del self._told[next(iter(self._told))]
        return Answer(_compared(list(now), before))

    async def definition(self, caller: Caller, given: AtSymbol) -> Answer:
        path, line, column = await self._place(caller, given)
        found = await desk_of(self._desktop).definition(path, line, column)
        return _places(found, caller.session.cwd)

    async def references(self, caller: Caller, given: AtSymbol) -> Answer:
        path, line, column = await self._place(caller, given)
        found = await desk_of(self._desktop).references(path, line, column)
        return _places(found, caller.session.cwd)

    async def document_symbols(self, caller: Caller, given: OfDocument) -> Answer:
        path = join(caller.session.cwd, given.path)
        text = await self._text(caller, path)
        editor = self._desktop.editor
        found = await editor.document_symbols(path) if editor and editor.knows_code else None
        # Servers that are still starting say nothing, or that there is nothing.
        found = found or await self._outline(path, text)
        if not found:
            return Answer("No symbols were found.")
        return Answer("\n".join(_bounded(f"{spot.line}: {_named(spot)}" for spot in found)))

    async def workspace_symbols(self, caller: Caller, given: OfWorkspace) -> Answer:
        found = await desk_of(self._desktop).workspace_symbols(given.query)
        return _places(found, caller.session.cwd)

    async def _place(self, caller: Caller, given: AtSymbol) -> tuple[str, int, int]:
        """Path, line from 1, and column in UTF-16 from 0."""
        path = join(caller.session.cwd, given.path)
        lines = split_lines(await self._text(caller, path))
        line = lines[given.line - 1] if given.line <= len(lines) else ""
        at = line.find(given.symbol)
        if at < 0:
            raise BadRequest(
                f"There is no {given.symbol!r} in line {given.line} of {given.path}.",
                hint="Read the file again.",
            )
        return path, given.line, len(line[:at].encode("utf-16-le")) // 2

    async def _text(self, caller: Caller, path: str) -> str:
        place = caller.session.workplace
        if place is None:
            raise ToolRefused("There are no files here.")

        def begin(then: Callable[[str | AgentlsError], None]) -> Callable[[], None]:
            return place.read(path, None, None, then)

        text = await self._waiting.answer(begin)
        if isinstance(text, AgentlsError):
            raise text
        return text


def _compared(now: list[str], before: set[str]) -> str:
    fresh = [line for line in now if line not in before]
    known = [line for line in now if line in before]
    gone = sorted(before - set(now))
    parts = [("New", fresh), ("As before", known), ("Gone", gone)] if before else [("", now)]
    lines = [
        line
        for title, group in parts
        if group
        for line in ([f"{title}:"] if title else []) + _bounded(group)
    ]
    return "\n".join(lines) if lines else "No errors or warnings."


def _problem(problem: Problem, root: str) -> str:
    source = " ".join(filter(None, (problem.source, problem.code)))
    message = " ".join(problem.message.split())
    where = f"{_short(problem.path, root)}:{problem.line}:{problem.column}"
    return f"{where}: {problem.severity}: {message}{f' [{source}]' if source else ''}"


def _places(found: Sequence[Spot] | None, root: str) -> Answer:
    if found is None:
        raise ToolRefused(_NOBODY, hint="Search for the name in the files.")
    if not found:
        return Answer("Nothing was found.")
    lines = dict.fromkeys(_spot(spot, root) for spot in found)
    return Answer("\n".join(_bounded(lines)))


def _spot(spot: Spot, root: str) -> str:
    named = _named(spot)
    where = f"{_short(spot.path, root)}:{spot.line}:{spot.column}"
    return f"{where}: {named}" if named else where


def _named(spot: Spot) -> str:
    inside = f" in {spot.inside}" if spot.inside else ""
    return " ".join(filter(None, (spot.kind, spot.name))) + inside


def _bounded(lines: Iterable[str]) -> list[str]:
    all = list(lines)
    more = [f"… and {len(all) - _MOST} more"] if len(all) > _MOST else []
    return all[:_MOST] + more


def _short(path: str, root: str) -> str:
    return relpath(path, root) if path.startswith(f"{root}/") else path
