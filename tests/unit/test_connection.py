"""A live agent, played by the replay: what it says reaches its sessions, what we send is right."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp.schema as s
import pytest

from agentls.agent.agents import Agents
from agentls.agent.catalog import Catalog
from agentls.agent.connection import Connection
from agentls.agent.spec import AgentSpec
from agentls.core import events as ev
from agentls.core.errors import (
    AgentError,
    AgentExited,
    AgentFailed,
    AgentStartFailed,
    AgentTimedOut,
    AuthRequired,
    BadRequest,
    UnknownAgent,
    UnsupportedByAgent,
)
from agentls.core.model import Abilities, AgentSessionId, AskId, Block, Decision, Level, Role
from agentls.core.ports import AskRequest, TurnOutcome
from fakes.core import LoopTasks
from fakes.processes import NoWarden, gone, until_gone

SCENARIOS = Path(__file__).parent.parent / "scenarios"
SECONDS = 20.0
HELLO = [Block(kind="text", text="Say hello.")]
SESSION = AgentSessionId("$session")
Json = dict[str, Any]


class Listener:
    """A session's end of the wire: implements `core.ports.Sink`."""

    door = None

    def __init__(self) -> None:
        self.events: list[ev.Event] = []
        self.asks: list[AskRequest] = []
        self.withdrawn: list[AskId] = []
        self.gone: list[AgentError] = []
        self.outcomes: list[TurnOutcome] = []
        self.log: list[str] = []
        self._changed = asyncio.Event()

    def _note(self, what: str) -> None:
        self.log.append(what)
        self._changed.set()

    def deliver(self, event: ev.Event) -> None:
        self.events.append(event)
        self._note(event.text if isinstance(event, ev.TextAdded) else type(event).__name__)

    def ask(self, request: AskRequest) -> AskId:
        self.asks.append(request)
        self._note("ask")
        return AskId(f"a{len(self.asks)}")

    def withdraw(self, ask: AskId) -> None:
        self.withdrawn.append(ask)
        self.asks[int(ask[1:]) - 1].answer(Decision(option=None, by="agent took it back"))
        self._note("withdrawn")

    def agent_gone(self, error: AgentError) -> None:
        self.gone.append(error)
        self._note("gone")

    def done(self, outcome: TurnOutcome) -> None:
        self.outcomes.append(outcome)
        self._note("done")

    async def until(self, condition: Callable[[], object], why: str) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            pytest.fail(f"{why}; so far: {self.log[-20:]}")

    async def turn(self, connection: Connection, id: AgentSessionId = SESSION) -> TurnOutcome:
        before = len(self.outcomes)
        connection.prompt(id, HELLO, self.done)
        await self.until(lambda: len(self.outcomes) > before, "the turn did not end")
        return self.outcomes[-1]

    def answer(self, number: int, option: str) -> None:
        request = self.asks[number]
        chosen = next(o for o in request.options if o.id == option)
        request.answer(Decision(option=chosen, by="you"))

    @property
    def text(self) -> str:
        return "".join(e.text for e in self.events if isinstance(e, ev.TextAdded))


# -- the frames that we send


MODELS: dict[str, Any] = {
    "initialize": s.InitializeRequest,
    "session/new": s.NewSessionRequest,
    "session/load": s.LoadSessionRequest,
    "session/resume": s.ResumeSessionRequest,
    "session/fork": s.ForkSessionRequest,
    "session/list": s.ListSessionsRequest,
    "session/close": s.CloseSessionRequest,
    "session/delete": s.DeleteSessionRequest,
    "session/set_mode": s.SetSessionModeRequest,
    "session/prompt": s.PromptRequest,
    "session/cancel": s.CancelNotification,
    "$/cancel_request": s.CancelRequestNotification,
}


def model_of(message: Json) -> tuple[Any, Json]:
    """What a frame of ours must be, and the part of it that must be so."""
    if "error" in message:
        return s.Error, message["error"]
    if "result" in message:
        return s.RequestPermissionResponse, message["result"]
    params = message["params"]
    if message["method"] == "session/set_config_option":
        boolean = params.get("type") == "boolean"
        model = s.SetSessionConfigOptionBooleanRequest if boolean else None
        return model or s.SetSessionConfigOptionSelectRequest, params
    return MODELS[message["method"]], params


def check_sent(connection: Connection) -> list[Json]:
    """Every frame of ours, after a look at whether the protocol has such."""
    frames = [json.loads(line) for _, way, line, _ in connection.ring._frames if way == "out"]
    for frame in frames:
        assert frame["jsonrpc"] == "2.0"
        model, part = model_of(frame)
        known = model.model_validate(part)
        # What the model does not know would be missing here.
        assert known.model_dump(mode="json", by_alias=True, exclude_unset=True) == part
    return frames


