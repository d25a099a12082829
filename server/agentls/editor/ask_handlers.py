"""Requests about asks and rules: see `handlers` for how such a function works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from ..core.asks import Asks
from ..core.decisions import Decisions
from ..core.errors import AskError, BadRequest, UnknownAsk
from ..core.model import AskId, SessionId
from ..core.policy.gate import RuleBook, SessionPolicy
from ..core.policy.rules import Mode, Rule, Scope, same
from ..core.policy.verdicts import PathUse, Subject, Verdict
from ..core.proposals import Proposals
from ..core.sessions import Sessions
from . import convert
from . import protocol as p
from .documents import Documents
from .session_documents import SessionDocuments, reason_in

_BY = "you"


class AskHandlers:
    """Called by the dispatcher with checked params."""

    def __init__(
        self,
        sessions: Sessions,
        asks: Asks,
        decisions: Decisions,
        *,
        books: Callable[[str], RuleBook],
        policy: Callable[[str, str], SessionPolicy],
        documents: Documents,
        files: SessionDocuments,
        show: Callable[[str], None],
        folder: Callable[[str], str],
        proposals: Proposals,
        page_opened: Callable[[str, AskId], None],
    ) -> None:
        self._sessions = sessions
        self._asks = asks
        self._decisions = decisions
        self._books = books
        self._policy = policy
        self._documents = documents
        self._files = files
        self._show = show
        self._folder = folder
        self._proposals = proposals
        self._page_opened = page_opened
        self._reasons: dict[str, AskId] = {}
        """Pages that were opened for a reason, by their uri."""

    # -- asks

    def ask_list(self, params: p.Nothing) -> p.AskListResult:
        return p.AskListResult(
            asks=[
                convert.ask_item(ask, self._sessions.get(ask.session).agent_name)
                for ask in self._asks.pending()
            ]
        )

    async def ask_decide(self, params: p.AskDecideParams) -> p.AskDecideResult:
        return await self.answer(params, _BY)

    async def answer(self, params: p.AskDecideParams, by: str) -> p.AskDecideResult:
        """Whoever it comes from; what the person edited is what they accept."""
        ask = AskId(params.ask_id)
        try:
            if not await self._accept_edited(ask, params, by):
                self._decide(ask, params, by)
        except UnknownAsk as error:
            return p.AskDecideResult(settled=False, message=error.message)
        return p.AskDecideResult(settled=True)

    async def _accept_edited(self, ask: AskId, params: p.AskDecideParams, by: str) -> bool:
        """If it is a yes to what the person has edited: do that."""
        if params.verdict == "reject" or not await self._proposals.edited(ask):
            return False
        kinds = {option.id: option.kind for option in self._asks.get(ask).request.options}
        once = params.verdict == "allow" or kinds.get(params.option_id) == "allow_once"
        if params.always or kinds.get(params.option_id) == "allow_always":
            raise BadRequest(
                "You have edited the text, so that it can only be accepted once.",
                hint="Accept it, or close the page without a change.",
            )
        return once and await self._proposals.accept(ask, by)

    def _decide(self, ask: AskId, params: p.AskDecideParams, by: str) -> None:
        given = [v for v in (params.option_id, params.verdict, params.always) if v]
        if len(given) != 1:
            raise BadRequest("Answer with exactly one of optionId, verdict and always.")
        if params.option_id:
            self._decisions.choose(ask, params.option_id, by)
        elif params.always:
            self._decisions.always(ask, params.always, params.scope.value, by)
        elif params.verdict == "allow":
            self._decisions.allow(ask, by)
        elif params.verdict == "reject":
            self._decisions.reject(ask, by, params.reason)
        else:
            raise BadRequest(f"The verdict {params.verdict!r} is neither allow nor reject.")

    async def ask_decide_all(self, params: p.AskDecideAllParams) -> p.AskDecideAllResult:
        if params.verdict not in {"allow", "reject"}:
            raise BadRequest(f"The verdict {params.verdict!r} is neither allow nor reject.")
        session = SessionId(params.session_id) if params.session_id else None
        allow, edited = params.verdict == "allow", 0
        for ask in self._asks.pending(session) if allow else ():
            edited += await self._proposals.accept(ask.id, _BY)
        return p.AskDecideAllResult(settled=edited + self._decisions.all(allow, _BY, session))

    def ask_show(self, params: p.AskParams) -> p.ShownResult:
        ask = self._asks.get(AskId(params.ask_id))
        session = self._sessions.get(ask.session)
        call = session.transcript.call(ask.request.patch.id)
        return self._shown(self._files.write_ask(ask, call, session.agent_name).as_uri())

    async def ask_proposal(self, params: p.AskProposalParams) -> p.AskProposalResult:
        ask = AskId(params.ask_id)
        files = [
            p.ProposedFile(
                path=it.path, before=it.before, after=it.after, uri=Path(it.page).as_uri()
            )
            for it in await self._proposals.open(ask)
        ]
        for file in files:
            self._page_opened(file.uri, ask)
        if params.open:
            self._show(files[0].uri)
        return p.AskProposalResult(files=files)

    def ask_reason(self, params: p.AskParams) -> p.ShownResult:
        """Opens a page; what is saved there rejects the ask, in those words."""
        ask = self._asks.get(AskId(params.ask_id))
        agent = self._sessions.get(ask.session).agent_name
        uri = self._files.write_reason(ask, agent).as_uri()
        self._reasons[uri] = ask.id
        return self._shown(uri)

    def saved(self, uri: str, text: str | None) -> str:
        """A document was saved. What to tell the person, if it was a page for a reason."""
        ask = self._reasons.get(uri)
        document = self._documents.get(uri)
        reason = reason_in(text if text is not None else document.text if document else "")
        if ask is None or not reason:
            return ""
        del self._reasons[uri]
        try:
            self._decisions.reject(ask, _BY, reason)
        except AskError as error:
            return str(error)
        return "Rejected; the agent hears why."

    def _shown(self, uri: str) -> p.ShownResult:
        self._show(uri)
        return p.ShownResult(uri=uri)

    # -- the policy of a session

    def session_set_policy(self, params: p.SetPolicyParams) -> p.SessionResult:
        session = self._sessions.get(SessionId(params.session_id))
        session.permission.set_mode(Mode(params.policy.value))
        self._decisions.reconsider()
        return p.SessionResult(session=convert.head(session))

    # -- rules

    def rule_list(self, params: p.RuleListParams) -> p.RuleListResult:
        return self._rules(self._folder(params.cwd))

    def rule_add(self, params: p.RuleAddParams) -> p.RuleListResult:
        folder = self._folder(params.cwd)
        if params.scope is p.RuleScope.SESSION:
            raise BadRequest("A rule for one session is made by answering one of its asks.")
        scope: Scope = "user" if params.scope is p.RuleScope.USER else "project"
        self._books(folder).add(_rule(params), scope)
        self._decisions.reconsider()
        return self._rules(folder)

    def rule_remove(self, params: p.RuleAddParams) -> p.RuleListResult:
        folder = self._folder(params.cwd)
        book, wanted = self._books(folder), _rule(params)
        found = [
            rule
            for rule in book.rules()
            if same(msgspec.structs.replace(rule, project=None), wanted)
            and rule.scope != "repository"
        ]
        if not found:
            raise BadRequest(
                "There is no such rule.", hint="List the rules to see which there are."
            )
        for rule in found:
            book.remove(rule)
        return self._rules(folder)

    def rule_explain(self, params: p.RuleExplainParams) -> p.RuleExplainResult:
        if (params.command is None) == (params.path is None):
            raise BadRequest("Name either a command or a path.")
        folder = self._folder(params.cwd)
        paths = () if params.path is None else (PathUse(params.path, params.write),)
        kind = "execute" if params.path is None else "edit" if params.write else "read"
        ruling = (
            self._policy(params.agent, folder)
            .judge_subject(
                Subject(
                    agent=params.agent, kind=kind, command=params.command, cwd=folder, paths=paths
                )
            )
            .ruling
        )
        return p.RuleExplainResult(
            verdict=ruling.verdict.value,
            why=ruling.why,
            rule=convert.rule(ruling.rule) if ruling.rule else None,
        )

    def _rules(self, folder: str) -> p.RuleListResult:
        book = self._books(folder)
        return p.RuleListResult(
            rules=[convert.rule(rule) for rule in book.rules()], problems=list(book.problems())
        )


def _rule(params: p.RuleAddParams) -> Rule:
    if params.verdict not in list(Verdict):
        raise BadRequest(f"The verdict {params.verdict!r} is none of allow, ask and deny.")
    return Rule(
        verdict=Verdict(params.verdict),
        kind=params.kind,
        command=params.command,
        path=params.path,
        host=params.host,
        tool=params.tool,
        agent=params.agent,
    )
