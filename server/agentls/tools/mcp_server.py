"""MCP as one session's agent speaks it with us, by the official SDK.

Invariant: everything here is for one session, known from the start; no message names another.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import mcp_types as mcp
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from ..core.errors import AgentlsError
from ..core.session import Session
from ..core.tools.calls import ToolCalls
from ..core.tools.tool import PATIENCE, SERVER, Answer, Tool

log = logging.getLogger(__name__)

_PROGRESS_EVERY = 10.0
"""Seconds after which a client that wants to know hears that a call is still going on."""
LONG_PATIENCE = 3600.0
"""Codex asks for progress too, and gives up nevertheless."""
_ONLY_READS = {"read", "search", "think"}
_Context = ServerRequestContext[Any, Any]


class McpSession:
    """The tools of one session."""

    def __init__(self, session: Session, calls: ToolCalls, version: str) -> None:
        self._session = session
        self._calls = calls
        server: Server[Any] = Server(
            SERVER,
            version=version,
            title="agentls",
            instructions=(
                "The person's editor: its live terminal, its unsaved text, what its language"
                " servers know, and a way to ask the person."
            ),
            on_list_tools=self._list,
            on_call_tool=self._call,
        )
        # An idle agent keeps its session: it ends with ours.
        self._manager = StreamableHTTPSessionManager(server, session_idle_timeout=None)
        self._running = asyncio.Event()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Serve until `end`; whatever is still being called then is cancelled."""
        async with self._manager.run():
            self._running.set()
            await self._over.wait()

    def end(self) -> None:
        self._over.set()

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        await self._running.wait()
        await self._manager.handle_request(scope, receive, send)

    async def _list(
        self, _: _Context, __: mcp.PaginatedRequestParams | None
    ) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[_shape(t) for t in self._calls.offered(self._session)])

    async def _call(self, context: _Context, params: mcp.CallToolRequestParams) -> Any:
        progress = asyncio.create_task(_keep_telling(context))
        try:
            answer = await self._calls.call(
                self._session, params.name, params.arguments, _patience(context)
            )
        except AgentlsError as error:
            return _result(Answer(str(error)), failed=True)
        except Exception:
            log.exception("the tool %s failed", params.name)
            return _result(Answer("It failed inside agentls; see its log."), failed=True)
        finally:
            progress.cancel()
        return _result(answer)


def _patience(context: _Context) -> float:
    """How long the client waits, as far as one can know: those that hear of progress go on."""
    client = context.session.client_params
    name = client.client_info.name if client else ""
    hears = context.meta is not None and context.meta.get("progress_token") is not None
    return LONG_PATIENCE if hears and "codex" not in name.lower() else PATIENCE


async def _keep_telling(context: _Context) -> None:
    """Some clients give up on a call that says nothing for a minute."""
    seconds = 0.0
    while True:
        await asyncio.sleep(_PROGRESS_EVERY)
        seconds += _PROGRESS_EVERY
        await context.session.report_progress(seconds)


def _shape(tool: Tool) -> mcp.Tool:
    return mcp.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=mcp.ToolAnnotations(
            title=tool.title, read_only_hint=tool.kind in _ONLY_READS, open_world_hint=False
        ),
    )


def _result(answer: Answer, *, failed: bool = False) -> mcp.CallToolResult:
    return mcp.CallToolResult(
        content=[mcp.TextContent(text=answer.text)],
        structured_content=answer.value,
        is_error=failed,
    )
