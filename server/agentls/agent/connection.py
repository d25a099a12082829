"""A live agent: its process, its conversation with us, and the sessions it serves.

Everything an agent says about a session reaches that session's sink in wire order. What comes for
a session before the agent has named it waits here until it has.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.structs import replace

from ..core import events as ev
from ..core.errors import (
    AgentError,
    AgentExited,
    AgentFailed,
    AgentStartFailed,
    AgentTimedOut,
    AuthRequired,
    UnsupportedByAgent,
)
from ..core.model import (
    AgentInfo,
    AgentOption,
    AgentSessionId,
    Block,
    Level,
    PastSession,
    SessionSetup,
)
from ..core.policy.git_environment import git_safety
from ..core.ports import Sink, TurnOutcome, Warden
from . import convert, updates
from .framing import DEFAULT_LINE_LIMIT, Lines, TooLong
from .mcp_servers import McpServer, acp_servers, with_door
from .peer import (
    AUTH_REQUIRED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Peer,
    Reply,
    RpcError,
)
from .process import AgentProcess
from .recording import FrameRing
from .requests import handlers
from .spec import AgentSpec, client_capabilities, program

log = logging.getLogger(__name__)

_T = TypeVar("_T")

PROTOCOL_VERSION = 1
_HASTE = 0.25
"""Seconds that a process which failed the handshake gets at each step of its end."""
_PARKED_LIMIT = 10_000
LOGIN_PATIENCE = 600.0
"""Seconds that a person may take to log in, in a browser or wherever the agent leads them."""
LOAD_PAUSE = 62.0
"""Seconds after which an agent that names files by the minute has begun another one."""
pause = asyncio.sleep
"""How time passes until then."""
_REPLAY_PATIENCE = 4
"""Loading a long session may take this many times as long as a handshake."""


class Connection:
    """Implements `core.ports.Agent`."""

    def __init__(
        self,
        spec: AgentSpec,
        *,
        version: str,
        timeout: float,
        warden: Warden,
        line_limit: int = DEFAULT_LINE_LIMIT,
        on_gone: Callable[[Connection], None] = lambda _: None,
        mcp: Sequence[McpServer] = (),
    ) -> None:
        self._mcp = mcp
        self.spec = spec
        self.users = 0
        self.released = 0
        """How often somebody was done with it."""
        self.stopping = False
        self.ring = FrameRing(time.monotonic())
        self._version = version
        self._timeout = timeout
        self._warden = warden
        self._on_gone = on_gone
        self._info: AgentInfo | None = None
        self._process: AgentProcess | None = None
        self._handlers = handlers(spec.quirks)
        self._sinks: dict[str, Sink] = {}
        self._open_ids: set[str] = set()
        """Sessions that this process has open, whether anybody listens or not."""
        self._parked: dict[str, list[tuple[str, Any, Reply | None]]] = {}
        self._parked_count = 0
        self._opening = 0
        self._garbage = 0
        self._ended = False
        self._read_at = 0.0
        self._peer = Peer(self._write, self._request, self._notification, self._not_json)
        self._lines = Lines(self._line, self._too_long, line_limit)

    @property
    def info(self) -> AgentInfo:
        assert self._info is not None, "the handshake is done before anybody sees a connection"
        return self._info

    @property
    def alive(self) -> bool:
        return self._process is not None and not self._process.over and not self.stopping

    # -- life

    async def start(self, cwd: str) -> None:
        """Start the process and shake hands, or raise one clear error and leave nothing behind."""
        found = program(self.spec)
        if found is None:
            raise AgentStartFailed(
                f"{self.spec.title} is not installed: there is no program {self.spec.command[0]}.",
                hint=f"Install it with: {self.spec.install}" if self.spec.install else "",
            )
        self._process = AgentProcess(self._data, self._stderr, self._gone, self._warden)
        try:
            await self._process.start(
                (found, *self.spec.command[1:]),
                cwd=self.spec.cwd or cwd,
                env={**(env := {**os.environ, **self.spec.env}), **git_safety(env)},
            )
            result = await self._call(
                "initialize",
                {
                    "protocolVersion": PROTOCOL_VERSION,
                    "clientCapabilities": client_capabilities(self.spec),
                    "clientInfo": {"name": "agentls", "title": "agentls", "version": self._version},
                },
            )
            self._info = self._shake(result)
        except AgentExited as error:
            await self.stop(_HASTE)
            raise AgentStartFailed(error.message, hint=error.hint) from None
        except BaseException:
            await self.stop(_HASTE)
            raise

    def _shake(self, result: Any) -> AgentInfo:
        if not isinstance(result, dict):
            raise AgentStartFailed(f"{self.spec.title} does not speak ACP.")
        version = result.get("protocolVersion")
        if version != PROTOCOL_VERSION:
            raise AgentStartFailed(
                f"{self.spec.title} speaks ACP version {version}, and agentls version"
                f" {PROTOCOL_VERSION}.",
                hint="Install a version of it that speaks ours, or update agentls.",
            )
        pid = self._process.pid if self._process else 0
        spec = self.spec
        info = convert.agent_info(spec.name, spec.title, pid, result, spec.command)
        return replace(info, env=spec.env)

    async def stop(self, patience: float = 2.0) -> None:
        """End the process and everything it started."""
        self.stopping = True
        try:
            if self._process is not None:
                await self._process.stop(patience)
        finally:
            self._gone()

    # -- ports.Agent

    async def new_session(self, cwd: str, sink: Sink) -> SessionSetup:
        return await self._open("session/new", self._place(cwd, sink), sink)

    async def load_session(
        self, id: AgentSessionId, cwd: str, sink: Sink, *, made: float = 0.0
    ) -> SessionSetup:
        quirks = self.spec.quirks
        if quirks.load_waits_a_minute:
            await self._let_a_minute_pass(made, sink)
        if quirks.close_before_load and id in self._open_ids:
            with suppress(AgentError):  # it may be closed already
                await self.close_session(id)
        params = {"sessionId": id, **self._place(cwd, sink)}
        return await self._open("session/load", params, sink, id)

    async def resume_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup:
        params = {"sessionId": id, **self._place(cwd, sink)}
        return await self._open("session/resume", params, sink, id)

    async def fork_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup:
        params = {"sessionId": id, **self._place(cwd, sink)}
        return await self._open("session/fork", params, sink)

    def _place(self, cwd: str, sink: Sink) -> dict[str, Any]:
        """Where a session works, and with what."""
        spec, abilities = self.spec, self.info.abilities
        servers = acp_servers(self._mcp, spec.name, abilities) if self._mcp else []
        if sink.door is not None:
            servers = with_door(servers, sink.door, abilities)
        place: dict[str, Any] = {"cwd": cwd, "mcpServers": servers}
        if spec.directories and abilities.directories:
            place["additionalDirectories"] = list(spec.directories)
        return place

    async def list_sessions(self, cwd: str | None) -> list[PastSession]:
        params = {"cwd": cwd} if cwd else {}
        return convert.past_sessions(await self._call("session/list", params))

    async def _let_a_minute_pass(self, made: float, sink: Sink) -> None:
        left = made + LOAD_PAUSE - time.time()
        if left > 0:
            text = f"{self.spec.title} can take up a session only a minute after it was made:"
            sink.deliver(ev.NoticeShown(Level.INFO, f"{text} {left:.0f} seconds to wait."))
            await pause(min(left, LOAD_PAUSE))

    async def close_session(self, id: AgentSessionId) -> None:
        self._open_ids.discard(id)
        await self._call("session/close", {"sessionId": id})

    async def delete_session(self, id: AgentSessionId) -> None:
        await self._call("session/delete", {"sessionId": id})

    async def authenticate(self, method: str) -> None:
        await self._wait("authenticate", {"methodId": method}, LOGIN_PATIENCE, lambda _: None)

    async def set_mode(self, id: AgentSessionId, mode: str) -> None:
        await self._call("session/set_mode", {"sessionId": id, "modeId": mode})

    async def set_option(
        self, id: AgentSessionId, option: str, value: str | bool
    ) -> tuple[AgentOption, ...]:
        params: dict[str, Any] = {"sessionId": id, "configId": option, "value": value}
        if isinstance(value, bool):
            params["type"] = "boolean"
        result = await self._call("session/set_config_option", params)
        options = result.get("configOptions") if isinstance(result, dict) else None
        return convert.agent_options(options)

    def prompt(
        self, id: AgentSessionId, blocks: Sequence[Block], done: Callable[[TurnOutcome], None]
    ) -> None:
        def answered(result: Any, error: RpcError | None) -> None:
            if error is not None:
                done(TurnOutcome("failed", error=self._error("session/prompt", error)))
                return
            reason = result.get("stopReason") if isinstance(result, dict) else None
            done(TurnOutcome(str(reason or "end_turn"), convert.turn_usage(result)))

        params = {"sessionId": id, "prompt": [convert.acp_block(b) for b in blocks]}
        self._peer.call("session/prompt", params, answered)

    def cancel(self, id: AgentSessionId) -> None:
        self._peer.notify("session/cancel", {"sessionId": id})

    def forget(self, id: AgentSessionId) -> None:
        self._sinks.pop(id, None)

    # -- requests of ours

    async def _call(self, method: str, params: Any) -> Any:
        return await self._wait(method, params, self._timeout, lambda result: result)

    async def _open(
        self, method: str, params: dict[str, Any], sink: Sink, id: str = ""
    ) -> SessionSetup:
        def bind(result: Any) -> SessionSetup:
            setup = convert.session_setup(result, id)
            if not setup.id:
                raise AgentFailed(f"{self.spec.title} opened a session without naming it.")
            self._bind(setup.id, sink)
            self._open_ids.add(setup.id)
            return setup

        before = self._sinks.get(id)

        def give_back() -> None:
            if before is not None:
                self._sinks[id] = before
            else:
                self._sinks.pop(id, None)

        if id:
            self._bind(id, sink)  # it is named already: its history may come before the answer
        self._opening += 1
        seconds = self._timeout * (_REPLAY_PATIENCE if id else 1)
        try:
            return await self._wait(method, params, seconds, bind, give_back)
        finally:
            self._opening -= 1
            if not self._opening:
                self._drop_parked()

    async def _wait(
        self,
        method: str,
        params: Any,
        seconds: float,
        finish: Callable[[Any], _T],
        fail: Callable[[], None] = lambda: None,
    ) -> _T:
        """Send a request and wait. `finish` or `fail` runs in wire order, before the rest."""
        future: asyncio.Future[_T] = asyncio.get_running_loop().create_future()

        def answered(result: Any, error: RpcError | None) -> None:
            if future.done():
                return
            try:
                if error is not None:
                    raise self._error(method, error)
                future.set_result(finish(result))
            except AgentError as failure:
                fail()
                future.set_exception(failure)

        number = self._peer.call(method, params, answered)
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            self._peer.drop(number)
            fail()
            words = self._last_words()
            raise AgentTimedOut(
                f"{self.spec.title} did not answer {method} within {seconds:g} seconds{words}.",
                hint="Try again, or look at its log.",
            ) from None

    def _error(self, method: str, error: RpcError) -> AgentError:
        title = self.spec.title
        if self._process is not None and (self._process.over or self.stopping):
            return self._exit_error()
        words = convert.error_words(error.message, error.data)
        if error.code == AUTH_REQUIRED:
            known = self._info.auth_methods if self._info else ()
            hint = f"Log in with: agentls login {self.spec.name}."
            if self.spec.login:
                hint = f"{hint[:-1]}, or: {self.spec.login}"
            return AuthRequired(
                f"{title} wants you to log in first: {words.rstrip('.')}.", hint=hint, methods=known
            )
        if error.code == METHOD_NOT_FOUND:
            return UnsupportedByAgent(f"{title} does not support {method}.")
        return AgentFailed(f"{title}: {words}", code=error.code)

    def _exit_error(self) -> AgentError:
        process = self._process
        if process is None or self.stopping:
            return AgentExited(f"{self.spec.title} was stopped.")
        return AgentExited(
            f"{self.spec.title} {process.how_it_ended()}{self._last_words()}.",
            hint="Send a prompt to restart it.",
        )

    def _last_words(self) -> str:
        words = self._process.last_words() if self._process else ""
        return f"; the last it said was: {words}" if words else ""

    # -- what comes in

    def _data(self, data: bytes) -> None:
        self._read_at = time.monotonic()
        self._lines.feed(data)

    def _stderr(self, line: str) -> None:
        self.ring.add("stderr", line.encode(), time.monotonic())

    def _line(self, line: bytes) -> None:
        self.ring.add("in", line, self._read_at)
        self._peer.receive(line)

    def _write(self, line: bytes) -> None:
        self.ring.add("out", line, time.monotonic())
        if self._process is not None:
            self._process.write(line)

    def _notification(self, method: str, params: Any) -> None:
        if method != "session/update":
            log.debug("notification %s from %s", method, self.spec.name)
            return
        try:
            id, raw = params["sessionId"], params["update"]
            sink = self._sinks.get(id)
        except (TypeError, KeyError):
            self._not_json(str(params)[:200])
            return
        if sink is None:
            if self._opening:
                self._park(id, method, params, None)
            else:
                log.debug("%s speaks of a session that is not open: %s", self.spec.name, id)
        elif type(raw) is dict:
            events = updates.update(raw)
            if self.spec.quirks.mode_as_text:
                events = [updates.mode_in_words(event) for event in events]
            for event in events:
                sink.deliver(event)
        else:
            self._not_json(str(params)[:200])

    def _request(self, method: str, params: Any, reply: Reply) -> None:
        handler = self._handlers.get(method)
        if handler is None:
            reply.error(METHOD_NOT_FOUND, f"Method not found: {method}")
            return
        id = params.get("sessionId") if isinstance(params, dict) else None
        sink = self._sinks.get(id) if isinstance(id, str) else None
        if sink is not None:
            handler(sink, params, reply)
        elif isinstance(id, str) and self._opening:
            self._park(id, method, params, reply)
        else:
            reply.error(INVALID_PARAMS, f"There is no session {id!r}.")

    def _park(self, id: str, method: str, params: Any, reply: Reply | None) -> None:
        if self._parked_count >= _PARKED_LIMIT:
            log.warning("too many messages for unknown sessions from %s", self.spec.name)
            if reply is not None:
                reply.error(INVALID_PARAMS, f"There is no session {id!r}.")
            return
        self._parked_count += 1
        self._parked.setdefault(id, []).append((method, params, reply))

    def _bind(self, id: str, sink: Sink) -> None:
        self._sinks[id] = sink
        parked = self._parked.pop(id, [])
        self._parked_count -= len(parked)
        for method, params, reply in parked:
            if reply is None:
                self._notification(method, params)
            else:
                self._request(method, params, reply)

    def _drop_parked(self) -> None:
        """No session is about to be named: nobody will ever want what is left."""
        parked, self._parked = self._parked, {}
        self._parked_count = 0
        for id, messages in parked.items():
            for _, _, reply in messages:
                if reply is not None:
                    reply.error(INVALID_PARAMS, f"There is no session {id!r}.")

    def _not_json(self, text: str) -> None:
        self._garbage += 1
        if self._garbage <= 3:
            log.warning("%s printed something that is not ACP: %s", self.spec.name, text)

    def _too_long(self, line: TooLong) -> None:
        self.ring.add("in", line.head, self._read_at)
        text = (
            f"{self.spec.title} sent a message of {line.size:,} bytes, which is too long;"
            " it was left out."
        )
        log.warning(text)
        for id, sink in self._sinks.items():
            if f'"{id}"'.encode() in line.head:
                sink.deliver(updates.left_out(text))
        self._peer.too_long(line)

    def _gone(self) -> None:
        """The process ended, by itself or by us."""
        if self._ended:
            return
        self._ended = True
        self._lines.end()
        error = self._exit_error()
        self.ring.note(error.message, time.monotonic())
        sinks, self._sinks = self._sinks, {}
        # The sessions first: one whose turn merely fails would go on with its next prompt.
        for sink in sinks.values():
            sink.agent_gone(error)
        self._peer.close(error.message)
        self._on_gone(self)
