"""Lets the agent of each session in to the tools that the session is offered, by MCP over HTTP.

Invariants: it listens on loopback only; each session has a secret of its own, which opens nothing
but its own tools and nothing any more once the session has no agent; what a web page, or on Linux
another user, can send gets nothing. Nothing is listening, and the MCP library is not loaded,
before the first session.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import socket
import sys
from contextlib import suppress
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from ..core import events as ev
from ..core.model import SessionId, State
from ..core.ports import Tasks, ToolDoor
from ..core.session import ASLEEP, Session
from ..core.tools.calls import ToolCalls
from .peers import is_a_strangers

if TYPE_CHECKING:
    from .http import HttpServer
    from .mcp_server import McpSession

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
_BACKLOG = 128
_SINGLE = (b"host", b"origin", b"authorization")
"""What a request that says it twice may mean is anybody's guess."""


class _Admitted:
    """A session whose agent may come in."""

    def __init__(self, session: Session, secret: str) -> None:
        self.session = session
        self.secret = secret
        self.served: McpSession | None = None


class Tools:
    """An observer of all sessions."""

    def __init__(self, calls: ToolCalls, tasks: Tasks, *, version: str) -> None:
        self._calls = calls
        self._tasks = tasks
        self._version = version
        self._socket: socket.socket | None = None
        self._http: HttpServer | None = None
        self._admitted: dict[bytes, _Admitted] = {}
        """By a hash of the secret, so that how long a look-up takes tells nothing about it."""
        self._of: dict[SessionId, bytes] = {}
        self._closed = False

    def admit(self, session: Session) -> ToolDoor:
        """A new way in for the agent of a session; an earlier one is shut."""
        if self._socket is None:
            self._socket = _listening()
            asyncio.get_running_loop().add_reader(self._socket, self._come)
        self.dismiss(session.id)
        secret = secrets.token_urlsafe(32)
        key = _key(secret)
        self._admitted[key] = _Admitted(session, secret)
        self._of[session.id] = key
        return ToolDoor(
            url=f"http://{self.address}{PATH}",
            secret=secret,
            bridge=(sys.executable, "-P", "-m", "agentls", "tools-bridge"),
        )

    def dismiss(self, session: SessionId) -> None:
        """Its agent is gone: what it was told opens nothing any more, and its calls end."""
        key = self._of.pop(session, None)
        admitted = self._admitted.pop(key) if key is not None else None
        if admitted is not None and admitted.served is not None:
            admitted.served.end()

    def __call__(self, session: Session, event: ev.Event, entry: Any) -> None:  # noqa: ARG002
        if type(event) is ev.StateChanged and (
            event.state in {State.FAILED, State.CLOSED} or event.detail == ASLEEP
        ):
            self.dismiss(session.id)

    async def close(self) -> None:
        self._closed = True
        for session in list(self._of):
            self.dismiss(session)
        if self._http is not None:
            await self._http.close()
        elif self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()

    @property
    def address(self) -> str:
        """What a request must have been sent to."""
        assert self._socket is not None, "somebody was let in"
        return f"{LOOPBACK}:{self._socket.getsockname()[1]}"

    # -- requests

    def _come(self) -> None:
        """The first one. Loading the library takes 0.4 s; they wait in the backlog meanwhile."""
        assert self._socket is not None, "that is where they come"
        asyncio.get_running_loop().remove_reader(self._socket)
        self._tasks.start(self._serve(self._socket), "serve tools to agents")

    async def _serve(self, listening: socket.socket) -> None:
        try:
            await asyncio.to_thread(_load)
            from .http import HttpServer  # noqa: PLC0415 - loaded just now

            if not self._closed:
                self._http = HttpServer(listening, self._request)
                await self._http.open()
        except Exception:
            log.exception("tools cannot be offered to agents")
            listening.close()

    async def _request(self, scope: dict[str, Any], receive: Any, send: Any) -> int:
        """Answer a request, or say with which status to refuse it."""
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        if any(sum(each == name for each, _ in headers) > 1 for name in _SINGLE):
            return 400
        given = dict(headers)
        # A name that leads to this machine is how a web page gets at it: only the address counts.
        if given.get(b"host") != self.address.encode():
            return 421
        # Only browsers say where a request comes from, and no agent is a page in one.
        if b"origin" in given:
            return 403
        admitted = self._whose(given.get(b"authorization", b""))
        if admitted is None or is_a_strangers(scope["client"], scope["server"]):
            return 401
        if scope["path"] != PATH:
            return 404
        if admitted.served is None:
            from .mcp_server import McpSession  # noqa: PLC0415 - loaded by now

            admitted.served = McpSession(admitted.session, self._calls, self._version)
            self._tasks.start(admitted.served.run(), f"tools of {admitted.session.id}")
        await admitted.served.handle(scope, receive, send)
        return 0

    def _whose(self, authorization: bytes) -> _Admitted | None:
        scheme, _, secret = authorization.decode("latin-1").partition(" ")
        admitted = self._admitted.get(_key(secret))
        if admitted is None or scheme.lower() != "bearer":
            return None
        return admitted if compare_digest(admitted.secret, secret) else None


def _listening() -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.bind((LOOPBACK, 0))
        found.listen(_BACKLOG)
        found.setblocking(False)
    except BaseException:
        found.close()
        raise
    return found


def _key(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _load() -> None:
    with suppress(ImportError):  # it comes again, and is reported, where it is needed
        from . import http, mcp_server  # noqa: F401, PLC0415
