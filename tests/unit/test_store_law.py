"""The law of the store: whatever happens in a session, what is loaded is what it was.

And it goes on in the same way: what happens afterwards changes both alike.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import events as ev
from agentls.core.model import (
    AgentOption,
    Always,
    Block,
    Choice,
    Decision,
    Diff,
    Level,
    Location,
    Mode,
    Option,
    PlanStep,
    Prompt,
    Role,
    SessionId,
    SlashCommand,
    State,
    TerminalRef,
    ToolCallPatch,
    Usage,
)
from agentls.storage.exchange import read
from fakes.stored import Desk, plain

LENGTHS = (1023, 1024, 4095, 4096, 4097, 8192, 9000, 20_000)
words = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["\0blob:", "\0blob:" + "0" * 32, "é" * 40, "😀", "a\r\nb\0c", '"quoted"']),
    st.builds(
        lambda piece, length: (piece * length)[:length],
        st.text("aé😀\n\0", min_size=1),
        st.sampled_from(LENGTHS),
    ),
)
ids = st.sampled_from(["", "one", "two"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | words,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
blocks = st.builds(
    Block,
    kind=st.sampled_from(["text", "image", "new"]),
    text=words,
    uri=st.text(max_size=5),
    data=words,
    raw=st.none() | st.dictionaries(st.text(max_size=5), values, max_size=2),
)
content = st.one_of(
    blocks,
    st.builds(Diff, st.text(max_size=5), st.none() | words, words),
    st.builds(TerminalRef, ids),
)
options = st.builds(Option, st.text(max_size=5), words, st.sampled_from(["allow_once", "odd"]))
decisions = st.builds(
    Decision, option=st.none() | options, by=words, remembered=st.text(max_size=5)
)
usages = st.builds(
    Usage, total_tokens=st.none() | st.integers(0, 10**9), cost=st.none() | st.floats(0, 100)
)
prompts = st.builds(Prompt, st.lists(blocks, max_size=2).map(tuple))
patches = st.fixed_dictionaries(
    {"id": ids},
    optional={
        "title": words,
        "kind": st.sampled_from(["edit", "execute"]),
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]),
        "name": st.text(max_size=5),
        "content": st.lists(content, max_size=3).map(tuple),
        "locations": st.lists(
            st.builds(Location, words, st.none() | st.integers(1, 9)), max_size=2
        ).map(tuple),
        "input": values,
        "output": values,
    },
).map(lambda fields: ToolCallPatch(**fields))
agent_options = st.builds(
    AgentOption,
    id=st.text(max_size=5),
    name=words,
    kind=st.just("select"),
    value=st.text(max_size=5) | st.booleans(),
    category=st.sampled_from(["", "model"]),
    choices=st.lists(st.builds(Choice, st.text(max_size=3), words), max_size=2).map(tuple),
)
texts = st.builds(ev.TextAdded, st.sampled_from(list(Role)), words, ids)
events = st.one_of(
    texts,
    texts,
    texts,
    st.builds(ev.BlockAdded, st.sampled_from(list(Role)), blocks),
    st.builds(ev.ToolCallChanged, patches),
    st.builds(ev.OutputAdded, ids, ids, words, st.booleans()),
    st.builds(ev.OutputAdded, ids, ids, words),
    st.builds(ev.OutputEnded, ids, ids, st.none() | st.integers(0, 255), st.text(max_size=5)),
    st.builds(ev.PlanChanged, st.lists(st.builds(PlanStep, words), max_size=3).map(tuple), ids),
    st.builds(
        ev.AskOpened,
        ids,
        ids,
        words,
        st.lists(options, max_size=2).map(tuple),
        words,
        words,
        st.lists(st.builds(Always, ids, words), max_size=2).map(tuple),
        st.booleans(),
        st.none() | decisions,
    ),
    st.builds(ev.AskSettled, ids, decisions),
    st.builds(ev.TurnStarted, st.integers(1, 5), prompts),
    st.builds(ev.TurnEnded, st.integers(1, 5), st.text(max_size=5), words, st.none() | usages),
    st.builds(ev.PromptQueued, prompts),
    st.just(ev.QueueCleared()),
    st.builds(ev.StateChanged, st.sampled_from(list(State)), words),
    st.builds(ev.PolicyChanged, st.text(max_size=5)),
    st.builds(ev.TitleChanged, words),
    st.builds(ev.ModesChanged, st.lists(st.builds(Mode, ids, words), max_size=2).map(tuple), ids),
    st.builds(ev.ModeChanged, ids),
    st.builds(ev.OptionsChanged, st.lists(agent_options, max_size=2).map(tuple)),
    st.builds(
        ev.CommandsChanged, st.lists(st.builds(SlashCommand, ids, words), max_size=2).map(tuple)
    ),
    st.builds(ev.UsageChanged, usages),
    st.builds(ev.NoticeShown, st.sampled_from(list(Level)), words),
    st.builds(
        ev.OtherUpdate,
        st.text(max_size=5),
        st.dictionaries(st.text(max_size=5), values, max_size=2),
    ),
)
lives = st.lists(st.tuples(st.integers(0, 5), events), max_size=25)
"""Events; those with 0 before them come after everything so far was stored."""


@settings(max_examples=200, deadline=None)
@given(lives, st.lists(events, max_size=8))
def test_what_is_loaded_is_what_was_and_goes_on_as_it_would_have(
    life: list[tuple[int, ev.Event]], later: list[ev.Event]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder, "agentls.db"))
        session = desk.session()
        for pause, event in life:
            if pause == 0:
                desk.flush()
            desk.clock.advance(0.01)
            session.deliver(event)
        was = plain(session.transcript)
        desk.store.close()
        assert desk.problems == []
        stored = desk.store.sessions.load(SessionId("s1"))
        exported = read(desk.store.sessions.export(SessionId("s1")))
    assert plain(stored.transcript) == was
    assert plain(exported.transcript) == was
    for event in later:
        session.transcript.apply(event, 2000.0)
        stored.transcript.apply(event, 2000.0)
    assert plain(stored.transcript) == plain(session.transcript)
