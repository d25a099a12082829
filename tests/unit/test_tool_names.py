"""How agents name our tools in their own tool calls, as recorded from real ones."""

from __future__ import annotations

from typing import Any

import pytest

from agentls.core.events import ToolCallChanged
from agentls.core.model import Block, ToolCallId, ToolCallPatch
from agentls.core.tools.names import arguments_in, tool_called
from agentls.core.transcript import ToolCall, Transcript

ARGUMENTS = {"path": "a.txt"}
IN_WORDS = (Block(kind="text", text='{"path":"a.txt"}'),)
COMMAND = (Block(kind="text", text='{"command":"make"}'),)
GEMINI_ID = "mcp_agentls_run_in_terminal__call_1"


def call(id: str = "c1", **patch: Any) -> ToolCall:
    entry = Transcript().apply(ToolCallChanged(ToolCallPatch(id=ToolCallId(id), **patch)), 0.0)
    assert isinstance(entry, ToolCall)
    return entry


@pytest.mark.parametrize(
    "said",
    [
        {"name": "mcp__agentls__read_buffer", "input": ARGUMENTS},
        {
            "title": "mcp.agentls.read_buffer",
            "input": {"server": "agentls", "tool": "read_buffer", "arguments": ARGUMENTS},
        },
        {"title": "read_buffer (agentls MCP Server)", "content": IN_WORDS},
        {"title": "agentls_read_buffer", "input": ARGUMENTS},
    ],
    ids=["claude", "codex", "gemini", "opencode"],
)
def test_each_agent_names_them_in_its_own_way(said: dict[str, Any]) -> None:
    assert tool_called(call(**said)) == "read_buffer"
    assert arguments_in(call(**said)) == ARGUMENTS


def test_gemini_shows_the_command_and_names_the_tool_in_the_id() -> None:
    assert tool_called(call(GEMINI_ID, title="make", content=COMMAND)) == "run_in_terminal"
    assert tool_called(call(GEMINI_ID, title="make it so", content=COMMAND)) == ""
    assert tool_called(call(GEMINI_ID, title="make")) == ""


def test_more_than_who_and_what_is_not_taken_for_arguments() -> None:
    more = {"server": "agentls", "tool": "show", "arguments": ARGUMENTS, "command": "rm -rf ."}
    assert arguments_in(call(title="mcp.agentls.show", input=more)) == more


@pytest.mark.parametrize(
    "title",
    [
        "read_buffer",
        "mcp__other__read_buffer",
        "agentls_read_buffer; rm",
        "xagentls_show",
        "read_buffer (agentls MCP Server) && rm -rf .",
    ],
)
def test_what_is_not_said_is_not_ours(title: str) -> None:
    assert tool_called(call(title=title, input=ARGUMENTS)) == ""
