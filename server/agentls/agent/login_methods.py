"""The ways to log in that an agent offers, in the three dialects that agents speak.

A program is only ever named here, never run: whoever runs it shows it to a person first.
"""

from __future__ import annotations

from typing import Any, Final

from ..core.model import AuthMethod
from .json_shapes import Json, mapping

_OURS: Final = "terminal"
_THEIRS: Final = "terminal-auth"


def login_methods(raw: Any, command: tuple[str, ...]) -> tuple[AuthMethod, ...]:
    """`command` is how the agent was started; in two of the dialects it is what logs in, too."""
    items = raw if isinstance(raw, list) else []
    return tuple(_method(m, command) for m in items if isinstance(m, dict) and "id" in m)


def _method(raw: Json, command: tuple[str, ...]) -> AuthMethod:
    meta = mapping(raw.get("_meta"))
    theirs = mapping(meta.get(_THEIRS))
    kind, env = str(raw.get("type") or "agent"), raw.get("env")
    words: tuple[str, ...] = ()
    if kind == _OURS:  # the protocol's own: our command, with arguments added to it
        words = (*command, *_words(raw.get("args")))
    elif isinstance(theirs.get("command"), str) and theirs["command"]:
        # Older agents name the whole command.
        kind, env = "terminal", theirs.get("env")
        words = (theirs["command"], *_words(theirs.get("args")))
    elif meta.get("type") == _OURS:  # like the first, but where unknown things go
        kind, env = "terminal", meta.get("env")
        words = (*command, *_words(meta.get("args")))
    return AuthMethod(
        id=str(raw["id"]),
        name=str(raw.get("name") or raw["id"]),
        description=str(raw.get("description") or ""),
        kind=kind,
        command=words,
        env=_environment(env) if kind == _OURS else {},
        foreign=bool(words) and words[: len(command)] != command,
        variables=_variables(raw.get("vars")) if kind == "env_var" else (),
        link=str(raw.get("link") or ""),
    )


def _words(raw: Any) -> tuple[str, ...]:
    return tuple(w for w in raw if _is_word(w)) if isinstance(raw, list) else ()


def _is_word(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _environment(raw: Any) -> dict[str, str]:
    """As an object, or as the list of pairs that the protocol uses elsewhere."""
    if isinstance(raw, list):
        raw = {v.get("name"): v.get("value") for v in raw if isinstance(v, dict)}
    return {
        name: value
        for name, value in mapping(raw).items()
        if _is_word(name) and name and "=" not in name and _is_word(value)
    }


def _variables(raw: Any) -> tuple[str, ...]:
    names = (mapping(v).get("name") for v in raw) if isinstance(raw, list) else ()
    return tuple(name for name in names if isinstance(name, str) and name)
