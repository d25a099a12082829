"""What a session does before it sends a prompt."""

from __future__ import annotations

from collections.abc import Callable

from agentls.core.model import Prompt, State
from agentls.core.session import Session
from fakes.core import Core, text


async def waiting(core: Core) -> tuple[Session, list[Callable[[], None]]]:
    """A session with a prompt that is not sent yet, and what would send it."""
    session = await core.opened()
    held: list[Callable[[], None]] = []

    def prepare(_: Session, __: Prompt, go: Callable[[], None]) -> None:
        held.append(go)

    session.prepare = prepare
    session.prompt(text("Say hello."))
    return session, held


async def test_a_prompt_is_sent_when_everything_is_ready() -> None:
    core = Core()
    session, held = await waiting(core)
    assert session.state is State.RUNNING
    assert core.agent.prompts == []
    held[0]()
    assert len(core.agent.prompts) == 1


async def test_a_turn_that_is_cancelled_before_is_over_at_once_and_never_sent() -> None:
    core = Core()
    session, held = await waiting(core)
    session.cancel()
    assert session.state is State.IDLE
    held[0]()
    assert core.agent.prompts == []
    session.prompt(text("Again."))
    held[1]()
    assert len(core.agent.prompts) == 1


async def test_a_session_that_is_closed_before_sends_nothing() -> None:
    core = Core()
    session, held = await waiting(core)
    session.close()
    held[0]()
    assert core.agent.prompts == []
