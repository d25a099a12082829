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
│   └── SessionNotReady         the session cannot do that in its present state
├── AskError
│   └── UnknownAsk              no such ask, or it was answered already
├── TerminalError
│   ├── UnknownTerminal         no such id, or the agent has released it
│   ├── TerminalRefused         it may not be run, typed into or killed
│   └── TerminalFailed          the command could not be started, or whoever runs it failed
├── BadRequest              the editor, or a person on the command line, sent what we cannot use
└── SettingsError           a configuration file or value is wrong
"""

from __future__ import annotations


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
    """The agent wants a login first."""


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


class TerminalError(AgentlsError):
    """Something is wrong with a terminal."""


class UnknownTerminal(TerminalError):
    """No terminal has that id: it never had, or the agent has released it."""


class TerminalRefused(TerminalError):
    """That is not allowed with this terminal, or with any."""


class TerminalFailed(TerminalError):
    """The command could not be started, or whoever runs it failed."""


class BadRequest(AgentlsError):
    """What was sent cannot be used as it is."""


class SettingsError(AgentlsError):
    """A configuration file or value is wrong."""
