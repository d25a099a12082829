"""What the agents that a session directs have to tell it, and its waiting for that.

Invariant: each piece of news reaches the session exactly once, as the answer to a wait or in a
prompt, and every wait ends exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ..model import SessionId
from ..ports import Clock, Timer
from ..replies import Replies

_LONGEST = 16_000
"""Characters of one piece of news."""


class News(Struct, frozen=True, kw_only=True):
    """One thing that happened to a child."""

    child: SessionId
    text: str
    """A sentence or more, with the name of the child in it."""


class Waited(Struct, frozen=True, kw_only=True):
    """How a wait ended: with news, or because of something else."""

    news: tuple[News, ...] = ()
    by: str = ""


class PendingWait(Struct, frozen=True, kw_only=True):
    """An agent waits for others."""

    id: str
    session: SessionId
    children: frozenset[SessionId]
    settled: Callable[[Waited], None]
    answer: Callable[[Waited], None]
    timer: Timer | None = None


class Waits(Replies[PendingWait, Waited]):
    """All waits of all sessions."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(lambda by: Waited(by=by))
        self._clock = clock
        self._count = 0

    def begin(
        self,
        session: SessionId,
        children: Sequence[SessionId],
        seconds: float,
        settled: Callable[[], None],
        then: Callable[[Waited], None],
    ) -> Callable[[], None]:
        """`then` is called once, after `settled`. Returned: how to call it off."""
        self._count += 1
        id = f"w{self._count}"
        self.add(
            PendingWait(
                id=id,
                session=session,
                children=frozenset(children),
                settled=lambda _: settled(),
                answer=then,
                timer=self._clock.later(seconds, lambda: self.withdraw(id, "time-out")),
            )
        )
        return lambda: self.withdraw(id, "agent took it back")

    def tell(self, session: SessionId, news: News) -> bool:
        """Whether somebody waited for it."""
        for wait in self.pending(session):
            if news.child in wait.children:
                self._settle(wait, Waited(news=(news,)))
                return True
        return False

    def child_gone(self, child: SessionId) -> None:
        """Waits for nobody else end as well."""
        for wait in self.pending():
            if wait.children == {child}:
                self.withdraw(wait.id, "it has ended")


class Inbox:
    """What a session has not heard yet."""

    def __init__(self) -> None:
        self._news: list[News] = []

    def __bool__(self) -> bool:
        return bool(self._news)

    def add(self, news: News) -> None:
        self._news.append(news)

    def take(self, children: Sequence[SessionId]) -> tuple[News, ...]:
        taken = tuple(news for news in self._news if news.child in children)
        self._news = [news for news in self._news if news.child not in children]
        return taken

    def take_all(self) -> tuple[News, ...]:
        taken, self._news = tuple(self._news), []
        return taken


def short(text: str) -> str:
    """As much as another agent is told at once."""
    text = text.strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n[… {len(text):,} characters]"


def together(news: Sequence[News]) -> str:
    return "\n\n".join(each.text for each in news)
