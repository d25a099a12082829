"""The model and the mode that an agent is started with on behalf of another agent.

Invariant: nothing that lets an agent do more without asking is chosen by another agent.
"""

from __future__ import annotations

from msgspec.structs import replace

from ..errors import AgentError
from ..model import AgentOption, SessionSetup
from ..ports import Agent

_NARROW = frozenset({"plan", "default", "ask", "read-only", "readonly", "read_only"})
"""Modes in which agents, as far as is known, ask before they do anything, or do nothing."""


async def with_choices(agent: Agent, setup: SessionSetup, mode: str, model: str) -> SessionSetup:
    """The agent's session in that mode, with that model. Raises `AgentError`."""
    if mode and mode != setup.mode:
        _check_mode(setup, mode)
        await agent.set_mode(setup.id, mode)
        setup = replace(setup, mode=mode)
    if model:
        option, value = _model(setup, model)
        if option.value != value:
            options = await agent.set_option(setup.id, option.id, value)
            setup = replace(setup, options=options or setup.options)
    return setup


def _check_mode(setup: SessionSetup, mode: str) -> None:
    known = [each.id for each in setup.modes]
    if mode not in known:
        raise AgentError(f"There is no mode {mode!r}.", hint=f"There are: {', '.join(known)}.")
    if mode.lower() not in _NARROW:
        raise AgentError(
            f"The mode {mode!r} may let it do more without asking; only a person can set it.",
            hint="Leave the mode out.",
        )


def _model(setup: SessionSetup, wanted: str) -> tuple[AgentOption, str]:
    for option in setup.options:
        if "model" in {option.id, option.category}:
            for choice in option.choices:
                if wanted in {choice.value, choice.name}:
                    return option, choice.value
            known = ", ".join(choice.value for choice in option.choices)
            raise AgentError(f"There is no model {wanted!r}.", hint=f"There are: {known}.")
    raise AgentError("This agent lets nobody choose its model.", hint="Leave the model out.")
