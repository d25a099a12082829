"""What a person does in most tests: prompt, and wait for the end of the turn."""

from __future__ import annotations

from typing import Any

from .editor import Editor

Json = dict[str, Any]


async def prompt(editor: Editor, agent: str, text: str = "Say hello.") -> str:
    result = await editor.request("agentls/session/prompt", {"agent": agent, "text": text})
    return str(result["sessionId"])


async def ended(editor: Editor, session: str, turns: int = 1) -> Json:
    """The end of a turn, once it is there."""
    mirror = editor.mirror(session)
    ends = await editor.until(
        lambda: len(mirror.of_kind("turn_end")) >= turns and mirror.of_kind("turn_end"),
        f"the end of turn {turns}",
    )
    return dict(ends[-1])


async def same_as_snapshot(editor: Editor, session: str) -> None:
    """What the batches told adds up to what the server says when it is asked."""
    told = editor.mirror(session)
    await editor.snapshot(session)
    # A very long message begins in the snapshot and goes on in the batches after it.
    await editor.until(
        lambda: editor.mirror(session).entries == told.entries, "the snapshot says the same"
    )
    assert editor.mirror(session).head | {"lastSign": 0} == told.head | {"lastSign": 0}
