"""The agents that are running: started when somebody wants one, stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import BadRequest
from ..core.model import KnownAgent
from ..core.ports import Agent, Tasks, Warden
from .catalog import Catalog
from .connection import Connection
from .framing import DEFAULT_LINE_LIMIT
from .recording import FrameRing
from .spec import AgentSpec

_PAST_RINGS = 8


class Agents:
    """Implements `core.ports.AgentHost` and `AgentDirectory`. One process serves many sessions
    where it can."""

    def __init__(
        self,
        catalog: Catalog,
        tasks: Tasks,
        *,
        version: str,
        timeout: float,
        warden: Warden,
        line_limit: int = DEFAULT_LINE_LIMIT,
        keep: float | None = None,
    ) -> None:
        """`keep`: for how long an agent that nobody uses stays, 0 for ever; None: not at all."""
        self._keep = keep
        self.catalog = catalog
        self._tasks = tasks
        self._version = version
        self._timeout = timeout
        self._warden = warden
        self._line_limit = line_limit
        self._live: set[Connection] = set()
        self._starting: dict[str, asyncio.Task[Connection]] = {}
        """By name: processes that whoever wants that agent may share."""
        self._launches: set[asyncio.Task[Connection]] = set()
        self._past: deque[tuple[str, FrameRing]] = deque(maxlen=_PAST_RINGS)

    async def connect(self, name: str, cwd: str, *, fresh: bool = False) -> Agent:
        spec = self.catalog.get(name)
        connection = None if fresh or not spec.shared else self._running(name)
        if connection is None:
            connection = await self._start(spec, cwd, fresh=fresh)
        connection.users += 1
        return connection

    def release(self, agent: Agent) -> None:
        assert isinstance(agent, Connection)
        agent.users -= 1
        agent.released += 1
        if agent.users <= 0 and agent in self._live and self._keep != 0:
            self._tasks.start(self._stop_unused(agent), f"stop {agent.spec.name}")

    def running(self) -> Sequence[Agent]:
        return self.live()

    def live(self) -> list[Connection]:
        return sorted((c for c in self._live if c.alive), key=lambda c: c.info.pid)

    async def close(self) -> None:
        """End every agent, all at the same time."""
        while self._live or self._launches:
            for task in self._launches:
                task.cancel()
            await asyncio.gather(
                *(self._stop(c) for c in self._live), *self._launches, return_exceptions=True
            )

    # -- ports.AgentDirectory

    def known(self) -> list[KnownAgent]:
        running = {c.spec.name: c for c in self.live()}
        return [
            KnownAgent(
                name=spec.name,
                title=spec.title,
                installed=self.catalog.installed(spec),
                install=spec.install,
                source=spec.source,
                running=spec.name in running,
                version=running[spec.name].info.version if spec.name in running else "",
            )
            for spec in self.catalog
        ]

    def default(self, preferred: str) -> str:
        return self.catalog.default(preferred or None).name

    def problems(self) -> list[str]:
        return self.catalog.problems

    def save_recording(self, name: str, path: str) -> str:
        rings = [(c.spec.name, c.ring) for c in self.live()] + list(reversed(self._past))
        for agent, ring in rings:
            if name in {"", agent}:
                ring.save(Path(path), agent)
                return path
        which = f"The agent {name!r}" if name else "No agent"
        raise BadRequest(f"{which} has {'not ' if name else ''}run since the server started.")

    def _running(self, name: str) -> Connection | None:
        return next((c for c in self._live if c.spec.name == name and c.alive), None)

    async def _start(self, spec: AgentSpec, cwd: str, *, fresh: bool) -> Connection:
        """Start one process, also when several sessions want it at the same moment."""
        shared = spec.shared and not fresh
        task = self._starting.get(spec.name) if shared else None
        if task is None:
            # A task of ours, not of who waits for it: it must be able to clean up when it is ended.
            task = asyncio.create_task(self._launch(spec, cwd), name=f"start {spec.name}")
            self._launches.add(task)
            task.add_done_callback(self._launches.discard)
            if shared:
                self._starting[spec.name] = task
                task.add_done_callback(lambda _: self._starting.pop(spec.name, None))
        return await asyncio.shield(task)

    async def _launch(self, spec: AgentSpec, cwd: str) -> Connection:
        connection = Connection(
            spec,
            version=self._version,
            timeout=self._timeout,
            warden=self._warden,
            line_limit=self._line_limit,
            on_gone=self._gone,
            mcp=self.catalog.mcp,
        )
        await connection.start(cwd)
        self._live.add(connection)
        return connection

    async def _stop_unused(self, connection: Connection) -> None:
        released = connection.released
        if self._keep is not None and connection.spec.shared:
            await asyncio.sleep(self._keep)
        # Nobody uses it now, and nobody has used it meanwhile.
        if connection.users <= 0 and connection.released == released:
            await self._stop(connection)

    async def _stop(self, connection: Connection) -> None:
        try:
            await connection.stop()
        finally:
            self._live.discard(connection)

    def _gone(self, connection: Connection) -> None:
        self._past.append((connection.spec.name, connection.ring))
        if connection in self._live and not connection.stopping:
            # It may have left children behind, which hold its pipes.
            self._tasks.start(self._stop(connection), f"clean up after {connection.spec.name}")
