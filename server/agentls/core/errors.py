"""Everything that can go wrong, as one tree. Every message is a sentence for a person.

AgentlsError
├── AgentError              an agent could not do what was asked
│   ├── UnknownAgent            no such name in the catalog
│   ├── AgentStartFailed        the program is missing, or it ended before the handshake
│   ├── AgentTimedOut           it did not answer in time
│   ├── AgentExited             its process ended
│   ├── AuthRequired            it wants a login first
│   ├── UnsupportedByAgent      it does not have that ability
│   └── AgentFailed             it answered with an error
├── SessionError
│   ├── UnknownSession          no such id
│   ├── FamilyLimit             agents that work together have gone as far as they may
│   └── SessionNotReady         the session cannot do that in its present state
├── AskError
│   ├── UnknownAsk              no such ask, or it was answered already
│   └── UnknownQuestion         no such question, or it was answered already
├── TerminalError
│   ├── UnknownTerminal         no such id, or the agent has released it
│   ├── TerminalRefused         it may not be run, typed into or killed
│   └── TerminalFailed          the command could not be started, or whoever runs it failed
├── FileError
│   ├── FileMissing             no such file
│   ├── FileRefused             it is none that we read or write, or it may not be
│   ├── FileFailed              the system, or the editor, would not do it
│   ├── FileMoved               it is not what it was thought to be; nothing was written
│   ├── FileEdited              it was written, but with another text, of which the agent must know
│   └── CheckpointFailed        the state of the files could not be remembered or found again
├── ToolRefused             an agent may not call that tool, or not now
├── StoreError              the stored sessions cannot be read or changed
├── BadRequest              the editor, or a person on the command line, sent what we cannot use
└── SettingsError           a configuration file or value is wrong
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .model import AuthMethod


class AgentlsError(Exception):
    """Base of all errors that are meant for a person. `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class AgentError(AgentlsError):
    """An agent could not do what was asked."""


class UnknownAgent(AgentError):
    """No agent of that name is known."""


class AgentStartFailed(AgentError):
    """The agent's program is missing, or it ended before the handshake was done."""


class AgentTimedOut(AgentError):
    """The agent did not answer in time."""


class AgentExited(AgentError):
    """The agent's process ended while something was expected of it."""


class AuthRequired(AgentError):
    """The agent wants a login first; `methods` are the ways that it offers."""

    def __init__(
        self, message: str, *, hint: str = "", methods: tuple[AuthMethod, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.methods = methods


class UnsupportedByAgent(AgentError):
    """The agent says it cannot do that."""


class AgentFailed(AgentError):
    """The agent answered a request with an error."""

    def __init__(self, message: str, *, code: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class SessionError(AgentlsError):
    """Something is wrong with a session, not with its agent."""


class UnknownSession(SessionError):
    """No session has that id."""


class SessionNotReady(SessionError):
    """The session cannot do that in its present state."""


class AskError(AgentlsError):
    """Something is wrong with an answer to an ask."""


class UnknownAsk(AskError):
    """No such ask is open: it never was, or it has been answered."""


class UnknownQuestion(AskError):
    """No such question is open: it never was, or it has been answered."""


class FamilyLimit(SessionError):
    """Agents that work together have gone as far as they may."""


class TerminalError(AgentlsError):
    """Something is wrong with a terminal."""


class UnknownTerminal(TerminalError):
    """No terminal has that id: it never had, or the agent has released it."""


class TerminalRefused(TerminalError):
    """That is not allowed with this terminal, or with any."""


class TerminalFailed(TerminalError):
    """The command could not be started, or whoever runs it failed."""


class FileError(AgentlsError):
    """Something is wrong with a file."""


class FileMissing(FileError):
    """There is no such file."""


class FileRefused(FileError):
    """The file is none that we read or write (binary, huge, a folder, a device, read-only), or
    that was not allowed."""


class FileFailed(FileError):
    """It could not be done: disk full, no permission, folder gone, an editor that would not."""


class FileMoved(FileError):
    """The file is not any more what the caller thought it was; nothing was written."""


class FileEdited(FileError):
    """The file was written, but with what the person made of the agent's text."""


class CheckpointFailed(FileError):
    """The state of the files could not be remembered or found again."""


class ToolRefused(AgentlsError):
    """An agent may not call that tool, or not now."""


class StoreError(AgentlsError):
    """The stored sessions cannot be read or changed."""


class BadRequest(AgentlsError):
    """What was sent cannot be used as it is."""


class SettingsError(AgentlsError):
    """A configuration file or value is wrong."""
