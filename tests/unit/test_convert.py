"""ACP to core values and back: nothing is refused, nothing is lost, and what we send is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import acp.schema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from agentls.agent import convert, updates
from agentls.core import events as ev
from agentls.core.markdown import transcript_markdown
from agentls.core.model import (
    Abilities,
    AgentOption,
    AuthMethod,
    Block,
    Choice,
    Diff,
    Level,
    Location,
    Mode,
    Option,
    PastSession,
    PlanStep,
    Role,
    SessionSetup,
    SlashCommand,
    TerminalRef,
    ToolCallPatch,
    Usage,
)
from agentls.core.transcript import Transcript

TRACES = sorted((Path(__file__).parent.parent / "traces").glob("*.jsonl"))
KINDS = [
    "agent_message_chunk",
    "agent_thought_chunk",
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
]


def one(**raw: Any) -> ev.Event:
    [event] = updates.update(raw)
    return event


def chunk(kind: str, content: Any, **more: Any) -> ev.Event:
    return one(sessionUpdate=kind, content=content, **more)


# -- every known kind of update


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("agent_message_chunk", Role.AGENT),
        ("agent_thought_chunk", Role.THOUGHT),
        ("user_message_chunk", Role.USER),
    ],
)
def test_chunks_are_text_of_their_role(kind: str, role: Role) -> None:
    content = {"type": "text", "text": "Hi", "annotations": None}
    assert chunk(kind, content) == ev.TextAdded(role, "Hi")
    assert chunk(kind, content, messageId="m1") == ev.TextAdded(role, "Hi", "m1")
    assert chunk(kind, content, messageId=None) == ev.TextAdded(role, "Hi")
    image = {"type": "image", "data": "AA==", "mimeType": "image/png", "uri": "file:///x.png"}
    assert chunk(kind, image) == ev.BlockAdded(
        role, Block(kind="image", data="AA==", mime="image/png", uri="file:///x.png")
    )


@pytest.mark.parametrize("kind", ["tool_call", "tool_call_update"])
def test_a_tool_call_with_everything(kind: str) -> None:
    event = one(
        sessionUpdate=kind,
        toolCallId="c1",
        title="Edit x",
        kind="edit",
        status="pending",
        name="Edit",
        content=[
            {"type": "content", "content": {"type": "text", "text": "ok"}},
            {"type": "diff", "path": "/x", "oldText": "a", "newText": "b"},
            {"type": "diff", "path": "/new", "newText": "b"},
            {"type": "diff", "path": "/new", "oldText": None, "newText": "b"},
            {"type": "diff", "path": "/empty", "oldText": "", "newText": "b"},
            {"type": "terminal", "terminalId": "t1"},
            {"type": "hologram", "x": 1},
        ],
        locations=[{"path": "/x", "line": 3}, {"path": "/y", "line": None}, {"path": "/z"}],
        rawInput={"a": 1},
        rawOutput=False,
    )
    assert event == ev.ToolCallChanged(
        ToolCallPatch(
            id="c1",  # type: ignore[arg-type]
            title="Edit x",
            kind="edit",
            status="pending",
            name="Edit",
            content=(
                Block(kind="text", text="ok"),
                Diff("/x", "a", "b"),
                Diff("/new", None, "b"),
                Diff("/new", None, "b"),
                Diff("/empty", "", "b"),
                TerminalRef("t1"),  # type: ignore[arg-type]
                Block(kind="hologram", raw={"type": "hologram", "x": 1}),
            ),
            locations=(Location("/x", 3), Location("/y"), Location("/z")),
            input={"a": 1},
            output=False,
        )
    )


def test_what_a_tool_call_does_not_mention_is_unset_and_null_is_no_mention() -> None:
    for nothing in ({}, dict.fromkeys(("title", "kind", "status", "name"))):
        more: dict[str, Any] = nothing and {
            **nothing,
            **dict.fromkeys(("content", "locations", "rawInput", "rawOutput")),
        }
        patch = convert.tool_call_patch({"toolCallId": "c1", **more})
        assert patch == ToolCallPatch(id="c1")  # type: ignore[arg-type]
        assert patch.input is UNSET
    assert convert.tool_call_patch({"toolCallId": "c1", "content": []}).content == ()


def test_output_that_travels_in_meta() -> None:
    events = updates.update(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c1",
            "status": "completed",
            "_meta": {
                "terminal_output_delta": {"data": "made it\n", "terminal_id": "t1"},
                "terminal_exit": {"exit_code": 0, "signal": None, "terminal_id": "t1"},
            },
        }
    )
    assert events[:-1] == (
        ev.OutputAdded("c1", "t1", "made it\n"),  # type: ignore[arg-type]
        ev.OutputEnded("c1", "t1", 0),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("key", ["terminal_info", "terminal_output", "terminal_output_delta"])
def test_output_in_meta_without_a_terminal_belongs_to_its_call(key: str) -> None:
    _, event = updates.update(
        {"sessionUpdate": "tool_call", "toolCallId": "c1", "_meta": {key: {"data": 5}}}
    )
    retold = key != "terminal_output_delta"
    assert event == ev.OutputAdded("c1", "c1", "", retold=retold)  # type: ignore[arg-type]


@pytest.mark.parametrize("meta", [None, {}, [], [1], "x", {"terminal_output": 5}, {"other": 1}])
def test_meta_of_another_shape_does_not_harm_the_call(meta: Any) -> None:
    assert one(sessionUpdate="tool_call", toolCallId="c1", title="T", _meta=meta) == (
        ev.ToolCallChanged(ToolCallPatch(id="c1", title="T"))  # type: ignore[arg-type]
    )


def test_meta_cannot_change_what_a_call_is() -> None:
    meta = {"toolCallId": "other", "title": "Harmless", "kind": "read", "sessionUpdate": "plan"}
    event = one(sessionUpdate="tool_call", toolCallId="c1", title="rm -rf", _meta=meta)
    assert event == ev.ToolCallChanged(ToolCallPatch(id="c1", title="rm -rf"))  # type: ignore[arg-type]


def test_a_plan_is_all_of_its_steps() -> None:
    entries = [{"content": "a", "status": "completed", "priority": "high"}, {"content": "b"}]
    steps = (PlanStep("a", "completed", "high"), PlanStep("b"))
    assert one(sessionUpdate="plan", entries=entries) == ev.PlanChanged(steps)
    plan = {"type": "items", "planId": "p1", "entries": entries}
    assert one(sessionUpdate="plan_update", plan=plan) == ev.PlanChanged(steps, "p1")
    other = {"sessionUpdate": "plan_update", "plan": {"type": "markdown", "content": "x"}}
    assert one(**other) == ev.OtherUpdate("plan_update", other)


def test_commands_mode_options_title_and_usage() -> None:
    commands = [
        {"name": "plan", "description": "Makes a plan.", "input": {"hint": "what"}},
        {"name": "help", "input": None},
    ]
    assert one(
        sessionUpdate="available_commands_update", availableCommands=commands
    ) == ev.CommandsChanged((SlashCommand("plan", "Makes a plan.", "what"), SlashCommand("help")))
    assert one(sessionUpdate="current_mode_update", currentModeId="ask") == ev.ModeChanged("ask")
    assert one(sessionUpdate="config_option_update", configOptions=[]) == ev.OptionsChanged(())
    assert one(sessionUpdate="session_info_update", title="T") == ev.TitleChanged("T")
    usage = {"used": 10, "size": 100, "cost": {"amount": 0.5, "currency": "USD"}}
    assert one(sessionUpdate="usage_update", **usage) == ev.UsageChanged(
        Usage(context_used=10, context_size=100, cost=0.5, currency="USD")
    )
    assert one(sessionUpdate="usage_update", used=1, size=2, cost=None) == ev.UsageChanged(
        Usage(context_used=1, context_size=2)
    )


def test_a_session_info_without_a_title_says_nothing_new() -> None:
    assert updates.update({"sessionUpdate": "session_info_update", "updatedAt": "now"}) == ()
    assert updates.update({"sessionUpdate": "session_info_update", "title": None}) == ()


OPTIONS: list[dict[str, Any]] = [
    {
        "type": "select",
        "id": "model",
        "name": "Model",
        "category": "model",
        "description": None,
        "currentValue": "large",
        "options": [
            {"group": "g", "name": "Big ones", "options": [{"value": "large", "name": "Large"}]},
            {"value": "small", "name": "Small", "description": "Quick"},
        ],
    },
    {"type": "boolean", "id": "fast", "name": "Fast", "currentValue": True},
]


def test_options_of_a_session_grouped_or_not() -> None:
    assert convert.agent_options(OPTIONS) == (
        AgentOption(
            id="model",
            name="Model",
            kind="select",
            value="large",
            category="model",
            choices=(Choice("large", "Large", "", "Big ones"), Choice("small", "Small", "Quick")),
        ),
        AgentOption(id="fast", name="Fast", kind="boolean", value=True),
    )


# -- what is malformed is kept


MALFORMED: list[dict[str, Any]] = [
    {},
    {"sessionUpdate": None},
    {"sessionUpdate": 5},
    {"sessionUpdate": ["plan"]},
    {"sessionUpdate": "weather_report", "sky": "blue"},
    *({"sessionUpdate": kind} for kind in KINDS[:9]),
    {"sessionUpdate": "agent_message_chunk", "content": None},
    {"sessionUpdate": "agent_message_chunk", "content": []},
    {"sessionUpdate": "agent_message_chunk", "content": "text"},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text"}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": None}},
    {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 42}},
    {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": ["a"]}},
    {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "a"},
        "messageId": [1],
    },
    {"sessionUpdate": "tool_call", "toolCallId": None},
    {"sessionUpdate": "tool_call", "toolCallId": ["c"]},
    {"sessionUpdate": "plan", "entries": None},
    {"sessionUpdate": "plan", "entries": {}},
    {"sessionUpdate": "plan", "entries": ""},
    {"sessionUpdate": "plan", "entries": ["a"]},
    {"sessionUpdate": "plan_update", "plan": None},
    {"sessionUpdate": "available_commands_update", "availableCommands": None},
    {"sessionUpdate": "available_commands_update", "availableCommands": [{}]},
    {"sessionUpdate": "available_commands_update", "availableCommands": ["help"]},
    {"sessionUpdate": "current_mode_update", "currentModeId": None},
    {"sessionUpdate": "config_option_update", "configOptions": None},
    {"sessionUpdate": "session_info_update", "title": 5},
    {"sessionUpdate": "usage_update", "cost": [1]},
]


@pytest.mark.parametrize("raw", MALFORMED, ids=json.dumps)
def test_an_update_that_cannot_be_understood_is_kept_whole(raw: dict[str, Any]) -> None:
    [event] = updates.update(raw)
    assert isinstance(event, ev.OtherUpdate)
    assert event.raw is raw


def test_bad_members_of_lists_do_not_spoil_the_others() -> None:
    patch = convert.tool_call_patch(
        {
            "toolCallId": "c1",
            "title": 5,
            "content": [
                None,
                "x",
                {"type": "content", "content": None},
                {"type": "diff", "path": 5},
                {"type": "terminal"},
                {"type": "content", "content": {"type": "text", "text": "good"}},
            ],
            "locations": [
                None,
                {"path": None},
                {"path": "/x", "line": "3"},
                {"path": "/y", "line": True},
            ],
        }
    )
    assert patch.title is UNSET
    assert patch.content == (
        Block(kind="content", raw={"type": "content", "content": None}),
        Block(kind="diff", raw={"type": "diff", "path": 5}),
        Block(kind="terminal", raw={"type": "terminal"}),
        Block(kind="text", text="good"),
    )
    assert patch.locations == (Location("/x"), Location("/y"))
    assert convert.permission_options([None, {"name": "x"}, {"optionId": "a"}]) == (
        Option("a", "a", ""),
    )
    assert convert.agent_options([None, {}, {"id": "a", "currentValue": None}]) == (
        AgentOption(id="a", name="a", kind="select", value=""),
    )


def test_a_cost_that_is_no_number_is_no_cost() -> None:
    for amount in ("much", True, None, [1]):
        event = one(sessionUpdate="usage_update", used="1", size=2, cost={"amount": amount})
        assert event == ev.UsageChanged(Usage(context_size=2))


numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
plain = st.none() | st.booleans() | numbers | st.text(max_size=6)
names = st.sampled_from(
    ["type", "text", "content", "path", "status", "id", "name", "options", "value", "_meta", "x"]
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
pieces = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "resource", "content", "diff", "terminal"])},
    optional=dict.fromkeys(("text", "data", "resource", "content", "path", "newText"), values),
)
anything = pieces | st.lists(pieces, max_size=3) | values
CALL = ("toolCallId", "title", "status", "content", "locations", "rawInput", "_meta")
MEMBERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(KINDS[:3], ("content", "messageId")),
    **dict.fromkeys(KINDS[3:5], CALL),
    "plan": ("entries",),
    "plan_update": ("plan",),
    "available_commands_update": ("availableCommands",),
    "current_mode_update": ("currentModeId",),
    "config_option_update": ("configOptions",),
    "session_info_update": ("title", "updatedAt"),
    "usage_update": ("used", "size", "cost"),
}
known = st.sampled_from(sorted(MEMBERS)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"sessionUpdate": st.just(kind)}, optional=dict.fromkeys(MEMBERS[kind], anything)
    )
)
unknown = st.dictionaries(st.just("sessionUpdate") | st.text(max_size=4), values, max_size=4)


@settings(deadline=None, max_examples=500)
@given(known | unknown)
def test_no_update_raises_or_is_lost_and_each_can_be_shown(raw: dict[str, Any]) -> None:
    before = json.dumps(raw)
    events = updates.update(raw)
    assert json.dumps(raw) == before, "the raw update was changed"
    if not events:
        assert raw["sessionUpdate"] == "session_info_update"
        assert not raw.get("title")
    transcript = Transcript()
    for event in events:
        if isinstance(event, ev.OtherUpdate):
            assert event.raw is raw
        transcript.apply(event, 0.0)
    assert transcript_markdown(transcript)


@settings(deadline=None)
@given(values)
def test_no_result_of_any_shape_raises(raw: Any) -> None:
    convert.session_setup(raw)
    convert.past_sessions(raw)
    convert.turn_usage(raw)
    convert.agent_options(raw)
    convert.permission_options(raw)
    assert convert.error_words("words", raw)
    if isinstance(raw, dict):
        convert.agent_info("name", "title", 1, raw)
        convert.block(raw)


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_everything_that_real_agents_said_is_understood(path: Path) -> None:
    others: list[dict[str, Any]] = []
    seen = 0
    for line in path.read_text("utf-8").splitlines():
        frame = json.loads(line)
        message = frame["msg"]
        if frame["dir"] != "in" or not isinstance(message, dict):
            continue
        if message.get("method") == "session/update":
            seen += 1
            events = updates.update(message["params"]["update"])
            others += [e.raw for e in events if isinstance(e, ev.OtherUpdate)]
    assert seen
    assert others == []


# -- results


def test_a_session_setup_with_modes_and_options() -> None:
    raw = {
        "sessionId": "s1",
        "modes": {
            "currentModeId": "ask",
            "availableModes": [
                {"id": "ask", "name": "Ask", "description": None},
                {"id": "plan"},
                {},
                None,
            ],
        },
        "configOptions": OPTIONS[1:],
    }
    assert (
        convert.session_setup(raw)
        == SessionSetup(
            id="s1",  # type: ignore[arg-type]
            modes=(Mode("ask", "Ask"), Mode("plan", "plan")),
            mode="ask",
            options=convert.agent_options(OPTIONS[1:]),
        )
    )


def test_a_loaded_session_need_not_be_named_again() -> None:
    assert convert.session_setup(None, "past").id == "past"
    assert convert.session_setup({}, "past").id == "past"
    assert convert.session_setup({"sessionId": "new"}, "past").id == "new"
    assert convert.session_setup({"modes": None}).id == ""


def test_what_an_agent_can_do_is_what_it_says() -> None:
    raw = {
        "agentInfo": {"name": "x", "version": 5},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "sessionCapabilities": {"resume": {}, "fork": None, "list": {"x": 1}, "close": False},
        },
        "authMethods": [{"id": "key", "name": "API key", "type": "env_var"}, {}, None],
    }
    info = convert.agent_info("claude", "Claude Code", 7, raw)
    assert info.abilities == Abilities(
        load=True, resume=True, list=True, images=True, embedded=True
    )
    assert (info.name, info.title, info.version, info.pid) == ("claude", "Claude Code", "5", 7)
    assert info.auth_methods == (AuthMethod(id="key", name="API key", kind="env_var"),)
    assert convert.agent_info("x", "X", 0, {}).abilities == Abilities()


def test_past_sessions_and_usage() -> None:
    listed = {"sessions": [{"sessionId": "a", "cwd": "/p", "title": None, "updatedAt": "t"}, {}, 1]}
    assert convert.past_sessions(listed) == [PastSession(id="a", cwd="/p", updated="t")]  # type: ignore[arg-type]
    assert convert.past_sessions(None) == []
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3.5}
    assert convert.turn_usage({"usage": usage}) == Usage(input_tokens=1, output_tokens=2)
    assert convert.turn_usage({"usage": None}) is None
    assert convert.turn_usage({"stopReason": "end_turn"}) is None


@pytest.mark.parametrize(
    ("message", "data", "words"),
    [
        ("Internal error", {"details": "model overloaded"}, "model overloaded"),
        ("internal error", {"message": "no key"}, "no key"),
        ("Bad model", {"details": "gpt-0"}, "Bad model: gpt-0"),
        ("Bad model", {"error": {"a": 1}}, "Bad model: {'a': 1}"),
        ("Bad model: gpt-0", {"details": "gpt-0"}, "Bad model: gpt-0"),
        ("Bad model", "gpt-0", "Bad model: gpt-0"),
        ("Bad model", {"details": ""}, "Bad model"),
        ("Bad model", None, "Bad model"),
        ("Bad model", [1], "Bad model"),
        ("  ", None, "unknown error"),
        ("", {"details": "why"}, "unknown error: why"),
    ],
)
def test_the_words_of_an_error_are_found_wherever_they_are(
    message: str, data: Any, words: str
) -> None:
    assert convert.error_words(message, data) == words


def test_what_was_left_out_is_a_warning() -> None:
    assert updates.left_out("too long") == ev.NoticeShown(Level.WARNING, "too long")


# -- what we send


SENDABLE = [
    Block(kind="text", text="Hi"),
    Block(kind="text"),
    Block(kind="image", data="AA==", mime="image/png", uri="file:///x.png"),
    Block(kind="audio", data="AA==", mime="audio/wav"),
    Block(kind="link", uri="file:///x.py", name="x.py", mime="text/x-python"),
    Block(kind="link", uri="file:///x.py"),
    Block(kind="resource", uri="file:///x.py", text="print()", mime="text/x-python"),
    Block(kind="resource", uri="file:///x.bin", data="AA=="),
    Block(kind="resource", uri="file:///empty"),
]


@pytest.mark.parametrize("block", SENDABLE, ids=repr)
def test_every_kind_of_block_that_we_send_is_right(block: Block) -> None:
    raw = convert.acp_block(block)
    request = acp.schema.PromptRequest.model_validate({"sessionId": "s", "prompt": [raw]})
    [sent] = request.model_dump(mode="json", by_alias=True, exclude_none=True)["prompt"]
    assert sent == raw


@pytest.mark.parametrize("block", SENDABLE, ids=repr)
def test_a_block_that_comes_back_is_the_same(block: Block) -> None:
    back = convert.block(convert.acp_block(block))
    name = block.name or (block.uri if block.kind == "link" else "")
    uri = "" if block.kind == "image" else block.uri
    assert back == replace(block, name=name, uri=uri)


def test_a_block_of_an_unknown_kind_goes_back_as_it_came() -> None:
    raw = {"type": "hologram", "data": "?"}
    assert convert.acp_block(convert.block(raw)) is raw
    assert convert.acp_block(Block(kind="hologram")) == {"type": "hologram"}
