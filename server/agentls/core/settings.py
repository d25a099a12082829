"""What a person can set, declared once: the editors' settings and the docs are made from this."""

from __future__ import annotations

from typing import Any, Literal

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
    review: Literal["after", "before"] = "after"
    """When you look at what agents write to files: `after` it is written, or `before`, so that each
    write waits for you, whatever rules allow, except in sessions that you trust. What an agent does
    without asking, such as a shell command that was allowed, can only be reviewed after."""
    store_days: float = 90.0
    """After so many days without a word, a stored session loses long outputs and the texts of its
    changes."""
    store_megabytes: float = 1024.0
    """How much room stored sessions may take; past it, the oldest are made smaller, and go at
    last."""
    idle_agent_timeout: float = 600.0
    """After so long without anything to do, the agent of a session is stopped, if it can take the
    session up again; the next prompt brings it back. 0: never."""
    warm_agent: bool = False
    """Keep an agent that nobody uses any more for as long as an idle one, so that the next session
    starts at once."""
    stuck_after: float = 120.0
    """After so long without a sign of life, a running turn is shown as stuck. 0: never."""
    editor_tools: bool = True
    """Offer agents the tools of the editor: its terminal, unsaved text, diagnostics, questions to
    you."""
    family_depth: int = 1
    """How deep agents may start agents: 1 means that those an agent starts can start none; 0, that
    no agent can."""
    family_children: int = 8
    """How many agents may work for one that a person started, at the same time."""
    family_turns: int = 100
    """How many turns agents may give each other before you say something again. 0: any number."""
    family_cost: float = 0.0
    """What the agents of one family may cost together, as they tell it; then they are stopped.
    0: anything."""
    offer_orchestration: bool = False
    """Offer every session the tools to start other agents; each start is then asked of you. A
    session that you start to orchestrate has them in any case, and is not asked."""
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
    numbers = (
        settings.handshake_timeout,
        settings.cancel_grace,
        settings.line_limit,
        settings.store_days,
        settings.store_megabytes,
    )
    if not all(0 < number < float("inf") for number in numbers):
        raise SettingsError("Times and sizes must be greater than 0.")
    if not all(0 <= number < float("inf") for number in _may_be_never(settings)):
        raise SettingsError("A time or a limit must be 0 or more.")


def _may_be_never(settings: Settings) -> tuple[float, ...]:
    family = settings.family_depth, settings.family_children, settings.family_turns
    return settings.idle_agent_timeout, settings.stuck_after, settings.family_cost, *family
