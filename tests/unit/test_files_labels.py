"""Which function or class a part of a file is in, in every language, and what hostile text does."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from agentls.files.label_process import Labels
from agentls.files.labels import LARGEST, labels

IN = " \u203a "
SAMPLES = {
    "a.py": ("class A:\n    def f(self):\n        here\n", "class A|def f"),
    "async.py": ("class A:\n    async def f(self):\n        here\n", "class A|def f"),
    "a.js": ("class A {\n  f() {\n    here;\n  }\n}\n", "class A|method f"),
    "arrow.jsx": ("const f = () => {\n  here;\n};\n", "function f"),
    "a.ts": ("namespace N {\n interface I {\n  here: string\n }\n}\n", "namespace N|interface I"),
    "a.tsx": ("export function F() {\n  return <here/>;\n}\n", "function F"),
    "a.go": ("package p\nfunc (a *A) F() {\n\there()\n}\n", "func F"),
    "a.rs": ("impl Show for A {\n    fn f() {\n        here();\n    }\n}\n", "impl A|fn f"),
    "a.java": ("class A {\n  void f() {\n    here();\n  }\n}\n", "class A|method f"),
    "a.c": ("static int *f(int a)\n{\n  here();\n}\n", "function f"),
    "a.cpp": ("namespace n {\nvoid A::f() {\n  here();\n}\n}\n", "namespace n|function A::f"),
    "a.rb": ("module M\nclass A\ndef f\nhere\nend\nend\nend\n", "module M|class A|def f"),
    "a.php": ("<?php\nclass A {\n  function f() {\n    here();\n  }\n}\n", "class A|function f"),
    "a.cs": ("class A {\n  void F() {\n    here();\n  }\n}\n", "class A|method F"),
    "a.sh": ("f() {\n  here\n}\n", "function f"),
    "a.lua": ("function m.f()\n  here()\nend\n", "function m.f"),
}  # fmt: skip


@pytest.fixture(scope="module")
def process() -> Iterator[Labels]:
    process = Labels(seconds=1.0)
    yield process
    process.close()


def line_of(text: str, word: str) -> int:
    return text[: text.index(word)].count("\n")


@pytest.mark.parametrize("name", SAMPLES)
def test_every_language_has_labels(process: Labels, name: str) -> None:
    text, expected = SAMPLES[name]
    line = line_of(text, "here")
    assert process.of(name, text, [(line, line)]) == [expected.replace("|", IN)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_part_over_several_definitions_is_in_what_holds_them_all(end: str) -> None:
    text = "import x\n\nclass A:\n  def f(self):\n    1\n\n  @wrap\n  def g(self):\n    2\n"
    parts = [(0, 0), (3, 4), (4, 8), (4, 4), (6, 8), (2, 8), (0, 8), (5, 5)]
    assert labels("a.py", text.replace("\n", end), parts) == [
        "",
        f"class A{IN}def f",
        "class A",
        f"class A{IN}def f",
        f"class A{IN}def g",
        "class A",
        "",
        "class A",
    ]


def test_what_cannot_be_named_has_no_label(process: Labels) -> None:
    assert process.of("a.unknown", "class A: pass", [(0, 0)]) == [""]
    assert process.of("Makefile", "all:", [(0, 0)]) == [""]
    assert process.of("a.py", "x = 1\n", [(0, 0), (5, 9), (-1, 0), (2, 1)]) == [""] * 4
    assert process.of("a.py", "", [(0, 0)]) == [""]
    assert process.of("a.py", "class A:\n  x\n", []) == []
    assert process.of("a.py", "#" * (LARGEST + 1), [(0, 0)]) == [""]


def test_half_a_character_in_a_text_is_no_obstacle(process: Labels) -> None:
    assert process.of("a.py", "def f():\n  '\ud800é'\n", [(1, 1)]) == ["def f"]


def test_a_grammar_that_takes_too_long_is_ended_and_not_asked_again() -> None:
    process = Labels(seconds=0.2)
    try:
        assert process.of("a.py", "def f():\n  1\n", [(1, 1)]) == ["def f"]
        worker = process._worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGSTOP)
        hanging = "def g():\n  1\n"
        assert process.of("a.py", hanging, [(1, 1)]) == [""]
        assert worker.returncode is not None, "the process that hung was not ended"
        assert process.of("a.py", hanging, [(1, 1)]) == [""]
        assert process._worker is None, "the text that ended a process was tried again"
        assert process.of("a.py", "def h():\n  1\n", [(1, 1)]) == ["def h"]
    finally:
        process.close()


def test_a_worker_that_died_is_replaced() -> None:
    process = Labels()
    try:
        process.of("a.py", "x", [(0, 0)])
        worker = process._worker
        assert worker is not None
        worker.kill()
        worker.wait()
        assert process.of("a.py", "def f():\n  1\n", [(1, 1)]) == [""]
        assert process.of("a.py", "def g():\n  1\n", [(1, 1)]) == ["def g"]
    finally:
        process.close()
    assert process._worker is None


@pytest.mark.parametrize("name", ["a.py", "a.rs", "a.java", "a.rb", "a.c"])
def test_hostile_text_costs_a_bounded_time_and_nothing_else(process: Labels, name: str) -> None:
    for text in ("(" * 50_000, "\0" * 1000, "{[(<" * 20_000, "\\\n" * 5000, "\"'`" * 9000):
        found = process.of(name, text, [(0, 0)])
        assert found == [""]
    sample, expected = SAMPLES[name]
    line = line_of(sample, "here")
    assert process.of(name, sample, [(line, line)]) == [expected.replace("|", IN)]
