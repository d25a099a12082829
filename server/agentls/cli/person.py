"""The person at the keyboard: asked for decisions and for prompts, one thing at a time."""

from __future__ import annotations

from collections.abc import Sequence

from agentls.core.transcript import Ask

from .answers import Answer, Key, choices, chosen, keys
from .keyboard import Keyboard
from .view.base import PeopleView

_SEE_ALL = "v"


class Person:
    """Asks through a view, and reads what is typed."""

    def __init__(self, view: PeopleView) -> None:
        self._view = view
        self._keyboard = Keyboard()

    def listen(self) -> None:
        """Keys are for us from now on, and not shown until we ask."""
        self._keyboard.mute()

    def leave(self) -> None:
        self._keyboard.unmute()

    async def decide(self, ask: Ask) -> Answer | None:
        """What was chosen; None when there is no more input. Can be cancelled."""
        offered = keys(choices(ask))
        # An answer that was typed before the question cannot be an answer to it.
        self._keyboard.forget_typed()
        self._keyboard.unmute()
        try:
            return await self._choose(ask, offered)
        finally:
            self._keyboard.mute()

    async def _choose(self, ask: Ask, offered: Sequence[Key]) -> Answer | None:
        shortened = self._view.question(ask, offered)
        answer: Answer | None = None
        try:
            while (typed := await self._keyboard.line()) is not None:
                if shortened and typed.strip().lower() == _SEE_ALL:
                    self._view.question(ask, offered, whole=True)
                    continue
                answer = chosen(offered, typed)
                self._view.answered(answer.option if answer else None, _hint(offered))
                if answer is not None:
                    break
        finally:
            if answer is None:
                self._view.unanswered()
        return answer

    async def prompt(self) -> str | None:
        """What to say next; None at the end of input."""
        self._keyboard.unmute()
        line: str | None = None
        try:
            self._view.prompt()
            line = await self._keyboard.line()
        finally:
            if line is None:
                self._view.unanswered()
            self._keyboard.mute()
        return line


def _hint(offered: Sequence[Key]) -> str:
    words = [key.letter or key.number for key in offered]
    return f"Type {', '.join(words[:-1])} or {words[-1]}." if len(words) > 1 else "Type 1."