def play(path: Path | str, **more: Any) -> AgentSpec:
    file = SCENARIOS / f"{path}.jsonl" if isinstance(path, str) else path
    command = (sys.executable, "-m", "agentls.agent.replay", str(file))
    return AgentSpec(**{"name": "scripted", "title": "Scripted", "command": command, **more})


def connection_to(path: Path | str, **more: Any) -> Connection:
    options = {"version": "1.2.3", "timeout": SECONDS, **more}
    return Connection(play(path), warden=NoWarden(), **options)


@asynccontextmanager
async def connected(path: Path | str, **more: Any) -> AsyncIterator[tuple[Connection, Listener]]:
    """A connection that has shaken hands, with one session unless the scenario has none."""
    connection = connection_to(path, **more)
    listener = Listener()
    await connection.start("/")
    try:
        yield connection, listener
    finally:
        await stopped(connection)
        check_sent(connection)


async def stopped(connection: Connection) -> None:
    await connection.stop()
    for _ in range(5):  # hops for asyncio to close the pipes
        await asyncio.sleep(0)
    assert connection._process is not None
    assert connection._process.over
    assert gone(connection._process.pid)


@asynccontextmanager
async def in_session(path: Path | str, **more: Any) -> AsyncIterator[tuple[Connection, Listener]]:
    async with connected(path, **more) as (connection, listener):
        setup = await connection.new_session("/project", listener)
        assert setup.id == SESSION
        yield connection, listener


# -- scenarios of our own


def request(id: int, method: str, **params: Any) -> Json:
    return {
        "dir": "out",
        "msg": {"jsonrpc": "2.0", "id": id, "method": method, "params": params},
    }


def result(id: int, value: Any) -> Json:
    return {"dir": "in", "msg": {"jsonrpc": "2.0", "id": id, "result": value}}


def failure(id: int, code: int, message: str, data: Any = None) -> Json:
    error = {"code": code, "message": message, "data": data}
    return {"dir": "in", "msg": {"jsonrpc": "2.0", "id": id, "error": error}}


def update(session: str, text: str, **update: Any) -> Json:
    kind = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": session, "update": update or kind}
    return {"dir": "in", "msg": {"jsonrpc": "2.0", "method": "session/update", "params": params}}


def permission(id: Any, session: str, **more: Any) -> Json:
    params = {
        "sessionId": session,
        "toolCall": {"toolCallId": "c1", "title": "touch x"},
        "options": [
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ],
        **more,
    }
    message = {"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params}
    return {"dir": "in", "msg": message}


def notification(method: str, **params: Any) -> Json:
    return {"dir": "in", "msg": {"jsonrpc": "2.0", "method": method, "params": params}}


def answered(id: Any) -> Json:
    return {"dir": "out", "msg": {"jsonrpc": "2.0", "id": id, "result": {}}}


def burst(count: int) -> Json:
    """The next frames come in one write, and are read in one piece."""
    return {"dir": "do", "msg": {"do": "burst", "count": count}}


ABILITIES = {
    "loadSession": True,
    "sessionCapabilities": {"resume": {}, "fork": {}, "list": {}, "close": {}, "delete": {}},
}
SHAKE = [
    request(0, "initialize", protocolVersion=1),
    result(0, {"protocolVersion": 1, "agentCapabilities": ABILITIES}),
]
OPEN = [*SHAKE, request(1, "session/new"), result(1, {"sessionId": "$session"})]
PROMPT = request(2, "session/prompt")
END = result(2, {"stopReason": "end_turn"})


def scenario(tmp_path: Path, *frames: Json) -> Path:
    path = tmp_path / "scenario.jsonl"
    path.write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    return path


# -- the handshake


async def test_who_answered_the_handshake_is_known() -> None:
    async with connected("text") as (connection, _):
        info = connection.info
        assert (info.name, info.title, info.version) == ("scripted", "Scripted", "1")
        assert info.abilities == Abilities(embedded=True)
        assert connection._process is not None
        assert info.pid == connection._process.pid
        assert connection.alive is True
    assert [connection.alive] == [False]
    hello = check_sent(connection)[0]["params"]
    assert hello["clientInfo"] == {"name": "agentls", "title": "agentls", "version": "1.2.3"}


async def test_an_agent_that_says_nothing_is_given_up_after_the_time_out() -> None:
    connection = connection_to("hangs_at_start", timeout=0.3)
    with pytest.raises(AgentTimedOut, match=r"did not answer initialize within 0\.3 seconds"):
        await connection.start("/")
    await stopped(connection)


async def test_an_agent_that_ends_at_once_is_quoted() -> None:
    connection = connection_to("exits_at_start")
    with pytest.raises(AgentStartFailed) as caught:
        await connection.start("/")
    assert "ended with exit code 1" in caught.value.message
    assert "Cannot find module 'left-pad'" in caught.value.message
    await stopped(connection)


async def test_a_program_that_is_not_installed_is_said_with_what_to_do() -> None:
    spec = AgentSpec(name="x", title="X", command=("no-such-agent",), install="npm i x")
    connection = Connection(spec, version="", timeout=SECONDS, warden=NoWarden())
    with pytest.raises(AgentStartFailed, match="X is not installed") as caught:
        await connection.start("/")
    assert caught.value.hint == "Install it with: npm i x"


async def test_a_folder_that_is_none_is_said_and_nothing_is_signalled() -> None:
    connection = connection_to("text")
    with pytest.raises(AgentStartFailed, match="/no/such/folder does not exist"):
        await connection.start("/no/such/folder")
    await connection.stop()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (result(0, {"protocolVersion": 2}), "speaks ACP version 2, and agentls version 1"),
        (result(0, {}), "speaks ACP version None"),
        (result(0, None), "does not speak ACP"),
        (result(0, "hello"), "does not speak ACP"),
        (failure(0, -32603, "Internal error", {"details": "no config"}), "no config"),
    ],
)
async def test_a_handshake_that_goes_wrong_is_one_sentence(
    tmp_path: Path, answer: Json, sentence: str
) -> None:
    connection = connection_to(scenario(tmp_path, SHAKE[0], answer))
    with pytest.raises(AgentError) as caught:
        await connection.start("/")
    assert sentence in str(caught.value)
    await stopped(connection)


