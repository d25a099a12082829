"""One end of a JSON-RPC conversation over lines of JSON.

Messages are handed on in wire order, answers included, by plain calls: nothing here awaits, so
nothing can overtake. Every request from the other side gets exactly one answer. The ids of the two
directions are kept apart, and any JSON value is good as an id.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from typing import Any

import msgspec

from .framing import TooLong

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
AUTH_REQUIRED = -32000
NOT_FOUND = -32002
REFUSED = -32003
"""Not one of the protocol's: a person, or a rule, said no."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

# The members of a message itself, which come before or after the long one: an "id" further inside
# belongs to something else.
_VALUE = rb'(?:"[ !#-\[\]-~]{0,200}"|-?(?:0|[1-9]\d{0,17}))'
_MEMBER = rb'"(?:jsonrpc|method|id)"\s*:\s*' + _VALUE + rb"\s*"
_FIRST_MEMBERS = re.compile(rb"\s*\{\s*(?:" + _MEMBER + rb",\s*)*")
_LAST_MEMBERS = re.compile(rb"(?:,\s*" + _MEMBER + rb")*\}\s*\Z")
_ID = re.compile(rb'"id"\s*:\s*(' + _VALUE + rb")")
_ENDS = 4096


class RpcError(Exception):
    """The other side answered with an error, or will never answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Reply:
    """The answer that we owe. Only the first one given goes out."""

    __slots__ = ("_peer", "id", "key", "on_cancel")

    def __init__(self, peer: Peer, id: Any, key: bytes) -> None:
        self._peer: Peer | None = peer
        self.id = id
        self.key = key
        self.on_cancel: Callable[[], None] | None = None
        """Called when the other side does not want the answer any more; it is still owed."""

    def result(self, value: Any) -> None:
        self._send({"jsonrpc": "2.0", "id": self.id, "result": value})

    def error(self, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": self.id, "error": {"code": code, "message": message}})

    def _send(self, message: dict[str, Any]) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            peer.answered(self)
            peer.send(message)


Answer = Callable[[Any, RpcError | None], None]


class Peer:
    """Knows which of our requests wait for an answer, and which answers we owe."""

    def __init__(
        self,
        write: Callable[[bytes], None],
        on_request: Callable[[str, Any, Reply], None],
        on_notification: Callable[[str, Any], None],
        on_garbage: Callable[[str], None],
    ) -> None:
        self._write = write
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_garbage = on_garbage
        self._waiting: dict[int, Answer] = {}
        self._owed: dict[bytes, Reply] = {}
        self._next = 0
        self._closed: RpcError | None = None

    # -- speaking

    def call(self, method: str, params: Any, answer: Answer) -> int:
        """Send a request. `answer` is called exactly once, in wire order."""
        self._next += 1
        number = self._next
        if self._closed is not None:
            answer(None, self._closed)
            return number
        self._waiting[number] = answer
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def notify(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def drop(self, number: int) -> None:
        """Stop waiting for an answer, and tell the other side so."""
        if self._waiting.pop(number, None) is not None:
            self.notify("$/cancel_request", {"requestId": number})

    def send(self, message: dict[str, Any]) -> None:
        if self._closed is not None:
            return
        try:
            line = _encode(message)
        except UnicodeEncodeError:  # half a surrogate pair, from an editor that let it through
            line = _encode(_without_surrogates(message))
        self._write(line + b"\n")

    def answered(self, reply: Reply) -> None:
        if self._owed.get(reply.key) is reply:
            del self._owed[reply.key]

    # -- listening

    def receive(self, line: bytes) -> None:
        """Take in one line. Whatever it does, the next one can be taken in."""
        try:
            self._receive(line)
        except Exception:
            log.exception("a message could not be handled: %r", line[:200])

    def _receive(self, line: bytes) -> None:
        try:
            message = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = _decode_leniently(line)
        if type(message) is not dict:
            if not line.isspace():
                self._on_garbage(line[:200].decode("utf-8", "replace"))
                self._unread(line[:_ENDS], line[-_ENDS:], PARSE_ERROR, "the message is not JSON")
            return
        method = message.get("method")
        if method is None:
            self._answer(message)
        elif "id" in message:
            self._request(str(method), message)
        elif method == "$/cancel_request":
            self._cancelled(message.get("params"))
        else:
            self._on_notification(method, message.get("params"))

    def too_long(self, line: TooLong) -> None:
        """A line was skipped: whoever waits for what was in it must not wait for ever."""
        text = f"a message of {line.size:,} bytes was too long and was left out"
        self._unread(line.head, line.tail, INVALID_REQUEST, text)

    def _unread(self, head: bytes, tail: bytes, code: int, text: str) -> None:
        """Answer a request that nobody has read, or stop waiting for an answer that was lost."""
        first, last = _FIRST_MEMBERS.match(head), _LAST_MEMBERS.search(tail)
        if first is None:
            return
        members = first[0] + (last[0] if last else b"")
        id = _ID.search(members)
        if id is None:
            return
        if b'"method"' in members:
            Reply(self, _decode(id[1]), b"").error(code, text)
        else:
            self._settle(_decode(id[1]), None, RpcError(INTERNAL_ERROR, text))

    def close(self, reason: str) -> None:
        """The other side is gone: nobody waits any more, and nothing is owed."""
        if self._closed is not None:
            return
        self._closed = RpcError(INTERNAL_ERROR, reason)
        waiting, self._waiting = self._waiting, {}
        owed, self._owed = self._owed, {}
        for answer in waiting.values():
            try:
                answer(None, self._closed)
            except Exception:
                log.exception("the end of a request could not be handled")
        for reply in owed.values():
            if reply.on_cancel is not None:
                reply.on_cancel()

    def _answer(self, message: dict[str, Any]) -> None:
        # A line of somebody's log may have an id too; an answer may lack its result.
        if "id" not in message or not message.keys() & {"jsonrpc", "result", "error"}:
            self._on_garbage(str(message)[:200])
            return
        error = message.get("error")
        if error is None:
            self._settle(message["id"], message.get("result"), None)
            return
        details = error if isinstance(error, dict) else {"message": str(error)}
        code = details.get("code")
        self._settle(
            message["id"],
            None,
            RpcError(
                code if isinstance(code, int) else INTERNAL_ERROR,
                str(details.get("message") or "unknown error"),
                details.get("data"),
            ),
        )

    def _settle(self, id: Any, result: Any, error: RpcError | None) -> None:
        if isinstance(id, str) and id.isdecimal():
            id = int(id)  # some agents turn numbers into strings
        answer = self._waiting.pop(id, None) if type(id) is int else None
        if answer is None:
            log.info("answer to an unknown or settled request %r", id)
        else:
            answer(result, error)

    def _request(self, method: str, message: dict[str, Any]) -> None:
        id = message["id"]
        reply = Reply(self, id, _encode(id))
        self._owed[reply.key] = reply
        try:
            self._on_request(method, message.get("params"), reply)
        except Exception:
            log.exception("request %s failed", method)
            reply.error(INTERNAL_ERROR, "Internal error")

    def _cancelled(self, params: Any) -> None:
        if isinstance(params, dict):
            reply = self._owed.get(_encode(params.get("requestId")))
            if reply is not None and reply.on_cancel is not None:
                reply.on_cancel()


def _decode_leniently(line: bytes) -> Any:
    """JSON that a strict reader refuses: lone surrogates, NaN, a byte order mark, bad UTF-8."""
    text = line.decode("utf-8-sig", "replace")
    try:
        # NaN and Infinity have no place in JSON, nor in what we send on: they become null.
        return _without_surrogates(json.loads(text, parse_constant=lambda _: None))
    except (ValueError, RecursionError):
        return None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(v) for v in value]
    return value
