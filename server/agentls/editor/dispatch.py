"""From a message of our namespace, or a command, to its handler and back to an answer.

Params are checked against their declaration before a handler sees them, and every request is
answered once, whatever happens.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any, cast

import msgspec

from ..core.errors import AgentlsError, BadRequest
from . import protocol as p
from .wire import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_FAILED

log = logging.getLogger(__name__)

CANCELLED = -32800

Answer = Callable[[Any, tuple[int, str] | None], None]
"""Called with a result, or with the code and text of an error."""


class Dispatcher:
    """Knows every request by its method and by its command."""

    def __init__(self, *handlers: object) -> None:
        found = [(m, _handler(m, handlers)) for m in p.REQUESTS]
        self._by_method = {m.method: (m, handler) for m, handler in found}
        self._by_command = {m.command: (m, handler) for m, handler in found}
        self._notified = {m.method: (m, _handler(m, handlers)) for m in p.EDITOR_NOTIFICATIONS}
        self._running: dict[Any, asyncio.Task[Any]] = {}

    def request(self, id: Any, method: str, params: Any, answer: Answer) -> None:
        found = self._by_method.get(method)
        if found is None:
            answer(None, (METHOD_NOT_FOUND, f"There is no method {method}."))
        else:
            self._run(id, found[0], found[1], params, answer)

    def command(self, id: Any, command: str, arguments: Any, answer: Answer) -> None:
        found = self._by_command.get(command)
        if found is None:
            answer(None, (INVALID_PARAMS, f"There is no command {command}."))
            return
        try:
            params = _command_params(found[0], arguments)
        except BadRequest as error:
            answer(None, (INVALID_PARAMS, str(error)))
        else:
            self._run(id, found[0], found[1], params, answer)

    def notification(self, method: str, params: Any) -> None:
        """Nobody is told what is wrong with it but the log."""
        found = self._notified.get(method)
        if found is None:
            log.warning("notification %s ignored: there is none of that name", method)
            return
        try:
            found[1](msgspec.convert(params if params is not None else {}, found[0].params))
        except msgspec.ValidationError as error:
            log.warning("notification %s ignored: %s", method, error)

    def cancel(self, id: Any) -> bool:
        """The editor does not want the answer any more; it gets one that says so."""
        task = self._running.get(id)
        return task is not None and task.cancel()

    def _run(
        self, id: Any, method: p.Method, handler: Callable[[Any], Any], params: Any, answer: Answer
    ) -> None:
        try:
            checked = msgspec.convert(params if params is not None else {}, method.params)
        except msgspec.ValidationError as error:
            answer(None, (INVALID_PARAMS, f"The params of {method.method} are wrong: {error}."))
            return
        try:
            result = handler(checked)
        except Exception as error:
            answer(None, response_error(error))
            return
        if not inspect.isawaitable(result):
            answer(result, None)
            return
        task = asyncio.ensure_future(result)
        self._running[id] = task
        task.add_done_callback(lambda done: self._finish(id, done, answer))

    def _finish(self, id: Any, task: asyncio.Task[Any], answer: Answer) -> None:
        self._running.pop(id, None)
        if task.cancelled():
            answer(None, (CANCELLED, "The request was cancelled."))
        elif (error := task.exception()) is not None:
            answer(None, response_error(error))
        else:
            answer(task.result(), None)


def _handler(method: p.Method, handlers: tuple[object, ...]) -> Callable[[Any], Any]:
    (found,) = [getattr(h, method.handler) for h in handlers if hasattr(h, method.handler)]
    return cast("Callable[[Any], Any]", found)


def response_error(error: BaseException) -> tuple[int, str]:
    """The one place where an exception becomes an answer."""
    if isinstance(error, BadRequest):
        return INVALID_PARAMS, str(error)
    if isinstance(error, AgentlsError):
        return REQUEST_FAILED, str(error)
    log.error("internal error", exc_info=error)
    return INTERNAL_ERROR, "Internal error; see the log."


def _command_params(method: p.Method, arguments: Any) -> Any:
    """A command has one object as its argument; for a prompt typed by hand, plain words do."""
    if not arguments:
        return {}
    if not isinstance(arguments, list):
        raise BadRequest(f"The arguments of {method.command} are not a list.")
    if len(arguments) == 1 and isinstance(arguments[0], dict):
        return arguments[0]
    if method.params is p.PromptParams and all(isinstance(a, str) for a in arguments):
        return {"text": " ".join(arguments)}
    raise BadRequest(f"{method.command} takes one object.", hint="See docs/protocol.md.")
