"""What a command printed, kept within a bound."""

from __future__ import annotations

from msgspec import Struct, field

from .growing import GrowingText

_OUTPUT_LIMIT = 1024 * 1024
"""Characters that are kept of a command's output, at least; at most twice as many."""
_NO_ACCIDENT = 32


class Output(Struct, kw_only=True):
    """What a command printed, as far as it is kept."""

    text: GrowingText = field(default_factory=GrowingText)
    dropped: int = 0
    """How much was dropped from the front, in characters."""
    version: int = 0
    """Raised when all of it was replaced."""
    ended: bool = False
    exit_code: int | None = None
    signal: str = ""

    @property
    def end(self) -> int:
        return self.dropped + self.text.length

    def add(self, data: str, *, whole: bool, retold: bool) -> None:
        if whole:
            self.text, self.dropped, self.version = GrowingText(data), 0, self.version + 1
        elif retold and self._is_retold(data):
            self.text.append(data[self.text.length :])
        elif data:
            self.text.append(data)
        if self.text.length > 2 * _OUTPUT_LIMIT:
            newest = self.text.since(self.text.length - _OUTPUT_LIMIT)
            self.dropped = self.end - len(newest)
            self.text = GrowingText(newest)

    def _is_retold(self, data: str) -> bool:
        """All that there is, again: so long a beginning is no accident."""
        known = self.text.length
        if self.dropped or not _NO_ACCIDENT <= known <= len(data):
            return False
        return data.startswith(str(self.text))
