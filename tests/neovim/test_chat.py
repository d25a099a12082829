"""A chat shows what the agent says as it comes, and moves nothing that a person put somewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Desk, allow, chat_text
from .nvim import Nvim

FLOOD = Path(__file__).parents[2] / "bench" / "neovim_agent.py"
CHAT = """
local chat
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buf].filetype == "agentls" then chat = buf end
end
local win = chat and vim.fn.win_findbuf(chat)[1]
"""
IDLE = "require('agentls').sessions()[1] and require('agentls').sessions()[1].state == 'idle'"


def said(nvim: Nvim, text: str) -> None:
    nvim.until(lambda: text in chat_text(nvim), f"{text!r} in the chat")


def in_chat(nvim: Nvim, code: str, *args: Any) -> Any:
    """Run Lua with `chat` (the buffer) and `win` (its window)."""
    return nvim.lua(CHAT + code, *args)


def turn(nvim: Nvim, prompt: str) -> None:
    """Send a prompt and wait for the end of its turn."""
    before = nvim.lua(
        "return #vim.tbl_filter(function(e) return e == 'AgentlsTurnEnd' end, happened)"
    )
    nvim.lua("require('agentls').send(...)", prompt)
    nvim.until_lua(
        "#vim.tbl_filter(function(e) return e == 'AgentlsTurnEnd' end, happened) > ...", before
    )


def test_a_conversation_is_markdown_with_headings(nvim: Nvim) -> None:
    turn(nvim, "/say 3")
    turn(nvim, "/think")
    assert chat_text(nvim).splitlines() == [
        "## You",
        "",
        "/say 3",
        "",
        "## demo",
        "",
        "word1 word2 word3",
        "",
        "## You",
        "",
        "/think",
        "",
        "## demo",
        "",
        "… Thinking",
        "┆ You asked me to think. I have no model to think with, so this is all.",
        "╰",
        "",
        "I have thought about it.",
    ]


def test_the_chat_cannot_be_changed_by_hand(nvim: Nvim) -> None:
    turn(nvim, "/say 1")
    assert in_chat(nvim, "return vim.bo[chat].modifiable") is False


def test_a_cursor_on_the_last_line_follows_and_any_other_stays(nvim: Nvim) -> None:
    turn(nvim, "/say 2")
    last = "vim.api.nvim_win_get_cursor(win)[1] == vim.api.nvim_buf_line_count(chat)"
    assert in_chat(nvim, f"return {last}")
    in_chat(nvim, "vim.api.nvim_win_set_cursor(win, { 3, 2 })")
    turn(nvim, "/help")
    assert in_chat(nvim, "return vim.api.nvim_win_get_cursor(win)") == [3, 2]
    in_chat(nvim, "vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(chat), 0 })")
    turn(nvim, "/help")
    assert in_chat(nvim, f"return {last}")


def test_sending_from_a_file_leaves_the_person_there(desk: Desk) -> None:
    desk.write("a.txt", "one\n")
    nvim = desk.nvim()
    nvim.command("edit a.txt")
    nvim.command("Agent send /say 2")
    said(nvim, "word2")
    assert nvim.lua("return vim.fn.expand('%')") == "a.txt"
    assert nvim.request("nvim_get_mode")["mode"] == "n"


def test_a_new_session_leaves_who_goes_on_typing_where_they_are(desk: Desk) -> None:
    desk.write("a.txt", "one\n")
    nvim = desk.nvim()
    nvim.command("edit a.txt")
    nvim.command("Agent new")
    nvim.keys("ihello")
    nvim.until_lua("#vim.api.nvim_list_wins() == 3")
    nvim.keys(" world<Esc>")
    nvim.until_lua("vim.fn.mode() == 'n'")
    assert nvim.lua("return vim.fn.getbufline(vim.fn.bufnr('a.txt'), 1, '$')") == ["hello worldone"]


def test_a_new_session_puts_a_waiting_person_into_the_prompt(nvim: Nvim) -> None:
    nvim.command("Agent new")
    nvim.until_lua("vim.bo.filetype == 'agentls-prompt' and vim.fn.mode() == 'i'")
    nvim.until_lua(IDLE)
    nvim.keys("/say 4<C-s>")
    said(nvim, "word4")
    assert nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)") == [""]


def test_tool_calls_are_one_line_that_folds_open_while_somebody_types(desk: Desk) -> None:
    desk.write("greeting.txt", "one\nhello\nthree\n")
    nvim = desk.nvim()
    nvim.command("Agent new")
    nvim.until_lua("vim.fn.mode() == 'i'")
    nvim.keys("typing")  # in the prompt: Neovim looks at no fold expression meanwhile
    nvim.lua("require('agentls').send('/edit greeting.txt hello goodbye')")
    nvim.until_lua("#require('agentls').asks() == 1")
    head = "vim.fn.search('Edit greeting.txt', 'nw')"
    closed = in_chat(
        nvim,
        f"return vim.api.nvim_win_call(win, function() local l = {head};"
        " return { vim.fn.foldclosed(l), vim.fn.foldclosedend(l), l, vim.fn.getline(l) } end)",
    )
    assert closed[0] == closed[2]
    assert closed[1] > closed[0] + 3
    assert closed[3] == "○ Edit greeting.txt (+1 -1)"
    in_chat(nvim, f"vim.api.nvim_win_call(win, function() vim.cmd({head} .. 'foldopen') end)")
    allow(nvim)
    said(nvim, "Changed line 2")
    opened = in_chat(
        nvim,
        f"return vim.api.nvim_win_call(win, function() local l = {head};"
        " return { vim.fn.foldclosed(l), vim.fn.foldlevel(l), vim.fn.getline(l) } end)",
    )
    assert opened == [-1, 1, "✓ Edit greeting.txt (+1 -1)"], "it stays open when the call goes on"
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "typing"
    text = chat_text(nvim)
    assert "┃ -hello\n┃ +goodbye" in text


def test_folds_are_there_in_every_window_that_shows_the_chat(desk: Desk) -> None:
    desk.write("greeting.txt", "hello\n")
    nvim = desk.nvim()
    turn(nvim, "/think")
    nvim.command("tabnew")
    in_chat(nvim, "vim.api.nvim_win_set_buf(0, chat)")
    line = nvim.lua("return vim.fn.search('Thinking', 'nw')")
    assert nvim.lua("return vim.fn.foldclosed(...)", line) == line


def test_stopping_ends_the_turn_and_gives_queued_prompts_back(nvim: Nvim) -> None:
    nvim.command("Agent send /slow 1000")
    said(nvim, "word2")
    nvim.lua("require('agentls').send('and then this')")
    nvim.until_lua("#(require('agentls').sessions()[1].queue or {}) == 1")
    nvim.command("Agent stop")
    said(nvim, "> Stopped.")
    prompt = "vim.fn.bufnr('agentls://' .. require('agentls').sessions()[1].id .. '/prompt')"
    nvim.until_lua(f"vim.fn.getbufline({prompt}, 1)[1] == 'and then this'")


def test_the_bar_says_what_the_session_does(nvim: Nvim) -> None:
    nvim.command("Agent send /slow 1000")
    said(nvim, "word2")
    assert "working" in in_chat(nvim, "return vim.wo[win].winbar")
    nvim.command("Agent stop")
    nvim.until(lambda: "ready" in in_chat(nvim, "return vim.wo[win].winbar"), "ready in the bar")


def test_errors_of_the_agent_are_a_sentence_in_the_chat(nvim: Nvim) -> None:
    turn(nvim, "/fail")
    assert "> **Error** " in chat_text(nvim)
    turn(nvim, "/say 2")
    assert "word2" in chat_text(nvim)


def test_a_dead_agent_is_told_and_the_next_prompt_goes_on(nvim: Nvim) -> None:
    turn(nvim, "/crash")
    assert "exit code 3" in chat_text(nvim)
    nvim.lua("require('agentls').send('Are you there?')")
    said(nvim, "I am the **demo agent**")


def test_several_chats_share_the_window_and_keep_their_drafts(nvim: Nvim) -> None:
    nvim.command("Agent new")
    nvim.until_lua("vim.fn.mode() == 'i'")
    nvim.keys("first draft<Esc>")
    nvim.until_lua("vim.fn.mode() == 'n'")
    nvim.command("Agent new")
    nvim.until_lua("#require('agentls').sessions() == 2 and vim.fn.mode() == 'i'")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == ""
    assert nvim.lua("return #vim.api.nvim_list_wins()") == 3
    nvim.command("stopinsert")
    nvim.lua("vim.ui.select = function(items, options, done) _G.shown = #items; done(items[2]) end")
    nvim.command("Agent sessions")
    nvim.until_lua("vim.api.nvim_get_current_line() == 'first draft'")
    assert nvim.lua("return shown") == 2


def test_the_chat_command_closes_and_opens_the_same_chat(nvim: Nvim) -> None:
    turn(nvim, "/say 2")
    nvim.command("Agent chat")
    assert nvim.lua("return #vim.api.nvim_list_wins()") == 1
    turn(nvim, "/say 3")
    nvim.command("Agent chat")
    assert "word3" in in_chat(
        nvim,
        "return table.concat(vim.fn.getbufline(vim.api.nvim_win_get_buf(win), 1, '$'))",
    )


def test_closing_the_chats_window_closes_the_prompt_too(nvim: Nvim) -> None:
    turn(nvim, "/say 2")
    in_chat(nvim, "vim.api.nvim_win_close(win, false)")
    nvim.until_lua("#vim.api.nvim_list_wins() == 1")
    nvim.command("Agent chat")
    assert nvim.lua("return #vim.api.nvim_list_wins()") == 3


@pytest.mark.parametrize("command", ["bdelete!", "bwipeout!"])
@pytest.mark.parametrize("which", ["agentls", "agentls-prompt"])
def test_a_chat_whose_buffer_was_deleted_can_be_opened_again(
    nvim: Nvim, command: str, which: str
) -> None:
    turn(nvim, "/say 2")
    nvim.lua(
        """
        local command, which = ...
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[buf].filetype == which then vim.cmd(buf .. command) end
        end
        """,
        command,
        which,
    )
    nvim.until(lambda: chat_text(nvim) == "", "the chat is gone")
    turn(nvim, "/say 3")
    nvim.until(lambda: "word3" in chat_text(nvim), "the chat is there again")
    assert chat_text(nvim).count("word2") == 2
    assert nvim.lua("return vim.fn.execute('messages')").strip() == ""


def test_line_ends_of_all_kinds_are_understood(nvim: Nvim) -> None:
    lines = nvim.lua(
        """
        local render = require("agentls.chat.render")
        return { render.split("a\\r\\nb\\r"), render.printed("10%\\r50%\\r100%\\r\\nend") }
        """.replace("\\\\", "\\")
    )
    assert lines == [["a", "b"], ["100%", "end"]]


def test_prompts_can_be_recalled(nvim: Nvim) -> None:
    nvim.command("Agent new")
    nvim.until_lua("vim.fn.mode() == 'i'")
    nvim.until_lua(IDLE)
    for text in ("/say 1", "/say 2"):
        nvim.keys(f"{text}<C-s>")
        nvim.until_lua("vim.api.nvim_get_current_line() == ''")
    nvim.keys("draft<Up>")
    nvim.until_lua("vim.api.nvim_get_current_line() == '/say 2'")
    nvim.keys("<Up>")
    nvim.until_lua("vim.api.nvim_get_current_line() == '/say 1'")
    nvim.keys("<Down><Down>")
    nvim.until_lua("vim.api.nvim_get_current_line() == 'draft'")


def test_code_blocks_are_known_whatever_pieces_they_come_in(desk: Desk) -> None:
    nvim = desk.nvim()
    text = "Look:\n\n```lua\nlocal x = 1 -- *not* emphasis\n```\n\nand *this* is.\n"
    rows = nvim.lua(
        """
        local text = ...
        local Transcript = require("agentls.chat.transcript")
        local fences = require("agentls.chat.fences")
        local all = {}
        for size = 1, #text do
          local buf = vim.api.nvim_create_buf(false, true)
          local it = Transcript.new(buf)
          local entry = { kind = "message", id = "e1", at = 1, turn = 1, role = "agent", text = "" }
          it:apply({ { type = "entry", entry = entry } })
          for at = 1, #text, size do
            it:apply({ { type = "text", entryId = "e1", text = text:sub(at, at + size - 1) } })
          end
          local rows = vim.tbl_keys(fences.rows(buf, 0, 50))
          table.sort(rows)
          local lines = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n")
          all[table.concat(rows, ",") .. "|" .. lines] = true
        end
        return vim.tbl_keys(all)
        """,
        text,
    )
    assert rows == ["4,5,6|## \n\n" + text]


def test_a_gap_in_the_batches_is_filled_from_a_snapshot(nvim: Nvim) -> None:
    turn(nvim, "/say 5")
    nvim.lua(
        """
        local sessions = require("agentls.sessions")
        local session = sessions.list()[1]
        sessions.receive({ sessionId = session.id, seq = session.seq + 7, changes = {} })
        """
    )
    turn(nvim, "/say 6")
    text = chat_text(nvim)
    assert text.count("word5") == 2
    assert text.count("word6") == 1


@pytest.mark.parametrize("editor", ["new"], indirect=True)
def test_random_changes_give_the_same_as_writing_it_all_at_once(desk: Desk) -> None:
    nvim = desk.nvim()
    different = nvim.lua(
        """
        math.randomseed(7)
        local Transcript = require("agentls.chat.transcript")
        local render = require("agentls.chat.render")
        local different = {}
        local function call(id, n)
          local lines = {}
          for i = 1, n do lines[i] = ("line %d %d"):format(i, math.random(3)) end
          local text = table.concat(lines, "\\n")
          local body = { text = text, size = #text }
          local content = n > 0 and { { type = "text", body = body } } or {}
          return { kind = "tool_call", id = id, at = 1, turn = 1, callId = id, tool = "read",
            title = id .. math.random(9), status = "completed", content = content }
        end
        for round = 1, 60 do
          local one = vim.api.nvim_create_buf(false, true)
          local other = vim.api.nvim_create_buf(false, true)
          local it = Transcript.new(one)
          local order, last = {}, {}
          for step = 1, 40 do
            local kind = math.random(4)
            if kind == 1 or #order == 0 then
              local id = "e" .. (#order + 1)
              local role = math.random(3) == 1 and "thought" or "agent"
              local entry = math.random(2) == 1 and call(id, math.random(0, 4))
                or { kind = "message", id = id, at = 1, turn = 1, role = role, text = "a" }
              table.insert(order, id)
              last[id] = vim.deepcopy(entry)
              it:apply({ { type = "entry", entry = entry } })
            else
              local id = order[math.random(#order)]
              if last[id].kind == "message" then
                local more = ({ "x", "\\ny", " z\\n- w", "é" })[math.random(4)]
                last[id].text = last[id].text .. more
                it:apply({ { type = "text", entryId = id, text = more } })
              else
                last[id] = call(id, math.random(0, 6))
                it:apply({ { type = "entry", entry = vim.deepcopy(last[id]) } })
              end
            end
          end
          local again = Transcript.new(other)
          for _, id in ipairs(order) do again:apply({ { type = "entry", entry = last[id] } }) end
          local a = table.concat(vim.api.nvim_buf_get_lines(one, 0, -1, false), "\\n")
          local b = table.concat(vim.api.nvim_buf_get_lines(other, 0, -1, false), "\\n")
          -- Blank lines at the end of a message are left out only when something follows.
          if a:gsub("\\n\\n+", "\\n\\n") ~= b:gsub("\\n\\n+", "\\n\\n") then
            table.insert(different, a .. "\\n=====\\n" .. b)
          end
        end
        return different
        """
    )
    assert different == []


def test_big_outputs_stay_out_of_the_chat_and_open_on_demand(desk: Desk) -> None:
    desk.bench.add_agent("flood", [sys.executable, str(FLOOD)])
    nvim = desk.nvim(settings={"agent": "flood"})
    turn(nvim, '{"lines": 5000}')
    assert in_chat(nvim, "return vim.api.nvim_buf_line_count(chat)") < 80
    in_chat(nvim, "vim.api.nvim_set_current_win(win); vim.fn.search('a long output', 'w')")
    nvim.keys("<CR>")
    nvim.until_lua("vim.b.agentls_complete")
    lines = nvim.request("nvim_buf_get_lines", 0, 0, -1, False)
    assert [line.split()[0] for line in lines if line] == [f"l{n}" for n in range(1, 5001)]
    nvim.keys("q")
    nvim.until_lua("vim.bo.filetype == 'agentls'")