async def test_a_start_that_is_called_off_leaves_nothing_behind() -> None:
    connection = connection_to("hangs_at_start")
    starting = asyncio.create_task(connection.start("/"))
    await until(lambda: "hangs" in connection._last_words(), "the agent did not start")
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await stopped(connection)


async def test_a_question_before_the_handshake_is_answered(tmp_path: Path) -> None:
    """A quick program asks before we have finished starting it."""
    script = """
printf '{"jsonrpc":"2.0","id":"early","method":"who/are/you"}\\n'
IFS= read -r one; IFS= read -r two
printf '%s\\n' "$one" "$two" >&2
"""
    for _ in range(10):
        spec = AgentSpec(name="sh", title="Shell", command=("/bin/sh", "-c", script))
        connection = Connection(spec, version="", timeout=SECONDS, warden=NoWarden())
        with pytest.raises(AgentStartFailed, match=r'"id":"early","error".*-32601'):
            await connection.start(str(tmp_path))


# -- sessions


async def test_a_login_that_is_needed_is_said_so() -> None:
    async with connected("login_needed") as (connection, listener):
        with pytest.raises(AuthRequired, match=r"log in first: Authentication required\."):
            await connection.new_session("/project", listener)
        assert connection.alive


async def test_a_turn_is_heard_in_order() -> None:
    async with in_session("text") as (connection, listener):
        outcome = await listener.turn(connection)
        assert outcome == TurnOutcome("end_turn")
        assert listener.log == ["A greeting.", "Hel", "lo, ", "wörld 👋.", "done"]


@pytest.mark.parametrize("name", ["garbage", "double_answer", "id_as_string", "stderr_flood"])
async def test_what_is_no_message_or_too_much_does_not_spoil_the_turn(name: str) -> None:
    async with in_session(name) as (connection, listener):
        outcome = await listener.turn(connection)
        assert outcome.reason == "end_turn"
        assert listener.text == "Hello."
        assert listener.log[-1] == "done"
        assert len(listener.outcomes) == 1


async def test_bytes_that_are_no_text_arrive_as_replacements() -> None:
    async with in_session("bad_utf8_and_surrogates") as (connection, listener):
        await listener.turn(connection)
        assert listener.log == [
            "a\ufffdb",
            "\ufffd",
            "😀",
            "nul\0 and \u2028 and \u0085",
            "caf\ufffd",
            "Done.",
            "done",
        ]


async def test_updates_before_the_session_is_named_wait_for_it() -> None:
    async with in_session("early") as (connection, listener):
        assert listener.log == ["CommandsChanged", "ModeChanged"]
        await listener.turn(connection)
        assert connection._parked == {}


async def test_updates_after_the_end_of_the_turn_are_heard() -> None:
    async with in_session("late") as (connection, listener):
        await listener.turn(connection)
        await listener.until(lambda: len(listener.log) == 5, "the late updates did not come")
        assert listener.log == ["Hello", "done", ", late", " and later.", "TitleChanged"]


