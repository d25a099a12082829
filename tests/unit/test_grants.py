"""When what an agent wants of us is just what was allowed a moment ago."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentls.core.grants import same_wish
from agentls.core.policy.verdicts import PathUse, Subject


def runs(command: str | tuple[str, ...], cwd: str = "/p", also: str = "") -> Subject:
    return Subject(kind="execute", command=command, cwd=cwd, also=also)


@pytest.mark.parametrize(
    ("granted", "wanted"),
    [
        ("ls -l", "ls -l"),
        ("ls -l", ("ls", "-l")),
        ("ls -l", ("/bin/bash", "-c", "ls -l")),
        ("ls -l", ("bash", "-lc", "cd /p && ls -l")),
        ("ls -l", ("sh", "-c", "cd '/p' && ls -l")),
        ("a | b", ("bash", "-c", "a | b")),
        ("echo 'a b'", ("echo", "a b")),
        (("rm", "a b"), ("rm", "a b")),
    ],
)
def test_the_same_command_however_it_is_wrapped(
    granted: str | tuple[str, ...], wanted: str | tuple[str, ...]
) -> None:
    assert same_wish(runs(granted), runs(wanted))


@pytest.mark.parametrize(
    ("granted", "wanted"),
    [
        (runs("ls"), runs("ls -l")),
        (runs("ls -l"), runs("ls")),
        (runs("ls"), runs("ls; rm x")),
        (runs("ls"), runs("ls", cwd="/q")),
        (runs("ls"), runs(("bash", "-c", "cd /q && ls"))),
        (runs("ls"), runs(("bash", "-c", "cd $HOME && ls"))),
        (runs("ls"), runs(("bash", "-c", "cd /p; ls"))),
        (runs("ls"), runs("ls", also="the environment variable LD_PRELOAD")),
        (runs("echo a b"), runs(("echo", "a b"))),
        (runs("echo $x"), runs(("echo", "$x"))),
        (runs("echo *"), runs(("echo", "*"))),
        (runs("a\nb"), runs(("a", "b"))),
        (Subject(kind="execute", cwd="/p"), runs("ls")),
        (runs("ls"), Subject(kind="edit", cwd="/p", paths=(PathUse("a", True),))),
    ],
)
def test_anything_else_is_another_wish(granted: Subject, wanted: Subject) -> None:
    assert not same_wish(granted, wanted)


@given(st.text(max_size=30), st.text(max_size=30))
def test_two_lines_are_the_same_only_if_their_words_are(one: str, other: str) -> None:
    if same_wish(runs(one), runs(other)):
        assert one.split() == other.split() or one.strip() == other.strip()


def writes(*paths: str, write: bool = True) -> Subject:
    uses = tuple(PathUse(path, write) for path in paths)
    return Subject(kind="edit", cwd="/p", paths=uses)


def test_a_file_may_be_written_that_was_allowed_to_be_and_no_other() -> None:
    assert same_wish(writes("/p/a", "b"), writes("/p/b"))
    assert same_wish(writes("/p/a"), writes("/p/a", write=False)), "who writes may read"
    assert not same_wish(writes("/p/a"), writes("/p/c"))
    assert not same_wish(writes("/p/a"), writes("/p/a", "/p/c"))
    assert not same_wish(writes("/p/a", write=False), writes("/p/a"))
    assert not same_wish(writes("/p/a"), writes())
