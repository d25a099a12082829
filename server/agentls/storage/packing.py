"""Long texts within an entry are kept apart, by their hash, and all that is long is deflated.

Invariant: what is unpacked is what was packed, whatever a text looks like.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Any, Final

import msgspec

_INLINE: Final = 4096
"""Bytes of an entry up to which nothing is taken out of it."""
_LONG: Final = 1024
"""Characters from which on a text within an entry is kept by its hash."""
_REFERENCE: Final = "\0blob:"
_SIGN: Final = rb"\u0000"

Blobs = Callable[[str], str]
"""The text that has this hash."""


def packed(kind: str, body: bytes) -> tuple[bytes, dict[str, bytes]]:
    """An entry whose long texts are taken out; and those, by hash."""
    blobs: dict[str, bytes] = {}
    if kind == "message" or (len(body) <= _INLINE and _SIGN not in body):
        return body, blobs

    def put(text: bytes) -> str:
        name = hashlib.blake2b(text, digest_size=16).hexdigest()
        blobs[name] = text
        return _REFERENCE + name

    def shortened(value: Any) -> Any:
        if isinstance(value, str):
            long = len(value) >= _LONG or value.startswith(_REFERENCE)
            return put(value.encode()) if long else value
        if isinstance(value, list):
            return [shortened(item) for item in value]
        if isinstance(value, dict):
            return {key: shortened(item) for key, item in value.items()}
        return value

    try:
        tree = msgspec.json.decode(body)
        # The ends of outputs stay: they change all the time.
        kept = tree.pop("terminals", None) if kind == "tool_call" else None
        tree = shortened(tree)
        if kept is not None:
            tree["terminals"] = kept
        body = msgspec.json.encode(tree)
    except RecursionError:
        blobs.clear()
        return msgspec.json.encode(put(body)), blobs
    if len(body) > 4 * _INLINE and kept is None:
        body = msgspec.json.encode(put(body))
    return body, blobs


def unpacked(kind: str, body: bytes, blob: Blobs) -> bytes:
    """The entry with its long texts in it again."""
    if kind == "message" or _SIGN not in body:
        return body

    def lengthened(value: Any) -> Any:
        if isinstance(value, str):
            return blob(value[len(_REFERENCE) :]) if value.startswith(_REFERENCE) else value
        if isinstance(value, list):
            return [lengthened(item) for item in value]
        if isinstance(value, dict):
            return {key: lengthened(item) for key, item in value.items()}
        return value

    try:
        tree = msgspec.json.decode(body)
        if isinstance(tree, str):
            return unpacked(kind, blob(tree[len(_REFERENCE) :]).encode(), blob)
        kept = tree.pop("terminals", None) if kind == "tool_call" else None
        tree = lengthened(tree)
    except RecursionError:
        return body  # nothing was taken out of it either
    if kept is not None:
        tree["terminals"] = kept
    return msgspec.json.encode(tree)


def deflated(text: bytes) -> bytes:
    # Level 3: 7 % larger than level 6, in two thirds of the time.
    return zlib.compress(text, 3)


def inflated(data: bytes) -> bytes:
    return zlib.decompress(data)