async def test_updates_glued_to_the_answer_come_before_it() -> None:
    async with in_session("glued") as (connection, listener):
        await listener.turn(connection)
        assert listener.log == [*(f"{n} " for n in range(20)), "done"]


async def test_updates_of_unknown_kinds_are_kept() -> None:
    async with in_session("unknown_update") as (connection, listener):
        await listener.turn(connection)
        others = [e for e in listener.events if isinstance(e, ev.OtherUpdate)]
        assert [o.kind for o in others] == ["weather_report", "_vendor/mood", "unnamed"]
        assert others[0].raw == {"sessionUpdate": "weather_report", "sky": "blue"}
        [block] = [e.block for e in listener.events if isinstance(e, ev.BlockAdded)]
        assert block.raw == {"type": "hologram", "data": "?"}


async def test_a_failed_turn_says_what_the_agent_said_and_the_next_one_works() -> None:
    async with in_session("error_answer") as (connection, listener):
        outcome = await listener.turn(connection)
        assert outcome.reason == "failed"
        assert isinstance(outcome.error, AgentFailed)
        assert (str(outcome.error), outcome.error.code) == ("Scripted: model overloaded", -32603)
        assert await listener.turn(connection) == TurnOutcome("end_turn")


async def test_a_line_that_is_too_long_is_said_where_it_belongs(tmp_path: Path) -> None:
    big = {"do": "big", "bytes": 300_000, "kind": "notification", "session": "$session"}
    path = scenario(
        tmp_path,
        *SHAKE,
        request(1, "session/new"),
        result(1, {"sessionId": "$sess"}),
        request(2, "session/new"),
        result(2, {"sessionId": "$session"}),
        request(3, "session/prompt"),
        {"dir": "do", "msg": big},
        update("$session", "Hello."),
        result(3, {"stopReason": "end_turn"}),
    )
    async with connected(path, line_limit=100_000) as (connection, other):
        listener = Listener()
        assert (await connection.new_session("/project", other)).id == "$sess"
        await connection.new_session("/project", listener)
        await listener.turn(connection)
        notice, text = listener.events
        assert isinstance(notice, ev.NoticeShown)
        assert notice.level is Level.WARNING
        assert "a message of 299,999 bytes" in notice.text
        assert text == ev.TextAdded(Role.AGENT, "Hello.")
        assert other.events == [], "it was said where it does not belong"


async def test_an_answer_that_is_too_long_fails_the_request(tmp_path: Path) -> None:
    long = result(1, {"sessionId": "$session", "_meta": {"x": "x" * 200_000}})
    path = scenario(tmp_path, *SHAKE, request(1, "session/new"), long)
    async with connected(path, line_limit=100_000) as (connection, listener):
        with pytest.raises(AgentFailed, match="too long"):
            await connection.new_session("/project", listener)


async def test_a_session_that_is_not_named_is_an_error(tmp_path: Path) -> None:
    path = scenario(tmp_path, *SHAKE, request(1, "session/new"), result(1, {}))
    async with connected(path) as (connection, listener):
        with pytest.raises(AgentFailed, match="without naming it"):
            await connection.new_session("/project", listener)


async def test_a_request_that_is_not_answered_in_time_is_called_off(tmp_path: Path) -> None:
    path = scenario(
        tmp_path, *SHAKE, request(1, "session/new"), request(2, "session/list"), result(2, {})
    )
    async with connected(path) as (connection, listener):
        connection._timeout = 0.2
        with pytest.raises(AgentTimedOut, match=r"session/new within 0\.2 seconds"):
            await connection.new_session("/project", listener)
        connection._timeout = SECONDS
        assert await connection.list_sessions(None) == []
        assert [f["method"] for f in check_sent(connection)][1:] == [
            "session/new",
            "$/cancel_request",
            "session/list",
        ]


