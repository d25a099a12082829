"""A transcript as Markdown: complete, deterministic, and no part of it swallows another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentls.core import events as ev
from agentls.core.markdown import (
    Fence,
    fenced,
    transcript_markdown,
    unfenced,
    unified_diff,
)
from agentls.core.model import (
    AskId,
    Block,
    Decision,
    Diff,
    Level,
    Location,
    Option,
    PlanStep,
    Prompt,
    Role,
    TerminalId,
    TerminalRef,
    ToolCallId,
    ToolCallPatch,
    Usage,
)
from agentls.core.printable import on_screen, one_line, printable
from agentls.core.transcript import Transcript

PARSER = MarkdownIt("commonmark")
CALL = ToolCallId("c1")
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")),
    st.text("`~a \n"),
)
FENCE_PARTS = st.lists(
    st.sampled_from(
        [
            *("```", "````py", "~~~", "  ```", "   ```sh", "    ```", "- ```", "- ~~~", "> ```"),
            *("text", "  text", "- item", "  - sub", "    - sub", "1. one", "   one more"),
            *("> text", ">", "# title", "    far in", "", ""),
        ]
    ),
    max_size=9,
).map("\n".join)


def transcript(*events: ev.Event) -> Transcript:
    made = Transcript()
    for number, event in enumerate(events):
        made.apply(event, float(number))
    return made


def markdown(*events: ev.Event, **head: str) -> str:
    return transcript_markdown(transcript(*events), **head)


def prompt(text: str, turn: int = 1) -> ev.TurnStarted:
    return ev.TurnStarted(turn, Prompt((Block(kind="text", text=text),)))


def call(**fields: Any) -> ev.ToolCallChanged:
    return ev.ToolCallChanged(ToolCallPatch(id=CALL, **fields))


def said(text: str, role: Role = Role.AGENT) -> ev.TextAdded:
    return ev.TextAdded(role, text)


def test_a_whole_conversation_reads_like_this() -> None:
    allow = Option("y", "Allow", "allow_once")
    told = markdown(
        prompt("Fix it.\n\nPlease."),
        said("Let me see.", Role.THOUGHT),
        said("I will **fix** it."),
        ev.PlanChanged(
            (PlanStep("Look", "completed"), PlanStep("Mend", "in_progress"), PlanStep("Test"))
        ),
        call(
            title="Edit a.py",
            kind="edit",
            status="pending",
            content=(Diff("/p/a.py", "one\ntwo\n", "one\n2\n"),),
            locations=(Location("/p/a.py", 2), Location("/p/b.py")),
        ),
        ev.AskOpened(AskId("a1"), CALL, "Edit a.py", (allow,)),
        ev.AskSettled(AskId("a1"), Decision(option=allow, by="you")),
        call(status="completed"),
        ev.NoticeShown(Level.WARNING, "Something is odd."),
        ev.OtherUpdate("weather", {"sky": "blue", "air": 1}),
        ev.TurnEnded(1, "end_turn", usage=Usage(input_tokens=1200, output_tokens=3)),
        prompt("Again", 2),
        ev.TurnEnded(2, "failed", "The agent\nis gone."),
        title="A title",
        agent="demo",
        cwd="/p",
    )
    assert told == (
        """\
# A title

- Agent: demo
- Folder: /p

## Turn 1

> Fix it.
>
> Please.

<details>
<summary>Thought</summary>

Let me see.

</details>

I will **fix** it.

- [x] Look
- [ ] Mend *(in progress)*
- [ ] Test

- [completed] edit: Edit a.py (/p/a.py:2, /p/b.py)

```diff
--- /p/a.py
+++ /p/a.py
@@ -1,2 +1,2 @@
 one
-two
+2
```

- [ask] Edit a.py: Allow (allow_once, by you)

**Warning:** Something is odd.

- [other] weather

```json
{
  "air": 1,
  "sky": "blue"
}
```

*Turn 1 ended: end_turn (tokens: 1,200 in, 3 out).*

## Turn 2

> Again

*Turn 2 ended: failed.*

