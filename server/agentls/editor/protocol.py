"""The protocol between server and editors, declared once.

TypeScript and Lua types and docs/protocol.md are generated from this file by server/codegen.
Wire types are separate from the core's values on purpose: the inside can change without the
editors noticing, and every field here is a promise.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

VERSION = 1
"""Raised when an editor of the older protocol would misunderstand a message."""

NAMESPACE = "agentls/"


class Wire(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """Base of all messages and their parts."""


# -- parts


class Body(Wire):
    """A text that may be long. Past a limit only a part travels; `session/body` has it all."""

    text: str
    size: int
    """Length of the whole text in characters."""
    cut: bool = False


class SessionMode(Wire):
    """A way of working that the agent offers."""

    id: str
    name: str
    description: str = ""


class OptionChoice(Wire):
    """One value of a setting."""

    value: str
    name: str
    description: str = ""
    group: str = ""


class SessionOption(Wire):
    """A setting the agent offers for this session: model, thinking level, a switch…"""

    id: str
    name: str
    kind: str
    value: str | bool
    category: str = ""
    description: str = ""
    choices: list[OptionChoice] = []


class SessionCommand(Wire):
    """A slash command that the agent understands."""

    name: str
    description: str = ""
    hint: str = ""


class TokenUsage(Wire):
    """Tokens and money, as far as the agent tells."""

    context_used: int | None = None
    context_size: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    currency: str = ""


class SessionState(StrEnum):
    """What a session is doing."""

    STARTING = "starting"
    IDLE = "idle"
    RUNNING = "running"
    WAITING_FOR_YOU = "waiting_for_you"
    WAITING_FOR_AGENT = "waiting_for_agent"
    FAILED = "failed"
    CLOSED = "closed"


class PolicyMode(StrEnum):
    """How much a person lets the agent of a session do."""

    ASK = "ask"
    ACCEPT_EDITS = "accept_edits"
    READ_ONLY = "read_only"
    TRUST = "trust"


class RuleScope(StrEnum):
    """Where a rule is remembered."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


class LoginMethod(Wire):
    """A way to log in to an agent."""

    id: str
    name: str
    description: str = ""
    kind: str = "agent"
    """agent: it does all by itself; terminal: a program is run; env_var: variables must be set."""
    command: str = ""
    """What would be run."""


class SessionPlace(StrEnum):
    """Where a session is alive, if it is."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    """In another window or on a command line: it can be read here, but not prompted."""
    PAST = "past"
    """Nowhere: a prompt, or `session/resume`, takes it up again."""


class SessionHead(Wire):
    """A session without its entries: what a list of sessions shows."""

    id: str
    agent: str
    title: str
    cwd: str
    state: SessionState
    created: float
    last_sign: float
    """When the agent last said anything, in seconds since the epoch."""
    detail: str = ""
    """Why it failed, or what it is doing."""
    turn: int = 0
    turn_running: bool = False
    mode: str = ""
    modes: list[SessionMode] = []
    options: list[SessionOption] = []
    commands: list[SessionCommand] = []
    usage: TokenUsage | None = None
    queue: list[str] = []
    """Prompts that wait for the running turn to end."""
    open_asks: int = 0
    open_questions: int = 0
    policy: PolicyMode = PolicyMode.ASK
    """How much the agent may do without asking; `trust` must be marked visibly."""
    place: SessionPlace = SessionPlace.HERE
    died: bool = False
    """Its server ended without closing it."""
    archived: bool = False
    parent: str = ""
    """The session that this one was forked from."""
    orchestrator: str = ""
    """The session that started this one and directs it: show this one below it."""
    name: str = ""
    """What that session calls it."""
    orchestrates: bool = False
    """It may start other agents without asking each time."""
    stuck: bool = False
    """A turn runs without a sign of life since `lastSign`: offer to cancel, or to restart."""
    login: list[LoginMethod] = []
    """The ways to log in, when the agent wants that before anything else."""


class AskOption(Wire):
    """One of the answers that the agent offers."""

    id: str
    name: str
    kind: str
    """allow_once, allow_always, reject_once, reject_always, or something new."""


class AskDecision(Wire):
    """How an ask ended. Without an option it was cancelled."""

    option_id: str | None
    allowed: bool
    by: str
    """Who or what decided: "you", a rule and where it stands, "time-out"…"""
    remembered: str = ""
    """The rule that was made of it."""


class AlwaysOffer(Wire):
    """A rule on offer that would allow the same from now on."""

    id: str
    label: str


class FileLocation(Wire):
    """A place in a file. `line` counts from 1."""

    path: str
    line: int | None = None


class TextContent(Wire, tag_field="type", tag="text"):
    """Text that a tool call shows."""

    body: Body


class DiffContent(Wire, tag_field="type", tag="diff"):
    """What a tool call does to a file. Without `old` the file is new."""

    path: str
    old: Body | None
    new: Body


class TerminalContent(Wire, tag_field="type", tag="terminal"):
    """The output of a terminal belongs here."""

    terminal_id: str


class BlockContent(Wire, tag_field="type", tag="block"):
    """Anything else: an image, a link, a resource."""

    block: ContentBlock


class ContentBlock(Wire):
    """A part of a message that is not plain text."""

    kind: str
    text: str = ""
    uri: str = ""
    name: str = ""
    mime: str = ""
    data: str = ""
    """Base64, of images, audio and binary resources."""
    raw: dict[str, Any] | None = None
    """The block as the agent sent it, when its kind is unknown to the server."""


class CommandOutput(Wire):
    """What a command printed, whoever runs it."""

    terminal_id: str
    output: Body
    """As a screen would be left showing it, without escape sequences; `size` is before that."""
    ended: bool = False
    exit_code: int | None = None
    signal: str = ""


class PlanItem(Wire):
    """One step of a plan."""

    text: str
    status: str
    priority: str


# -- entries


class _Entry(Wire, tag_field="kind"):
    id: str
    at: float
    turn: int


class MessageEntry(_Entry, tag="message"):
    """What somebody said or thought. `role` is user, agent or thought."""

    role: str
    text: str
    sender: str = ""
    """The agent that said it, where `role` is user and it was not the person."""


class AttachmentEntry(_Entry, tag="attachment"):
    """A part of a message that is not text."""

    role: str
    block: ContentBlock


class ToolCallEntry(_Entry, tag="tool_call"):
    """Something the agent does."""

    call_id: str
    title: str
    tool: str
    """read, edit, delete, move, search, execute, think, fetch, switch_mode, other, or a new one."""
    status: str
    """pending, in_progress, completed, failed, rejected, cancelled, unfinished, or a new one."""
    name: str = ""
    content: list[TextContent | DiffContent | TerminalContent | BlockContent] = []
    locations: list[FileLocation] = []
    terminals: list[CommandOutput] = []
    rejected: bool = False
    """A person, or a rule, said no to it."""


class PlanEntry(_Entry, tag="plan"):
    """The agent's plan, as it is now."""

    steps: list[PlanItem]


