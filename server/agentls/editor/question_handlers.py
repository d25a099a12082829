"""Requests about questions that agents ask and wait for."""

from __future__ import annotations

from ..core.questions import PendingQuestion, Questions
from ..core.sessions import Sessions
from . import convert
from . import protocol as p


class QuestionHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(self, sessions: Sessions, questions: Questions) -> None:
        self._sessions = sessions
        self._questions = questions

    def question_list(self, params: p.Nothing) -> p.QuestionListResult:
        return p.QuestionListResult(questions=[self._item(q) for q in self._questions.pending()])

    def question_answer(self, params: p.QuestionAnswerParams) -> p.QuestionAnswerResult:
        reply = self._questions.reply(params.question_id, params.text, "you")
        return p.QuestionAnswerResult(reply=p.QuestionReply(text=reply.text, by=reply.by))

    def _item(self, question: PendingQuestion) -> p.QuestionItem:
        session = self._sessions.get(question.session)
        shown = session.transcript.open_questions()
        to = next((entry.to for entry in shown if entry.question == question.id), "")
        return convert.question_item(question, session.agent_name, to)
