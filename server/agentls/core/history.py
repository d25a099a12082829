"""What a session that goes on from another one shows of that one's conversation.

Invariant: nothing that happens in one of them changes the other, and what was decided in the first
is not told as if it had been decided in the second.
"""

from __future__ import annotations

import copy

from .growing import GrowingText
from .model import EntryId
from .transcript import Ask, Entry, Message, Question, ToolCall, Transcript, TurnEnd


def history_of(transcript: Transcript, *, same_agent: bool) -> Transcript:
    """A copy to go on from; with the choices that were made, if the agent can have them too."""
    found = Transcript()
    for entry in transcript.entries:
        if not isinstance(entry, Ask | Question):
            found.entries.append(_copied(entry, EntryId(f"e{len(found.entries) + 1}")))
    found.turn = transcript.turn
    found.title = transcript.title
    if same_agent:
        found.mode, found.modes = transcript.mode, transcript.modes
        found.options, found.commands = transcript.options, transcript.commands
    return found


def _copied(entry: Entry, id: EntryId) -> Entry:
    new = copy.copy(entry)
    new.id = id
    if isinstance(new, Message):
        new.text = GrowingText(str(new.text))
    elif isinstance(new, ToolCall):
        new.terminals = {name: copy.copy(output) for name, output in new.terminals.items()}
        for output in new.terminals.values():
            output.text = GrowingText(str(output.text))
        if new.is_open:
            new.status = "unfinished"
    elif isinstance(new, TurnEnd):
        new.usage = None  # it was spent there
    return new