class AskEntry(_Entry, tag="ask"):
    """The agent asks "may I?"; with a decision once there is one."""

    ask_id: str
    call_id: str
    title: str
    options: list[AskOption]
    shown: str = ""
    """What exactly would happen: the command line, or the paths."""
    why: str = ""
    """Why a person is asked, or which rule decided."""
    always: list[AlwaysOffer] = []
    editable: bool = False
    """It is about texts of files: `ask/proposal` gives them, to be edited before accepting."""
    decision: AskDecision | None = None


class QuestionReply(Wire):
    """How a question ended. Without a text nobody answered."""

    text: str | None
    by: str
    """Who answered, or why nobody did: "you", the name of an agent, "time-out"…"""


class QuestionEntry(_Entry, tag="question"):
    """The agent asks for words; with a reply once there is one."""

    question_id: str
    text: str
    options: list[str] = []
    """Answers on offer; any other words will do as well."""
    to: str = ""
    """The agent that is asked; empty for the person, who may answer in any case."""
    reply: QuestionReply | None = None


class TurnEndEntry(_Entry, tag="turn_end"):
    """How a turn ended."""

    reason: str
    """end_turn, max_tokens, max_turn_requests, refusal, cancelled, failed, or a new one."""
    seconds: float
    error: str = ""
    usage: TokenUsage | None = None


class NoticeEntry(_Entry, tag="notice"):
    """Something the person should know. `level` is info, warning or error."""

    level: str
    text: str


class OtherEntry(_Entry, tag="other"):
    """An update that the server does not know; `raw` is what the agent sent."""

    update: str
    raw: dict[str, Any]


Entry = (
    MessageEntry
    | AttachmentEntry
    | ToolCallEntry
    | PlanEntry
    | AskEntry
    | QuestionEntry
    | TurnEndEntry
    | NoticeEntry
    | OtherEntry
)


# -- changes of a session


class EntryChanged(Wire, tag_field="type", tag="entry"):
    """A new entry, or a newer form of one that is there: replace it by its id."""

    entry: Entry


class TextAppended(Wire, tag_field="type", tag="text"):
    """More text at the end of a message entry."""

    entry_id: str
    text: str


class HeadChanged(Wire, tag_field="type", tag="session"):
    """The session's head changed: replace it."""

    session: SessionHead


Change = EntryChanged | TextAppended | HeadChanged


# -- requests and notifications


class Nothing(Wire):
    """No fields."""


class AgentItem(Wire):
    """An agent of the catalog."""

    name: str
    title: str
    installed: bool
    install: str = ""
    """How to install it."""
    source: str = ""
    running: bool = False
    version: str = ""


class AgentsResult(Wire):
    """The catalog."""

    agents: list[AgentItem]
    default: str
    problems: list[str] = []
    """What is wrong in the user's agents.toml."""


