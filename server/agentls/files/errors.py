"""What can go wrong with a file; every message is a sentence for a person."""

from __future__ import annotations

from agentls.core.errors import AgentlsError


class FileError(AgentlsError):
    """Something is wrong with a file."""


class FileMissing(FileError):
    """There is no such file."""


class FileRefused(FileError):
    """The file is none that we read or write: binary, huge, a folder, a device, read-only."""


class FileFailed(FileError):
    """The system would not do it: disk full, no permission, folder gone."""


class FileMoved(FileError):
    """The file is not any more what the caller thought it was; nothing was written."""


class CheckpointFailed(FileError):
    """The state of the files could not be remembered or found again."""