**Error:** The agent is gone.
"""
    )


def test_what_comes_before_the_first_turn_has_its_own_heading() -> None:
    assert "## Before the first turn\n\nHello." in markdown(said("Hello."))


def test_a_session_without_a_title_is_just_a_session() -> None:
    assert markdown() == "# Session\n"


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (None, "open"),
        (Decision(option=None, by="turn cancelled"), "not allowed (turn cancelled)"),
        (Decision(option=Option("x", "Hm", ""), by="you"), "Hm (unknown kind, by you)"),
    ],
)
def test_an_ask_says_how_it_ended(decision: Decision | None, words: str) -> None:
    events: list[ev.Event] = [call(title="Run"), ev.AskOpened(AskId("a"), CALL, "Run it", ())]
    if decision is not None:
        events.append(ev.AskSettled(AskId("a"), decision))
    assert f"- [ask] Run it: {words}\n" in markdown(*events)


def test_a_title_of_several_lines_stays_on_one() -> None:
    told = markdown(call(title="cat <<EOF\nhello\nEOF", kind="execute", status="completed"))
    assert "- [completed] execute: cat <<EOF hello EOF\n" in told


def test_output_is_kept_whole_with_its_exit_code_and_without_colours() -> None:
    lines = "".join(f"line {number}\n" for number in range(500))
    told = markdown(
        call(kind="execute", content=(TerminalRef(TerminalId("t")),)),
        ev.OutputAdded(CALL, TerminalId("t"), "\x1b[31mred\x1b[0m\n" + lines),
        ev.OutputEnded(CALL, TerminalId("t"), exit_code=2),
        ev.OutputAdded(CALL, TerminalId("unmentioned"), "more"),
        ev.OutputEnded(CALL, TerminalId("unmentioned"), signal="SIGKILL"),
    )
    assert f"```\nred\n{lines}```\n\nExit code 2." in told
    assert "```\nmore\n```\n\nEnded by SIGKILL." in told


def test_output_that_is_already_a_code_block_is_not_wrapped_twice() -> None:
    block = Block(kind="text", text="```console\nmade it\n```")
    told = markdown(call(kind="execute", content=(block,)))
    assert told.endswith("\n\n```console\nmade it\n```\n")


def test_the_raw_output_is_shown_when_there_is_nothing_else() -> None:
    assert '```json\n{\n  "a": 1\n}\n```' in markdown(call(output={"a": 1}))
    assert "```\nplain\n```" in markdown(call(output="plain"))


@pytest.mark.parametrize(
    ("block", "shown"),
    [
        (Block(kind="link", uri="file:///a", name="a"), "[a](file:///a)"),
        (
            Block(kind="image", mime="image/png", data="QQ=="),
            "![image](data:image/png;base64,QQ==)",
        ),
        (Block(kind="audio", mime="a/b", data="QQ=="), "[audio](data:a/b;base64,QQ==)"),
        (Block(kind="resource", uri="file:///a", text="x"), "file:///a\n\n```\nx\n```"),
        (Block(kind="resource", uri="u", mime="m", data="QQ=="), "[u](data:m;base64,QQ==)"),
        (Block(kind="hologram", raw={"a": 1}), '- [hologram]\n\n```json\n{\n  "a": 1\n}\n```'),
    ],
)
def test_every_kind_of_attachment_is_shown(block: Block, shown: str) -> None:
    assert markdown(ev.BlockAdded(Role.AGENT, block)).endswith(f"\n\n{shown}\n")
    quoted = "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))
    assert markdown(ev.BlockAdded(Role.USER, block)).endswith(f"\n\n{quoted}\n")


@pytest.mark.parametrize(
    ("diff", "lines"),
    [
        (Diff("a", None, "x\n"), ["--- /dev/null", "+++ a", "@@ -0,0 +1 @@", "+x"]),
        (Diff("a", None, ""), ["--- /dev/null", "+++ a"]),
        (Diff("a", "x\n", "x\n"), []),
        (
            Diff("a", "x\n", "x"),
            [
                *("--- a", "+++ a", "@@ -1 +1 @@", "-x", "+x"),
                "\\ No newline at end of file",
            ],
        ),
    ],
)
def test_new_empty_and_unfinished_files_have_a_diff_too(diff: Diff, lines: list[str]) -> None:
    assert unified_diff(diff) == lines


@given(st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\f\n"])), st.lists(st.just("a\n")))
def test_a_diff_leads_from_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    shown = unified_diff(Diff("p", "".join(old), "".join(new)), context=len(old) + len(new))
    lines = shown[3:]
    if old == new:
        assert shown == []
    else:
        assert [line[1:] + "\n" for line in lines if line[0] in "- "] == old
        assert [line[1:] + "\n" for line in lines if line[0] in "+ "] == new


@given(TEXT)
def test_a_fence_holds_exactly_what_was_put_in(body: str) -> None:
    (token,) = PARSER.parse(fenced(body, "py") + "\n")
    assert token.type == "fence"
    assert token.info == "py"
    assert token.content == body.removesuffix("\n") + "\n"


@given(TEXT, st.sampled_from(["", "py", "console"]))
def test_taking_a_fence_off_is_the_opposite_of_putting_it_on(body: str, info: str) -> None:
    assert unfenced(fenced(body, info)) == (body.removesuffix("\n"), info)


@pytest.mark.parametrize("text", ["", "plain", "```\nopen", "a\n```\nb\n```", "```\na\n```\nb"])
def test_what_is_not_one_code_block_is_left_as_it_is(text: str) -> None:
    assert unfenced(text) == (text, "")


@example("- item\ntext\n  ```")
@example("- ```\ntext")
@example("> ```\ntext\n```")
@given(FENCE_PARTS)
def test_a_code_block_left_open_does_not_swallow_what_comes_next(text: str) -> None:
    told = markdown(said(text or "x"), ev.NoticeShown(Level.WARNING, "the end"))
    inline = [token.content for token in PARSER.parse(told) if token.type == "inline"]
    assert any(content.endswith("**Warning:** the end") for content in inline)


@given(FENCE_PARTS)
def test_the_fence_follower_agrees_with_a_real_parser(text: str) -> None:
    fence = Fence()
    for line in text.split("\n"):
        fence.feed(line)
    inside = [t for t in PARSER.parse(f"{text}\nMARK") if "MARK" in t.content]
    if fence.marker and fence.closing == fence.marker:  # one in a list or a quote ends by itself
        assert [token.type for token in inside] == ["fence"]
    else:
        assert all(token.type != "fence" for token in inside)


@given(st.text())
def test_nothing_printable_can_steer_a_terminal(text: str) -> None:
    for shown in (printable(text), on_screen(text)):
        assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)
        assert not any(0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)
    assert "\n" not in one_line(text)


def test_no_part_of_a_colour_is_left_in_printable_text() -> None:
    assert printable("a \x1b[1;31mred\x1b[0m\x9b2J word") == "a red2J word"


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("output", "left"),
    [
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("\x1b[2J\x1b[1;1Hx\x1b(B", "x"),
        ("\x1b]never ended\nnext", "\nnext"),
    ],
)
def test_output_is_what_a_terminal_would_be_left_showing(output: str, left: str) -> None:
    assert on_screen(output) == left