class LoginParams(Wire):
    """Log in to an agent. Sessions that were refused go on afterwards, with their prompts."""

    agent: str
    method: str = ""
    """The id of a way that the agent offers; empty for the only one."""
    session_id: str = ""
    """The session that the terminal of a login belongs to; else one that waits for it."""
    confirmed: bool = False
    """A person has seen the program that is to be run."""


class LoginState(StrEnum):
    """How far a login is."""

    DONE = "done"
    CONFIRM = "confirm"
    RUNNING = "running"
    VARIABLES = "variables"


class LoginResult(Wire):
    """`confirm`: show the command, then ask again with `confirmed`. `running`: the person goes on
    in the terminal. `variables`: the person has to set some, as the text says."""

    state: LoginState
    text: str
    """A sentence for the person."""
    command: str = ""
    session_id: str = ""
    terminal_id: str = ""


class SessionParams(Wire):
    """Names a session."""

    session_id: str


class SessionNewParams(Wire):
    """Without an agent the default one is used, without a folder the workspace."""

    agent: str = ""
    cwd: str = ""
    orchestrate: bool = False
    """It may start other agents without asking each time."""


class SessionLoadParams(Wire):
    """A session that the agent remembers, by the agent's own id. One that we know is taken up
    again as ours is, under the id that it has here."""

    agent: str
    agent_session_id: str
    cwd: str = ""


class SessionResult(Wire):
    """The session as it is now."""

    session: SessionHead


class SessionListParams(Wire):
    """Which sessions are wanted; what is not said does not matter."""

    agent: str = ""
    cwd: str = ""
    """Sessions in this folder and in folders below."""
    states: list[SessionState] = []
    places: list[SessionPlace] = []
    archived: bool | None = False
    """Null: also those that are archived."""
    since: float | None = None
    until: float | None = None
    title: str = ""
    """Somewhere in the title."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    after: str = ""
    """The `next` of the page before."""
    from_agents: bool = False
    """Also what running agents remember and we do not: `session/load` opens those."""


class RememberedSession(Wire):
    """A session that only its agent knows."""

    agent: str
    agent_session_id: str
    cwd: str
    title: str = ""
    updated: str = ""


class SessionListResult(Wire):
    """Sessions of all agents and all windows, newest first."""

    sessions: list[SessionHead]
    next: str = ""
    """There are more: ask for what comes `after` this."""
    remembered: list[RememberedSession] = []


class ForkParams(Wire):
    """Without an agent, the session's own is asked to fork it. With one, it gets a new session and
    is told what was said."""

    session_id: str
    agent: str = ""


class RenameParams(Wire):
    """Without a title the session is called by its first prompt again."""

    session_id: str
    title: str


class ArchiveParams(Wire):
    """Put a session aside, or bring it back."""

    session_id: str
    archived: bool = True


class SearchParams(Wire):
    """Words that were said, edited or run; what else is said narrows it down."""

    words: str
    agent: str = ""
    cwd: str = ""
    file: str = ""
    """A path, or the end of one."""
    since: float | None = None
    until: float | None = None
    session_id: str = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class UsageParams(Wire):
    """Whose use is wanted; what is not said does not matter."""

    agent: str = ""
    cwd: str = ""
    since: float | None = None
    until: float | None = None


class DayUsage(Wire):
    """What one agent used on one day, as far as it tells."""

    day: str
    """As in 2026-11-18, where the server is."""
    agent: str
    turns: int
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost: float = 0.0
    currency: str = ""


class UsageResult(Wire):
    """The newest day first."""

    days: list[DayUsage]


class SearchHit(Wire):
    """A place where the words were found; `session/snapshot` reads what is around it."""

    session_id: str
    title: str
    agent: str
    cwd: str
    entry_id: str
    kind: str
    """message, attachment, tool_call, plan, ask, turn_end, notice or other."""
    at: float
    snippet: str
    marks: list[list[int]]
    """Where the words are in the snippet: start and end, in characters."""


class SearchResult(Wire):
    """The best first."""

    hits: list[SearchHit]


class ExportFormat(StrEnum):
    """For people, or for another machine."""

    MARKDOWN = "markdown"
    JSON = "json"


class ExportParams(Wire):
    """Which session, and as what."""

    session_id: str
    format: ExportFormat = ExportFormat.MARKDOWN


class ImportParams(Wire):
    """What an export as JSON gave."""

    json: str


class SnapshotParams(Wire):
    """With `last`, only that many of the newest entries; with `before`, of those before one."""

    session_id: str
    last: Annotated[int, Meta(ge=1)] | None = None
    before: str = ""
    """The id of an entry."""


class SnapshotResult(Wire):
    """A session, whole. The next batch has the number `seq + 1`."""

    seq: int
    session: SessionHead
    entries: list[Entry]
    total: int
    """How many entries the session has."""


class PromptParams(Wire):
    """Say something to a session. Without a session id a new session is opened for it."""

    session_id: str = ""
    text: str = ""
    blocks: list[ContentBlock] = []
    """Files, images and links beside the text."""
    agent: str = ""
    cwd: str = ""


class PromptResult(Wire):
    """The turn it will be. How the turn ends is an entry of the session."""

    session_id: str
    turn: int
    queued: bool = False


class CancelResult(Wire):
    """Prompts that were waiting and are not sent any more."""

    returned: list[str] = []


class SetModeParams(Wire):
    """Choose one of the session's modes."""

    session_id: str
    mode: str


