"""What our exit codes mean."""

DONE = 0
FAILED = 1
USAGE = 2
STOPPED_EARLY = 3
"""The agent ended the turn without being done: a refusal, the token limit."""
INTERRUPTED = 130
PIPE_CLOSED = 141
BY_SIGNAL = 128
"""Plus the number of the signal."""
