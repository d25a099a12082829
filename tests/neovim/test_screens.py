"""What a person sees, in a real terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentls.demo

from .conftest import SERVER, Desk
from .screen import Screen

SAMPLE = Path(agentls.demo.__file__).parent / "sample"


@pytest.fixture
def screen(desk: Desk) -> Iterator[Screen]:
    for file in SAMPLE.iterdir():
        if file.is_file():
            shutil.copy(file, desk.workspace)
    init = desk.folder / "screen.lua"
    settings = json.dumps({"cmd": SERVER, "settings": {"agent": "demo"}})
    init.write_text(
        (desk.folder / "init.lua").read_text()
        + f"vim.g.agentls = vim.json.decode([==[{settings}]==])\n"
        "vim.o.statusline = [[%f%=%{v:lua.require'agentls'.statusline()}]]\n"
    )
    nvim = desk.command[0]
    it = Screen(
        [nvim, "-n", "-u", str(init), "greet.py"],
        folder=desk.folder,
        cwd=desk.workspace,
        env=desk.environment(),
    )
    it.until("def greet")
    yield it
    it.close()


def run(screen: Screen, line: str) -> None:
    screen.type(f":{line}")
    screen.keys("Enter")


def test_a_tour_from_the_first_word_to_the_last(screen: Screen) -> None:
    run(screen, "Agent send take me on a tour")
    text = screen.until("May I? greet.py")
    assert "## You" not in text or "take me on a tour" in text
    assert "○ Edit greet.py (+3 -1)" in text, "the tool call is one line"
    assert "+    if table is None" not in text
    screen.until(lambda text: "? 1" in text.splitlines()[-2], "the count in the statusline")
    screen.until("demo asks: greet.py (:Agent asks)")
    run(screen, "Agent asks")
    text = screen.until("a  Allow")
    assert "╭" in text
    assert "+    if table is None:" in text
    screen.until("demo asks")
    _armed_then(screen, "a")
    screen.until("✓ Edit greet.py")
    text = screen.until("May I? python3")
    assert "✓ Allowed by you: greet.py" in text
    screen.until("demo asks: python3")
    screen.until(lambda text: _allowed(screen, text), "it was allowed")
    screen.until("What happened")
    screen.until("ready")
    assert "if table is None:" in screen.until("if table is None:"), "the buffer follows the disk"


def test_what_the_agent_changed_is_seen_walked_through_and_undone(screen: Screen) -> None:
    run(screen, "Agent send /edit greet.py Hello Goodbye")
    screen.until("demo asks: greet.py")
    run(screen, "Agent asks")
    screen.until("a  Allow")
    _armed_then(screen, "a")
    text = screen.until(lambda text: 'return f"Goodbye' in text and "┃" in text, "the change")
    old, new = (n for n, line in enumerate(text.splitlines()) if "return f" in line)
    assert "Hello" in text.splitlines()[old], "what was removed is above what came"
    assert text.splitlines()[new].startswith("┃")
    screen.type("gg]a")
    screen.until("demo, turn 1: +1 -1 (1 of 1 in this file)")
    run(screen, "Agent changes")
    screen.until("greet.py|6| demo, turn 1: +1 -1")
    run(screen, "cclose")
    run(screen, "Agent diff")
    screen.until(lambda text: "before turn 1" in text and "now" in text, "both sides")
    run(screen, "tabclose")
    run(screen, "Agent undo file")
    screen.until(lambda text: "Goodbye," not in text and "┃" not in text, "it is undone")


def _allowed(screen: Screen, text: str) -> bool:
    """Say it until it counts: an ask that has only just come is not allowed unseen."""
    if "May I? python3" in text:
        run(screen, "Agent allow")
        return False
    return True


def _armed_then(screen: Screen, key: str) -> None:
    """Press it until the float is gone: keys typed in its first moment are not taken."""

    def gone(text: str) -> bool:
        if "a  Allow" in text:
            screen.type(key)
            return False
        return True

    screen.until(gone, "the float is gone")


def test_the_prompt_is_typed_and_sent(screen: Screen) -> None:
    run(screen, "Agent new")
    screen.until("-- INSERT --")
    screen.type("/think")
    screen.keys("C-s")
    text = screen.until("I have thought about it.")
    assert "… Thinking" in text
    assert "You asked me to think" not in text, "the thought is folded"
    screen.keys("Escape")
    screen.keys("C-w", "k")
    screen.type("zR")
    screen.until("┆ You asked me to think")


def test_nothing_is_drawn_over_what_a_person_types(screen: Screen) -> None:
    run(screen, "Agent send /slow 200")
    screen.until("word3")
    screen.type("ggO# ")
    for word in ("typed", "while", "the", "agent", "speaks"):
        screen.type(word + " ")
    screen.until("# typed while the agent speaks")
    screen.until("word20")
    screen.keys("Escape")
    run(screen, "Agent stop")
    screen.until("> Stopped.")
