"""Which folders a line may be in when it runs its commands.

Invariant: every folder in which a command may run is listed, also those that come about when an
earlier change of folder fails or happens in a subshell.
"""

from __future__ import annotations

import posixpath

_MOST = 16


class Folders:
    """Follows the changes of folder in a line; paths are relative to where it starts."""

    def __init__(self) -> None:
        self.now = [""]
        self.entered: list[str] = []
        """All that were entered before some command, in order."""
        self._last = "."
        self._chain = [""]

    def enter(self, path: str, *, certain: bool) -> bool:
        """Goes to a folder; False when there are too many possibilities to follow."""
        reached = [posixpath.normpath(posixpath.join(folder, path)) for folder in self.now]
        stays = [] if certain else self.now
        self.now = list(dict.fromkeys([*stays, *reached]))
        # Where nothing follows, only where it leads to when all goes well is of interest.
        self._last = reached[-1]
        return len(self.now) <= _MOST

    def end_chain(self) -> None:
        """Behind `a && b`: each of them may not have run."""
        self.now = list(dict.fromkeys([*self._chain, *self.now]))
        self._chain = self.now

    def use(self) -> None:
        """Something runs here."""
        self.entered += [each for each in self.now if each not in {"", ".", *self.entered}]

    def all(self) -> list[str]:
        """What was entered, the last one too."""
        known = {"", ".", *self.entered}
        return self.entered if self._last in known else [*self.entered, self._last]
