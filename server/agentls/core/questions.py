"""Questions that agents ask, of the person or of the agent that directs them, and wait for.

Invariant: each is answered exactly once; nobody's words are never taken for an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from . import events as ev
from .errors import BadRequest, UnknownQuestion
from .model import QuestionId, Reply, SessionId
from .ports import Clock, Timer
from .replies import Replies
from .transcript import Transcript


class PendingQuestion(Struct, frozen=True, kw_only=True):
    """A question that nobody has answered yet."""

    id: QuestionId
    session: SessionId
    text: str
    since: float
    settled: Callable[[Reply], None]
    answer: Callable[[Reply], None]
    options: tuple[str, ...] = ()
    to: SessionId | None = None
    """The session that is asked; None for the person, who may answer in any case."""
    timer: Timer | None = None


class Questions(Replies[PendingQuestion, Reply]):
    """All questions of all sessions that wait for an answer, oldest first."""

    def __init__(self) -> None:
        super().__init__(lambda by: Reply(text=None, by=by))

    def asked_of(self, session: SessionId) -> list[PendingQuestion]:
        """What an agent is to answer."""
        return [question for question in self.pending() if question.to == session]

    def reply(self, id: str, text: str, by: str) -> Reply:
        entry = self.find(id)
        if entry is None:
            raise UnknownQuestion(f"The question {id} is not open: it was answered already.")
        if not text.strip():
            raise BadRequest("An empty answer is none.", hint="Say something.")
        reply = Reply(text=text, by=by)
        self._settle(entry, reply)
        return reply


class Inquiry:
    """The questions of one session, which it tells what happens."""

    def __init__(
        self,
        session: SessionId,
        transcript: Transcript,
        questions: Questions,
        *,
        clock: Clock,
        happen: Callable[[ev.Event], None],
        ends: Callable[[], str],
        waits: Callable[[], None],
    ) -> None:
        self._session = session
        self._transcript = transcript
        self._questions = questions
        self._clock = clock
        self._happen = happen
        self._ends = ends
        """Why nothing is asked any more; empty while something may be."""
        self._waits = waits
        """Shows that somebody has to answer, or not any more."""

    def ask(
        self,
        text: str,
        then: Callable[[Reply], None],
        *,
        timeout: float,
        options: Sequence[str] = (),
        to: SessionId | None = None,
        name: str = "",
    ) -> Callable[[], None]:
        """Ask the person, or the session `to` of that name. `then` is called once; returned: how
        to call it off."""
        if ends := self._ends():
            then(Reply(text=None, by=ends))
            return lambda: None
        id = QuestionId(f"{self._session}.q{len(self._transcript.entries) + 1}")

        def settled(reply: Reply) -> None:
            self._happen(ev.QuestionSettled(id, reply))
            self._waits()

        def too_late() -> None:
            self._questions.withdraw(id, "time-out")

        self._questions.add(
            PendingQuestion(
                id=id,
                session=self._session,
                text=text,
                since=self._clock.now(),
                settled=settled,
                answer=then,
                options=tuple(options),
                to=to,
                timer=self._clock.later(timeout, too_late),
            )
        )
        self._happen(ev.QuestionAsked(id, text, tuple(options), name))
        self._waits()
        return lambda: self._questions.withdraw(id, "agent took it back")

    def withdraw(self, by: str) -> None:
        """Nothing of what this session asked is answered any more."""
        self._questions.withdraw_all(self._session, by)
