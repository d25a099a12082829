"""`agentls login`: log in to an agent, in one of the ways that it offers.

A program that the agent wants run is shown before it runs; what is typed into it is not seen here.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import aclosing

from agentls import __version__
from agentls.agent.catalog import Catalog
from agentls.agent.checkup import examine
from agentls.agent.connection import Connection
from agentls.agent.spec import AgentSpec, program
from agentls.core.errors import AgentError, AgentlsError, BadRequest
from agentls.core.logins import shown_command, variable_words
from agentls.core.model import AuthMethod
from agentls.core.printable import one_line
from agentls.warden import Warden

from .agents import add_registry, catalog_for
from .codes import DONE, FAILED, INTERRUPTED, USAGE

_ABOUT = """\
Log in to an agent, in one of the ways that it offers: it opens a browser, or a program is run here
that asks you, or it tells which environment variables to set. Afterwards a session is opened to see
whether it worked.
"""
_SECONDS = 30.0


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("agentls login", description=_ABOUT, allow_abbrev=False)
    parser.add_argument("agent", metavar="AGENT", help="which one; see agentls agents")
    parser.add_argument("-m", "--method", default="", metavar="ID", help="which way, if many")
    parser.add_argument("--list", action="store_true", help="only say which ways there are")
    parser.add_argument("-y", "--yes", action="store_true", help="run the program without asking")
    add_registry(parser)
    return parser


def command(args: Sequence[str]) -> int:
    wanted = parser().parse_args(args)
    catalog = catalog_for(wanted.registry)
    try:
        spec = catalog.get(wanted.agent)
        methods = asyncio.run(_methods(spec))
        if wanted.list:
            _print_methods(methods)
            return DONE
        if not methods:
            print(f"{spec.title} offers no way to log in. {spec.login}".rstrip())
            return FAILED
        method = _chosen(methods, wanted.method)
        if not _logged_in(spec, method, agreed=wanted.yes):
            return FAILED
        return asyncio.run(_verified(catalog, spec))
    except KeyboardInterrupt:
        return INTERRUPTED
    except AgentlsError as error:
        print(f"agentls: {error}", file=sys.stderr)
        return FAILED if isinstance(error, AgentError) else USAGE


def _print_methods(methods: Sequence[AuthMethod]) -> None:
    for number, method in enumerate(methods, 1):
        about = one_line(method.description or method.name)
        print(f"{number}  {one_line(method.id)}  ({method.kind})  {about}")


def _chosen(methods: Sequence[AuthMethod], wanted: str) -> AuthMethod:
    if not wanted and len(methods) == 1:
        return methods[0]
    if not wanted and sys.stdin.isatty():
        _print_methods(methods)
        wanted = input("Which? ").strip()
    for number, method in enumerate(methods, 1):
        if wanted in {method.id, str(number)}:
            return method
    ids = ", ".join(one_line(method.id) for method in methods)
    said = f"There is no way {wanted!r} to log in." if wanted else "There are several ways."
    raise BadRequest(said, hint=f"Name one with --method: {ids}.")


def _logged_in(spec: AgentSpec, method: AuthMethod, *, agreed: bool) -> bool:
    """Whether it went well, as far as that can be seen."""
    if method.kind == "terminal":
        return _run(spec, method, agreed=agreed)
    if method.kind == "env_var":
        print(variable_words(spec.title, method))
        return False
    print(f"{spec.title} logs you in; follow what it opens. Ctrl-C gives up.", flush=True)
    asyncio.run(_authenticate(spec, method))
    return True


def _run(spec: AgentSpec, method: AuthMethod, *, agreed: bool) -> bool:
    own = not method.foreign
    who = "its own program" if own else "a program that it names itself"
    print(f"{spec.title} logs you in with {who}:\n  {shown_command(method)}", flush=True)
    if not agreed:
        if not sys.stdin.isatty():
            raise BadRequest("Nobody can be asked here.", hint="Add --yes to run it.")
        if input("Run it? [y/N] ").strip().lower() not in {"y", "yes"}:
            print("Nothing was run.")
            return False
    env = {**os.environ, **spec.env, **method.env}
    words = method.command
    found = program(AgentSpec(name=spec.name, title=spec.title, command=words, env=spec.env))
    if found is None:
        raise BadRequest(f"There is no program {words[0]}.", hint="Is it installed?")
    done = subprocess.run([found, *words[1:]], env=env, check=False)
    if done.returncode:
        print(f"agentls: it ended with exit code {done.returncode}.", file=sys.stderr)
    return done.returncode == 0


async def _verified(catalog: Catalog, spec: AgentSpec) -> int:
    async with aclosing(examine(catalog, [spec.name], _SECONDS)) as findings:
        async for finding in findings:
            if finding.ok:
                print(f"You are logged in to {spec.title}.")
                return DONE
            words = finding.problem or f"{spec.title} still wants a login."
            print(f"agentls: {words} {finding.advice}", file=sys.stderr)
    return FAILED


async def _methods(spec: AgentSpec) -> tuple[AuthMethod, ...]:
    async with _Started(spec) as live:
        return live.info.auth_methods


async def _authenticate(spec: AgentSpec, method: AuthMethod) -> None:
    async with _Started(spec) as live:
        await live.authenticate(method.id)


class _Started:
    """An agent in an empty folder, for as long as the block lasts."""

    def __init__(self, spec: AgentSpec) -> None:
        self._warden = Warden()
        self._folder = tempfile.TemporaryDirectory(prefix="agentls-login-")
        self._live = Connection(spec, version=__version__, timeout=_SECONDS, warden=self._warden)

    async def __aenter__(self) -> Connection:
        await self._live.start(self._folder.name)
        return self._live

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._live.stop()
        finally:
            self._warden.close()
            self._folder.cleanup()