class SetOptionParams(Wire):
    """Choose a value for one of the agent's settings."""

    session_id: str
    option: str
    value: str | bool


class BodyParams(Wire):
    """Asks for a text that travelled cut. `part` is the index in `content`, or a terminal id."""

    session_id: str
    entry_id: str
    part: int | str
    side: str = "new"
    """For a diff: old or new."""


class BodyResult(Wire):
    """The whole text."""

    text: str


class ExportResult(Wire):
    """The session, in the form that was asked for."""

    markdown: str
    json: str = ""


class AskItem(Wire):
    """An open ask."""

    ask_id: str
    session_id: str
    agent: str
    call_id: str
    title: str
    since: float
    options: list[AskOption]
    shown: str = ""
    why: str = ""
    always: list[AlwaysOffer] = []


class AskListResult(Wire):
    """All open asks, oldest first."""

    asks: list[AskItem]


class FamilyActivity(Wire):
    """Something that happened between an agent and the one that directs it."""

    at: float
    session_id: str
    """The session that was started by the other."""
    orchestrator: str
    name: str
    what: str
    """started, told, asked, answered, said, finished, failed, stopped, ended, or a new one."""
    text: str = ""


class FamilyActivityParams(Wire):
    """Without a session the activity of all families is meant."""

    session_id: str = ""
    """The session on top, or any below it."""


class FamilyActivityResult(Wire):
    """The newest lines, oldest first."""

    lines: list[FamilyActivity]


class FamilyDidActParams(Wire):
    """One more line of the feed."""

    line: FamilyActivity


class QuestionItem(Wire):
    """An open question."""

    question_id: str
    session_id: str
    agent: str
    text: str
    since: float
    options: list[str] = []
    to: str = ""
    """The agent that is asked; empty for the person, who may answer in any case."""


class QuestionListResult(Wire):
    """All open questions of all sessions, oldest first."""

    questions: list[QuestionItem]


class QuestionAnswerParams(Wire):
    """Answer a question, with one of the options or in any words."""

    question_id: str
    text: str


class QuestionAnswerResult(Wire):
    """What was answered."""

    reply: QuestionReply


class AskDecideParams(Wire):
    """Answer an ask: with one of its options, or with a verdict, or with a rule to remember."""

    ask_id: str
    option_id: str = ""
    verdict: str = ""
    """allow or reject: the agent's option of that kind, for once."""
    always: str = ""
    """The id of one of the offered rules: allow, and remember it."""
    scope: RuleScope = RuleScope.PROJECT
    """Where the rule is remembered."""
    reason: str = ""
    """With reject: the agent hears it as the next prompt."""


class AskDecideResult(Wire):
    """`settled` is false when somebody else was faster; `message` says so."""

    settled: bool
    message: str = ""


class AskDecideAllParams(Wire):
    """Answer all open asks alike; those of one session, if one is named."""

    verdict: str
    session_id: str = ""


class AskDecideAllResult(Wire):
    """How many were answered."""

    settled: int


class AskParams(Wire):
    """Names an ask."""

    ask_id: str


class AskProposalParams(Wire):
    """Names an ask that is about texts of files."""

    ask_id: str
    open: bool = False
    """Have the editor show the first page; a front end shows it in its own way."""


class ProposedFile(Wire):
    """A file, and what accepting the ask would make of it."""

    path: str
    after: str
    uri: str
    """An ordinary file with `after`. What is there by then, saved or not, is what accepting
    writes."""
    before: str | None = None
    """Null when there is no such file."""


class AskProposalResult(Wire):
    """The texts of an ask."""

    files: list[ProposedFile]


class ShownResult(Wire):
    """The document that was opened."""

    uri: str


class SetPolicyParams(Wire):
    """How much the agent of a session may do without asking."""

    session_id: str
    policy: PolicyMode


class RuleItem(Wire):
    """A remembered decision."""

    verdict: str
    scope: str
    source: str
    line: int
    what: str
    """The rule in a few words."""
    kind: str | None = None
    command: str | None = None
    path: str | None = None
    host: str | None = None
    tool: str | None = None
    agent: str | None = None
    project: str | None = None


class RuleListParams(Wire):
    """The rules that hold in a folder; the workspace if none is named."""

    cwd: str = ""


class RuleListResult(Wire):
    """The rules, and what is wrong in the files they come from."""

    rules: list[RuleItem]
    problems: list[str] = []