async def test_everything_we_can_ask_of_an_agent_is_sent_right(tmp_path: Path) -> None:
    options = {"configOptions": [{"id": "fast", "name": "Fast", "type": "boolean"}]}
    listed = {"sessions": [{"sessionId": "old", "cwd": "/project"}]}
    path = scenario(
        tmp_path,
        *OPEN,
        request(2, "session/list"),
        result(2, listed),
        request(3, "session/list"),
        result(3, listed),
        request(4, "session/load"),
        update("old", "history"),
        result(4, {}),
        request(5, "session/resume"),
        result(5, {}),
        request(6, "session/fork"),
        update("fork", "replayed"),
        result(6, {"sessionId": "fork"}),
        request(7, "session/set_mode"),
        result(7, {}),
        request(8, "session/set_config_option"),
        result(8, options),
        request(9, "session/set_config_option"),
        result(9, None),
        request(10, "session/prompt"),
        {"dir": "out", "msg": {"jsonrpc": "2.0", "method": "session/cancel", "params": {}}},
        result(10, {"stopReason": "cancelled", "usage": {"totalTokens": 7}}),
        request(11, "session/close"),
        result(11, {}),
        request(12, "session/delete"),
        result(12, None),
        request(13, "session/set_mode"),
        failure(13, -32601, '"Method not found": session/set_mode'),
    )
    async with in_session(path) as (connection, listener):
        assert connection.info.abilities == Abilities(
            load=True, resume=True, fork=True, list=True, close=True, delete=True
        )
        old = AgentSessionId("old")
        assert [p.id for p in await connection.list_sessions(None)] == ["old"]
        assert [p.id for p in await connection.list_sessions("/project")] == ["old"]
        loaded, forked = Listener(), Listener()
        assert (await connection.load_session(old, "/project", loaded)).id == "old"
        assert loaded.text == "history"
        assert (await connection.resume_session(old, "/project", loaded)).id == "old"
        assert (await connection.fork_session(old, "/project", forked)).id == "fork"
        assert forked.text == "replayed"
        await connection.set_mode(SESSION, "plan")
        [option] = await connection.set_option(SESSION, "fast", True)
        assert option.id == "fast"
        assert await connection.set_option(SESSION, "model", "large") == ()
        blocks = [
            *HELLO,
            Block(kind="image", data="AA==", mime="image/png"),
            Block(kind="link", uri="file:///x", name="x"),
            Block(kind="resource", uri="file:///x", text="x"),
        ]
        connection.prompt(SESSION, blocks, listener.done)
        connection.cancel(SESSION)
        await listener.until(lambda: listener.outcomes, "the turn did not end")
        assert listener.outcomes[0].reason == "cancelled"
        assert listener.outcomes[0].usage is not None
        assert listener.outcomes[0].usage.total_tokens == 7
        await connection.close_session(SESSION)
        await connection.delete_session(old)
        with pytest.raises(UnsupportedByAgent, match="does not support session/set_mode"):
            await connection.set_mode(SESSION, "plan")
        assert listener.text == ""
        sent = {frame["method"] for frame in check_sent(connection)}
    assert sent == MODELS.keys() - {"$/cancel_request"} | {"session/set_config_option"}


async def test_a_load_that_fails_gives_the_session_back_to_who_had_it(tmp_path: Path) -> None:
    path = scenario(
        tmp_path,
        *OPEN,
        request(2, "session/load"),
        burst(2),
        failure(2, -32002, "Resource not found"),
        update("$session", "still here"),
        request(3, "session/load"),
        burst(2),
        failure(3, -32002, "Resource not found"),
        update("other", "for nobody"),
        request(4, "session/list"),
        result(4, {}),
    )
    async with in_session(path) as (connection, listener):
        loading = Listener()
        with pytest.raises(AgentFailed, match="Resource not found"):
            await connection.load_session(SESSION, "/project", loading)
        await listener.until(lambda: listener.text == "still here", "the update went astray")
        with pytest.raises(AgentFailed):
            await connection.load_session(AgentSessionId("other"), "/project", loading)
        await connection.list_sessions(None)
        assert loading.events == []


async def test_what_is_said_of_a_session_that_nobody_has_is_not_kept(tmp_path: Path) -> None:
    path = scenario(
        tmp_path,
        *OPEN,
        PROMPT,
        update("$session", "one"),
        update("stranger", "?"),
        permission("q", "stranger"),
        {"dir": "out", "msg": {"jsonrpc": "2.0", "id": "q", "result": {}}},
        END,
        request(3, "session/list"),
        update("$session", "forgotten"),
        result(3, {}),
    )
    async with in_session(path) as (connection, listener):
        await listener.turn(connection)
        connection.forget(SESSION)
        await connection.list_sessions(None)
        assert listener.log == ["one", "done"]
        assert connection._parked == {}
        [answer] = [f for f in check_sent(connection) if f["id"] == "q"]
        assert answer["error"]["code"] == -32602


async def test_questions_that_wait_for_a_session_are_answered_when_it_never_comes(
    tmp_path: Path,
) -> None:
    path = scenario(
        tmp_path,
        *SHAKE,
        request(1, "session/new"),
        burst(4),
        permission("p1", "stranger"),
        update("stranger", "?"),
        permission("p2", "$session"),
        result(1, {"sessionId": "$session"}),
        answered("p2"),
        answered("p1"),
        PROMPT,
        END,
    )
    async with in_session(path) as (connection, listener):
        assert len(listener.asks) == 1
        listener.answer(0, "no")
        await listener.turn(connection)
        answers = {f["id"]: f for f in check_sent(connection) if "method" not in f}
        assert answers["p1"]["error"]["code"] == -32602
        assert answers["p2"]["result"] == {"outcome": {"outcome": "selected", "optionId": "no"}}
        assert connection._parked_count == 0


