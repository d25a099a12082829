"""What an editor may set: every mistake is said in one sentence, and everything else is used."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from agentls.core.settings import Settings, settings_from

GOOD: dict[str, Any] = {
    "agent": "claude",
    "handshakeTimeout": 5,
    "cancelGrace": 1.5,
    "lineLimit": 1000,
}
BAD: list[tuple[str, Any]] = [
    ("agent", 5),
    ("agent", None),
    ("handshakeTimeout", "soon"),
    ("handshakeTimeout", 0),
    ("handshakeTimeout", float("nan")),
    ("cancelGrace", -1),
    ("cancelGrace", True),
    ("cancelGrace", float("inf")),
    ("lineLimit", 0),
    ("lineLimit", 1.5),
    ("lineLimit", []),
    ("idleAgentTimeout", -1),
    ("stuckAfter", float("inf")),
    ("warmAgent", "yes"),
    ("agnet", "claude"),
    ("handshake_timeout", 5),
]


def test_nothing_sent_means_the_defaults() -> None:
    assert settings_from(None) == (Settings(), [])
    assert settings_from({}) == (Settings(), [])


def test_all_settings_can_be_set() -> None:
    settings, problems = settings_from(GOOD)
    assert problems == []
    assert settings == Settings(
        agent="claude", handshake_timeout=5.0, cancel_grace=1.5, line_limit=1000
    )


def test_a_time_that_may_be_never_can_be_0() -> None:
    settings, problems = settings_from({"idleAgentTimeout": 0, "stuckAfter": 0})
    assert (settings.idle_agent_timeout, settings.stuck_after, problems) == (0, 0, [])


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_mistake_is_one_sentence_and_the_rest_is_kept(key: str, value: Any) -> None:
    others = {k: v for k, v in GOOD.items() if k != key}
    settings, [problem] = settings_from({key: value, **others})
    assert settings == settings_from(others)[0]
    assert repr(key) in problem
    assert problem.endswith(".")
    assert "\n" not in problem


def test_every_mistake_is_said() -> None:
    settings, problems = settings_from({"agent": 1, "lineLimit": -1, "x": 1, "cancelGrace": 2})
    assert settings == Settings(cancel_grace=2.0)
    assert len(problems) == 3


@pytest.mark.parametrize("raw", ["claude", 42, [], True])
def test_what_is_no_object_is_one_mistake(raw: Any) -> None:
    settings, [problem] = settings_from(raw)
    assert settings == Settings()
    assert problem.endswith(".")


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
keys = st.sampled_from([*GOOD, "other", ""])


@hypothesis_settings(deadline=None)
@given(st.dictionaries(keys, values | st.lists(values, max_size=2)))
def test_every_setting_is_either_used_or_complained_about(raw: dict[str, Any]) -> None:
    settings, problems = settings_from(raw)
    used = [
        key
        for key, name in (
            ("agent", "agent"),
            ("handshakeTimeout", "handshake_timeout"),
            ("cancelGrace", "cancel_grace"),
            ("lineLimit", "line_limit"),
        )
        if key in raw and getattr(settings, name) == raw[key] and type(raw[key]) is not bool
    ]
    complained = [key for key in raw if any(repr(key) in problem for problem in problems)]
    assert len(problems) == len(complained)
    assert set(raw) == {*used, *complained}
    assert settings.handshake_timeout > 0
    assert settings.line_limit > 0
