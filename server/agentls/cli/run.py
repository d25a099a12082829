"""`agentls run`: talk to an agent in the terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING

from agentls import log
from agentls.core.errors import AgentlsError
from agentls.core.model import SessionId

from .answers import ASK
from .codes import DONE, FAILED, INTERRUPTED, STOPPED_EARLY, USAGE
from .help import usage_error
from .options import Options, parse

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from agentls.app import App

    from .conversation import Conversation
    from .person import Person
    from .view.base import PeopleView, View

_CODES = {"end_turn": DONE, "failed": FAILED, "timed out": FAILED, "cancelled": INTERRUPTED}


def parser() -> ArgumentParser:
    from .options import parser

    return parser(recording=False)


def command(args: Sequence[str]) -> int:
    return talk(args, recording=False)


def talk(args: Sequence[str], *, recording: bool) -> int:
    """Hold the conversation that the command line describes; the exit code."""
    try:
        options = parse(args, recording=recording)
    except AgentlsError as error:
        return usage_error(str(error))
    log.setup(options.verbose, to_file=False)
    return asyncio.run(_hold(options))


async def _hold(options: Options) -> int:
    from agentls.app import running
    from agentls.core.settings import Settings

    view, person = _audience(options)
    try:
        async with running(Settings()) as app:
            return await _converse(app, options, view, person)
    except AgentlsError as error:
        view.error(str(error))
        return USAGE
    finally:
        if person is not None:
            person.leave()
        with suppress(OSError):  # the terminal may be gone
            view.close()


def _audience(options: Options) -> tuple[View, Person | None]:
    """Who sees the conversation, and who is asked."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # no character of an answer may end it
    if options.json:
        from .view.json_lines import JsonView

        return JsonView(), None
    from .person import Person

    view = _people_view(options)
    return view, Person(view) if options.answer == ASK or options.chat else None


def _people_view(options: Options) -> PeopleView:
    # Log lines would spoil what is drawn in place, and a dumb terminal cannot draw in place.
    draws = sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not options.verbose
    if draws:
        from .view.terminal import TerminalView

        return TerminalView()
    from .view.plain import PlainView

    return PlainView()


async def _converse(app: App, options: Options, view: View, person: Person | None) -> int:
    from .conversation import Conversation, Stopped

    for problem in app.catalog.problems:
        view.note(problem)
    past = await app.lasting.resume(SessionId(options.resume)) if options.resume else None
    spec = app.catalog.default(past.agent_name if past else options.agent or None)
    conversation = Conversation(app, spec, options, view, person, past=past)
    conversation.take_signals()
    try:
        code = await _turns(conversation, options)
    except Stopped as stopped:
        code = stopped.code
    if options.recording is not None:
        app.agents.save_recording(spec.name, str(options.recording))
        view.note(f"Saved to {options.recording}; read it before you share it.")
    return code


async def _turns(conversation: Conversation, options: Options) -> int:
    if not options.chat:
        return _CODES.get(await conversation.turn(options.prompt), STOPPED_EARLY)
    prompt = options.prompt or await conversation.next_prompt()
    while prompt is not None:
        await conversation.turn(prompt)
        prompt = await conversation.next_prompt()
    return DONE