# -- requests of the agent


async def test_methods_that_no_client_has_are_answered_so() -> None:
    async with in_session("unknown_request") as (connection, listener):
        await listener.turn(connection)
        assert listener.text == "Hello."
        errors = {f["id"]: f["error"] for f in check_sent(connection) if "error" in f}
        assert {id: error["code"] for id, error in errors.items()} == {"a": -32601, "b": -32601}


@pytest.mark.parametrize("name", ["permission", "permission_first"])
async def test_an_ask_is_answered_with_the_chosen_option(name: str) -> None:
    async with in_session(name) as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        await listener.until(lambda: listener.asks, "no ask came")
        [request] = listener.asks
        assert (request.patch.id, request.patch.title) == ("call-1", "touch notes.txt")
        assert [(o.id, o.kind) for o in request.options] == [
            ("once", "allow_once"),
            ("always", "allow_always"),
            ("no", "reject_once"),
        ]
        listener.answer(0, "once")
        listener.answer(0, "no")
        await listener.until(lambda: listener.outcomes, "the turn did not end")
        answers = [f for f in check_sent(connection) if "method" not in f]
        assert answers == [
            {
                "jsonrpc": "2.0",
                "id": 0,
                "result": {"outcome": {"outcome": "selected", "optionId": "once"}},
            }
        ]


async def test_asks_may_be_answered_in_another_order_than_they_came() -> None:
    async with in_session("two_asks") as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        await listener.until(lambda: len(listener.asks) == 2, "the asks did not come")
        listener.answer(1, "no")
        listener.answer(0, "once")
        await listener.until(lambda: listener.outcomes, "the turn did not end")
        assert listener.text == "Half done."


async def test_ids_that_are_strings_come_back_as_strings() -> None:
    async with in_session("string_ids") as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        for number in range(3):
            await listener.until(lambda n=number: len(listener.asks) > n, "an ask is missing")  # type: ignore[misc]
            listener.answer(number, "once")
        await listener.until(lambda: listener.outcomes, "the turn did not end")
        ids = [f["id"] for f in check_sent(connection) if "method" not in f]
        assert ids[1] == "0"
        assert all(isinstance(id, str) for id in ids)


async def test_a_cancelled_ask_is_answered_before_the_cancel_is_sent() -> None:
    async with in_session("cancelled") as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        await listener.until(lambda: listener.asks, "no ask came")
        listener.asks[0].answer(Decision(option=None, by="turn cancelled"))
        connection.cancel(SESSION)
        await listener.until(lambda: listener.outcomes, "the turn did not end")
        assert listener.outcomes[0].reason == "cancelled"
        *_, answer, cancel = check_sent(connection)
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}
        assert cancel["method"] == "session/cancel"
        assert await listener.turn(connection) == TurnOutcome("end_turn")


async def test_an_ask_that_the_agent_takes_back_is_withdrawn_and_answered(tmp_path: Path) -> None:
    path = scenario(
        tmp_path,
        *OPEN,
        PROMPT,
        permission("p1", "$session"),
        notification("$/cancel_request", requestId="other"),
        notification("$/cancel_request", requestId="p1"),
        answered("p1"),
        END,
    )
    async with in_session(path) as (connection, listener):
        await listener.turn(connection)
        assert listener.withdrawn == ["a1"]
        [answer] = [f for f in check_sent(connection) if "method" not in f]
        assert answer["result"] == {"outcome": {"outcome": "cancelled"}}


async def test_meta_can_change_neither_the_session_nor_the_options_of_an_ask(
    tmp_path: Path,
) -> None:
    meta = {
        "sessionId": "other",
        "options": [{"optionId": "evil", "name": "Reject", "kind": "reject_once"}],
        "toolCall": {"toolCallId": "c1", "title": "harmless"},
    }
    path = scenario(
        tmp_path,
        *OPEN,
        request(2, "session/new"),
        result(2, {"sessionId": "other"}),
        request(3, "session/prompt"),
        permission(0, "$session", _meta=meta),
        answered(0),
        result(3, {"stopReason": "end_turn"}),
    )
    async with in_session(path) as (connection, listener):
        other = Listener()
        await connection.new_session("/project", other)
        connection.prompt(SESSION, HELLO, listener.done)
        await listener.until(lambda: listener.asks, "no ask came")
        assert other.asks == []
        assert [o.id for o in listener.asks[0].options] == ["yes", "no"]
        assert listener.asks[0].patch.title == "touch x"
        listener.answer(0, "no")
        await listener.until(lambda: listener.outcomes, "the turn did not end")


