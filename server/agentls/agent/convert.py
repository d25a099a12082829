"""ACP to core values and back.

Nothing an agent sends is refused for its shape: unknown fields are ignored, and missing ones have
defaults.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ..core.model import (
    Abilities,
    AgentInfo,
    AgentOption,
    AgentSessionId,
    Block,
    Choice,
    Diff,
    Location,
    Mode,
    Option,
    PastSession,
    SessionSetup,
    TerminalId,
    TerminalRef,
    ToolCallId,
    ToolCallPatch,
    ToolContent,
    Usage,
)
from .json_shapes import Json, mapping, number, required
from .login_methods import login_methods

# -- pieces


def block(raw: Json) -> Block:
    kind = str(raw.get("type"))
    if kind == "text":
        return Block(kind="text", text=str(raw.get("text") or ""))
    if kind in {"image", "audio"}:
        return Block(
            kind=kind,
            data=str(raw.get("data") or ""),
            mime=str(raw.get("mimeType") or ""),
            uri=str(raw.get("uri") or ""),
        )
    if kind == "resource_link":
        return Block(
            kind="link",
            uri=str(raw.get("uri") or ""),
            name=str(raw.get("title") or raw.get("name") or ""),
            mime=str(raw.get("mimeType") or ""),
        )
    if kind == "resource" and isinstance(raw.get("resource"), dict):
        resource = raw["resource"]
        return Block(
            kind="resource",
            uri=str(resource.get("uri") or ""),
            text=str(resource.get("text") or ""),
            data=str(resource.get("blob") or ""),
            mime=str(resource.get("mimeType") or ""),
        )
    return Block(kind=kind, raw=raw)


def acp_block(value: Block) -> Json:
    """A block of ours as the agent wants it."""
    if value.kind == "text":
        return {"type": "text", "text": value.text}
    if value.kind in {"image", "audio"}:
        return {"type": value.kind, "data": value.data, "mimeType": value.mime}
    if value.kind == "link":
        link = {"type": "resource_link", "uri": value.uri, "name": value.name or value.uri}
        return {**link, "mimeType": value.mime} if value.mime else link
    if value.kind == "resource":
        resource: Json = {"uri": value.uri}
        resource |= {"blob": value.data} if value.data else {"text": value.text}
        if value.mime:
            resource["mimeType"] = value.mime
        return {"type": "resource", "resource": resource}
    return value.raw or {"type": value.kind}


def tool_call_patch(raw: Json) -> ToolCallPatch:
    content = raw.get("content")
    locations = raw.get("locations")
    return ToolCallPatch(
        id=ToolCallId(required(raw, "toolCallId")),
        title=_text(raw.get("title")),
        kind=_text(raw.get("kind")),
        status=_text(raw.get("status")),
        name=_text(raw.get("name")),
        content=_contents(content) if isinstance(content, list) else UNSET,
        locations=_locations(locations) if isinstance(locations, list) else UNSET,
        input=_mentioned(raw.get("rawInput")),
        output=_mentioned(raw.get("rawOutput")),
    )


def _contents(items: list[Any]) -> tuple[ToolContent, ...]:
    return tuple(_content(item) for item in items if isinstance(item, dict))


def _content(raw: Json) -> ToolContent:
    kind = raw.get("type")
    if kind == "content" and isinstance(raw.get("content"), dict):
        return block(raw["content"])
    if kind == "diff" and isinstance(raw.get("path"), str):
        old = raw.get("oldText")
        new = raw.get("newText")
        return Diff(raw["path"], old if isinstance(old, str) else None, str(new or ""))
    if kind == "terminal" and raw.get("terminalId"):
        return TerminalRef(TerminalId(str(raw["terminalId"])))
    return Block(kind=str(kind), raw=raw)


def _locations(items: list[Any]) -> tuple[Location, ...]:
    return tuple(
        Location(item["path"], number(item.get("line")))
        for item in items
        if isinstance(item, dict) and isinstance(item.get("path"), str)
    )


def permission_options(raw: Any) -> tuple[Option, ...]:
    if not isinstance(raw, list):
        return ()
    return tuple(
        Option(str(o["optionId"]), str(o.get("name") or o["optionId"]), str(o.get("kind") or ""))
        for o in raw
        if isinstance(o, dict) and "optionId" in o
    )


def agent_options(raw: Any) -> tuple[AgentOption, ...]:
    if not isinstance(raw, list):
        return ()
    return tuple(_agent_option(o) for o in raw if isinstance(o, dict) and "id" in o)


def _agent_option(raw: Json) -> AgentOption:
    value = raw.get("currentValue")
    return AgentOption(
        id=str(raw["id"]),
        name=str(raw.get("name") or raw["id"]),
        kind=str(raw.get("type") or "select"),
        value=value if isinstance(value, bool) else str(value or ""),
        category=str(raw.get("category") or ""),
        description=str(raw.get("description") or ""),
        choices=tuple(_choices(raw.get("options"))),
    )


def _choices(raw: Any, group: str = "") -> list[Choice]:
    found: list[Choice] = []
    for item in raw if isinstance(raw, list) else []:
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("options"), list):
            found += _choices(item["options"], str(item.get("name") or ""))
        elif "value" in item:
            value = str(item["value"])
            name = str(item.get("name") or value)
            found.append(Choice(value, name, str(item.get("description") or ""), group))
    return found


# -- results


def session_setup(raw: Any, id: str = "") -> SessionSetup:
    """The result of session/new, load, resume or fork. The last three may not repeat the id."""
    raw = raw if isinstance(raw, dict) else {}
    modes = raw.get("modes") if isinstance(raw.get("modes"), dict) else {}
    available = modes.get("availableModes") if modes else None
    return SessionSetup(
        id=AgentSessionId(str(raw.get("sessionId") or id)),
        modes=tuple(
            Mode(str(m["id"]), str(m.get("name") or m["id"]), str(m.get("description") or ""))
            for m in (available if isinstance(available, list) else [])
            if isinstance(m, dict) and "id" in m
        ),
        mode=str(modes.get("currentModeId") or "") if modes else "",
        options=agent_options(raw.get("configOptions")),
    )


def agent_info(
    name: str, title: str, pid: int, raw: Json, command: tuple[str, ...] = ()
) -> AgentInfo:
    """The result of initialize. `title` is ours, for agents that do not say their own; `command`
    is how we started it."""
    info = mapping(raw.get("agentInfo"))
    can = mapping(raw.get("agentCapabilities"))
    sessions = mapping(can.get("sessionCapabilities"))
    prompts = mapping(can.get("promptCapabilities"))
    mcp = mapping(can.get("mcpCapabilities"))
    return AgentInfo(
        name=name,
        title=title or str(info.get("title") or info.get("name") or name),
        version=str(info.get("version") or ""),
        pid=pid,
        abilities=Abilities(
            load=can.get("loadSession") is True,
            resume=_offered(sessions.get("resume")),
            fork=_offered(sessions.get("fork")),
            list=_offered(sessions.get("list")),
            close=_offered(sessions.get("close")),
            delete=_offered(sessions.get("delete")),
            images=prompts.get("image") is True,
            audio=prompts.get("audio") is True,
            embedded=prompts.get("embeddedContext") is True,
            mcp_http=mcp.get("http") is True,
            mcp_sse=mcp.get("sse") is True,
            directories=_offered(sessions.get("additionalDirectories")),
        ),
        auth_methods=login_methods(raw.get("authMethods"), command),
    )


def past_sessions(raw: Any) -> list[PastSession]:
    items = mapping(raw).get("sessions")
    return [
        PastSession(
            id=AgentSessionId(str(s["sessionId"])),
            cwd=str(s.get("cwd") or ""),
            title=str(s.get("title") or ""),
            updated=str(s.get("updatedAt") or ""),
        )
        for s in (items if isinstance(items, list) else [])
        if isinstance(s, dict) and "sessionId" in s
    ]


def turn_usage(raw: Any) -> Usage | None:
    """The usage that comes with the answer to a prompt."""
    usage = mapping(mapping(raw).get("usage"))
    if not usage:
        return None
    return Usage(
        input_tokens=number(usage.get("inputTokens")),
        output_tokens=number(usage.get("outputTokens")),
        total_tokens=number(usage.get("totalTokens")),
    )


def error_words(message: str, data: Any) -> str:
    """What an agent's error says to a person: the useful text may be in any of four places."""
    message = _inner_message(message.strip()) or "unknown error"
    details = ""
    if isinstance(data, dict):
        details = next((str(data[k]) for k in ("details", "message", "error") if data.get(k)), "")
    elif isinstance(data, str):
        details = data
    details = _inner_message(details)
    if not details or details in message:
        return message
    return details if message.lower() == "internal error" else f"{message}: {details}"


def _inner_message(text: str) -> str:
    """Some agents pass on the JSON that their model's server answered."""
    if not text.startswith("{"):
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    while isinstance(value, dict):
        value = value.get("message") or value.get("error")
    return value if isinstance(value, str) else text


def _offered(value: Any) -> bool:
    """Abilities are told as an object, which may be empty."""
    return value is not None and value is not False


def _mentioned(value: Any) -> Any:
    """null says the same as nothing: the value stays as it was."""
    return UNSET if value is None else value


def _text(value: Any) -> str | UnsetType:
    return value if isinstance(value, str) else UNSET
