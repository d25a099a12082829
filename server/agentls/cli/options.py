"""What `agentls run` and `agentls record` can be told on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agentls.core.errors import BadRequest

from .answers import ALLOW, ASK, REJECT

_RUN = """\
Talk to an agent in this terminal: its answer, what it does and what it asks you are shown as they
come. Ctrl-C cancels the turn, Ctrl-C twice stops the agent at once.
"""
_RECORD = """\
Like agentls run, and afterwards save what agentls and the agent said to each other. Secrets and
your home folder are taken out where they are recognised; read the file before you share it.
"""
_EXAMPLES = """\
examples:
  agentls {0}"Why does test_login fail?"
  git diff | agentls {0}--agent claude -
  agentls {0}--answer allow --cwd ~/project "Fix the typo in README.md"

exit codes:
  0 done   1 the agent failed   2 wrong command line   3 it stopped early (refusal, token limit)
  130 cancelled
"""


class Options(Struct, frozen=True, kw_only=True):
    """A checked command line."""

    prompt: str
    agent: str
    cwd: str
    answer: str
    nobody_to_ask: bool
    """Nobody said how to answer, and there is nobody to ask."""
    json: bool
    timeout: float | None
    chat: bool
    verbose: int
    recording: Path | None = None
    orchestrate: bool = False
    """The agent may start others."""
    resume: str = ""
    """The session to go on with; empty for a new one."""


def parse(args: Sequence[str], *, recording: bool) -> Options:
    """Raises `BadRequest` for what the parser alone cannot see; exits for what it can."""
    given = parser(recording).parse_intermixed_args(args)
    at_terminal = sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
    can_ask = at_terminal and not given.json
    if given.json and given.answer == ASK:
        raise BadRequest(
            "With --json nobody can be asked.", hint="Use --answer allow or --answer reject."
        )
    if given.resume and given.agent:
        raise BadRequest("A session goes on with its own agent.", hint="Leave out --agent.")
    if given.resume and given.orchestrate:
        raise BadRequest("Only a new session can orchestrate.", hint="Leave out --resume.")
    if given.chat and not (sys.stdin.isatty() and sys.stdout.isatty() and not given.json):
        raise BadRequest("--chat needs a terminal.", hint="Leave it out, or run it in one.")
    return Options(
        prompt=_prompt(given.prompt, given.answer, chat=given.chat),
        agent=given.agent,
        cwd=_folder(given.cwd),
        answer=given.answer or (ASK if can_ask else REJECT),
        nobody_to_ask=not given.answer and not can_ask,
        json=given.json,
        timeout=given.timeout,
        chat=given.chat,
        verbose=given.verbose,
        recording=_new_file(given.output) if recording else None,
        orchestrate=given.orchestrate,
        resume=given.resume,
    )


def parser(recording: bool) -> argparse.ArgumentParser:
    name = "record" if recording else "run"
    parser = argparse.ArgumentParser(
        f"agentls {name}",
        description=_RECORD if recording else _RUN,
        epilog=_EXAMPLES.format("record -o bug.jsonl " if recording else "run "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompt", nargs="*", metavar="PROMPT", help="what to say to the agent; - reads stdin")
    if recording:
        add("-o", "--output", metavar="FILE", required=True, help="where to save; a new file")
    add("-a", "--agent", default="", metavar="NAME", help="which agent; see agentls agents")
    add("-C", "--cwd", default="", metavar="DIR", help="the folder to work in; this one by default")
    add("--resume", default="", metavar="ID", help="go on with this session; see agentls sessions")
    add(
        "--answer",
        choices=(ASK, ALLOW, REJECT),
        default="",
        help="when the agent wants to do something: ask you (at a terminal the default), allow it"
        " this once, or reject it (the default elsewhere)",
    )
    add(
        "--orchestrate",
        action="store_true",
        help="let the agent start others and direct them; it ends when all of them are done",
    )
    add("-i", "--chat", action="store_true", help="go on with further prompts until /quit")
    add("--json", action="store_true", help="everything that happens as JSON, an object a line")
    add("--timeout", type=_seconds, metavar="S", help="cancel what is not done after S seconds")
    add("-v", "--verbose", action="count", default=0, help="log to stderr; twice for more")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("must be more than 0")
    return seconds


def _prompt(words: Sequence[str], answer: str, *, chat: bool) -> str:
    if list(words) == ["-"]:
        if answer == ASK or chat:
            raise BadRequest(
                "The prompt and your answers cannot both come from stdin.",
                hint="Use --answer allow or --answer reject, or write the prompt as an argument.",
            )
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    else:
        text = " ".join(words)
    if not text.strip() and not chat:
        raise BadRequest("There is no prompt.", hint='Write it as in: agentls run "Say hello"')
    return text.strip()


def _folder(name: str) -> str:
    path = Path(name).expanduser() if name else Path.cwd()
    if not path.is_dir():
        raise BadRequest(f"There is no folder {name}.", hint="Name another one with --cwd.")
    return str(path.absolute())


def _new_file(name: str) -> Path:
    path = Path(name)
    if path.exists():
        raise BadRequest(f"{path} exists already.", hint="Name a new file with -o.")
    if not path.parent.is_dir():
        raise BadRequest(f"There is no folder {path.parent}.", hint="Name another file with -o.")
    return path
