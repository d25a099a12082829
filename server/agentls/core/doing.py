"""What a session is doing, and how what it did ended, told from its transcript alone."""

from __future__ import annotations

from collections.abc import Sequence

from .model import Role, State
from .transcript import Message, ToolCall, Transcript

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


def first_title(transcript: Transcript) -> str:
    """The title that its first prompt gave a session."""
    said = (entry for entry in transcript.entries if isinstance(entry, Message))
    return next((first_line(str(e.text)) for e in said if e.role is Role.USER), "")
