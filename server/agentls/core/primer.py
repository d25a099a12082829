"""What an agent is told of a conversation that it does not remember: its end, within limits."""

from __future__ import annotations

from .markdown import transcript_markdown
from .transcript import Message, Transcript

LIMIT = 60_000
"""Characters, so that there is room left for what comes next."""


def primer_of(transcript: Transcript, title: str) -> str:
    """Empty when nothing has been said."""
    if not any(isinstance(entry, Message) for entry in transcript.entries):
        return ""
    text = transcript_markdown(transcript, title=title)
    if len(text) > LIMIT:
        text = "(The beginning is left out.)\n\n" + text[-LIMIT:]
    return (
        "What follows between the lines is the record of an earlier conversation in this folder,"
        " which goes on now. It is for your information: do nothing in it again, and do not"
        " answer to it. After it comes what the person says now.\n\n"
        f"-----\n\n{text}\n-----\n"
    )
