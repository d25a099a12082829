"""LSP over stdio: pygls with its loop replaced, for four measured reasons.

The stock loop takes three thread hops per message, never answers a request with invalid params,
blocks the event loop while an editor does not read, and takes nested objects with a "jsonrpc" key
for messages. Here every request is answered, nothing blocks, and messages of our own namespace
bypass pygls' typing altogether.

Private names of pygls are used in this file only: `_send_data`, `_converter`,
`_request_futures`, `_result_types`, `_handle_cancel_notification`, `_shutdown`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import msgspec
from cattrs import transform_error
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.protocol.json_rpc import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
)

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_FAILED = -32803

_HEADER_LIMIT = 64 * 1024
_BODY_LIMIT = 256 * 1024 * 1024

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

OwnMessage = Callable[[dict[str, Any]], None]


def converter_factory() -> Any:
    """pygls' converter, but params of unknown methods stay plain dicts, and may be missing."""
    converter = default_converter()  # type: ignore[no-untyped-call]

    def keep(raw: dict[str, Any], kind: Any) -> Any:
        return kind(**{name: raw.get(name) for name in kind.__annotations__})

    for kind in (JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage):
        converter.register_structure_hook(kind, keep)
    return converter


class Frames(asyncio.Protocol):
    """Splits the editor's bytes into message bodies."""

    def __init__(self, body: Callable[[bytes], None], closed: Callable[[], None]) -> None:
        self._body = body
        self._closed = closed
        self._buffer = bytearray()
        self._missing = 0
        """Bytes of the present body that have not come yet, 0 while a header is read."""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            if not self._missing and not self._header():
                return
            if len(self._buffer) < self._missing:
                return
            body = bytes(self._buffer[: self._missing])
            del self._buffer[: self._missing]
            self._missing = 0
            self._body(body)

    def _header(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _HEADER_LIMIT:
                log.error("the editor sent a header without an end")
                self._buffer.clear()
            return False
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        self._missing = _content_length(head)
        if not self._missing:
            log.error("the editor sent a header without a usable Content-Length: %r", head[:200])
            return self._header()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed()


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            return length if length <= _BODY_LIMIT else 0
    return 0


class Writer:
    """Writes to the editor and never blocks; `backlog` says how far behind the editor is."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport

    @property
    def backlog(self) -> int:
        return self._transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        self._transport.close()


class Protocol(LanguageServerProtocol):
    """pygls' protocol, fed with decoded objects; `own` takes messages of our namespace."""

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        self.own: dict[str, OwnMessage] = {}
        self.own_prefix: tuple[str, OwnMessage] | None = None
        self.initialized = False
        self.exit_code: int | None = None
        self.on_exit: Callable[[], None] = lambda: None

    # -- incoming

    def body(self, data: bytes) -> None:
        """Take in one message body."""
        try:
            message = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = _decode_leniently(data)
        if not isinstance(message, dict):
            self.fail(None, PARSE_ERROR, "The message is not a JSON object.")
            return
        try:
            self._route(message)
        except Exception:
            log.exception("message failed: %s", message.get("method"))
            if "method" in message and "id" in message:
                self.fail(message["id"], INTERNAL_ERROR, "Internal error; see the log.")

    def _route(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self._response(message)
        elif not isinstance(method, str):
            self.fail(message.get("id"), INVALID_REQUEST, "The method is not a string.")
        elif method == "exit":
            self._exit()
        elif self._shutdown:
            self._refuse(message, INVALID_REQUEST, "The server is shutting down.")
        elif not self.initialized and method != "initialize":
            self._refuse(message, NOT_INITIALIZED, "The first request must be `initialize`.")
        elif (own := self._own(method)) is not None:
            own(message)
        else:
            self._to_pygls(message)

    def _own(self, method: str) -> OwnMessage | None:
        if self.own_prefix is not None and method.startswith(self.own_prefix[0]):
            return self.own_prefix[1]
        return self.own.get(method)

    def _to_pygls(self, message: dict[str, Any]) -> None:
        message["jsonrpc"] = "2.0"
        if message["method"] == "initialize":
            self.initialized = True
        try:
            structured = self.structure_message(message)
        except JsonRpcException as error:
            if "id" in message:
                text = _what_is_wrong(error)
                self.fail(message["id"], error.code or INVALID_PARAMS, text)
            return
        self.handle_message(structured)

    def _refuse(self, message: dict[str, Any], code: int, text: str) -> None:
        if "id" in message:
            self.fail(message["id"], code, text)

    def _response(self, message: dict[str, Any]) -> None:
        id: Any = message.get("id")
        future = self._request_futures.get(id) if isinstance(id, str | int) else None
        if future is None or future.done():
            # Late: whoever asked has gone, e.g. a prompt that was answered elsewhere.
            self._request_futures.pop(id, None)
            self._result_types.pop(id, None)
            return
        message["jsonrpc"] = "2.0"
        try:
            self.handle_message(self.structure_message(message))
        except JsonRpcException as error:
            self._request_futures.pop(id, None)
            future.set_exception(error)

    def cancel(self, id: str | int) -> None:
        """The editor does not want the answer to one of pygls' requests any more."""
        self._handle_cancel_notification(id)

    def _exit(self) -> None:
        self.exit_code = 0 if self._shutdown else 1
        self.on_exit()

    # -- outgoing

    def succeed(self, id: Any, result: Any) -> None:
        self._put({"jsonrpc": "2.0", "id": id, "result": result})

    def fail(self, id: Any, code: int, text: str) -> None:
        self._put({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})

    def tell(self, method: str, params: Any) -> None:
        """A notification with params that msgspec can encode."""
        self._put({"jsonrpc": "2.0", "method": method, "params": params})

    def _send_data(self, data: Any) -> None:
        """pygls' own messages come through here."""
        self._put(self._converter.unstructure(data) if hasattr(data, "__attrs_attrs__") else data)

    def _put(self, message: dict[str, Any]) -> None:
        if self.writer is None:
            return
        body = _encode(message)
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def _what_is_wrong(error: JsonRpcException) -> str:
    if error.__cause__ is None:
        return str(error) or "The request could not be understood."
    found = "; ".join(transform_error(error.__cause__))
    return f"The params are wrong: {found[:300]}."


def _decode_leniently(data: bytes) -> Any:
    """Editors may send half a surrogate pair; strict readers refuse the whole message."""
    try:
        value = json.loads(data.decode("utf-8", "replace"))
        text = json.dumps(value, ensure_ascii=False)
        return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except (ValueError, RecursionError):
        return None
