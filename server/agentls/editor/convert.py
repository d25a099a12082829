"""Core values to wire types, written out by hand: what the editor gets is what stands here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import model, transcript
from ..core.asks import PendingAsk
from ..core.errors import AgentError, AuthRequired
from ..core.family.activity import Activity
from ..core.growing import GrowingText
from ..core.logins import shown_command
from ..core.policy.rules import Rule, what
from ..core.printable import on_screen
from ..core.questions import PendingQuestion
from ..core.session import Session
from . import protocol as p

BODY_LIMIT = 8 * 1024
"""Characters of a long text that travel unasked."""


def head(session: Session) -> p.SessionHead:
    seen = session.transcript
    return p.SessionHead(
        id=session.id,
        agent=session.agent_name,
        title=seen.title,
        cwd=session.cwd,
        state=p.SessionState(seen.state.value),
        detail=seen.detail,
        turn=seen.turn,
        turn_running=seen.turn_running,
        created=session.created,
        last_sign=session.last_sign,
        mode=seen.mode,
        modes=[p.SessionMode(id=m.id, name=m.name, description=m.description) for m in seen.modes],
        options=[option(o) for o in seen.options],
        commands=[
            p.SessionCommand(name=c.name, description=c.description, hint=c.hint)
            for c in seen.commands
        ],
        usage=usage(seen.usage),
        queue=[prompt.text for prompt in seen.queue],
        open_asks=len(seen.open_asks()),
        open_questions=len(seen.open_questions()),
        place=p.SessionPlace.PAST if seen.state is model.State.CLOSED else p.SessionPlace.HERE,
        policy=p.PolicyMode(seen.policy),
        archived=session.archived,
        parent=session.parent or "",
        orchestrator=session.spawn.orchestrator,
        name=session.spawn.name,
        orchestrates=session.spawn.orchestrates,
        stuck=session.stuck,
        login=login_methods(session.error),
    )


def login_methods(error: AgentError | None) -> list[p.LoginMethod]:
    if not isinstance(error, AuthRequired):
        return []
    return [
        p.LoginMethod(
            id=method.id,
            name=method.name,
            description=method.description,
            kind=method.kind,
            command=shown_command(method) if method.command else "",
        )
        for method in error.methods
    ]


def agent(value: model.KnownAgent) -> p.AgentItem:
    return p.AgentItem(
        name=value.name,
        title=value.title,
        installed=value.installed,
        install=value.install,
        source=value.source,
        running=value.running,
        version=value.version,
    )


def option(value: model.AgentOption) -> p.SessionOption:
    return p.SessionOption(
        id=value.id,
        name=value.name,
        kind=value.kind,
        value=value.value,
        category=value.category,
        description=value.description,
        choices=[
            p.OptionChoice(value=c.value, name=c.name, description=c.description, group=c.group)
            for c in value.choices
        ],
    )


def usage(value: model.Usage | None) -> p.TokenUsage | None:
    if value is None or value == model.Usage():
        return None
    return p.TokenUsage(
        context_used=value.context_used,
        context_size=value.context_size,
        input_tokens=value.input_tokens,
        output_tokens=value.output_tokens,
        total_tokens=value.total_tokens,
        cost=value.cost,
        currency=value.currency,
    )


# -- entries


def entry(value: transcript.Entry) -> p.Entry:
    return _ENTRIES[type(value)](value)


def message(value: transcript.Message, text: str) -> p.Entry:
    """A message with as much of its text as is told now."""
    return p.MessageEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        role=value.role.value,
        text=text,
        sender=value.sender,
    )


def _attachment(value: transcript.Attachment) -> p.Entry:
    return p.AttachmentEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        role=value.role.value,
        block=block(value.block),
    )


def _tool_call(value: transcript.ToolCall) -> p.Entry:
    return p.ToolCallEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        call_id=value.call,
        title=value.title,
        tool=value.kind,
        status=value.status,
        name=value.name,
        content=[tool_content(c) for c in value.content],
        locations=[p.FileLocation(path=at.path, line=at.line) for at in value.locations],
        terminals=[
            p.CommandOutput(
                terminal_id=id,
                output=tail(output.text),
                ended=output.ended,
                exit_code=output.exit_code,
                signal=output.signal,
            )
            for id, output in value.terminals.items()
        ],
        rejected=value.rejected,
    )


def _plan(value: transcript.Plan) -> p.Entry:
    return p.PlanEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        steps=[p.PlanItem(text=s.text, status=s.status, priority=s.priority) for s in value.steps],
    )


def _ask(value: transcript.Ask) -> p.Entry:
    return p.AskEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        ask_id=value.ask,
        call_id=value.call,
        title=value.title,
        options=[ask_option(o) for o in value.options],
        shown=value.shown,
        why=value.why,
        always=[p.AlwaysOffer(id=a.id, label=a.label) for a in value.always],
        editable=value.editable,
        decision=decision(value.decision) if value.decision else None,
    )


def _question(value: transcript.Question) -> p.Entry:
    reply = value.reply
    return p.QuestionEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        question_id=value.question,
        text=value.text,
        options=list(value.options),
        to=value.to,
        reply=p.QuestionReply(text=reply.text, by=reply.by) if reply else None,
    )


def _turn_end(value: transcript.TurnEnd) -> p.Entry:
    return p.TurnEndEntry(
        id=value.id,
        at=value.at,
        turn=value.turn,
        reason=value.reason,
        seconds=value.seconds,
        error=value.error,
        usage=usage(value.usage),
    )


def _notice(value: transcript.Notice) -> p.Entry:
    return p.NoticeEntry(
        id=value.id, at=value.at, turn=value.turn, level=value.level.value, text=value.text
    )


def _other(value: transcript.Other) -> p.Entry:
    return p.OtherEntry(id=value.id, at=value.at, turn=value.turn, update=value.kind, raw=value.raw)


_ENTRIES: dict[type, Callable[[Any], p.Entry]] = {
    transcript.Message: lambda value: message(value, str(value.text)),
    transcript.Attachment: _attachment,
    transcript.ToolCall: _tool_call,
    transcript.Plan: _plan,
    transcript.Ask: _ask,
    transcript.Question: _question,
    transcript.TurnEnd: _turn_end,
    transcript.Notice: _notice,
    transcript.Other: _other,
}


# -- pieces


def start(text: str) -> p.Body:
    """A text from its beginning."""
    return p.Body(text=text[:BODY_LIMIT], size=len(text), cut=len(text) > BODY_LIMIT)


def tail(text: GrowingText) -> p.Body:
    """A text that is read from its end, like the output of a command."""
    size = text.length
    newest = on_screen(text.since(max(0, size - BODY_LIMIT)))
    return p.Body(text=newest, size=size, cut=size > BODY_LIMIT)


def tool_content(
    value: model.ToolContent,
) -> p.TextContent | p.DiffContent | p.TerminalContent | p.BlockContent:
    if isinstance(value, model.Diff):
        old = None if value.old is None else start(value.old)
        return p.DiffContent(path=value.path, old=old, new=start(value.new))
    if isinstance(value, model.TerminalRef):
        return p.TerminalContent(terminal_id=value.terminal)
    if value.kind == "text":
        return p.TextContent(body=start(value.text))
    return p.BlockContent(block=block(value))


def block(value: model.Block) -> p.ContentBlock:
    return p.ContentBlock(
        kind=value.kind,
        text=value.text,
        uri=value.uri,
        name=value.name,
        mime=value.mime,
        data=value.data,
        raw=value.raw,
    )


def core_block(value: p.ContentBlock) -> model.Block:
    return model.Block(
        kind=value.kind,
        text=value.text,
        uri=value.uri,
        name=value.name,
        mime=value.mime,
        data=value.data,
    )


def ask_option(value: model.Option) -> p.AskOption:
    return p.AskOption(id=value.id, name=value.name, kind=value.kind)


def decision(value: model.Decision) -> p.AskDecision:
    return p.AskDecision(
        option_id=value.option.id if value.option else None,
        allowed=value.allows,
        by=value.by,
        remembered=value.remembered,
    )


def ask_item(value: PendingAsk, agent: str) -> p.AskItem:
    return p.AskItem(
        ask_id=value.id,
        session_id=value.session,
        agent=agent,
        call_id=value.request.patch.id,
        title=value.title,
        since=value.since,
        options=[ask_option(o) for o in value.request.options],
        shown=value.judgement.shown,
        why=value.judgement.ruling.why,
        always=[p.AlwaysOffer(id=s.id, label=s.label) for s in value.judgement.suggestions],
    )


def question_item(value: PendingQuestion, agent: str, to: str) -> p.QuestionItem:
    return p.QuestionItem(
        question_id=value.id,
        session_id=value.session,
        agent=agent,
        text=value.text,
        since=value.since,
        options=list(value.options),
        to=to,
    )


def activity(value: Activity) -> p.FamilyActivity:
    return p.FamilyActivity(
        at=value.at,
        session_id=value.session,
        orchestrator=value.orchestrator,
        name=value.name,
        what=value.what.value,
        text=value.text,
    )


def rule(value: Rule) -> p.RuleItem:
    return p.RuleItem(
        verdict=value.verdict.value,
        scope=value.scope,
        source=value.source,
        line=value.line,
        what=what(value),
        kind=value.kind,
        command=value.command,
        path=value.path,
        host=value.host,
        tool=value.tool,
        agent=value.agent,
        project=value.project,
    )
