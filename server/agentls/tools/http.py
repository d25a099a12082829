"""A small HTTP server on a socket that is listening already.

uvicorn's protocol without uvicorn's server: that one takes over the signals of the process and
wakes up ten times a second.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

Application = Callable[[dict[str, Any], Any, Any], Awaitable[int]]
"""Answers a request, or returns the status to refuse it with."""
_KEEP_ALIVE = 30
"""Seconds that a connection may be idle."""


class HttpServer:
    def __init__(self, listening: socket.socket, application: Application) -> None:
        self._socket = listening
        self._application = application
        self._state = ServerState()
        self._config = Config(
            self._answer,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=_KEEP_ALIVE,
        )
        self._server: asyncio.Server | None = None
        self._closing = False

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._config.load()
        self._server = await loop.create_server(
            lambda: H11Protocol(self._config, self._state, {}, loop), sock=self._socket
        )

    async def close(self) -> None:
        """End what is still being answered."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        self._closing = True
        await asyncio.sleep(0)  # until each knows that nobody listens any more
        for task in (tasks := tuple(self._state.tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            status = await self._application(scope, receive, send)
        except asyncio.CancelledError:
            if self._closing:
                return  # uvicorn would report it as a failure
            raise
        if status:
            headers = [(b"content-length", b"0"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
