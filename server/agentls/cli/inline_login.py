"""Logging in during a conversation: the agent wants it, the person chooses how, the prompt goes on.

Invariant: a program is shown before it runs, and runs only after a yes.
"""

from __future__ import annotations

import asyncio
import os

from agentls.agent.spec import AgentSpec, program
from agentls.app import App
from agentls.core.errors import AgentlsError, AuthRequired
from agentls.core.logins import shown_command, variable_words
from agentls.core.model import AuthMethod
from agentls.core.printable import one_line
from agentls.core.session import Session

from .person import Person
from .view.base import View


async def log_in(app: App, session: Session, person: Person, view: View) -> bool:
    """Whether what was refused is tried again."""
    methods = session.error.methods if isinstance(session.error, AuthRequired) else ()
    spec = app.catalog.get(session.agent_name)
    method = await _chosen(spec, methods, person, view)
    if method is None:
        return False
    if method.kind == "env_var":
        view.note(variable_words(spec.title, method))
        return False
    try:
        if method.kind == "terminal":
            if not await _ran(spec, method, person, view):
                return False
            app.sessions.restart(session.id)
            session.queue_unsent()
        else:
            view.note(f"{spec.title} logs you in; follow what it opens. Ctrl-C gives up.")
            await app.logins.login(
                spec.name, method.id, session=session.id, cwd=session.cwd, confirmed=True
            )
    except AgentlsError as error:
        view.note(str(error))
        return False
    return True


async def _chosen(
    spec: AgentSpec, methods: tuple[AuthMethod, ...], person: Person, view: View
) -> AuthMethod | None:
    if not methods:
        return None
    ways = [
        f"{number}: {one_line(method.description or method.name)}"
        for number, method in enumerate(methods, 1)
    ]
    view.note(f"{spec.title} wants you to log in. Type a number, or nothing to leave it.")
    for way in ways:
        view.note(way)
    typed = (await person.prompt() or "").strip()
    return methods[int(typed) - 1] if typed in map(str, range(1, len(methods) + 1)) else None


async def _ran(spec: AgentSpec, method: AuthMethod, person: Person, view: View) -> bool:
    whose = "a program that it names itself" if method.foreign else "its own program"
    view.note(f"{spec.title} logs you in with {whose}: {shown_command(method)}")
    view.note("Run it? Type yes to do so.")
    if (await person.prompt() or "").strip().lower() not in {"y", "yes"}:
        view.note("Nothing was run.")
        return False
    words = method.command
    found = program(AgentSpec(name=spec.name, title=spec.title, command=words, env=spec.env))
    if found is None:
        view.note(f"There is no program {words[0]}.")
        return False
    person.leave()  # the keys are for that program now
    try:
        env = {**os.environ, **spec.env, **method.env}
        process = await asyncio.create_subprocess_exec(found, *words[1:], env=env)
        code = await process.wait()
    finally:
        person.listen()
    if code:
        view.note(f"It ended with exit code {code}.")
    return code == 0
