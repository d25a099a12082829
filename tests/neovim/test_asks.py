"""An ask is announced quietly, answered with one key, and takes no key not meant for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Desk, allow, chat_text
from .nvim import Nvim


@pytest.fixture
def greeting(desk: Desk) -> Path:
    return desk.write("greeting.txt", "one\ntwo\nhello\nfour\n")


def ask_for_an_edit(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/edit greeting.txt hello goodbye')")
    asked(nvim)


def asked(nvim: Nvim, count: int = 1) -> None:
    nvim.until_lua("#require('agentls').asks() == ...", count)


def ended(nvim: Nvim) -> None:
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsTurnEnd')")


def open_float(nvim: Nvim) -> str:
    """Open it and wait until it takes keys."""
    nvim.command("Agent asks")
    nvim.until_lua("vim.bo.filetype == 'agentls-ask' and require('agentls.asks.float').is_armed()")
    return "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))


def test_an_ask_is_a_notice_a_count_and_an_event_and_moves_nobody(
    desk: Desk, greeting: Path
) -> None:
    nvim = desk.nvim()
    nvim.command("edit greeting.txt")
    ask_for_an_edit(nvim)
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('demo asks: greeting.txt') end)")
    assert nvim.lua("return require('agentls').statusline()") == "◐ 1 ? 1"
    assert "AgentlsAsk" in nvim.lua("return happened")
    assert nvim.lua("return vim.fn.expand('%')") == "greeting.txt"
    assert nvim.request("nvim_get_mode")["mode"] == "n"


def test_the_float_shows_the_diff_and_a_key_for_each_answer(desk: Desk, greeting: Path) -> None:
    nvim = desk.nvim()
    ask_for_an_edit(nvim)
    text = open_float(nvim)
    assert " -hello" in text
    assert " +goodbye" in text
    for line in (" a  Allow", " A  Always allow", " r  Reject", " w  Reject and say why…"):
        assert line in text.splitlines()
    nvim.keys("a")
    ended(nvim)
    assert greeting.read_text() == "one\ntwo\ngoodbye\nfour\n"
    assert "✓ Allowed by you: greeting.txt" in chat_text(nvim)
    assert nvim.lua("return require('agentls').statusline()") == ""


def test_a_file_that_was_changed_on_disk_is_read_again(desk: Desk, greeting: Path) -> None:
    nvim = desk.nvim()
    nvim.command("edit greeting.txt")
    ask_for_an_edit(nvim)
    allow(nvim)
    ended(nvim)
    nvim.until_lua("vim.api.nvim_buf_get_lines(0, 2, 3, false)[1] == 'goodbye'")


def test_changes_of_the_person_are_kept_beside_those_of_the_agent(
    desk: Desk, greeting: Path
) -> None:
    nvim = desk.nvim()
    nvim.command("edit greeting.txt")
    ask_for_an_edit(nvim)
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'mine' })")
    allow(nvim)
    ended(nvim)
    assert nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [
        "mine",
        "two",
        "goodbye",
        "four",
    ]


def test_the_float_shows_the_command_and_rejects(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    assert " echo hi" in open_float(nvim).splitlines()
    nvim.keys("r")
    ended(nvim)
    assert "⊘ Rejected by you: echo hi" in chat_text(nvim)


def test_a_key_typed_before_the_float_was_there_answers_nothing(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    # All of it is in the queue of keys before the float opens.
    nvim.keys(":Agent asks<CR>aaarrr")
    nvim.until_lua("require('agentls.asks.float').is_armed()")
    assert nvim.lua("return #require('agentls').asks()") == 1
    nvim.keys("a")
    ended(nvim)


def test_an_ask_that_comes_while_somebody_types_takes_no_key(desk: Desk) -> None:
    desk.write("notes.txt", "")
    nvim = desk.nvim()
    nvim.command("edit notes.txt")
    nvim.command("Agent send /run echo hi")
    nvim.keys("i")
    typed = 0

    def asked_while_typing() -> bool:
        nonlocal typed
        nvim.keys("ay")
        typed += 1
        return bool(nvim.lua("return #require('agentls').asks() > 0"))

    nvim.until(asked_while_typing, "an ask")
    nvim.keys("ay<Esc>")
    nvim.until_lua("vim.fn.mode() == 'n'")
    assert nvim.lua("return vim.fn.getbufline('notes.txt', 1)") == ["ay" * (typed + 1)]
    assert nvim.lua("return #require('agentls').asks()") == 1


def test_rejecting_with_a_reason_tells_the_agent(nvim: Nvim) -> None:
    nvim.lua("vim.ui.input = function(options, done) done('use printf instead') end")
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    open_float(nvim)
    nvim.keys("w")
    nvim.until(lambda: "use printf instead" in chat_text(nvim), "the reason in the chat")


def test_always_is_remembered_and_listed(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    text = open_float(nvim)
    assert " 1  Always allow `echo hi`" in text or " 1  Always allow `echo`" in text
    nvim.keys("1")
    ended(nvim)
    nvim.command("Agent rules")
    nvim.until_lua("vim.bo.buftype == 'quickfix'")
    assert nvim.lua("return vim.fn.getqflist()[1].text").startswith("allow echo")


def test_several_asks_are_chosen_from_a_list(nvim: Nvim) -> None:
    for _ in range(2):
        nvim.lua(
            "require('agentls').new({}, function(s)"
            " require('agentls').send('/run echo ' .. s.id, { session = s.id }) end)"
        )
    asked(nvim, 2)
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('2 asks are waiting') end)")
    nvim.lua(
        """
        vim.ui.select = function(items, options, done)
          _G.offered = vim.tbl_map(options.format_item, items)
          done(items[2])
        end
        """
    )
    nvim.command("stopinsert")
    nvim.command("Agent asks")
    second = nvim.lua("return require('agentls').asks()[2].session")
    assert nvim.lua("return offered[2]") == f"demo: echo {second}"
    nvim.until_lua("require('agentls.asks.float').is_armed()")
    assert f" echo {second}" in nvim.request("nvim_buf_get_lines", 0, 0, -1, False)


def test_code_actions_answer_at_the_place(desk: Desk, greeting: Path) -> None:
    nvim = desk.nvim()
    nvim.command("edit greeting.txt")
    ask_for_an_edit(nvim)
    nvim.until_lua("#vim.diagnostic.get(0) == 1")
    assert nvim.lua("return vim.diagnostic.get(0)[1].lnum") == 2
    nvim.lua(
        """
        vim.ui.select = function(items, options, done)
          for _, item in ipairs(items) do
            if (item.action or item[2]).title:find("Allow") then return done(item) end
          end
        end
        vim.api.nvim_win_set_cursor(0, { 3, 0 })
        vim.lsp.buf.code_action()
        """
    )
    ended(nvim)
    assert "goodbye" in greeting.read_text()


def test_an_ask_answered_elsewhere_closes_the_float(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    open_float(nvim)
    nvim.lua(
        "require('agentls').decide({ askId = require('agentls').asks()[1].id, verdict = 'reject' })"
    )
    nvim.until_lua("not require('agentls.asks.float').is_open()")
    assert nvim.lua("return vim.bo.filetype") != "agentls-ask"


def test_closing_the_float_decides_nothing(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send('/run echo hi')")
    asked(nvim)
    open_float(nvim)
    nvim.keys("q")
    nvim.until_lua("not require('agentls.asks.float').is_open()")
    assert nvim.lua("return #require('agentls').asks()") == 1
    nvim.command("Agent reject not now")
    nvim.until(lambda: "not now" in chat_text(nvim), "the reason in the chat")


def test_a_notice_never_asks_for_enter(desk: Desk) -> None:
    nvim = desk.nvim()
    width = nvim.lua("return vim.o.columns")
    nvim.lua("require('agentls').send(...)", "/run echo " + "long " * 200)
    asked(nvim)
    nvim.until_lua("#said > 0")
    assert nvim.lua("return vim.fn.strdisplaywidth(said[1])") < width
    assert not nvim.request("nvim_get_mode")["blocking"]


def test_allow_without_a_name_means_no_ask_that_has_only_just_come(nvim: Nvim) -> None:
    nvim.lua(
        """
        vim.api.nvim_create_autocmd("User", { pattern = "AgentlsAsk", command = "Agent allow" })
        require("agentls").send("/run echo hi")
        """
    )
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('only just come') end)")
    assert nvim.lua("return #require('agentls').asks()") == 1

    def allowed() -> bool:
        nvim.command("Agent allow")
        return bool(nvim.lua("return #require('agentls').asks() == 0"))

    nvim.until(allowed, "the ask is old enough")
    ended(nvim)


def test_a_long_command_says_that_there_is_more_of_it(nvim: Nvim) -> None:
    nvim.lua("require('agentls').send(...)", "/run echo " + "\n" * 60 + " ; echo end")
    asked(nvim)
    nvim.command("Agent asks")
    nvim.until_lua("vim.bo.filetype == 'agentls-ask'")
    assert "more below" in str(nvim.lua("return vim.api.nvim_win_get_config(0).footer"))


def test_what_would_be_written_is_edited_first(desk: Desk, greeting: Path) -> None:
    nvim = desk.nvim(settings={"agent": "demo", "review": "before"})
    ask_for_an_edit(nvim)
    assert " e  Edit it first…" in open_float(nvim).splitlines()
    nvim.keys("e")
    nvim.until_lua("vim.wo.diff and vim.fn.tabpagenr('$') == 2")
    assert nvim.request("nvim_buf_get_lines", 0, 0, -1, False) == ["one", "two", "goodbye", "four"]
    assert greeting.read_text() == "one\ntwo\nhello\nfour\n", "nothing is written yet"
    nvim.keys("3GAs<C-s>")
    ended(nvim)
    nvim.until_lua("vim.fn.tabpagenr('$') == 1")
    nvim.until(lambda: greeting.read_text() == "one\ntwo\ngoodbyes\nfour\n", "the edited text")


def test_an_edited_proposal_can_be_decided_later(desk: Desk, greeting: Path) -> None:
    nvim = desk.nvim(settings={"agent": "demo", "review": "before"})
    ask_for_an_edit(nvim)
    open_float(nvim)
    nvim.keys("e")
    nvim.until_lua("vim.wo.diff and vim.fn.tabpagenr('$') == 2")
    nvim.keys("q")
    nvim.until_lua("vim.fn.tabpagenr('$') == 1")
    assert nvim.lua("return #require('agentls').asks()") == 1
    open_float(nvim)
    nvim.keys("r")
    ended(nvim)
    assert greeting.read_text() == "one\ntwo\nhello\nfour\n"
