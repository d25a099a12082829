"""What agents used, by day: read from the ends of the turns of all sessions."""

from __future__ import annotations

import sqlite3
import time

import msgspec
from msgspec import Struct

from agentls.core.model import Usage
from agentls.core.spending import DayUsage
from agentls.core.store import Filter

from .reading import conditions_of
from .rows import NUMBER_BITS


class _TurnEnd(Struct):
    usage: Usage | None = None


def by_day(connection: sqlite3.Connection, wanted: Filter) -> list[DayUsage]:
    """The newest day first; `since` and `until` are about the turns."""
    whose = msgspec.structs.replace(wanted, since=None, until=None)
    conditions, values = conditions_of(whose)
    conditions += ["entry.kind = 'turn_end'", "entry.at >= ?", "entry.at <= ?"]
    values += [wanted.since or 0.0, wanted.until if wanted.until is not None else 1e12]
    query = (
        "SELECT entry.at, agent, entry.body FROM entry"
        f" JOIN session ON session.number = entry.key >> {NUMBER_BITS}"
        f" WHERE {' AND '.join(conditions)}"
    )
    days: dict[tuple[str, str, str], list[Usage]] = {}
    for at, agent, body in connection.execute(query, values):
        usage = msgspec.json.decode(body, type=_TurnEnd).usage or Usage()
        day = time.strftime("%Y-%m-%d", time.localtime(at))
        days.setdefault((day, agent, usage.currency), []).append(usage)
    found = [_sum(day, agent, currency, turns) for (day, agent, currency), turns in days.items()]
    return sorted(found, key=lambda one: (one.day, one.cost, one.agent), reverse=True)


def _sum(day: str, agent: str, currency: str, turns: list[Usage]) -> DayUsage:
    return DayUsage(
        day=day,
        agent=agent,
        turns=len(turns),
        input_tokens=sum(turn.input_tokens or 0 for turn in turns),
        output_tokens=sum(turn.output_tokens or 0 for turn in turns),
        total_tokens=sum(turn.total_tokens or 0 for turn in turns),
        cost=sum(turn.cost or 0.0 for turn in turns),
        currency=currency,
    )
