"""An agent that takes a session up again tells its history: recognised here, and left out.

Invariant: nothing that the transcript has is stored twice, also when the agent answers first and
tells afterwards; and nobody waits long for an agent that tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from . import events as ev
from .model import Role
from .ports import Clock, Timer
from .transcript import Message, Transcript

QUIET = 0.5
"""Seconds without a word after which the telling is over."""
SOON = 0.1
"""The same, when the last words that we know have been told."""
LONGEST = 10.0
"""Seconds after which it is taken to be over anyway."""
_END = 200
"""Characters of the last message by which its end is recognised."""
_TOLD = (
    ev.TextAdded,
    ev.BlockAdded,
    ev.ToolCallChanged,
    ev.OutputAdded,
    ev.OutputEnded,
    ev.PlanChanged,
)


class Replay:
    """From the moment the agent is asked to take a session up until the next prompt is sent."""

    def __init__(self, transcript: Transcript, clock: Clock, *, expected: bool) -> None:
        """`expected`: the agent was asked to tell. If not, it may, but nobody waits for it."""
        self._expected = expected
        self._clock = clock
        self._end = _last_words(transcript)
        self._heard = ""
        self._then: Callable[[], None] | None = None
        self._timer: Timer | None = None
        self._until = 0.0

    def takes(self, event: ev.Event) -> bool:
        """Whether that is a part of the history, which need not be kept again."""
        if not isinstance(event, _TOLD):
            return False
        if isinstance(event, ev.TextAdded) and event.role is Role.AGENT:
            self._heard = (self._heard + event.text)[-_END:]
        if self._then is not None and self._clock.now() < self._until:
            self._wait(self._then)
        return True

    def when_over(self, then: Callable[[], None]) -> None:
        """The agent has answered. `then` is called when it has told all, maybe at once."""
        self._until = self._clock.now() + LONGEST
        if self._complete or not self._expected:
            then()
        else:
            self._wait(then)

    def stop(self) -> None:
        self._then = None
        if self._timer is not None:
            self._timer.cancel()

    @property
    def _complete(self) -> bool:
        return bool(self._end) and self._heard.rstrip().endswith(self._end)

    def _wait(self, then: Callable[[], None]) -> None:
        self.stop()
        self._then = then
        self._timer = self._clock.later(SOON if self._complete else QUIET, self._over)

    def _over(self) -> None:
        then = self._then
        self.stop()
        if then is not None:
            then()


def _last_words(transcript: Transcript) -> str:
    """How the last thing that the agent said ends; empty when it has said nothing."""
    for entry in reversed(transcript.entries):
        if isinstance(entry, Message) and entry.role is Role.AGENT:
            return entry.text.since(max(0, entry.text.length - _END)).rstrip()
    return ""