class RuleAddParams(Wire):
    """A rule: a verdict and any of the conditions, all of which must hold."""

    verdict: str
    scope: RuleScope = RuleScope.PROJECT
    cwd: str = ""
    kind: str | None = None
    command: str | None = None
    path: str | None = None
    host: str | None = None
    tool: str | None = None
    agent: str | None = None


class RuleExplainParams(Wire):
    """What would be decided about a command, or about reading or writing a file."""

    command: str | None = None
    path: str | None = None
    write: bool = False
    agent: str = ""
    cwd: str = ""


class RuleExplainResult(Wire):
    """The verdict, and why."""

    verdict: str
    why: str
    rule: RuleItem | None = None


class CodeFileParams(Wire):
    """A file to look at; all files that the editor knows if it is empty."""

    uri: str = ""


class CodePlaceParams(Wire):
    """A place in a file. Lines and characters count from 0, as in LSP, in UTF-16."""

    uri: str
    line: int
    character: int


class CodeQueryParams(Wire):
    """A name, or a part of one."""

    query: str


class CodeProblem(Wire):
    """What a language server or linter says. Lines and characters count from 0."""

    uri: str
    line: int
    character: int
    severity: str
    """error, warning, information or hint."""
    message: str
    source: str = ""
    code: str = ""


class CodeProblemsResult(Wire):
    """What the editor shows by others than agentls."""

    problems: list[CodeProblem]


class CodeSpot(Wire):
    """A place that a language server names. Lines and characters count from 0."""

    uri: str
    line: int
    character: int
    name: str = ""
    kind: str = ""
    """function, class, variable…"""
    inside: str = ""
    """What contains it."""


class CodeSpotsResult(Wire):
    """The places; without any, `known` says whether somebody was there to be asked."""

    spots: list[CodeSpot]
    known: bool


class RecordingParams(Wire):
    """Without an agent the one that ran last; without a path a new file in the state folder."""

    agent: str = ""
    path: str = ""


class RecordingResult(Wire):
    """Where the recording is."""

    path: str


class TerminalSource(StrEnum):
    """Who runs a command."""

    HOSTED = "hosted"
    """The server: it can be watched live and typed into."""
    EDITOR = "editor"
    """The editor itself, because it said that it can."""
    MIRRORED = "mirrored"
    """The agent, which only reports it: to be marked as read-only."""


class TerminalItem(Wire):
    """A command: running, or over but still readable."""

    session_id: str
    terminal_id: str
    command: str
    cwd: str
    source: TerminalSource
    created: float
    running: bool
    ended: float | None = None
    exit_code: int | None = None
    signal: str = ""
    """The name of the signal that ended it, e.g. SIGTERM."""


class TerminalListParams(Wire):
    """The terminals of one session, or of all."""

    session_id: str = ""
    running: bool = False
    """Only those that are still running."""


class TerminalListResult(Wire):
    """Oldest first."""

    terminals: list[TerminalItem]


class TerminalParams(Wire):
    """Names a terminal."""

    session_id: str
    terminal_id: str


class TerminalAttachParams(Wire):
    """Begin to watch a terminal. With a size, its window becomes that big."""

    session_id: str
    terminal_id: str
    columns: Annotated[int, Meta(ge=1, le=65535)] | None = None
    rows: Annotated[int, Meta(ge=1, le=65535)] | None = None


class TerminalAttachResult(Wire):
    """What is kept of the output; what comes later comes as `terminal/data`."""

    terminal: TerminalItem
    text: str
    """With its escape sequences, for a terminal emulator."""
    truncated: bool = False
    """Older output is not kept any more."""


class TerminalInputParams(Wire):
    """Type into a terminal."""

    session_id: str
    terminal_id: str
    text: str


class TerminalResizeParams(Wire):
    """The window of a terminal has another size."""

    session_id: str
    terminal_id: str
    columns: Annotated[int, Meta(ge=1, le=65535)]
    rows: Annotated[int, Meta(ge=1, le=65535)]


class TerminalKillAllResult(Wire):
    """`left` still run: the agent runs them itself."""

    left: list[TerminalItem] = []


class TerminalDidOpenParams(Wire):
    """There is a new terminal, or more is known about one."""

    terminal: TerminalItem


class TerminalDataParams(Wire):
    """More output of a terminal that the editor is attached to."""

    session_id: str
    terminal_id: str
    text: str
    reset: bool = False
    """The text does not go on from the last one: clear the view first."""


class TerminalDidExitParams(Wire):
    """A command is over; all of its output that is kept has been sent."""

    terminal: TerminalItem


class TerminalRunParams(Wire):
    """Run a command in a terminal of the editor. Answer when it has started."""

    session_id: str
    terminal_id: str
    title: str
    """The command for people."""
    argv: list[str]
    """The program and its arguments; no shell is to be put in between."""
    cwd: str
    env: dict[str, str]
    """What to set beyond the editor's own environment."""


class TerminalOutputParams(Wire):
    """What a terminal that the editor runs has printed."""

    session_id: str
    terminal_id: str
    text: str


