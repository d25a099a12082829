"""The demo agent: an ACP agent on standard input and output that needs no account and no network.

Nothing but the protocol is written to standard output, and the end of standard input ends the
process at once, with every command that it runs.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import cast

from acp import Agent, stdio_streams
from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES, AgentSideConnection

from agentls.demo.conversations import Conversations

_DEFAULT_DELAY = 0.01
_CLOSE_TIMEOUT = 0.5


def main() -> int:
    """Run the demo agent until standard input ends; return the exit code."""
    if sys.stdin.isatty():
        sys.stderr.write(
            "The demo agent talks to a program, not to a person; "
            "choose it as the agent in your editor.\n"
        )
        return 2
    return asyncio.run(_serve(_delay(os.environ.get("AGENTLS_DEMO_DELAY"))))


async def _serve(delay: float) -> int:
    serving = asyncio.current_task()
    assert serving is not None
    agent = Conversations(delay=delay, leave=serving.cancel)
    reader, writer = await stdio_streams(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    connection = AgentSideConnection(
        # A cast, because inheriting from the protocol class would answer the methods that this
        # agent does not have with an empty success.
        cast("Agent", agent),
        writer,
        reader,
        listening=False,
        use_unstable_protocol=True,
    )
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
    # It returns at the end of input, and also when this task is cancelled.
    await connection.listen()
    # Closing cancels the turns, and with them their commands. A client that has stopped reading
    # must not hold it up.
    with suppress(OSError):
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            await connection.close()
    writer.close()
    return agent.exit_code


def _delay(setting: str | None) -> float:
    with suppress(ValueError):
        return max(0.0, float(setting or _DEFAULT_DELAY))
    return _DEFAULT_DELAY
