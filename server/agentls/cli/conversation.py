"""A conversation on the command line: prompts go in, what happens is shown, asks are answered.

What happens is gathered first and shown by one task, in order: a question to a person holds up what
is shown, and never what the agent says. Nothing is left running when it is over.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from agentls.agent.spec import AgentSpec
from agentls.app import App
from agentls.core import events as ev
from agentls.core.errors import AgentExited, AuthRequired, UnknownAsk
from agentls.core.family.activity import Activity
from agentls.core.family.spawn import Spawn
from agentls.core.model import AskId, Block, Level, Prompt, State
from agentls.core.session import Session
from agentls.core.transcript import Ask, Entry

from .answers import ASK, REJECT, Answer, automatic, offered_rule
from .codes import BY_SIGNAL, INTERRUPTED
from .options import Options
from .person import Person
from .view.base import View

_T = TypeVar("_T")

TIMED_OUT = "timed out"
_QUIET = 0.06
_LATE = 0.25
"""Some agents say more after the end of a turn: we wait for _QUIET of silence, at most _LATE."""


class Stopped(Exception):
    """Somebody ended the whole thing; `code` is the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Conversation:
    """One session with one agent, from the first prompt to the last."""

    def __init__(
        self,
        app: App,
        spec: AgentSpec,
        options: Options,
        view: View,
        person: Person | None,
        *,
        past: Session | None = None,
    ) -> None:
        """`past` is a session to go on with."""
        self._app = app
        self._options = options
        self._view = view
        self._person = person
        self._inbox: list[tuple[Session, ev.Event, Entry | None, float]] = []
        self._woken = asyncio.Event()
        self._stopped: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._settled: dict[AskId, asyncio.Future[None]] = {}
        self._cancelled_because: list[str] = []
        self._typing: asyncio.Future[None] | None = None
        self._over = ""
        self._interrupts = 0
        self._told_why = False
        self._timed_out = False
        app.sessions.observers.append(self._happened)
        app.family.feed.observers.append(self._acted)
        spawn = Spawn(orchestrates=True) if options.orchestrate else None
        self.session = past or app.sessions.open(spec.name, options.cwd, spawn=spawn)

    def _happened(self, session: Session, event: ev.Event, entry: Entry | None) -> None:
        if isinstance(event, ev.AskSettled):
            future = self._settled.pop(event.ask, None)
            if future is not None and not future.done():
                future.set_result(None)
        # Of the agents that it directs, people see what they ask, and what the feed tells.
        other = session.spawn.orchestrator and session is not self.session
        if not other or self._options.json or isinstance(event, ev.AskOpened | ev.AskSettled):
            self._inbox.append((session, event, entry, session.last_sign))
        self._woken.set()

    def _acted(self, line: Activity) -> None:
        """What the agents say to each other, in a line each."""
        words = f"{line.name} {line.what.value}" + (f": {line.text}" if line.text else "")
        notice = ev.NoticeShown(Level.INFO, words)
        self._inbox.append((self.session, notice, None, line.at))
        self._woken.set()

    @property
    def _goes_on(self) -> bool:
        """Whether the agents that it directs are still at work, or have something to tell it."""
        return bool(self._over) and self._app.family.works(self.session)

    # -- turns

    async def turn(self, text: str) -> str:
        """Say something and show what comes of it; the reason why the turn ended."""
        self._over = ""
        self._interrupts = 0
        self._timed_out = False
        if self._person is not None:
            self._person.listen()
        self._app.sessions.prompt(self.session.id, Prompt((Block(kind="text", text=text),)))
        await self._until_over()
        while await self._logged_in():
            self._over = ""
            await self._until_over()
        self._tell_error()
        return TIMED_OUT if self._timed_out else self._over

    async def _until_over(self) -> None:
        with self._time_limit():
            while not self._over or self._goes_on:
                await self._wait(self._view.tick)
                await self._show()
                await asyncio.sleep(self._view.pace)
        await self._linger()
        self._view.end_turn()

    async def _logged_in(self) -> bool:
        """Whether the person has done what the agent refused the prompt for."""
        if self._person is None or not isinstance(self.session.error, AuthRequired):
            return False
        from .inline_login import log_in  # most are logged in

        work = log_in(self._app, self.session, self._person, self._view)
        return bool(await self._unless_stopped(work))

    async def next_prompt(self) -> str | None:
        """What the person types next; None when they want no more."""
        assert self._person is not None
        self._interrupts = 0
        while True:
            self._typing = asyncio.get_running_loop().create_future()
            line = await self._unless_stopped(self._person.prompt(), self._typing)
            interrupted, self._typing = self._typing.done(), None
            if interrupted:
                self._view.note("Press Ctrl-C again, or Ctrl-D, to leave.")
            elif line is None or line.strip() == "/quit":
                return None
            elif line.strip():
                return line.strip()

    async def _linger(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + _LATE
        while (left := end - loop.time()) > 0:
            self._woken.clear()
            await self._wait(min(_QUIET, left))
            if not self._inbox:
                return
            await self._show()

    async def _wait(self, seconds: float | None) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), seconds)
        self._woken.clear()
        if self._stopped.done():
            raise Stopped(self._stopped.result())

    async def _show(self) -> None:
        while self._inbox or self._cancelled_because:
            reasons, self._cancelled_because = self._cancelled_because, []
            for why in reasons:
                self._view.cancelling(why)
            batch, self._inbox = self._inbox, []
            for session, event, entry, at in batch:
                if isinstance(event, ev.AskOpened) and session is not self.session:
                    self._view.note(f"{session.spawn.name} asks:")
                self._view.show(session, event, entry, at)
                if isinstance(event, ev.AskOpened) and isinstance(entry, Ask):
                    await self._answer(entry)
                elif session is not self.session:
                    continue
                elif isinstance(event, ev.TurnStarted):
                    self._over = ""
                elif isinstance(event, ev.TurnEnded):
                    self._over = event.reason
                elif isinstance(event, ev.StateChanged) and event.state is State.FAILED:
                    self._over = self._over or "failed"
        self._view.refresh()

    def _tell_error(self) -> None:
        """One sentence, and what to do, when the turn did not end as it should."""
        error = self.session.error if self.session.state is State.FAILED else None
        if self._timed_out:
            self._view.error(self._too_slow())
        elif error is not None:
            # The agent is gone, and so are we unless this is a chat: then a prompt restarts it.
            final = isinstance(error, AgentExited) or self._over == "cancelled"
            self._view.error(error.message if final and not self._options.chat else str(error))
        elif self._over == "failed":
            end = self.session.transcript.entries[-1]
            words = getattr(end, "error", "") or "The agent failed."
            self._view.error(f"{words.rstrip('.')}. Try again, or add -v to see more.")

    # -- asks

    async def _answer(self, ask: Ask) -> None:
        if ask.decision is not None:
            return
        if self._options.answer != ASK:
            option = automatic(ask.options, self._options.answer)
            answer, by = Answer(option) if option else None, self._rule()
        else:
            answer, by = await self._decided(ask), "you"
            if answer is None:
                option = automatic(ask.options, REJECT)
                answer, by = Answer(option) if option else None, "no answer"
        with suppress(UnknownAsk):
            self._settle(ask, answer, by)

    def _settle(self, ask: Ask, answer: Answer | None, by: str) -> None:
        decisions = self._app.decisions
        if answer is None:
            self._app.asks.withdraw(ask.ask, by)
        elif offer := offered_rule(answer.option):
            decisions.always(ask.ask, offer, "project", by)
        elif answer.reason:
            decisions.reject(ask.ask, by, answer.reason)
        elif by == "you":
            decisions.choose(ask.ask, answer.option.id, by)
        else:
            self._app.asks.decide(ask.ask, answer.option.id, by)

    def _rule(self) -> str:
        """Who decides when nobody is asked; said once if nobody chose that."""
        if self._options.nobody_to_ask and not self._told_why:
            self._told_why = True
            self._view.note(
                "Nobody can be asked here, so what the agent asks for is rejected."
                " Use --answer allow to allow it."
            )
        return f"--answer {self._options.answer}"

    async def _decided(self, ask: Ask) -> Answer | None:
        """What the person says, unless the ask ends before they do."""
        assert self._person is not None
        settled = self._settled[ask.ask] = asyncio.get_running_loop().create_future()
        try:
            return await self._unless_stopped(self._person.decide(ask), settled)
        finally:
            self._settled.pop(ask.ask, None)

    async def _unless_stopped(
        self, work: Coroutine[Any, Any, _T], *others: asyncio.Future[None]
    ) -> _T | None:
        """What comes of the work; None when one of the others is done before."""
        task = asyncio.ensure_future(work)
        waiting: set[asyncio.Future[Any]] = {task, self._stopped, *others}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if self._stopped.done():
            raise Stopped(self._stopped.result())
        return None if task.cancelled() else task.result()

    # -- the end

    def _cancel_turn(self, why: str) -> bool:
        """Ask the agent to stop; whether there was anything to stop."""
        running = self.session.transcript.turn_running
        self.session.cancel()
        if running:
            # Not shown at once: a question may be on the screen.
            self._cancelled_because.append(why)
            self._woken.set()
        return running

    def stop(self, code: int) -> None:
        """End the conversation, whatever it is doing."""
        if not self._stopped.done():
            self._stopped.set_result(code)
        self._woken.set()

    def take_signals(self) -> None:
        """Ctrl-C cancels and then stops; a request to end, or a closed terminal, ends cleanly.

        For as long as the event loop runs: the agents must not outlive us while they are stopped.
        """
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.stop, BY_SIGNAL + number)

    def _interrupted(self) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            self._kill_agents()
            self.stop(INTERRUPTED)
        elif self._typing is not None:
            self._typing.set_result(None)
        elif not self._cancel_turn("Cancelling; press Ctrl-C again to stop the agent at once."):
            self.stop(INTERRUPTED)

    def _kill_agents(self) -> None:
        for agent in self._app.agents.live():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(agent.info.pid, signal.SIGKILL)

    @contextmanager
    def _time_limit(self) -> Iterator[None]:
        if self._options.timeout is None:
            yield
            return
        timer = asyncio.get_running_loop().call_later(self._options.timeout, self._time_is_up)
        try:
            yield
        finally:
            timer.cancel()

    def _time_is_up(self) -> None:
        self._timed_out = True
        if not self._cancel_turn("The time is up; cancelling."):
            self._over = "cancelled"  # it never came to a turn
            self._woken.set()

    def _too_slow(self) -> str:
        return (
            f"The agent was not done after {self._options.timeout:g} seconds."
            " Give it more with --timeout."
        )
