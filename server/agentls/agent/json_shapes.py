"""Reading JSON that somebody else wrote: what is there is taken, what is not is missing.

`required` and `items` raise TypeError, for whoever keeps what cannot be understood.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def required(raw: Json, key: str) -> str:
    value = raw[key]
    if not isinstance(value, str):
        raise TypeError
    return value


def items(raw: Json, key: str) -> list[Any]:
    value = raw[key]
    if not isinstance(value, list):
        raise TypeError
    return value


def amount(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
