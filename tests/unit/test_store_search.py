"""Everything that was said, edited or run is found again, whatever a person types."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentls.core import events as ev
from agentls.core.model import (
    Block,
    Diff,
    Level,
    Location,
    PlanStep,
    Role,
    SessionId,
    TerminalId,
    ToolCallId,
)
from agentls.core.store import Filter, Hit
from agentls.storage.passages import passages, pieces
from agentls.storage.snippets import snippet
from fakes.stored import Desk, call, close, desk, said, turn, until

ANY = Filter(archived=None)


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "agentls.db") as found:
        yield found


def fill(one: Desk) -> None:
    first = one.session("first", "claude", "/projects/one")
    first.deliver(turn(1, "Please mend the parser of loadConfig"))
    first.deliver(said("I look at the Größe of it; naïve café. 检查解析器的配置文件"))
    first.deliver(ev.TextAdded(Role.THOUGHT, "perhaps a tokenizer"))
    first.deliver(
        call(
            "c1",
            title="Edit src/parser.py",
            kind="edit",
            status="completed",
            locations=(Location("/projects/one/src/parser.py", 3),),
            content=(Diff("/projects/one/src/parser.py", "same\nold_line\n", "same\nnew_line\n"),),
            input={"nested": [{"deep": "needle_in_input"}]},
        )
    )
    first.deliver(call("c2", title="Run", input={"command": "grep -rn TODO"}, status="completed"))
    first.deliver(ev.OutputAdded(ToolCallId("c2"), TerminalId("t"), "src/x.py:7: TODO remove me"))
    first.deliver(ev.PlanChanged((PlanStep("write the documentation"),)))
    first.deliver(ev.NoticeShown(Level.INFO, "a notice about weather"))
    first.deliver(ev.BlockAdded(Role.USER, Block(kind="link", uri="file:///projects/a%20b.txt")))
    first.deliver(ev.OtherUpdate("new", {"words": ["unheard-of"]}))
    first.deliver(ev.TurnEnded(1, "failed", "quota exceeded"))
    close(first)
    one.indexed()
    one.clock.advance(100)
    second = one.session("second", "codex", "/projects/two")
    second.deliver(turn(1, "the parser again"))
    close(second)
    one.indexed()


def found(one: Desk, words: str, wanted: Filter = ANY) -> list[str]:
    return [f"{hit.session} {hit.kind}" for hit in one.store.sessions.search(words, wanted)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("parser", ["second message", "first tool_call", "first message"]),
        ("PARSER mend", ["first message"]),
        ("pars", ["second message", "first tool_call", "first message"]),
        ("loadconfig", ["first message"]),
        ("config", ["first message"]),
        ("loadConf", ["first message"]),
        ("grosse", []),
        ("Große", ["first message"]),
        ("größe", ["first message"]),
        ("Grosse", []),
        ("grö", ["first message"]),
        ("cafe naive", ["first message"]),
        ("配置", ["first message"]),
        ("解析器的配置", ["first message"]),
        ("置配", []),
        ("tokenizer", ["first message"]),
        ("new_line", ["first tool_call"]),
        ("old_line", ["first tool_call"]),
        ("needle_in_input", ["first tool_call"]),
        ('"same"', []),
        ("src/x.py:7", ["first tool_call"]),
        ("grep -rn", ["first tool_call"]),
        ("documentation", ["first plan"]),
        ("weather", ["first notice"]),
        ("a b.txt", ["first attachment"]),
        ("unheard-of", ["first other"]),
        ("quota", ["first turn_end"]),
        ('"the parser of"', ["first message"]),
        ('"parser the"', []),
        ('"pars"', []),
        ("nothing-of-this-kind", []),
        ("", []),
        ('"" * ( ) - ^ :', []),
    ],
)
def test_words_are_found_where_they_are(one: Desk, words: str, expected: list[str]) -> None:
    fill(one)
    assert sorted(found(one, words)) == sorted(expected)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(agent="codex"), ["second message"]),
        (Filter(project="/projects/one"), ["first tool_call", "first message"]),
        (Filter(session=SessionId("second")), ["second message"]),
        (Filter(file="parser.py"), ["first tool_call"]),
        (Filter(file="src/parser.py"), ["first tool_call"]),
        (Filter(file="/projects/one/src/parser.py"), ["first tool_call"]),
        (Filter(file="arser.py"), []),
        (Filter(since=1050.0), ["second message"]),
        (Filter(until=1050.0), ["first tool_call", "first message"]),
        (Filter(archived=True), []),
        (Filter(title="again"), []),
    ],
)
def test_a_search_can_be_narrowed(one: Desk, wanted: Filter, expected: list[str]) -> None:
    fill(one)
    assert sorted(found(one, "parser", wanted)) == sorted(expected)


def test_what_touched_a_file_is_found_without_words(one: Desk) -> None:
    fill(one)
    assert found(one, "", Filter(file="parser.py")) == ["first tool_call"]
    assert found(one, "", Filter(file="a b.txt")) == ["first attachment"]


def test_a_hit_names_the_place_and_shows_the_words(one: Desk) -> None:
    fill(one)
    (hit,) = one.store.sessions.search("tokenizer")
    assert (hit.session, hit.entry, hit.agent, hit.cwd) == (
        "first",
        "e3",
        "claude",
        "/projects/one",
    )
    ((start, end),) = hit.marks
    assert hit.snippet[start:end] == "tokenizer"
    page = one.store.sessions.page(hit.session, last=1, before=int(hit.entry[1:]) + 1)
    assert page.entries[0].id == hit.entry


def test_what_is_still_being_said_is_found_when_it_is_complete(one: Desk) -> None:
    session = one.session()
    session.deliver(turn(1, "go"))
    session.deliver(said("first half of an aardvark"))
    one.indexed()
    assert found(one, "aardvark") == []
    session.deliver(said(" and a second"))
    session.deliver(ev.TurnEnded(1, "end_turn"))
    one.indexed()
    assert found(one, "aardvark second") == ["s1 message"]


def test_a_call_that_changes_is_found_by_its_new_words_only(one: Desk) -> None:
    session = one.session()
    session.deliver(call("c", title="walrus", status="completed"))
    one.indexed()
    session.deliver(call("c", title="heron"))
    one.indexed()
    assert found(one, "walrus") == []
    assert found(one, "heron") == ["s1 tool_call"]


def test_the_writing_thread_indexes_by_itself(one: Desk) -> None:
    session = one.session()
    session.deliver(turn(1, "an unusual word: quokka"))
    session.deliver(ev.TurnEnded(1, "end_turn"))
    one.flush()
    until(lambda: found(one, "quokka") == ["s1 message"], "the word is in the index")


def test_a_word_at_the_cut_of_a_long_text_is_found(one: Desk) -> None:
    session = one.session()
    for place in range(16_370, 16_390):
        session.deliver(said("x " * (place // 2) + f"hippopotamus{place} end", message=str(place)))
    close(session)
    one.indexed()
    for place in range(16_370, 16_390):
        assert len(found(one, f"hippopotamus{place}")) == 1, place


TYPED = st.one_of(
    st.text(max_size=40),
    st.text('"*()-^:{}+ aANDORT\0é配', max_size=30),
    st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR(", '"', "text:", "*", "a"])).map(" ".join),
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with desk(tmp_path_factory.mktemp("store") / "agentls.db") as found:
        fill(found)
        yield found


@settings(max_examples=500, deadline=None)
@given(typed=TYPED, file=st.text(max_size=5))
def test_nothing_that_can_be_typed_is_an_error(filled: Desk, typed: str, file: str) -> None:
    for wanted in (Filter(), Filter(file=file), Filter(title=typed, project=typed)):
        for hit in filled.store.sessions.search(typed, wanted):
            assert isinstance(hit, Hit)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400), st.lists(st.text(max_size=8), max_size=3))
def test_marks_are_within_the_snippet(text: str, words: list[str]) -> None:
    line, marks = snippet(text, words)
    assert "\n" not in line
    assert len(line) <= 162
    assert all(0 <= start < end <= len(line) for start, end in marks)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_what_is_deleted_from_the_index_was_in_it_so(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    from agentls.storage.index import unindex

    with desk(tmp_path_factory.mktemp("store") / "agentls.db") as one:
        session = one.session()
        for number, text in enumerate(texts):
            session.deliver(said(text + " loadConfig配置", message=str(number)))
        close(session)
        one.indexed()
        connection = sqlite3.connect(one.path, isolation_level=None)
        for (key,) in connection.execute("SELECT key FROM entry").fetchall():
            unindex(connection, key)
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        left = connection.execute("SELECT count(*) FROM words WHERE words MATCH 'loadConfig'")
        assert left.fetchone() == (0,)
        connection.close()


def test_words_of_several_parts_are_cut_at_their_humps() -> None:
    assert pieces("loadConfig of HTTPServer2Go") == "load Config \x02x\x02 HTTP Server2 Go"
    assert pieces("plain words, SHOUTED_WORDS") == ""


def test_of_a_change_only_the_changed_lines_are_passages(one: Desk) -> None:
    session = one.session()
    body = "".join(f"line {n}\n" for n in range(1000))
    session.deliver(call("c", content=(Diff("a.py", body, body.replace("line 500", "LINE")),)))
    (text,) = passages(session.transcript.entries[0])
    assert text.split("\n") == ["a.py", "LINE", "line 500"]


def test_a_megabyte_without_a_space_is_taken_apart_at_once() -> None:
    from agentls.storage.passages import pieces

    assert pieces("x" * 1_000_000) == ""
    assert pieces("x" * 500_000 + "Y" + "z" * 500_000).startswith("x" * 500_000 + " Y")
    assert pieces("loadConfig HTTPServer plain aB") == ("load Config \x02x\x02 a B")


def test_what_a_server_that_ended_at_once_has_not_indexed_is_found(tmp_path: Path) -> None:
    path = tmp_path / "agentls.db"
    with desk(path) as one:
        session = one.session("first", "claude", "/projects/one")
        session.deliver(turn(1, "hello"))
        session.deliver(said("the last needle"))
        close(session)
    with sqlite3.connect(path) as connection:  # as if it had had no time for it
        connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        connection.execute("DELETE FROM passage")
        connection.execute("UPDATE entry SET indexed = 1")
    connection.close()
    with desk(path) as other:
        assert [hit.entry for hit in other.store.sessions.search("needle", ANY)] == ["e2"]
