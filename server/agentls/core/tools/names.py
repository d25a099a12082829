"""How agents call our tools: each in its own way.

Invariant: what is recognised here is a claim of the agent and allows nothing by itself.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..model import Block
from ..transcript import ToolCall
from .tool import SERVER

_IN_A_NAME = re.compile(rf"(?:mcp__{SERVER}__|mcp\.{SERVER}\.|{SERVER}[_./])(?P<tool>\w+)")
_IN_A_TITLE = re.compile(rf"(?P<tool>\w+) \({SERVER} MCP Server\)|Tool: {SERVER}/(?P<other>\w+)")
_IN_AN_ID = re.compile(rf"mcp_{SERVER}_(?P<tool>\w+?)__.+")
_WRAPPED = {"server", "tool", "arguments"}


def tool_called(call: ToolCall) -> str:
    """The name of the tool of ours that a call says it calls; empty if it does not say so."""
    for words in (call.name, call.title):
        if found := _IN_A_NAME.fullmatch(words):
            return found["tool"]
    if found := _IN_A_TITLE.fullmatch(call.title):
        return str(found["tool"] or found["other"])
    # Gemini CLI shows a command instead of the name of the tool that runs it.
    found = _IN_AN_ID.fullmatch(call.call)
    given = arguments_in(call)
    shows_command = isinstance(given, dict) and given.get("command") == call.title
    return found["tool"] if found and shows_command else ""


def arguments_in(call: ToolCall) -> Any:
    """What the call says it gives to the tool; None if it does not say."""
    given = call.input
    if isinstance(given, dict) and given.keys() == _WRAPPED and given["server"] == SERVER:
        return given["arguments"]  # Codex says who, and then what
    return _in_text(call) if given is None else given


def _in_text(call: ToolCall) -> Any:
    """Gemini CLI says it in words."""
    if len(call.content) == 1 and isinstance(words := call.content[0], Block):
        try:
            found = msgspec.json.decode(words.text)
        except msgspec.DecodeError:
            return None
        return found if isinstance(found, dict) else None
    return None
