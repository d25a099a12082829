"""What a person chose in an agent's session: its mode and its options, kept and set again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from .errors import AgentError, AgentExited, BadRequest
from .model import AgentOption, Level, SessionSetup

if TYPE_CHECKING:
    from .ports import Agent
    from .session import Session


def with_option(
    options: Sequence[AgentOption], id: str, value: str | bool
) -> tuple[AgentOption, ...]:
    """The options with another choice for one of them."""
    for option in options:
        if option.id == id:
            known = [choice.value for choice in option.choices]
            if type(value) is not type(option.value) or (known and value not in known):
                raise BadRequest(f"{option.name} cannot be {value!r}.", hint=f"Use one of {known}.")
            return tuple(replace(o, value=value) if o.id == id else o for o in options)
    raise BadRequest(f"There is no option {id!r}.", hint=f"Use one of {[o.id for o in options]}.")


async def with_choices(
    agent: Agent,
    session: Session,
    setup: SessionSetup,
    mode: str,
    options: tuple[AgentOption, ...],
) -> SessionSetup:
    """The agent's session with the mode and the options that the person had chosen in ours."""
    try:
        if mode != setup.mode and any(m.id == mode for m in setup.modes):
            await agent.set_mode(setup.id, mode)
            setup = replace(setup, mode=mode)
        # What there is to choose may depend on the model, so that goes first.
        for option in sorted(options, key=lambda option: option.category != "model"):
            if _can_be_set(option, setup):
                now = await agent.set_option(setup.id, option.id, option.value)
                setup = replace(setup, options=now or setup.options)
    except AgentExited:
        raise
    except AgentError as error:
        session.notice(Level.WARNING, f"Not all of your choices could be restored: {error}")
    return setup


def _can_be_set(option: AgentOption, setup: SessionSetup) -> bool:
    now = next((o for o in setup.options if o.id == option.id), None)
    if now is None or now.value == option.value or type(now.value) is not type(option.value):
        return False
    if setup.modes and "mode" in {option.id, option.category}:
        return False  # it is the mode, which is set already
    return not now.choices or any(choice.value == option.value for choice in now.choices)
