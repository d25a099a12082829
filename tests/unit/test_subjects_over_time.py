"""What an ask leaves out and was said before, in words or in recordings, and any input at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentls.agent.convert import tool_call_patch
from agentls.core import events as ev
from agentls.core.policy.gate import Judgement, SessionPolicy
from agentls.core.policy.rules import Mode
from agentls.core.policy.verdicts import Verdict
from agentls.core.transcript import ToolCall, Transcript
from agentls.storage.paths import resolve
from fakes.calls import Book, Json, call_after, diff, judge, project, run, usual_rules, words

TRACES = Path(__file__).parent.parent / "traces"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("calls"))


# --- what was said before the ask


BEFORE: list[tuple[Json, Json, str]] = [
    (run("ls", cwd="/etc"), run("ls"), "it runs in /etc"),
    (run("ls", workdir=".git"), run("ls"), "hidden folder"),
    (run("rm x", cwd="ROOT"), run("ls"), "another command (rm x)"),
    (run("ls", env={"A": "b"}), run("ls"), "env"),
    (run("ls", sandbox={"off": True}), run("ls"), "sandbox"),
    (run("ls"), {"rawInput": {"url": "https://evil.example"}}, "url"),
    (run("ls"), {"kind": "read", "rawInput": {"path": "a"}}, "path"),
    ({"kind": "edit", "content": [diff("/etc/x")]}, {"locations": [{"path": "a"}]}, "outside"),
    (
        {"kind": "edit", "content": [diff("/etc/x")]},
        {"content": [diff("a")], "locations": [{"path": "a"}]},
        "outside",
    ),
    (
        {"kind": "edit", "rawInput": {"filePath": "/etc/x"}},
        {"rawInput": {"filepath": "ROOT/a"}},
        "outside",
    ),
    ({"kind": "edit", "locations": [{"path": "a"}]}, {"kind": "read"}, "writes to a"),
]


@pytest.mark.parametrize(("before", "ask", "part"), BEFORE, ids=str)
def test_what_the_ask_leaves_out_is_judged_too(
    root: Path, before: Json, ask: Json, part: str
) -> None:
    ruling = judge(root, before, ask, mode=Mode.ACCEPT_EDITS).ruling
    assert ruling.verdict is Verdict.ASK
    assert part in ruling.why


@pytest.mark.parametrize(
    ("before", "ask"),
    [
        (run("ls", cwd="ROOT"), run("ls")),
        (run("l"), run("ls -l", description="look")),
        ({"kind": "execute", "rawInput": {}, "title": "Terminal"}, run("ls")),
        ({"kind": "edit", "rawInput": {"file_path": "ROOT/a"}}, {"rawInput": {"filePath": "a"}}),
        ({"kind": "edit", "content": [diff("ROOT/a")]}, {"locations": [{"path": "ROOT/a"}]}),
        ({"kind": "edit", "rawInput": {"path": "ROOT/a", "old_string": "x"}}, {"title": "Edit a"}),
    ],
    ids=str,
)
def test_an_input_that_was_still_being_written_is_no_second_one(
    root: Path, before: Json, ask: Json
) -> None:
    ruling = judge(root, before, ask, mode=Mode.ACCEPT_EDITS).ruling
    assert ruling.verdict is Verdict.ALLOW, ruling.why


def test_a_folder_is_remembered_through_several_asks_about_one_call(root: Path) -> None:
    # As OpenCode does: first it asks to work elsewhere, then to run the command there.
    policy = SessionPolicy("opencode", str(root), book=usual_rules(), resolve=resolve)
    transcript = Transcript()

    def ask(message: Json) -> Judgement:
        before = transcript.call(tool_call_patch({"toolCallId": "c"}).id)
        before = copy(before)
        patch = tool_call_patch({"toolCallId": "c", **message})
        call = transcript.apply(ev.ToolCallChanged(patch), 0.0)
        assert isinstance(call, ToolCall)
        return policy.judge(call, before)

    started = {"toolCallId": "c", **run("ls", cwd="/etc")}
    transcript.apply(ev.ToolCallChanged(tool_call_patch(started)), 0.0)
    first = ask({"kind": "other", "rawInput": {"command": "ls", "directories": ["/etc"]}})
    assert "directories" in first.subject.also
    second = ask(run("ls"))
    assert second.subject.cwd == "/etc"
    assert second.subject.also == ""
    assert "it runs in /etc" in second.ruling.why


# --- Gemini CLI, which says the command in the title and the folder in words


def gemini(title: str, text: str) -> Json:
    return {"kind": "execute", "title": title, "content": [words(text)], "locations": []}


@pytest.mark.parametrize(
    ("title", "text", "part"),
    [
        ("ls -l", "[current working directory ROOT] (Look)", ""),
        ("ls -l", "[in src] (Look)", ""),
        ("ls -l", "[in src] [background]", ""),
        ("ls -l", "[in /etc] (Look)", "outside"),
        ("ls -l", "[in .git] (Look)", "hidden folder"),
        ("ls -l", "[in src] (Look) [in /etc] (Look)", "another folder"),
        ("ls -l", "[in src", "folder that cannot be read"),
        ("ls -l", "Look [in src]", "title"),
        ("ls -l...", "[current working directory ROOT]", "title"),
        ("ls -l…", "[current working directory ROOT]", "…"),
        ("ls && rm x", "[current working directory ROOT]", "`rm x`"),
    ],
)
def test_a_title_is_the_command_only_as_gemini_says_it(
    root: Path, title: str, text: str, part: str
) -> None:
    judged = judge(root, gemini(title, text), agent="gemini")
    assert judged.shown == title
    assert judged.ruling.verdict is (Verdict.ASK if part else Verdict.ALLOW)
    assert part in judged.ruling.why
    assert judge(root, gemini(title, text), agent="claude").ruling.verdict is Verdict.ASK


def test_arguments_are_shown_as_they_would_be_typed(root: Path) -> None:
    assert judge(root, run(["rm", "a b", "c"])).shown == "rm 'a b' c"


# --- the recorded agents


def recorded() -> list[Any]:
    """Each ask in the recordings, after what the agent had said about the call."""
    found: list[Any] = []
    for path in sorted(TRACES.glob("*.jsonl")):
        said: dict[tuple[str, str], list[Json]] = {}
        for line in path.read_text().splitlines():
            frame = json.loads(line)
            if frame["dir"] != "in":
                continue
            params = frame["msg"].get("params") or {}
            call = params.get("toolCall") or params.get("update") or {}
            if "toolCallId" not in call:
                continue
            messages = said.setdefault((params["sessionId"], call["toolCallId"]), [])
            if "toolCall" in params:
                id = f"{path.stem}-{len(found)}"
                found.append(pytest.param(path.stem.partition("-")[0], [*messages, call], id=id))
            messages.append(call)
    return found


@pytest.mark.parametrize(("agent", "messages"), recorded())
def test_every_recorded_ask_can_be_understood(agent: str, messages: list[Json]) -> None:
    """Commands and edits are shown and can be allowed for good; the rest is asked each time."""
    policy = SessionPolicy(agent, "/project", book=Book(), resolve=lambda path, _: path)
    call = call_after(*messages)
    before = call_after(*messages[:-1]) if messages[1:] else None
    judged = policy.judge(call, before)
    assert judged.ruling.verdict is Verdict.ASK
    assert judged.subject.also == ""
    if call.kind == "execute":
        assert judged.shown == call.title
        assert judged.subject.cwd == "/project"
        assert judged.suggestions or "while read" in call.title
    elif call.kind == "edit":
        assert {use.path for use in judged.subject.paths} <= {
            "/project/greeting.txt",
            "/project/new.txt",
        }
        policy.mode = Mode.ACCEPT_EDITS
        assert policy.judge(call, before).ruling.verdict is Verdict.ALLOW
    else:
        assert (agent, call.kind) == ("gemini", "other")
    for offer in judged.suggestions:
        again = SessionPolicy(agent, "/project", book=Book(), resolve=lambda path, _: path)
        again.remember(offer, "project")
        assert again.judge(call, before).ruling.verdict is Verdict.ALLOW


# --- anything at all

_KEYS = st.sampled_from(["path", "command", "cwd", "pattern", "url", "x", "/etc", "diff", "argv"])
_TEXTS = st.sampled_from(
    ["a", "/etc/x", "ls", "~", "..", "\0", "file:///x", "http://[", "\ud800", ""]
)
_INPUTS = st.recursive(
    _TEXTS | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(input=_INPUTS, earlier=_INPUTS, kind=st.sampled_from(["read", "edit", "execute", "x"]))
def test_no_input_whatever_makes_the_gate_fail(
    root: Path, input: Any, earlier: Any, kind: str
) -> None:
    policy = SessionPolicy("x", str(root), book=usual_rules(), resolve=resolve)
    first = {"kind": kind, "rawInput": earlier}
    judged = policy.judge(call_after(first, {"rawInput": input}), call_after(first))
    assert "see the log" not in judged.ruling.why


def test_an_input_that_cannot_be_compared_is_asked(root: Path) -> None:
    policy = SessionPolicy("x", str(root), book=usual_rules(), resolve=resolve)
    policy.mode = Mode.TRUST
    first, second = ({"x": _nested(20_000, lambda inner: [inner])} for _ in range(2))
    before, call = call_after({"kind": "read"}), call_after({"kind": "read", "title": "look"})
    before.input, call.input = first, second
    judged = policy.judge(call, before)
    assert judged.ruling.verdict is Verdict.ASK
    assert policy.judge_subject(judged.subject).ruling.verdict is Verdict.ASK


def _nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = "/etc/x"
    for _ in range(depth):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda inner: {"x": inner}, lambda inner: [inner]])
@pytest.mark.parametrize("depth", [5, 50, 900])
def test_what_is_deep_in_an_input_is_found_or_said_to_be_too_deep(
    root: Path, depth: int, wrap: Callable[[Any], Any]
) -> None:
    message = {
        "kind": "read",
        "locations": [{"path": "a"}],
        "rawInput": {"x": _nested(depth, wrap)},
    }
    policy = SessionPolicy("x", str(root), book=Book(), resolve=resolve)
    ruling = policy.judge(call_after(message)).ruling
    assert ruling.verdict is Verdict.ASK
    assert ("outside" if depth == 5 else "looked through") in ruling.why