class TerminalExitedParams(Wire):
    """A terminal that the editor runs has ended."""

    session_id: str
    terminal_id: str
    exit_code: int | None = None
    signal: str = ""


class DocumentParams(Wire):
    """Names a document that is open in the editor."""

    uri: str


class DocumentSaveResult(Wire):
    """Whether the document is on disk now, as the editor saves it."""

    saved: bool


class HunkItem(Wire):
    """One place of a file that an agent changed; lines count from 0, `end` is not included."""

    hunk_id: str
    state: str
    """pending, kept or undone."""
    start: int
    end: int
    removed: int = 0
    added: int = 0
    altered: bool = False
    """Somebody else changed it since: it can only be undone by a merge."""
    label: str = ""
    """The function or class it is in."""


class ChangeItem(Wire):
    """What a turn of an agent did to one file."""

    change_id: str
    session_id: str
    turn: int
    agent: str
    path: str
    type: str
    """created, modified, deleted or renamed."""
    pending: bool
    """Whether anything of it is not decided yet."""
    prompt: str = ""
    old_path: str = ""
    whole: str = ""
    """What was decided about all that is not lines: bytes, permissions, the name; if any."""
    hunks: list[HunkItem] = []


class ChangeListParams(Wire):
    """Which changes; those that fit all that is said."""

    session_id: str = ""
    turn: int | None = None
    path: str = ""
    pending: bool = False
    """Only those that are not decided."""


class ChangeListResult(Wire):
    """The oldest first."""

    changes: list[ChangeItem]


class ChangeDecideParams(Wire, forbid_unknown_fields=True):
    """What to do with hunks, with a change, or with all of a file, a turn or a session."""

    # A misspelt field must not make it about more than was meant.
    verdict: str
    """keep, undo, redo, or merge: undo a change that somebody altered since."""
    session_id: str = ""
    turn: int | None = None
    path: str = ""
    change_id: str = ""
    hunk_ids: list[str] = []


class ChangeRefusal(Wire):
    """What could not be done, and why."""

    change_id: str
    why: str
    hunk_ids: list[str] = []


class ChangeDecideResult(Wire):
    """The changes as they are now."""

    changes: list[ChangeItem]
    refused: list[ChangeRefusal] = []


class ChangeParams(Wire):
    """Names a change."""

    change_id: str


class HunkText(Wire):
    """The texts of a hunk."""

    hunk_id: str
    before: str
    after: str
    now: str


class ChangeShowResult(Wire):
    """The texts of a file, for a view of the difference; null where there is no text."""

    change: ChangeItem
    before: str | None = None
    after: str | None = None
    now: str | None = None
    hunks: list[HunkText] = []


class ChangeRestoreParams(Wire):
    """Go back to before a turn: first `preview`, then `do` what was shown; `undo` takes it back."""

    step: str = "preview"
    session_id: str = ""
    turn: int | None = None
    restore_id: str = ""
    """From the preview."""


class RestoreFile(Wire):
    """What would be, or was, made of a file."""

    path: str
    effect: str
    """changed, made, removed or none."""
    why: str = ""
    """Why it is left as it is."""


class ChangeRestoreResult(Wire):
    """What going back means for the files."""

    restore_id: str
    done: bool
    files: list[RestoreFile]


class RestoreShowParams(Wire):
    """A file of a restore that was previewed."""

    restore_id: str
    path: str


class RestoreShowResult(Wire):
    """The file now and after going back; null where it is not there or is no text."""

    now: str | None = None
    then: str | None = None


class ChangeWhoParams(Wire):
    """A line of a file; lines count from 0."""

    path: str
    line: int


class ChangeWhoResult(Wire):
    """Who wrote a line."""

    text: str
    session_id: str = ""
    turn: int = 0
    change_id: str = ""


class ConflictItem(Wire):
    """A file with unsaved text in the editor that an agent changed in the same lines on disk."""

    path: str
    agent: str


class ConflictListResult(Wire):
    """All that are open; also what is told when one comes or goes."""

    conflicts: list[ConflictItem]


class ConflictParams(Wire):
    """Names the file of a conflict."""

    path: str


class ConflictShowResult(Wire):
    """The three texts."""

    conflict: ConflictItem
    before: str
    """What both had last."""
    mine: str
    """In the editor, not saved."""
    written: str
    """By the agent, on disk."""


class ConflictSettleParams(Wire):
    """What to take: mine is saved over the agent's, the agent's replaces mine in the editor, or
    both come into the text in the editor, marked, to be merged by hand."""

    path: str
    take: Literal["mine", "agent", "merge"]


class ChangeDidChangeParams(Wire):
    """Changes that are new, or other than before, and the ids of those that are no more."""

    items: list[ChangeItem]
    gone: list[str] = []


class DidChangeParams(Wire):
    """A numbered batch of changes. A gap in the numbers: ask for a snapshot."""

    session_id: str
    seq: int
    changes: list[Change]


