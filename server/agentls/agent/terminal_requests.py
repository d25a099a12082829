"""`terminal/*`: an agent runs commands in terminals of ours, and reads what comes of them."""

from __future__ import annotations

from typing import Any

from ..core.errors import (
    AgentlsError,
    BadRequest,
    TerminalRefused,
    UnknownTerminal,
)
from ..core.model import TerminalId
from ..core.ports import Sink, Workplace
from ..core.printable import on_screen
from ..core.terminals import OUTPUT_LIMIT, Exit, Terminal, TerminalSpec
from .peer import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, Reply

Json = dict[str, Any]


def create(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is None:
        return
    try:
        spec, limit = _spec(params, sink.cwd), _limit(params.get("outputByteLimit"))
    except BadRequest as error:
        reply.error(INVALID_PARAMS, str(error))
        return

    def created(result: Terminal | AgentlsError) -> None:
        if isinstance(result, AgentlsError):
            _fail(reply, result)
        else:
            reply.result({"terminalId": result.id})

    reply.on_cancel = place.run(spec, limit, created)


def output(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is None:
        return
    try:
        seen = place.output(_id(params))
    except AgentlsError as error:
        _fail(reply, error)
        return
    # For a model, which has no screen: what a person would be left seeing on one.
    result: Json = {"output": on_screen(seen.output), "truncated": seen.truncated}
    if seen.exit is not None:
        result["exitStatus"] = _status(seen.exit)
    reply.result(result)


def wait_for_exit(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is None:
        return
    try:
        call_off = place.wait(_id(params), lambda exit: reply.result(_status(exit)))
    except AgentlsError as error:
        _fail(reply, error)
        return

    def cancelled() -> None:
        call_off()
        reply.error(INTERNAL_ERROR, "The wait was called off.")

    reply.on_cancel = cancelled


def kill(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is not None:
        try:
            place.kill(_id(params))
        except AgentlsError as error:
            _fail(reply, error)
        else:
            reply.result({})


def release(sink: Sink, params: Json, reply: Reply) -> None:
    place = _place(sink, reply)
    if place is not None:
        try:
            place.release(_id(params))
        except AgentlsError as error:
            _fail(reply, error)
        else:
            reply.result({})


def _place(sink: Sink, reply: Reply) -> Workplace | None:
    if sink.workplace is None:
        reply.error(METHOD_NOT_FOUND, "There are no terminals here.")
    return sink.workplace


def _fail(reply: Reply, error: AgentlsError) -> None:
    code = INTERNAL_ERROR
    if isinstance(error, UnknownTerminal):
        code = NOT_FOUND
    elif isinstance(error, TerminalRefused):
        code = REFUSED
    elif isinstance(error, BadRequest):
        code = INVALID_PARAMS
    reply.error(code, str(error))


def _status(exit: Exit) -> Json:
    return {"exitCode": exit.code, "signal": exit.signal or None}


# -- params


def _id(params: Json) -> TerminalId:
    id = params.get("terminalId")
    if not isinstance(id, str):
        raise BadRequest("terminalId is missing.")
    return TerminalId(id)


def _spec(params: Json, folder: str) -> TerminalSpec:
    command, args, cwd = params.get("command"), params.get("args"), params.get("cwd")
    if not isinstance(command, str) or not command.strip():
        raise BadRequest("command is missing.")
    if not isinstance(args, list | None) or not all(isinstance(a, str) for a in args or ()):
        raise BadRequest("args is not a list of strings.")
    if not isinstance(cwd, str | None):
        raise BadRequest("cwd is not a path.")
    return TerminalSpec(
        command=command, args=tuple(args or ()), cwd=cwd or folder, env=_env(params.get("env"))
    )


def _env(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    pairs = given if isinstance(given, list) else [given]
    env: dict[str, str] = {}
    for pair in pairs:
        name = pair.get("name") if isinstance(pair, dict) else None
        value = pair.get("value") if isinstance(pair, dict) else None
        if not isinstance(name, str) or not isinstance(value, str) or not name or "=" in name:
            raise BadRequest("env is not a list of names and values.")
        env[name] = value
    return env


def _limit(given: Any) -> int:
    if given is None:
        return OUTPUT_LIMIT
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise BadRequest("outputByteLimit is not a number of bytes.")
    return given
