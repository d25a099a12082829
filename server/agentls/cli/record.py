"""`agentls record`: like run, and keep what agentls and the agent said to each other."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence

from . import options
from .run import talk


def parser() -> ArgumentParser:
    return options.parser(recording=True)


def command(args: Sequence[str]) -> int:
    return talk(args, recording=True)
