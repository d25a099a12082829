"""The tools by which agents work together: for the one that directs, and for those it directs.

Invariant: a tool reaches only the sessions that the caller started itself, or the one that started
the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta

from .. import events as ev
from ..errors import BadRequest, ToolRefused
from ..markdown import transcript_markdown
from ..model import Block, Reply, State, ToolCallPatch
from ..permission import Permit
from ..policy.verdicts import Subject
from ..session import Session
from ..tools.tool import SERVER, Answer, Arguments, Caller, Tool
from ..tools.waiting import Waiting
from ..transcript import Transcript
from .family import Family
from .news import Waited, together
from .starting import RuleWish, Starting, Wish

_PATIENCE = 45.0
"""Seconds: some agents give up on any call after a minute."""
_LONGEST = 3600.0
_MOST = 16_000
"""Characters of a transcript that an agent gets at once."""
_Name = Annotated[str, Meta(description="The name that you gave it.", min_length=1)]


class SpawnAgent(Arguments, frozen=True):
    name: Annotated[str, Meta(description="What you will call it: short, and not used yet.")]
    prompt: Annotated[str, Meta(description="Its task, with all that it needs to know.")]
    agent: Annotated[str, Meta(description="Which agent program; your own kind if empty.")] = ""
    cwd: Annotated[str, Meta(description="Its folder, in yours; yours if empty.")] = ""
    model: Annotated[str, Meta(description="Its model; its own choice if empty.")] = ""
    mode: Annotated[str, Meta(description="Its mode, such as plan; its own if empty.")] = ""
    allow: Annotated[
        tuple[RuleWish, ...],
        Meta(description="What it may do without asking, of what you may do without asking."),
    ] = ()
    deny: Annotated[tuple[RuleWish, ...], Meta(description="What it must not do.")] = ()


class Nobody(Arguments, frozen=True):
    pass


class OneAgent(Arguments, frozen=True):
    agent: _Name


class SendToAgent(Arguments, frozen=True):
    agent: _Name
    text: Annotated[str, Meta(description="What to say to it.", min_length=1)]


class ReadTranscript(Arguments, frozen=True):
    agent: _Name
    last: Annotated[int, Meta(description="So many pieces, the newest.", ge=1, le=200)] = 20


class WaitForAgent(Arguments, frozen=True):
    agents: Annotated[
        tuple[str, ...], Meta(description="Their names; any of your agents if empty.")
    ] = ()
    seconds: Annotated[float, Meta(description="How long at most.", gt=0, le=_LONGEST)] = _PATIENCE


class AskOrchestrator(Arguments, frozen=True):
    question: Annotated[str, Meta(description="What you need to know.", min_length=1)]
    seconds: Annotated[float, Meta(description="How long to wait.", gt=0, le=_LONGEST)] = 600.0


class Notify(Arguments, frozen=True):
    text: Annotated[str, Meta(description="What it should know.", min_length=1)]


def family_tools(
    family: Family, starting: Starting, waiting: Waiting, *, for_all: bool
) -> list[Tool]:
    """`for_all`: any session may want to start others; each start is then asked of the person."""
    tools = _FamilyTools(family, starting, waiting)

    def directs(session: Session) -> bool:
        if session.spawn.orchestrator:
            return family.counted.may_be_deeper(session)
        return session.spawn.orchestrates or for_all

    def is_directed(session: Session) -> bool:
        return bool(session.spawn.orchestrator)

    def tool(name: str, title: str, arguments: type[Arguments], kind: str, about: str) -> Tool:
        return Tool(
            name=name,
            title=title,
            description=about,
            arguments=arguments,
            kind=kind,
            run=getattr(tools, name),
            offered=is_directed if name in {"ask_orchestrator", "notify"} else directs,
        )

    return [
        tool(
            "spawn_agent",
            "Start agent",
            SpawnAgent,
            "other",
            "Start another agent that works for you, beside you. It knows nothing but its prompt."
            " Returns at once; wait_for_agent gives its answer. It never may do more than you may,"
            " and asks the person for the rest.",
        ),
        tool(
            "list_agents",
            "List agents",
            Nobody,
            "read",
            "The agents that you started, what each is doing and which of them wait for you.",
        ),
        tool(
            "send_to_agent",
            "Tell agent",
            SendToAgent,
            "other",
            "Say something to an agent that you started: the answer to what it asked you, or its"
            " next task.",
        ),
        tool(
            "read_transcript",
            "Read transcript",
            ReadTranscript,
            "read",
            "What an agent that you started has said and done lately.",
        ),
        tool(
            "wait_for_agent",
            "Wait for agent",
            WaitForAgent,
            "other",
            "Wait until one of your agents has finished, asks you something, or tells you"
            " something. Call it again when the time was too short.",
        ),
        tool(
            "interrupt_agent",
            "Interrupt agent",
            OneAgent,
            "other",
            "Stop what an agent of yours is doing. You can tell it something else afterwards.",
        ),
        tool("kill_agent", "End agent", OneAgent, "other", "End an agent of yours for good."),
        tool(
            "ask_orchestrator",
            "Ask orchestrator",
            AskOrchestrator,
            "other",
            "Ask the agent that started you something that you cannot find out or decide yourself,"
            " and wait for its answer.",
        ),
        tool(
            "notify",
            "Tell orchestrator",
            Notify,
            "other",
            "Tell the agent that started you something it should know now. You go on at once.",
        ),
    ]


class _FamilyTools:
    def __init__(self, family: Family, starting: Starting, waiting: Waiting) -> None:
        self._family = family
        self._starting = starting
        self._waiting = waiting

    # -- for the one that directs

    async def spawn_agent(self, caller: Caller, given: SpawnAgent) -> Answer:
        parent = caller.session
        wish = Wish(**{key: getattr(given, key) for key in given.__struct_fields__})
        spawn = self._starting.check(parent, wish)
        cwd = self._starting.folder(parent, wish.cwd)
        if not self._family.top(parent).spawn.orchestrates:
            await self._ask_person(caller, wish)
        child = self._starting.start(parent, wish, spawn, cwd)
        return Answer(
            f"{wish.name} is at work. wait_for_agent gives its answer.",
            {"agent": wish.name, "session": child.id},
        )

    async def _ask_person(self, caller: Caller, wish: Wish) -> None:
        """Only the person lets a session start others, unless it was begun for that."""
        session = caller.session
        subject = Subject(
            agent=session.agent_name,
            kind="other",
            cwd=session.cwd,
            tool=f"mcp__{SERVER}__spawn_agent",
            also=f"rules for {wish.name}" if wish.allow else "",
        )
        agent = wish.agent or session.agent_name
        title = f"Start the agent {agent} as “{wish.name}”"
        # Whatever the agent shows of its call: this is what would happen.
        shown = ToolCallPatch(
            id=caller.call, title=title, content=(Block(kind="text", text=_details(wish)),)
        )
        session.deliver(ev.ToolCallChanged(shown))

        def begin(then: Callable[[Permit], None]) -> Callable[[], None]:
            return session.permission.permit(subject, title, then, call=caller.call)

        permit: Permit = await self._waiting.answer(begin)
        if not permit.given:
            raise ToolRefused(f"{wish.name} was not started ({permit.decision.by}).")

    async def list_agents(self, caller: Caller, _: Nobody) -> Answer:
        facts = [_facts(child) for child in self._family.children(caller.session.id)]
        lines = [
            f"- {fact['name']} ({fact['agent']}): {fact['state']}"
            + (f", {fact['detail']}" if fact["detail"] else "")
            for fact in facts
        ]
        return Answer("\n".join(lines) or "You have started no agents.", {"agents": facts})

    async def send_to_agent(self, caller: Caller, given: SendToAgent) -> Answer:
        child = self._family.child(caller.session, given.agent)
        return Answer(self._family.send(caller.session, child, given.text))

    async def read_transcript(self, caller: Caller, given: ReadTranscript) -> Answer:
        child = self._family.child(caller.session, given.agent)
        part = Transcript()
        part.entries = child.transcript.entries[-given.last :]
        text = transcript_markdown(part, title=child.title)
        cut = len(text) > _MOST
        return Answer(f"[only the end]\n\n{text[-_MOST:]}" if cut else text)

    async def wait_for_agent(self, caller: Caller, given: WaitForAgent) -> Answer:
        parent = caller.session
        children = [self._family.child(parent, name) for name in given.agents]
        children = children or self._family.children(parent.id)
        if not children:
            raise BadRequest("You have no agents.", hint="Start one with spawn_agent.")

        def begin(then: Callable[[Waited], None]) -> Callable[[], None]:
            return self._family.wait(parent, children, given.seconds, then)

        waited: Waited = await self._waiting.answer(begin)
        if waited.news:
            return Answer(together(waited.news))
        states = "\n".join(f"- {child.spawn.name}: {_state(child)}" for child in children)
        why = "Nothing new yet" if waited.by == "time-out" else f"Nothing new ({waited.by})"
        return Answer(f"{why}.\n{states}")

    async def interrupt_agent(self, caller: Caller, given: OneAgent) -> Answer:
        child = self._family.child(caller.session, given.agent)
        self._family.interrupt(child)
        return Answer(f"{child.spawn.name} was told to stop.")

    async def kill_agent(self, caller: Caller, given: OneAgent) -> Answer:
        child = self._family.child(caller.session, given.agent)
        self._family.kill(child)
        return Answer(f"{child.spawn.name} has ended.")

    # -- for those it directs

    async def ask_orchestrator(self, caller: Caller, given: AskOrchestrator) -> Answer:
        def begin(then: Callable[[Reply], None]) -> Callable[[], None]:
            return self._family.ask(caller.session, given.question, given.seconds, then)

        reply: Reply = await self._waiting.answer(begin)
        if reply.text is None:
            raise ToolRefused(
                f"Nobody answered ({reply.by}).", hint="Decide yourself, and say what you decided."
            )
        return Answer(reply.text, {"by": reply.by})

    async def notify(self, caller: Caller, given: Notify) -> Answer:
        self._family.notify(caller.session, given.text)
        return Answer("It was told.")


def _details(wish: Wish) -> str:
    """All of a wish, for the person who is asked."""
    facts = [("Folder", wish.cwd), ("Model", wish.model), ("Mode", wish.mode)]
    facts += [("May, as far as this agent may", _what(rule)) for rule in wish.allow]
    facts += [("Must not", _what(rule)) for rule in wish.deny]
    lines = [f"{name}: {value}" for name, value in facts if value]
    return "\n".join([*lines, "", wish.prompt] if lines else [wish.prompt])


def _what(rule: RuleWish) -> str:
    given = [(key, getattr(rule, key)) for key in rule.__struct_fields__]
    return ", ".join(f"{key} {value}" for key, value in given if value)


def _state(child: Session) -> str:
    if child.state is State.WAITING_FOR_YOU:
        return "waits for the person"
    return str(child.state.value).replace("_", " ")


def _facts(child: Session) -> dict[str, Any]:
    return {
        "name": child.spawn.name,
        "session": child.id,
        "agent": child.agent_name,
        "folder": child.cwd,
        "state": _state(child),
        "detail": child.transcript.detail,
        "turns": child.transcript.turn,
        "questions": [question.text for question in child.transcript.open_questions()],
    }