@pytest.mark.parametrize("call", [None, {}, {"toolCallId": None}, "c1"])
async def test_an_ask_about_nothing_is_an_error(tmp_path: Path, call: Any) -> None:
    path = scenario(
        tmp_path, *OPEN, PROMPT, permission(0, "$session", toolCall=call), answered(0), END
    )
    async with in_session(path) as (connection, listener):
        await listener.turn(connection)
        assert listener.asks == []
        [answer] = [f for f in check_sent(connection) if "method" not in f]
        assert answer["error"]["code"] == -32602


# -- several sessions, and the end


TWO = [
    *OPEN,
    request(2, "session/new"),
    result(2, {"sessionId": "two"}),
    request(3, "session/prompt"),
    request(4, "session/prompt"),
    update("two", "B1 "),
    update("$session", "A1 "),
    update("two", "B2"),
    result(4, {"stopReason": "end_turn"}),
    update("$session", "A2"),
]


async def test_two_sessions_on_one_process_are_kept_apart(tmp_path: Path) -> None:
    path = scenario(tmp_path, *TWO, result(3, {"stopReason": "max_tokens"}))
    async with in_session(path) as (connection, one):
        two = Listener()
        assert (await connection.new_session("/project", two)).id == "two"
        connection.prompt(SESSION, HELLO, one.done)
        connection.prompt(AgentSessionId("two"), HELLO, two.done)
        await one.until(lambda: one.outcomes, "the first turn did not end")
        assert one.log == ["A1 ", "A2", "done"]
        assert two.log == ["B1 ", "B2", "done"]
        assert (one.outcomes[0].reason, two.outcomes[0].reason) == ("max_tokens", "end_turn")


async def test_death_reaches_every_session_before_the_turns_end(tmp_path: Path) -> None:
    words = {"dir": "stderr", "msg": "panic: index out of range"}
    path = scenario(tmp_path, *TWO, words, {"dir": "do", "msg": {"do": "exit", "code": 70}})
    async with in_session(path) as (connection, one):
        two = Listener()
        await connection.new_session("/project", two)
        connection.prompt(SESSION, HELLO, one.done)
        connection.prompt(AgentSessionId("two"), HELLO, two.done)
        await one.until(lambda: one.outcomes, "the death was not told")
        assert one.log == ["A1 ", "A2", "gone", "done"]
        assert two.log == ["B1 ", "B2", "done", "gone"]
        [error] = one.gone
        assert isinstance(error, AgentExited)
        assert "ended with exit code 70" in error.message
        assert "panic: index out of range" in error.message
        assert isinstance(one.outcomes[0].error, AgentExited)
        assert not connection.alive
        with pytest.raises(AgentExited):
            await connection.new_session("/project", one)


async def test_death_with_an_ask_open_withdraws_it() -> None:
    async with in_session("dies_mid_turn") as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        await listener.until(lambda: listener.outcomes, "the death was not told")
        assert "ask" in listener.log
        assert listener.withdrawn == ["a1"]
        assert listener.text == "Working"
        listener.asks[0].answer(Decision(option=None, by="too late"))


async def test_stopping_tells_whoever_waits(tmp_path: Path) -> None:
    async with in_session(scenario(tmp_path, *OPEN, PROMPT)) as (connection, listener):
        connection.prompt(SESSION, HELLO, listener.done)
        waiting = asyncio.create_task(connection.set_mode(SESSION, "plan"))
        await asyncio.sleep(0)
        await connection.stop()
        assert listener.log == ["gone", "done"]
        with pytest.raises(AgentExited, match="was stopped"):
            await waiting


# -- all agents


@asynccontextmanager
async def agents_for(*specs: AgentSpec) -> AsyncIterator[Agents]:
    tasks = LoopTasks()
    agents = Agents(Catalog(specs), tasks, version="1", timeout=SECONDS, warden=NoWarden())
    try:
        yield agents
    finally:
        await agents.close()
        await tasks.close()
        assert not tasks.failures
        assert agents.live() == []
        for _ in range(5):
            await asyncio.sleep(0)


async def until(condition: Callable[[], bool], why: str) -> None:
    for _ in range(int(SECONDS / 0.005)):
        if condition():
            return
        await asyncio.sleep(0.005)
    pytest.fail(why)


def pids(agents: Agents) -> list[int]:
    return [c.info.pid for c in agents.live()]


