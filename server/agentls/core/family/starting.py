"""Starting an agent on behalf of another one: what is wished, checked before anything begins.

Invariant: the new session works inside the folder of the one that starts it, or in a copy of it,
and stays within its rights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from posixpath import join, normpath
from typing import Any

from msgspec import Struct

from ..errors import BadRequest
from ..policy.rules import FIELDS, Rule, flaw, misfit
from ..policy.verdicts import Verdict
from ..session import Session
from ..sessions import Sessions
from .choices import with_choices
from .family import Family
from .spawn import Spawn, ancestor

_NAME = re.compile(r"[\w][\w .-]{0,39}")
_MOST_RULES = 50


class RuleWish(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule as an agent writes it; at least one part is given."""

    kind: str = ""
    command: str = ""
    path: str = ""
    host: str = ""
    tool: str = ""


class Wish(Struct, frozen=True, kw_only=True):
    """The agent that is to be started."""

    agent: str
    name: str
    prompt: str
    cwd: str = ""
    model: str = ""
    mode: str = ""
    allow: Sequence[RuleWish] = ()
    deny: Sequence[RuleWish] = ()


class Starting:
    """Makes a session out of a wish."""

    def __init__(
        self,
        family: Family,
        sessions: Sessions,
        *,
        agents: Callable[[], Sequence[str]],
        resolve: Callable[[str, str], str],
        is_folder: Callable[[str], bool],
    ) -> None:
        self._family = family
        self._sessions = sessions
        self._agents = agents
        self._resolve = resolve
        self._is_folder = is_folder

    def check(self, parent: Session, wish: Wish) -> Spawn:
        """How the session would begin. Raises `BadRequest` and `FamilyLimit`."""
        self._family.counted.check_depth(parent)
        self._family.counted.check_number(len(self._family.members(parent)) - 1)
        if not wish.prompt.strip():
            raise BadRequest("There is no prompt.", hint="Say what the agent should do.")
        self._check_name(parent, wish.name)
        known = self._agents()
        if wish.agent and wish.agent not in known:
            raise BadRequest(
                f"There is no agent {wish.agent!r} here.", hint=f"There are: {', '.join(known)}."
            )
        return Spawn(
            orchestrator=parent.id,
            name=wish.name,
            by=parent.spawn.name or "orchestrator",
            depth=parent.spawn.depth + 1,
            allow=_rules(wish.allow, Verdict.ALLOW),
            deny=(*parent.spawn.deny, *_rules(wish.deny, Verdict.DENY)),
            ancestors=(*parent.spawn.ancestors, ancestor(parent)),
        )

    def folder(self, parent: Session, cwd: str) -> str:
        """Where it is to work: inside the folder of the one that starts it."""
        root = self._resolve(parent.cwd, "/")
        wanted = self._resolve(normpath(join(parent.cwd, cwd)), "/")
        if wanted != root and not wanted.startswith(root.rstrip("/") + "/"):
            raise BadRequest(f"{cwd} is outside your own folder.", hint=f"Stay in {root}.")
        if not self._is_folder(wanted):
            raise BadRequest(f"{cwd} is not a folder.", hint="Make it first, or leave cwd out.")
        return wanted

    def start(self, parent: Session, wish: Wish, spawn: Spawn, cwd: str) -> Session:
        """Begin, once it is allowed."""
        self._check_name(parent, wish.name)  # somebody may have been asked meanwhile
        members = self._family.members(parent)
        self._family.counted.check_number(len(members) - 1)
        self._family.counted.take_turn(members[0].id, members)
        child = self._sessions.open(
            wish.agent or parent.agent_name,
            cwd,
            spawn=spawn,
            then=lambda agent, setup: with_choices(agent, setup, wish.mode, wish.model),
        )
        self._family.started(parent, child, wish.prompt)
        return child

    def _check_name(self, parent: Session, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise BadRequest(
                f"{name!r} is no name for an agent.", hint="Use up to 40 letters and digits."
            )
        if any(child.spawn.name == name for child in self._family.children(parent.id)):
            raise BadRequest(f"You have an agent {name!r} already.", hint="Choose another name.")


def _rules(wishes: Sequence[RuleWish], verdict: Verdict) -> tuple[Rule, ...]:
    if len(wishes) > _MOST_RULES:
        raise BadRequest(f"More than {_MOST_RULES} rules are too many.", hint="Say it in fewer.")
    return tuple(_rule(wish, verdict) for wish in wishes)


def _rule(wish: RuleWish, verdict: Verdict) -> Rule:
    given: dict[str, Any] = {key: value for key in FIELDS if (value := getattr(wish, key, ""))}
    if not given:
        raise BadRequest(
            "A rule says nothing.", hint="Give it a command, path, host, tool or kind."
        )
    for key, value in given.items():
        if words := flaw(key, value):
            raise BadRequest(f"In a rule, {key} {value!r} {words}.")
    rule = Rule(verdict=verdict, source="the agent that started this one", **given)
    if words := misfit(rule):
        raise BadRequest(f"A rule {words}.")
    return rule
