"""Reading and changing files: through the client when it offers to, on the disk otherwise.

Line endings are kept as they are, and a file is written only after permission was given.
"""

from __future__ import annotations

from pathlib import Path

from acp import tool_diff_content

from agentls.core.errors import AgentError
from agentls.demo.toolcall import ToolCall
from agentls.demo.turn import Turn, asking_client


async def read_file(turn: Turn, path: Path) -> str:
    """Read a file as a tool call and return its text."""
    call = ToolCall(turn, f"Read {path.name}", "read", raw_input={"path": str(path)}, path=path)
    async with call:
        await call.update("in_progress")
        text = await _read(turn, path)
        await call.update("completed")
    return text


async def edit_file(
    turn: Turn, path: Path, *, old: str | None, new: str, line: int | None = None
) -> bool:
    """Propose a new text for a file (`old` is None for a new one) and write it if allowed."""
    verb = "Create" if old is None else "Edit"
    diff = tool_diff_content(str(path), new_text=new, old_text=old)
    call = ToolCall(
        turn,
        f"{verb} {path.name}",
        "edit",
        raw_input={"path": str(path)},
        path=path,
        line=line,
        content=[diff],
    )
    async with call:
        if not await call.allowed():
            return False
        await call.update("in_progress")
        await _write(turn, path, new)
        await call.update("completed")
    return True


async def _read(turn: Turn, path: Path) -> str:
    if turn.abilities.reads_files:
        with asking_client(f"read {path.name}"):
            return (await turn.client.read_text_file(turn.session.id, str(path))).content
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise AgentError(f"Cannot read {path}: {_reason(error)}.") from error


async def _write(turn: Turn, path: Path, text: str) -> None:
    if turn.abilities.writes_files:
        with asking_client(f"write {path.name}"):
            await turn.client.write_text_file(turn.session.id, str(path), text)
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        raise AgentError(f"Cannot write {path}: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (getattr(error, "strerror", None) or str(error)).lower()
