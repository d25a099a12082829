"""Whether agents work: each is started, opens a session and is stopped, one after the other.

Nothing is left behind, and nothing is said to a model.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import asdict

from .. import __version__
from ..core.errors import AgentError, AgentTimedOut, AuthRequired
from ..core.events import Event
from ..core.model import AskId, AuthMethod, Decision
from ..core.ports import AskRequest
from ..warden import Warden
from .catalog import Catalog
from .connection import Connection
from .installed import installed_version
from .spec import AgentSpec, program

_PATIENCE = 2.0


class Finding(Struct, kw_only=True, rename="camel"):
    """What became of one agent."""

    name: str
    title: str
    ok: bool = False
    program: str | None = None
    version: str = ""
    handshake: float | None = None
    """Seconds from the start of its program to its answer."""
    session: float | None = None
    """Seconds to open a session."""
    abilities: list[str] = []
    login: str = ""
    """fine or needed; empty when it did not come to that."""
    methods: tuple[AuthMethod, ...] = ()
    problem: str = ""
    advice: str = ""


class Nobody:
    """Implements `core.ports.Sink`: listens to nothing and allows nothing."""

    workplace = None
    door = None

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd

    def deliver(self, event: Event) -> None:
        pass

    def ask(self, request: AskRequest) -> AskId:
        request.answer(Decision(option=None, by="doctor"))
        return AskId("")

    def withdraw(self, ask: AskId) -> None:
        pass

    def agent_gone(self, error: AgentError) -> None:
        pass


async def examine(
    catalog: Catalog, names: Sequence[str], seconds: float
) -> AsyncGenerator[Finding, None]:
    """One finding for each agent, as soon as it is known."""
    warden = Warden()
    try:
        for name in names:
            yield await _examined(catalog.get(name), warden, seconds)
    finally:
        warden.close()


async def _examined(spec: AgentSpec, warden: Warden, seconds: float) -> Finding:
    finding = Finding(name=spec.name, title=spec.title, program=program(spec))
    if finding.program is None:
        finding.problem = f"It is not installed: there is no program {spec.command[0]}."
        finding.advice = spec.install
        return finding
    finding.version = installed_version(spec, finding.program)
    connection = Connection(spec, version=__version__, timeout=seconds, warden=warden)
    try:
        with tempfile.TemporaryDirectory(prefix="agentls-doctor-") as folder:
            try:
                await _shake_hands(connection, finding, folder)
                await _open(connection, finding, folder)
                finding.ok = True
            except AuthRequired:
                finding.login = "needed"
                finding.advice = f"agentls login {spec.name}"
                if spec.login:
                    finding.advice += f", or: {spec.login}"
            except AgentError as error:
                finding.problem, finding.advice = error.message, _advice(spec, error)
            finally:
                await connection.stop(_PATIENCE)
    except OSError as error:  # what it left in the folder could not be deleted, or made
        finding.ok, finding.problem = False, f"The folder for it: {error}."
    return finding


async def _shake_hands(connection: Connection, finding: Finding, folder: str) -> None:
    began = time.monotonic()
    await connection.start(folder)
    finding.handshake = round(time.monotonic() - began, 4)
    info = connection.info
    finding.version = info.version or finding.version
    finding.abilities = [name for name, can in asdict(info.abilities).items() if can]
    finding.methods = info.auth_methods


async def _open(connection: Connection, finding: Finding, folder: str) -> None:
    began = time.monotonic()
    setup = await connection.new_session(folder, Nobody(folder))
    finding.session = round(time.monotonic() - began, 4)
    finding.login = "fine"
    abilities = connection.info.abilities
    with suppress(AgentError):
        if abilities.close:
            await connection.close_session(setup.id)
    with suppress(AgentError):
        if abilities.delete:
            await connection.delete_session(setup.id)


def _advice(spec: AgentSpec, error: AgentError) -> str:
    if isinstance(error, AgentTimedOut):
        return "Try again with a longer --timeout, or install it anew."
    start = f"See whether its program works: {' '.join(spec.command)}"
    return f"{start}; or install it anew: {spec.install}" if spec.install else start