async def test_sessions_that_want_an_agent_at_the_same_moment_get_one_process() -> None:
    async with agents_for(play("text")) as agents:
        one, two = await asyncio.gather(
            agents.connect("scripted", "/"), agents.connect("scripted", "/")
        )
        assert one is two is await agents.connect("scripted", "/")
        assert len(pids(agents)) == 1
        other = await agents.connect("scripted", "/", fresh=True)
        assert other is not one
        assert len(pids(agents)) == 2
        with pytest.raises(UnknownAgent):
            await agents.connect("stranger", "/")


async def test_an_agent_that_is_not_shared_has_a_process_for_each() -> None:
    async with agents_for(play("text", shared=False)) as agents:
        one, two = await asyncio.gather(
            agents.connect("scripted", "/"), agents.connect("scripted", "/")
        )
        assert one is not two
        assert len(pids(agents)) == 2


async def test_an_agent_that_nobody_uses_is_stopped() -> None:
    async with agents_for(play("text")) as agents:
        agent = await agents.connect("scripted", "/")
        await agents.connect("scripted", "/")
        [pid] = pids(agents)
        agents.release(agent)
        await asyncio.sleep(0)
        assert pids(agents) == [pid]
        agents.release(agent)
        await until(lambda: not pids(agents) and gone(pid), "the agent was not stopped")
        assert [k.running for k in agents.known()] == [False]


async def test_an_agent_that_is_wanted_again_at_once_is_not_stopped() -> None:
    async with agents_for(play("text")) as agents:
        agent = await agents.connect("scripted", "/")
        agents.release(agent)
        assert await agents.connect("scripted", "/") is agent
        listener = Listener()
        assert isinstance(agent, Connection)
        await agent.new_session("/project", listener)
        assert (await listener.turn(agent)).reason == "end_turn"


async def test_a_child_that_a_dead_agent_leaves_behind_is_ended() -> None:
    async with agents_for(play("forks_children")) as agents:
        agent = await agents.connect("scripted", "/")
        assert isinstance(agent, Connection)
        listener = Listener()
        await agent.new_session("/project", listener)
        await listener.turn(agent)
        assert agent._process is not None
        child = int(agent._process.last_words(1).split()[1])
        assert not gone(child)
        outcome = await listener.turn(agent)
        assert isinstance(outcome.error, AgentExited)
        await until_gone(child)
        assert agents.live() == []
        assert await agents.connect("scripted", "/") is not agent


async def test_a_start_that_fails_for_one_fails_for_all_who_wait_and_can_be_tried_again() -> None:
    async with agents_for(play("exits_at_start")) as agents:
        wanted = (agents.connect("scripted", "/") for _ in range(3))
        errors = await asyncio.gather(*wanted, return_exceptions=True)
        assert all(isinstance(error, AgentStartFailed) for error in errors)
        with pytest.raises(AgentStartFailed):
            await agents.connect("scripted", "/")
        assert len(agents._past) == 2, "one recording for each process"


@pytest.mark.parametrize("fresh", [False, True])
async def test_closing_while_an_agent_starts_leaves_nothing(fresh: bool, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    script = f"echo $$ > {mark}.new; mv {mark}.new {mark}; trap '' TERM; while :; do sleep 1; done"
    spec = AgentSpec(name="slow", title="Slow", command=("/bin/sh", "-c", script))
    async with agents_for(spec) as agents:
        wanted = asyncio.create_task(agents.connect("slow", "/", fresh=fresh))
        await until(mark.exists, "the agent did not start")
        await agents.close()
        with pytest.raises(asyncio.CancelledError):
            await wanted
        await until_gone(int(mark.read_text()))


async def test_what_was_said_can_be_saved_while_it_runs_and_afterwards(tmp_path: Path) -> None:
    async with agents_for(play("text")) as agents:
        with pytest.raises(BadRequest, match="No agent has run"):
            agents.save_recording("", str(tmp_path / "none.jsonl"))
        agent = await agents.connect("scripted", "/")
        with pytest.raises(BadRequest, match="'other' has not run"):
            agents.save_recording("other", str(tmp_path / "none.jsonl"))
        running = Path(agents.save_recording("", str(tmp_path / "running.jsonl")))
        agents.release(agent)
        await until(lambda: not agents._live, "the agent was not stopped")
        later = Path(agents.save_recording("scripted", str(tmp_path / "later.jsonl")))
        assert "initialize" in running.read_text()
        assert "was stopped" in later.read_text()


async def test_known_agents_tell_whether_they_run() -> None:
    async with agents_for(play("text")) as agents:
        assert [(k.name, k.running, k.version) for k in agents.known()] == [("scripted", False, "")]
        assert agents.default("") == "scripted"
        await agents.connect("scripted", "/")
        assert [(k.name, k.running, k.version) for k in agents.known()] == [("scripted", True, "1")]
        assert agents.problems() == []
