"""Tools as values: what is offered to whom, and in which shape."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from msgspec import Meta

from agentls.core.errors import BadRequest
from agentls.core.session import Session
from agentls.core.tools.tool import Answer, Arguments, Caller, Tool, Toolbox, given


class Place(Arguments, frozen=True):
    """Where."""

    path: Annotated[str, Meta(description="A path.")]
    line: int = 1


async def _run(caller: Caller, arguments: Place) -> Answer:
    return Answer(f"{arguments.path}:{arguments.line}")


def _tool(name: str = "show", **more: Any) -> Tool:
    fixed: dict[str, Any] = {"title": "Show", "description": "Shows.", "kind": "read"}
    return Tool(name=name, arguments=Place, run=_run, **fixed, **more)


def test_the_schema_of_a_tool_is_an_object_at_its_top() -> None:
    assert _tool().schema() == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "A path."},
            "line": {"type": "integer", "default": 1},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def test_arguments_become_what_the_tool_declares() -> None:
    assert given(_tool(), {"path": "a.py"}) == Place(path="a.py", line=1)


@pytest.mark.parametrize("raw", [None, [], {"path": 1}, {"path": "a", "lines": 3}, {"line": 2}])
def test_arguments_of_another_shape_are_refused_with_the_name_of_the_tool(raw: Any) -> None:
    with pytest.raises(BadRequest, match="The arguments of show are wrong"):
        given(_tool(), raw)


def test_a_session_finds_only_what_it_is_offered() -> None:
    one: Any = object()
    other: Any = object()

    def only_one(session: Session) -> bool:
        return session is one

    box = Toolbox([_tool("everywhere"), _tool("here", offered=only_one)])
    assert [tool.name for tool in box.offered(one)] == ["everywhere", "here"]
    assert [tool.name for tool in box.offered(other)] == ["everywhere"]
    assert box.find(one, "here").name == "here"
    with pytest.raises(BadRequest, match="There is no tool 'here' here"):
        box.find(other, "here")
