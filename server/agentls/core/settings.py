"""What a person can set, declared once: the editors' settings and the docs are made from this."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from .errors import SettingsError


class Settings(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Sent by the editor as `initializationOptions`. Times are in seconds."""

    agent: str = ""
    """The agent for new sessions. Empty: the first one that is installed."""
    handshake_timeout: float = 30.0
    """How long an agent may take to start, and to open a session."""
    cancel_grace: float = 10.0
    """How long an agent may take to stop a turn before the session is given up."""
    ask_timeout: float = 1800.0
    """How long an ask may stay open before it is rejected."""
    line_limit: int = 64 * 1024 * 1024
    """The longest message, in bytes, that an agent may send."""


def settings_from(raw: Any) -> tuple[Settings, list[str]]:
    """The settings an editor sent, and one sentence for each that cannot be used."""
    if raw is None:
        return Settings(), []
    if not isinstance(raw, dict):
        return Settings(), ["The settings are not an object; the defaults are used."]
    good: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in raw.items():
        try:
            _check(msgspec.convert({key: value}, Settings))
        except msgspec.ValidationError as error:
            problems.append(f"The setting {key!r} is ignored: {str(error).split(' - at')[0]}.")
        except SettingsError as error:
            problems.append(f"The setting {key!r} is ignored: {error}")
        else:
            good[key] = value
    return msgspec.convert(good, Settings), problems


def _check(settings: Settings) -> None:
    numbers = (settings.handshake_timeout, settings.cancel_grace, settings.line_limit)
    if not all(0 < number < float("inf") for number in numbers):
        raise SettingsError("Times and sizes must be greater than 0.")
