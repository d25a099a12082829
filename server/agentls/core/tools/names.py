"""How agents call our tools: each in its own way.

Invariant: what is recognised here is a claim of the agent and allows nothing by itself.
"""

from __future__ import annotations

import re
from typing import Any

from ..transcript import ToolCall
from .tool import SERVER

_IN_A_NAME = re.compile(rf"(?:mcp__{SERVER}__|mcp\.{SERVER}\.|{SERVER}[_./])(?P<tool>\w+)")
_IN_A_TITLE = re.compile(rf"(?P<tool>\w+) \({SERVER} MCP Server\)|Tool: {SERVER}/(?P<other>\w+)")
_WRAPPED = ("arguments", "args", "input", "params")


def tool_called(call: ToolCall) -> str:
    """The name of the tool of ours that a call says it calls; empty if it does not say so."""
    for words in (call.name, call.title):
        if found := _IN_A_NAME.fullmatch(words):
            return found["tool"]
    found = _IN_A_TITLE.match(call.title)
    return (found["tool"] or found["other"]) if found else ""


def arguments_in(call: ToolCall) -> Any:
    """What the call says it gives to the tool; None if it does not say."""
    given = call.input
    if isinstance(given, dict) and given.get("server") == SERVER:  # Codex says who, and then what
        return next((given[key] for key in _WRAPPED if key in given), None)
    return given
