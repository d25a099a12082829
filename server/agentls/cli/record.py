"""`agentls record`: like run, and keep what agentls and the agent said to each other."""

from __future__ import annotations

from collections.abc import Sequence

from .run import talk


def command(args: Sequence[str]) -> int:
    return talk(args, recording=True)
