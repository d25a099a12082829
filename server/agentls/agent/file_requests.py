"""`fs/*`: an agent reads and writes files through us, and so sees what is not saved yet."""

from __future__ import annotations

from typing import Any

from ..core.errors import AgentlsError, BadRequest, FileMissing, FileRefused
from ..core.ports import Sink, Workplace
from .peer import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, Reply

Json = dict[str, Any]


def read(sink: Sink, params: Json, reply: Reply) -> None:
    _read(sink, params, reply, missing_is_empty=False)


def read_or_nothing(sink: Sink, params: Json, reply: Reply) -> None:
    """For agents that take any error for a reason not to make the file."""
    _read(sink, params, reply, missing_is_empty=True)


def _read(sink: Sink, params: Json, reply: Reply, *, missing_is_empty: bool) -> None:
    place = _place(sink, reply)
    if place is None:
        return
    try:
        path = _path(params)
        line, limit = _count(params, "line"), _count(params, "limit")
    except BadRequest as error:
        reply.error(INVALID_PARAMS, str(error))
        return

    def done(result: str | AgentlsError) -> None:
        if isinstance(result, FileMissing) and missing_is_empty:
            reply.result({"content": ""})
        elif isinstance(result, AgentlsError):
            _fail(reply, result)
        else:
            reply.result({"content": result})

    reply.on_cancel = place.read(path, line, limit, done)


def write(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is None:
        return
    try:
        path, text = _path(params), _content(params)
    except BadRequest as error:
        reply.error(INVALID_PARAMS, str(error))
        return

    def done(result: AgentlsError | None) -> None:
        if result is None:
            reply.result({})
        else:
            _fail(reply, result)

    reply.on_cancel = place.write(path, text, done)


def _place(sink: Sink, reply: Reply) -> Workplace | None:
    if sink.workplace is None:
        reply.error(METHOD_NOT_FOUND, "There are no files here.")
    return sink.workplace


def _fail(reply: Reply, error: AgentlsError) -> None:
    code = INTERNAL_ERROR
    if isinstance(error, FileMissing):
        code = NOT_FOUND
    elif isinstance(error, FileRefused):
        code = REFUSED
    elif isinstance(error, BadRequest):
        code = INVALID_PARAMS
    reply.error(code, str(error))


# -- params


def _path(params: Json) -> str:
    path = params.get("path")
    if not isinstance(path, str) or not path:
        raise BadRequest("path is missing.")
    return path


def _content(params: Json) -> str:
    text = params.get("content")
    if not isinstance(text, str):
        raise BadRequest("content is not text.")
    return text


def _count(params: Json, name: str) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRequest(f"{name} is not a number of lines.")
    return value
