"""What an agent may ask of us: one function per client method of ACP, each owing one answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.model import Decision
from ..core.ports import AskRequest, Sink
from . import convert
from . import file_requests as files
from . import terminal_requests as terminals
from .peer import INVALID_PARAMS, Reply
from .spec import Quirks


def request_permission(sink: Sink, params: dict[str, Any], reply: Reply) -> None:
    call = params.get("toolCall")
    if not isinstance(call, dict) or not isinstance(call.get("toolCallId"), str):
        reply.error(INVALID_PARAMS, "toolCall.toolCallId is missing.")
        return

    def answer(decision: Decision) -> None:
        chosen = decision.option
        outcome = (
            {"outcome": "cancelled"}
            if chosen is None
            else {"outcome": "selected", "optionId": chosen.id}
        )
        reply.result({"outcome": outcome})

    ask = sink.ask(
        AskRequest(
            convert.tool_call_patch(call), convert.permission_options(params.get("options")), answer
        )
    )
    reply.on_cancel = lambda: sink.withdraw(ask)


Handler = Callable[[Sink, dict[str, Any], Reply], None]
_HANDLERS: dict[str, Handler] = {
    "session/request_permission": request_permission,
    "fs/read_text_file": files.read,
    "fs/write_text_file": files.write,
    "terminal/create": terminals.create,
    "terminal/output": terminals.output,
    "terminal/wait_for_exit": terminals.wait_for_exit,
    "terminal/kill": terminals.kill,
    "terminal/release": terminals.release,
}


def handlers(quirks: Quirks) -> dict[str, Handler]:
    """By method, for an agent with these quirks."""
    if quirks.missing_file_is_empty:
        return _HANDLERS | {"fs/read_text_file": files.read_or_nothing}
    return _HANDLERS