class Method(Struct, frozen=True, kw_only=True):
    """A request or notification of ours."""

    name: str
    """Without the namespace: the request is `agentls/` + name, the command `agentls.` + name
    with dots."""
    title: str
    """What the editor's list of commands shows."""
    params: type[Wire]
    result: type[Wire] | None = None
    """None for notifications."""

    @property
    def method(self) -> str:
        return NAMESPACE + self.name

    @property
    def command(self) -> str:
        return "agentls." + self.name.replace("/", ".")

    @property
    def handler(self) -> str:
        """The name of the function that handles it: camelCase parts become snake_case."""
        return "".join("_" + c.lower() if c.isupper() else c for c in self.name.replace("/", "_"))


REQUESTS: tuple[Method, ...] = (
    Method(name="agents", title="List agents", params=Nothing, result=AgentsResult),
    Method(name="agent/login", title="Log in to an agent", params=LoginParams, result=LoginResult),
    Method(name="session/new", title="New session", params=SessionNewParams, result=SessionResult),
    Method(
        name="session/load",
        title="Open a session the agent remembers",
        params=SessionLoadParams,
        result=SessionResult,
    ),
    Method(
        name="session/list",
        title="List sessions",
        params=SessionListParams,
        result=SessionListResult,
    ),
    Method(
        name="session/resume",
        title="Take up a past session",
        params=SessionParams,
        result=SessionResult,
    ),
    Method(name="session/rename", title="Rename a session", params=RenameParams, result=Nothing),
    Method(name="session/archive", title="Archive a session", params=ArchiveParams, result=Nothing),
    Method(name="session/delete", title="Delete a session", params=SessionParams, result=Nothing),
    Method(
        name="session/import",
        title="Import a session",
        params=ImportParams,
        result=SessionResult,
    ),
    Method(name="search", title="Search in all sessions", params=SearchParams, result=SearchResult),
    Method(name="usage", title="Show what agents used", params=UsageParams, result=UsageResult),
    Method(
        name="session/snapshot",
        title="Read a session",
        params=SnapshotParams,
        result=SnapshotResult,
    ),
    Method(name="session/prompt", title="Send a prompt", params=PromptParams, result=PromptResult),
    Method(
        name="session/cancel",
        title="Stop the running turn",
        params=SessionParams,
        result=CancelResult,
    ),
    Method(
        name="session/restart",
        title="Restart the agent of a session",
        params=SessionParams,
        result=SessionResult,
    ),
    Method(name="session/fork", title="Fork a session", params=ForkParams, result=SessionResult),
    Method(
        name="session/close", title="Close a session", params=SessionParams, result=SessionResult
    ),
    Method(
        name="session/setMode",
        title="Set the mode of a session",
        params=SetModeParams,
        result=SessionResult,
    ),
    Method(
        name="session/setOption",
        title="Set an option of a session",
        params=SetOptionParams,
        result=SessionResult,
    ),
    Method(name="session/body", title="Read a long text", params=BodyParams, result=BodyResult),
    Method(
        name="session/export",
        title="Export a session",
        params=ExportParams,
        result=ExportResult,
    ),
    Method(name="ask/list", title="List open asks", params=Nothing, result=AskListResult),
    Method(
        name="ask/decide", title="Answer an ask", params=AskDecideParams, result=AskDecideResult
    ),
    Method(
        name="ask/decideAll",
        title="Answer all open asks",
        params=AskDecideAllParams,
        result=AskDecideAllResult,
    ),
    Method(
        name="ask/show",
        title="Show what an ask is about",
        params=AskParams,
        result=ShownResult,
    ),
    Method(
        name="ask/proposal",
        title="Edit a change before it is accepted",
        params=AskProposalParams,
        result=AskProposalResult,
    ),
    Method(
        name="ask/reason",
        title="Reject an ask and say why",
        params=AskParams,
        result=ShownResult,
    ),
    Method(
        name="family/activity",
        title="Show what agents say to each other",
        params=FamilyActivityParams,
        result=FamilyActivityResult,
    ),
    Method(
        name="question/list",
        title="List open questions",
        params=Nothing,
        result=QuestionListResult,
    ),
    Method(
        name="question/answer",
        title="Answer a question",
        params=QuestionAnswerParams,
        result=QuestionAnswerResult,
    ),
    Method(
        name="session/setPolicy",
        title="Set what an agent may do without asking",
        params=SetPolicyParams,
        result=SessionResult,
    ),
    Method(name="rule/list", title="List rules", params=RuleListParams, result=RuleListResult),
    Method(name="rule/add", title="Add a rule", params=RuleAddParams, result=RuleListResult),
    Method(name="rule/remove", title="Remove a rule", params=RuleAddParams, result=RuleListResult),
    Method(
        name="rule/explain",
        title="Explain what a rule decides",
        params=RuleExplainParams,
        result=RuleExplainResult,
    ),
    Method(
        name="terminal/list",
        title="List terminals",
        params=TerminalListParams,
        result=TerminalListResult,
    ),
    Method(
        name="terminal/attach",
        title="Watch a terminal",
        params=TerminalAttachParams,
        result=TerminalAttachResult,
    ),
    Method(
        name="terminal/detach",
        title="Watch a terminal no longer",
        params=TerminalParams,
        result=Nothing,
    ),
    Method(
        name="terminal/input",
        title="Type into a terminal",
        params=TerminalInputParams,
        result=Nothing,
    ),
    Method(
        name="terminal/resize",
        title="Resize a terminal",
        params=TerminalResizeParams,
        result=Nothing,
    ),
    Method(
        name="terminal/kill",
        title="End a command and all that it started",
        params=TerminalParams,
        result=TerminalListResult,
    ),
    Method(
        name="terminal/killAll",
        title="End all commands of a session",
        params=SessionParams,
        result=TerminalKillAllResult,
    ),
    Method(
        name="change/list", title="List changes", params=ChangeListParams, result=ChangeListResult
    ),
    Method(
        name="change/decide",
        title="Keep or undo changes",
        params=ChangeDecideParams,
        result=ChangeDecideResult,
    ),
    Method(name="change/show", title="Show a change", params=ChangeParams, result=ChangeShowResult),
    Method(
        name="change/restore",
        title="Go back to before a turn",
        params=ChangeRestoreParams,
        result=ChangeRestoreResult,
    ),
    Method(
        name="change/restoreShow",
        title="Show what going back makes of a file",
        params=RestoreShowParams,
        result=RestoreShowResult,
    ),
    Method(
        name="change/who",
        title="Tell who wrote a line",
        params=ChangeWhoParams,
        result=ChangeWhoResult,
    ),
    Method(
        name="conflict/list",
        title="List files that you and an agent changed",
        params=Nothing,
        result=ConflictListResult,
    ),
    Method(
        name="conflict/show",
        title="Show what you and an agent made of a file",
        params=ConflictParams,
        result=ConflictShowResult,
    ),
    Method(
        name="conflict/settle",
        title="Take my text, the agent's, or both",
        params=ConflictSettleParams,
        result=ConflictListResult,
    ),
    Method(
        name="recording/save",
        title="Save a recording of an agent's traffic",
        params=RecordingParams,
        result=RecordingResult,
    ),
)
"""Editor to server."""

