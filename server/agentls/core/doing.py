"""What a session is doing, and how what it did ended, told from its transcript alone."""

from __future__ import annotations

from collections.abc import Sequence

from .model import State
from .transcript import ToolCall, Transcript

_TITLE_LENGTH = 80


def doing(transcript: Transcript, waits_for: Sequence[str]) -> tuple[State, str]:
    """Running, idle or waiting, and for whom, of a session whose agent is there."""
    questions = transcript.open_questions()
    others = [question.to for question in questions if question.to] + list(waits_for)
    if transcript.open_asks() or any(not question.to for question in questions):
        return State.WAITING_FOR_YOU, ""
    if others:
        return State.WAITING_FOR_AGENT, f"waits for {', '.join(others)}"
    return State.RUNNING if transcript.turn_running else State.IDLE, ""


def status_at_end(call: ToolCall, reason: str) -> str:
    """Agents leave tool calls open when a turn is cancelled or an ask is rejected."""
    if call.rejected:
        return "rejected"
    return "cancelled" if reason in {"cancelled", "failed"} else "unfinished"


def first_line(text: str) -> str:
    """The title that a prompt gives a session."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _TITLE_LENGTH else line[: _TITLE_LENGTH - 1] + "…"
