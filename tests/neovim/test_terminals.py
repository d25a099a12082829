"""An agent's command is a terminal in Neovim: attached to the server's, or run by Neovim itself."""

from __future__ import annotations

import pytest

from .conftest import Desk, allow, chat_text
from .nvim import Nvim


def run(nvim: Nvim, command: str) -> None:
    nvim.lua("require('agentls').send(...)", f"/run {command}")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    nvim.until_lua("#require('agentls.terminals').list() > 0")


def show(nvim: Nvim) -> None:
    """Choose the newest terminal from the list."""
    nvim.lua(
        "vim.ui.select = function(items, options, done)"
        " _G.offered = vim.tbl_map(options.format_item, items); done(items[1]) end"
    )
    nvim.command("Agent terminals")
    nvim.until_lua("vim.bo.filetype == 'agentls-terminal'")


def screen(nvim: Nvim) -> str:
    return "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))


def ended(nvim: Nvim) -> None:
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsTurnEnd')")


@pytest.fixture(params=["view", "run"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_command_is_live_and_can_be_typed_into(desk: Desk, kind: str) -> None:
    nvim = desk.nvim(terminals=kind)
    run(nvim, "sh -c 'printf ready; read x; echo got $x'")
    show(nvim)
    assert nvim.lua("return offered[1]").endswith("(running)")
    nvim.until(lambda: "ready" in screen(nvim), "the output")
    nvim.keys("ihellö<CR>")
    nvim.until(lambda: "got hellö" in screen(nvim), "the answer")
    ended(nvim)
    assert "exit code 0" in chat_text(nvim)


def test_a_command_can_be_ended(desk: Desk, kind: str) -> None:
    nvim = desk.nvim(terminals=kind)
    run(nvim, "sleep 100")
    nvim.lua("require('agentls.terminals').kill(require('agentls.terminals').list()[1])")
    ended(nvim)
    assert nvim.lua("return require('agentls.terminals').list()[1].running") is False


def test_the_end_of_the_turn_ends_its_commands(desk: Desk, kind: str) -> None:
    nvim = desk.nvim(terminals=kind)
    run(nvim, "sleep 100")
    nvim.command("Agent stop")
    ended(nvim)
    nvim.until(
        lambda: not [c for c in desk.bench.processes().values() if c.startswith("sleep 100")],
        "the command has ended",
    )


def test_a_terminal_can_be_opened_when_it_is_over(desk: Desk) -> None:
    nvim = desk.nvim()
    run(nvim, "seq 1 300")
    ended(nvim)
    show(nvim)
    nvim.until(lambda: "300" in screen(nvim).splitlines(), "the end of the output")
    assert "1" in screen(nvim).splitlines()
    nvim.until(lambda: "[exit 0]" in screen(nvim), "how it ended")


def test_the_size_of_the_window_reaches_the_command(desk: Desk) -> None:
    nvim = desk.nvim()
    run(nvim, "sh -c 'read x; stty size'")
    show(nvim)
    size = nvim.lua("return vim.api.nvim_win_get_height(0) .. ' ' .. vim.api.nvim_win_get_width(0)")
    nvim.keys("i<CR>")
    nvim.until(lambda: size in screen(nvim), f"the size {size}")


def test_the_line_of_the_tool_call_opens_the_terminal(desk: Desk) -> None:
    nvim = desk.nvim()
    run(nvim, "sh -c 'echo here; read x'")
    nvim.until(lambda: "◐" in chat_text(nvim), "a running tool call")
    nvim.lua(
        """
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "agentls" then
            vim.api.nvim_set_current_win(win)
          end
        end
        vim.fn.search("^◐", "w")
        """
    )
    nvim.keys("<CR>")
    nvim.until_lua("vim.bo.filetype == 'agentls-terminal'")
    nvim.until(lambda: "here" in screen(nvim), "the output")


def test_a_command_that_cannot_be_run_says_so(desk: Desk, kind: str) -> None:
    nvim = desk.nvim(terminals=kind)
    nvim.lua("require('agentls').send('/run /nowhere/program')")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    ended(nvim)
    assert "/nowhere/program" in chat_text(nvim).rpartition("## demo")[2]


def test_characters_are_sent_whole_however_they_are_cut(desk: Desk) -> None:
    nvim = desk.nvim()
    wrong = nvim.lua(
        """
        local run = require("agentls.terminals.run")
        local text = "aé…😀z\\255"
        local wrong = {}
        for cut = 0, #text do
          local rest, out = "", ""
          for _, piece in ipairs({ text:sub(1, cut), text:sub(cut + 1) }) do
            local whole
            whole, rest = run.whole(rest .. piece)
            if cut < #text - 1 and vim.fn.iconv(whole, "utf-8", "utf-8") ~= whole
              and not whole:find("\\255") then table.insert(wrong, cut) end
            out = out .. whole
          end
          if out .. rest ~= text then table.insert(wrong, -cut) end
        end
        return wrong
        """
    )
    assert wrong == []


def test_a_command_ended_at_once_takes_only_itself(desk: Desk) -> None:
    """A signal to a process that has only just been forked must not reach Neovim."""
    nvim = desk.nvim(terminals="run")
    for number in range(40):
        named = {"sessionId": "s", "terminalId": str(number)}
        command = {"argv": ["sleep", "100"], "cwd": str(desk.workspace), "env": {}, "title": ""}
        nvim.lua(
            "local run = require('agentls.terminals.run'); run.run(...); run.kill(...)",
            {**named, **command},
        )
    nvim.until(
        lambda: not [c for c in desk.bench.processes().values() if c.startswith("sleep 100")],
        "all of them have ended",
    )
    assert nvim.lua("return 1") == 1
