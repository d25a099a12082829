"""What a person can set for a session: whether it asks (modes) and how fast it talks (pace)."""

from __future__ import annotations

from acp.schema import (
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from agentls.demo.session import Mode, Pace, Session

PACE = "pace"
ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean

_MODES: dict[Mode, SessionMode] = {
    "ask": SessionMode(id="ask", name="Ask", description="Asks before every edit and command"),
    "auto": SessionMode(id="auto", name="Auto", description="Edits and runs without asking"),
}
_PACES: dict[Pace, tuple[SessionConfigSelectOption, int]] = {
    "brisk": (SessionConfigSelectOption(value="brisk", name="Brisk"), 1),
    "calm": (SessionConfigSelectOption(value="calm", name="Calm"), 4),
}


def as_mode(value: str) -> Mode | None:
    """Return the mode of that id, if there is one."""
    return next((mode for mode in _MODES if mode == value), None)


def as_pace(value: str | bool) -> Pace | None:
    """Return the pace of that name, if there is one."""
    return next((pace for pace in _PACES if pace == value), None)


def delay_factor(session: Session) -> int:
    """Return how many times the usual delay lies between two words."""
    return _PACES[session.pace][1]


def modes(session: Session) -> SessionModeState:
    """Return the modes with the one of this session."""
    return SessionModeState(current_mode_id=session.mode, available_modes=list(_MODES.values()))


def options(session: Session) -> list[ConfigOption]:
    """Return the options with the values of this session."""
    pace = SessionConfigOptionSelect(
        id=PACE,
        type="select",
        name="Pace",
        description="How fast the demo agent talks",
        current_value=session.pace,
        options=[option for option, _ in _PACES.values()],
    )
    return [pace]
