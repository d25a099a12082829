"""What agents say about a session, as events: every kind of `session/update`.

An update that cannot be understood, whole or in part, is kept as `OtherUpdate`: nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import UNSET

from ..core import events as ev
from ..core.model import (
    OPEN_STATUSES,
    Level,
    PlanStep,
    Role,
    SlashCommand,
    TerminalId,
    ToolCallId,
    Usage,
)
from .convert import agent_options, block, tool_call_patch
from .json_shapes import Json, amount, items, mapping, number, required


def update(raw: Json) -> Sequence[ev.Event]:
    """One `update` object as events; usually exactly one."""
    kind = raw.get("sessionUpdate")
    converter = _UPDATES.get(kind) if isinstance(kind, str) else None
    if converter is None:
        return (ev.OtherUpdate(str(kind or "unnamed"), raw),)
    try:
        return converter(raw)
    except (TypeError, ValueError, KeyError, AttributeError):
        return (ev.OtherUpdate(str(kind), raw),)


def _chunk(role: Role) -> Callable[[Json], Sequence[ev.Event]]:
    def convert(raw: Json) -> Sequence[ev.Event]:
        content = raw["content"]
        if content.get("type") == "text":
            text, message = content["text"], raw.get("messageId") or ""
            if type(text) is not str or type(message) is not str:
                raise TypeError
            return (ev.TextAdded(role, text, message),)
        return (ev.BlockAdded(role, block(content)),)

    return convert


def _tool_call(raw: Json) -> Sequence[ev.Event]:
    patch = tool_call_patch(raw)
    meta = mapping(raw.get("_meta"))
    if not meta:
        return (ev.ToolCallChanged(patch),)
    output = _terminal_meta(patch.id, meta)
    if patch.status is UNSET or patch.status in OPEN_STATUSES:
        return (ev.ToolCallChanged(patch), *output)
    return (*output, ev.ToolCallChanged(patch))  # how the command ended, before the call has


def _terminal_meta(call: ToolCallId, meta: Json) -> list[ev.Event]:
    """Commands that agents run themselves: output and exit travel in `_meta`."""
    found: list[ev.Event] = []
    for key in ("terminal_info", "terminal_output", "terminal_output_delta"):
        part = meta.get(key)
        if isinstance(part, dict):
            terminal = TerminalId(str(part.get("terminal_id") or call))
            data = part.get("data")
            text = data if isinstance(data, str) else ""
            found.append(ev.OutputAdded(call, terminal, text, retold=not key.endswith("delta")))
    end = meta.get("terminal_exit")
    if isinstance(end, dict):
        code, signal = end.get("exit_code"), end.get("signal")
        found.append(
            ev.OutputEnded(
                call,
                TerminalId(str(end.get("terminal_id") or call)),
                code if isinstance(code, int) else None,
                str(signal) if signal else "",
            )
        )
    return found


def _plan(raw: Json) -> Sequence[ev.Event]:
    return (ev.PlanChanged(_steps(items(raw, "entries"))),)


def _plan_update(raw: Json) -> Sequence[ev.Event]:
    plan = raw["plan"]
    if plan.get("type") == "items":
        return (ev.PlanChanged(_steps(items(plan, "entries")), str(plan.get("planId") or "")),)
    return (ev.OtherUpdate("plan_update", raw),)


def _steps(entries: list[Json]) -> tuple[PlanStep, ...]:
    return tuple(
        PlanStep(
            text=str(e.get("content", "")),
            status=str(e.get("status") or "pending"),
            priority=str(e.get("priority") or "medium"),
        )
        for e in entries
    )


def _commands(raw: Json) -> Sequence[ev.Event]:
    commands = tuple(
        SlashCommand(
            name=str(c["name"]),
            description=str(c.get("description") or ""),
            hint=str((c.get("input") or {}).get("hint") or ""),
        )
        for c in items(raw, "availableCommands")
    )
    return (ev.CommandsChanged(commands),)


def _mode(raw: Json) -> Sequence[ev.Event]:
    return (ev.ModeChanged(required(raw, "currentModeId")),)


def _options(raw: Json) -> Sequence[ev.Event]:
    return (ev.OptionsChanged(agent_options(items(raw, "configOptions"))),)


def _session_info(raw: Json) -> Sequence[ev.Event]:
    if not raw.get("title"):
        return ()  # it said something else, such as when the session was last used
    return (ev.TitleChanged(required(raw, "title")),)


def _usage(raw: Json) -> Sequence[ev.Event]:
    cost = raw.get("cost") or {}
    return (
        ev.UsageChanged(
            Usage(
                context_used=number(raw.get("used")),
                context_size=number(raw.get("size")),
                cost=amount(cost.get("amount")),
                currency=str(cost.get("currency") or ""),
            )
        ),
    )


_UPDATES: dict[str, Callable[[Json], Sequence[ev.Event]]] = {
    "agent_message_chunk": _chunk(Role.AGENT),
    "agent_thought_chunk": _chunk(Role.THOUGHT),
    "user_message_chunk": _chunk(Role.USER),
    "tool_call": _tool_call,
    "tool_call_update": _tool_call,
    "plan": _plan,
    "plan_update": _plan_update,
    "available_commands_update": _commands,
    "current_mode_update": _mode,
    "config_option_update": _options,
    "session_info_update": _session_info,
    "usage_update": _usage,
}


_MODE_IN_WORDS = "[MODE_UPDATE] "


def mode_in_words(event: ev.Event) -> ev.Event:
    """For an agent that reports a changed mode as something it says."""
    if isinstance(event, ev.TextAdded) and event.text.startswith(_MODE_IN_WORDS):
        return ev.ModeChanged(event.text.removeprefix(_MODE_IN_WORDS).strip())
    return event


def left_out(text: str) -> ev.Event:
    return ev.NoticeShown(Level.WARNING, text)
