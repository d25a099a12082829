"""What the core needs from outside, named by what it wants and not by any protocol."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from .errors import AgentError, AgentlsError
from .events import Event
from .model import (
    AgentInfo,
    AgentOption,
    AgentSessionId,
    AskId,
    Block,
    Decision,
    KnownAgent,
    Option,
    PastSession,
    SessionSetup,
    TerminalId,
    ToolCallId,
    ToolCallPatch,
    Usage,
)

if TYPE_CHECKING:
    from .terminals import Exit, Snapshot, Terminal, TerminalSpec


_T = TypeVar("_T")


class Timer(Protocol):
    """Something that will happen, and can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """Time, which the core never reads by itself."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def later(self, seconds: float, call: Callable[[], None]) -> Timer: ...


class Tasks(Protocol):
    """Whoever owns the tasks: all of them end with it."""

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None: ...


class AskRequest(Struct, frozen=True):
    """A question "may I?" as an agent put it. Whoever holds it owes exactly one answer."""

    patch: ToolCallPatch
    options: tuple[Option, ...]
    answer: Callable[[Decision], None]
    amend: Callable[[str], None] | None = None
    """Where we write a text for the agent: takes another one, before it is allowed."""


class TurnOutcome(Struct, frozen=True):
    """How the agent answered a prompt."""

    reason: str
    usage: Usage | None = None
    error: AgentError | None = None


class FileText(Struct, frozen=True, kw_only=True):
    """The text of a file at one moment, as a person sees it."""

    text: str
    saved: str | None
    """What is on disk; None when there is nothing yet. It is another where text is unsaved."""
    changed: float = 0.0
    """When the file on disk was last changed, in seconds since the epoch."""
    state: Any = None
    """For whoever read it: by this it tells whether the file is still so."""


class Files(Protocol):
    """Files that hold text."""

    async def read(self, path: str) -> FileText | None:
        """None when there is no such file. Raises `FileRefused`, `FileFailed`."""
        ...

    async def write(self, path: str, text: str, before: FileText | None) -> str:
        """Give a file this text, down to the disk. It must still be as it was read; if it is not,
        `FileMoved` is raised. Raises also `FileRefused`, `FileFailed`. Returned: what is there
        now, since an editor may format what it saves."""
        ...


class Workplace(Protocol):
    """What an agent can use in one session beside talking."""

    def run(
        self,
        spec: TerminalSpec,
        limit: int,
        then: Callable[[Terminal | AgentlsError], None],
        call: ToolCallId | None = None,
    ) -> Callable[[], None]:
        """Run a command if that is allowed, and answer once. Returned: how to call it off."""
        ...

    def read(
        self,
        path: str,
        line: int | None,
        limit: int | None,
        then: Callable[[str | AgentlsError], None],
    ) -> Callable[[], None]:
        """The text of a file, or some lines of it, if that is allowed. Otherwise as `run`."""
        ...

    def write(
        self, path: str, text: str, then: Callable[[AgentlsError | None], None]
    ) -> Callable[[], None]:
        """Give a file this text if that is allowed. Otherwise as `run`."""
        ...

    async def write_for_person(self, path: str, before: str | None, text: str) -> None:
        """Give a file the text that the person made of what the agent proposed. Raises
        `FileError`."""
        ...

    def stop(self) -> None:
        """The turn is cancelled."""
        ...

    def output(self, id: TerminalId) -> Snapshot: ...

    def wait(self, id: TerminalId, then: Callable[[Exit], None]) -> Callable[[], None]: ...

    def kill(self, id: TerminalId) -> None: ...

    def release(self, id: TerminalId) -> None: ...


class ToolDoor(Struct, frozen=True, kw_only=True):
    """Where the agent of one session finds the tools that it may call back."""

    url: str
    secret: str
    bridge: tuple[str, ...]
    """A program that leads there, for an agent which cannot use an address."""


class Sink(Protocol):
    """Where everything goes that an agent says about one session, in the order it said it."""

    @property
    def cwd(self) -> str: ...

    @property
    def workplace(self) -> Workplace | None: ...

    @property
    def door(self) -> ToolDoor | None:
        """The tools that it may call back, if any."""
        ...

    def deliver(self, event: Event) -> None: ...

    def ask(self, request: AskRequest) -> AskId: ...

    def withdraw(self, ask: AskId) -> None:
        """The agent does not want an answer any more."""
        ...

    def agent_gone(self, error: AgentError) -> None: ...


class Agent(Protocol):
    """A live agent process."""

    @property
    def info(self) -> AgentInfo: ...

    async def new_session(self, cwd: str, sink: Sink) -> SessionSetup: ...

    async def load_session(
        self, id: AgentSessionId, cwd: str, sink: Sink, *, made: float = 0.0
    ) -> SessionSetup:
        """`made`: when the agent made that session, if that is known."""
        ...

    async def resume_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup: ...

    async def fork_session(self, id: AgentSessionId, cwd: str, sink: Sink) -> SessionSetup: ...

    async def list_sessions(self, cwd: str | None) -> list[PastSession]: ...

    async def close_session(self, id: AgentSessionId) -> None: ...

    async def delete_session(self, id: AgentSessionId) -> None: ...

    async def authenticate(self, method: str) -> None:
        """Log in by a method that the agent does by itself; returns when that is done."""
        ...

    async def set_mode(self, id: AgentSessionId, mode: str) -> None: ...

    async def set_option(
        self, id: AgentSessionId, option: str, value: str | bool
    ) -> tuple[AgentOption, ...]: ...

    def prompt(
        self,
        id: AgentSessionId,
        blocks: Sequence[Block],
        done: Callable[[TurnOutcome], None],
    ) -> None:
        """Send a prompt. `done` is called once, in order with what the agent says before it."""
        ...

    def cancel(self, id: AgentSessionId) -> None: ...

    def forget(self, id: AgentSessionId) -> None:
        """Nobody listens to that session any more."""
        ...


class AgentHost(Protocol):
    """Whoever starts agent processes and knows which are running."""

    async def connect(self, name: str, cwd: str, *, fresh: bool = False) -> Agent:
        """A running agent: one that serves other sessions already, unless `fresh`."""
        ...

    def running(self) -> Sequence[Agent]:
        """Those that have shaken hands and live."""
        ...

    def release(self, agent: Agent) -> None:
        """A session of it is closed; an agent with no session left is stopped."""
        ...


class Signal(Protocol):
    """Something to wait for."""

    def set(self) -> None: ...

    async def wait(self) -> object: ...


class OffLoop(Protocol):
    """Does work that waits for the disk, without holding up anything else."""

    async def __call__(self, work: Callable[[], _T], /) -> _T: ...


class AgentDirectory(Protocol):
    """What a person may know and do about agents as such."""

    def known(self) -> list[KnownAgent]: ...

    def default(self, preferred: str) -> str:
        """The agent for sessions that name none."""
        ...

    def problems(self) -> list[str]:
        """What is wrong in the person's list of agents, one sentence each."""
        ...

    def save_recording(self, name: str, path: str) -> str:
        """Write what an agent and we said to each other lately; the agent that ran last if
        none is named. The path of the file."""
        ...


class Warden(Protocol):
    """Ends what is left when this server is killed."""

    def guard(self, group: int) -> None: ...

    def forget(self, group: int) -> None: ...

    def mark(self, env: Mapping[str, str]) -> tuple[dict[str, str], str]:
        """The environment for something to be started, and the mark that it then carries."""
        ...


class Observer(Protocol):
    """Whoever wants to see everything that happens in every session."""

    def __call__(self, session: Any, event: Event, entry: Any) -> None: ...