NOTIFICATIONS: tuple[Method, ...] = (
    Method(name="session/didChange", title="A session changed", params=DidChangeParams),
    Method(name="family/didAct", title="Agents did something", params=FamilyDidActParams),
    Method(name="change/didChange", title="Changes are new or other", params=ChangeDidChangeParams),
    Method(
        name="conflict/didChange", title="Conflicts have come or gone", params=ConflictListResult
    ),
    Method(name="terminal/didOpen", title="A terminal was opened", params=TerminalDidOpenParams),
    Method(name="terminal/data", title="A terminal has more output", params=TerminalDataParams),
    Method(name="terminal/didExit", title="A terminal has ended", params=TerminalDidExitParams),
)
"""Server to editor; only to editors that declare `capabilities.experimental.agentls`."""

EDITOR_NOTIFICATIONS: tuple[Method, ...] = (
    Method(
        name="terminal/output",
        title="A terminal of the editor has more output",
        params=TerminalOutputParams,
    ),
    Method(
        name="terminal/exited",
        title="A terminal of the editor has ended",
        params=TerminalExitedParams,
    ),
)
"""Editor to server; from editors that run terminals themselves."""

SERVER_REQUESTS: tuple[Method, ...] = (
    Method(
        name="terminal/run",
        title="Run a command in a terminal of the editor",
        params=TerminalRunParams,
        result=Nothing,
    ),
    Method(
        name="terminal/kill",
        title="End a terminal of the editor, with all that it started",
        params=TerminalParams,
        result=Nothing,
    ),
    Method(
        name="terminal/release",
        title="Nobody needs a terminal of the editor any more",
        params=TerminalParams,
        result=Nothing,
    ),
    Method(
        name="document/save",
        title="Save a document that an agent edited",
        params=DocumentParams,
        result=DocumentSaveResult,
    ),
    Method(
        name="code/problems",
        title="Tell what language servers complain about",
        params=CodeFileParams,
        result=CodeProblemsResult,
    ),
    Method(
        name="code/definition",
        title="Tell where a name is defined",
        params=CodePlaceParams,
        result=CodeSpotsResult,
    ),
    Method(
        name="code/references",
        title="Tell where a name is used",
        params=CodePlaceParams,
        result=CodeSpotsResult,
    ),
    Method(
        name="code/symbols",
        title="Tell the symbols of a file",
        params=CodeFileParams,
        result=CodeSpotsResult,
    ),
    Method(
        name="code/search",
        title="Find symbols of the project",
        params=CodeQueryParams,
        result=CodeSpotsResult,
    ),
)
"""Server to editor; each only to editors that said they can: `experimental.agentls.runsTerminals`
for terminals, `experimental.agentls.savesDocuments` for documents, `experimental.agentls.knowsCode`
for code."""
