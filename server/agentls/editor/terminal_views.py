"""Terminals as an editor sees them: announced, and live while it is attached.

Output goes out at most 30 times a second, and only as fast as the editor reads: a command that
writes faster waits, as it would for a slow screen. An editor that reads nothing at all does not
stop a command for longer than a moment; its view is begun anew when it reads again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.model import SessionId, TerminalId
from ..core.ports import Clock, Timer
from ..core.terminals import Source, Terminal, Terminals
from . import protocol as p

INTERVAL = 1 / 30
WINDOW = 256 * 1024
"""Bytes of output that may wait for their turn before the command has to."""
BACKLOG_LIMIT = 256 * 1024
"""Bytes the editor has not read yet, past which nothing is sent until it has."""
_RETRY = 0.050
_LONGEST_PAUSE = 2.0
"""Seconds that a command waits for an editor that reads nothing."""

_Key = tuple[SessionId, TerminalId]


class _View:
    """What one attached editor has seen of a terminal."""

    __slots__ = ("due", "last", "paused_at", "place", "terminal", "timer", "told_exit")

    def __init__(self, terminal: Terminal, place: int) -> None:
        self.terminal = terminal
        self.place = place
        self.due = float("-inf")
        self.timer: Timer | None = None
        self.paused_at: float | None = None
        self.told_exit = not terminal.running
        self.last = False
        """Its session is not here any more: with the exit, all is told."""

    @property
    def waiting(self) -> int:
        return self.terminal.tail.end - self.place


class TerminalViews:
    """An observer of all terminals."""

    def __init__(
        self,
        terminals: Terminals,
        tell: Callable[[str, Any], None],
        backlog: Callable[[], int],
        clock: Clock,
        monotonic: Callable[[], float],
    ) -> None:
        self._terminals = terminals
        self._tell = tell
        self._backlog = backlog
        self._clock = clock
        self._monotonic = monotonic
        self._views: dict[_Key, _View] = {}

    # -- what the editor does

    def attach(self, terminal: Terminal) -> p.TerminalAttachResult:
        """All that is kept; from there on the view goes on by itself. Again: from the start."""
        self.detach(terminal)
        part = terminal.tail.since(0)
        self._views[_key(terminal)] = _View(terminal, part.end)
        return p.TerminalAttachResult(
            terminal=item(terminal), text=part.text, truncated=terminal.tail.truncated
        )

    def detach(self, terminal: Terminal) -> None:
        view = self._views.pop(_key(terminal), None)
        if view is not None:
            self._go_on(view)
            if view.timer is not None:
                view.timer.cancel()

    def forget(self, session: SessionId) -> None:
        """The session is not open here any more. What its commands still say is told."""
        for view in [view for key, view in self._views.items() if key[0] == session]:
            view.last = True
            if view.told_exit and view.timer is None:
                self.detach(view.terminal)

    # -- core.terminals.TerminalObserver

    def opened(self, terminal: Terminal) -> None:
        self._tell("agentls/terminal/didOpen", p.TerminalDidOpenParams(terminal=item(terminal)))

    def grew(self, terminal: Terminal) -> None:
        view = self._views.get(_key(terminal))
        if view is None:
            return
        if view.waiting > WINDOW and view.paused_at is None and terminal.source is Source.HOSTED:
            view.paused_at = self._monotonic()
            self._terminals.pause(terminal)
        if view.timer is None:
            self._schedule(view, max(0.0, view.due - self._monotonic()))

    def exited(self, terminal: Terminal) -> None:
        view = self._views.get(_key(terminal))
        if view is None:
            self._tell_exit(terminal)
        elif view.timer is None:
            self._schedule(view, 0.0)

    # -- sending

    def _schedule(self, view: _View, seconds: float) -> None:
        view.timer = self._clock.later(seconds, lambda: self._flush(view))

    def _flush(self, view: _View) -> None:
        view.timer = None
        now = self._monotonic()
        if self._backlog() > BACKLOG_LIMIT:
            if view.paused_at is not None and now - view.paused_at > _LONGEST_PAUSE:
                self._terminals.resume(view.terminal)  # still marked: it is not paused again
            self._schedule(view, _RETRY)
            return
        part = view.terminal.tail.since(view.place)
        view.place = part.end
        view.due = now + INTERVAL
        if part.text or part.lost:
            self._tell(
                "agentls/terminal/data",
                p.TerminalDataParams(
                    session_id=view.terminal.session,
                    terminal_id=view.terminal.id,
                    text=part.text,
                    reset=part.lost,
                ),
            )
        if not view.terminal.running and not view.told_exit:
            view.told_exit = True
            self._tell_exit(view.terminal)
        if view.last and view.told_exit:
            self.detach(view.terminal)
        else:
            self._go_on(view)

    def _go_on(self, view: _View) -> None:
        if view.paused_at is not None:
            view.paused_at = None
            self._terminals.resume(view.terminal)

    def _tell_exit(self, terminal: Terminal) -> None:
        self._tell("agentls/terminal/didExit", p.TerminalDidExitParams(terminal=item(terminal)))


def item(terminal: Terminal) -> p.TerminalItem:
    exit = terminal.exit
    return p.TerminalItem(
        session_id=terminal.session,
        terminal_id=terminal.id,
        command=terminal.command,
        cwd=terminal.cwd,
        source=p.TerminalSource(terminal.source.value),
        created=terminal.created,
        running=terminal.running,
        ended=terminal.ended,
        exit_code=exit.code if exit else None,
        signal=exit.signal if exit else "",
    )


def _key(terminal: Terminal) -> _Key:
    return terminal.session, terminal.id
