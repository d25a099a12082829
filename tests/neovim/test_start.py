"""The plugin starts by itself, says what is wrong, and survives the end of the server."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from .conftest import SERVER, Desk, allow, chat_text
from .nvim import Nvim


def server_pid(desk: Desk) -> int:
    # The oldest: what it starts looks like itself for a moment.
    processes = desk.bench.processes()
    return min(pid for pid, line in processes.items() if line.rstrip().endswith("-m agentls"))


def test_nothing_runs_before_the_first_command(desk: Desk) -> None:
    nvim = desk.nvim()
    assert nvim.lua("return vim.fn.exists(':Agent')") == 2
    loaded = nvim.lua(
        "return vim.tbl_filter(function(n) return n:find('^agentls') end,"
        " vim.tbl_keys(package.loaded))"
    )
    assert loaded == []
    assert len(desk.bench.processes()) == 1  # Neovim


def test_a_session_starts_without_setup_and_files_are_attached(desk: Desk) -> None:
    desk.write("a.txt", "one\n")
    nvim = desk.nvim()
    nvim.command("edit a.txt")
    nvim.command("Agent new")
    nvim.until_lua(
        "require('agentls').sessions()[1] and require('agentls').sessions()[1].state == 'idle'"
    )
    attached = "#vim.lsp.get_clients({ name = 'agentls', bufnr = vim.fn.bufnr('a.txt') })"
    assert nvim.lua(f"return {attached}") == 1
    nvim.command("stopinsert")
    nvim.command("split b.txt")
    assert nvim.lua("return #vim.lsp.get_clients({ name = 'agentls', bufnr = 0 })") == 1


def test_unknown_and_wrong_settings_are_named(desk: Desk) -> None:
    nvim = desk.nvim(chat={"width": "wide", "wdith": 3}, settings={"agnet": "demo"}, colour="red")
    problems = nvim.lua("return require('agentls.config').problems()")
    assert sorted(problems) == [
        "agentls.chat.wdith is not known.",
        "agentls.chat.width must be a number, not a string.",
        "agentls.colour is not known.",
        "agentls.settings.agnet is not known.",
    ]
    assert nvim.lua("return require('agentls.config').get().chat.width") == 0.4
    nvim.until_lua("#said > 0")


def test_setup_is_the_same_as_the_variable(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.lua("require('agentls').setup({ follow = true })")
    assert nvim.lua("return require('agentls.config').get().follow") is True


def test_a_missing_server_is_a_sentence_with_what_to_do(desk: Desk) -> None:
    nvim = desk.nvim(cmd=["/nowhere/agentls"])
    nvim.command("Agent new")
    nvim.until_lua("#said > 0")
    assert "was not found" in nvim.lua("return said[1]")
    nvim.command("checkhealth agentls")
    text = "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))
    assert "was not found" in text
    assert "uv tool install agentls" in text


def test_checkhealth_is_content_with_a_good_setup(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent new")
    nvim.until_lua("#require('agentls').sessions() > 0")
    nvim.command("stopinsert")
    nvim.command("checkhealth agentls")
    text = "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))
    assert "ERROR" not in text
    assert "WARNING" not in text
    assert "with 1 session." in text


def test_subcommands_and_their_arguments_are_completed(nvim: Nvim) -> None:
    names = nvim.lua("return vim.fn.getcompletion('Agent ', 'cmdline')")
    assert {"new", "chat", "send", "stop", "asks", "allow", "reject", "mode", "restart"} <= set(
        names
    )
    assert nvim.lua("return vim.fn.getcompletion('Agent rest', 'cmdline')") == [
        "restart",
        "restore",
    ]
    scopes = nvim.lua("return vim.fn.getcompletion('Agent undo ', 'cmdline')")
    assert scopes == ["hunk", "file", "turn", "session", "all"]
    nvim.command("Agent new")
    nvim.until_lua(
        "require('agentls').sessions()[1] and #(require('agentls').sessions()[1].modes or {}) > 0"
    )
    modes = nvim.lua("return vim.fn.getcompletion('Agent mode ', 'cmdline')")
    assert modes == nvim.lua(
        "return vim.tbl_map(function(m) return m.id end, require('agentls').sessions()[1].modes)"
    )
    nvim.lua("vim.fn.getcompletion('Agent new ', 'cmdline')")  # asks the server
    nvim.until_lua("vim.tbl_contains(vim.fn.getcompletion('Agent new d', 'cmdline'), 'demo')")


def test_an_unknown_subcommand_names_the_known_ones(nvim: Nvim) -> None:
    nvim.command("Agent dance")
    nvim.until_lua("#said > 0")
    assert "There is no :Agent dance" in nvim.lua("return said[1]")


def test_a_killed_server_hangs_nothing_and_the_next_command_starts_another(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent send /slow 500")
    nvim.until_lua("#require('agentls').sessions() > 0")
    nvim.until(lambda: "word3" in chat_text(nvim), "some words")
    os.kill(server_pid(desk), signal.SIGKILL)
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsDisconnected')")
    assert nvim.lua("return require('agentls').sessions()[1].state") == "closed"
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('server ended') end)")
    assert "word3" in chat_text(nvim), "what was said can still be read"
    nvim.command("Agent new")
    nvim.until_lua("require('agentls').sessions()[1].state == 'idle'")
    assert nvim.lua("return #require('agentls').sessions()") == 2


def test_restart_starts_another_server(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent new")
    nvim.until_lua("#require('agentls').sessions() > 0")
    before = server_pid(desk)
    nvim.command("Agent restart")
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('started again') end)")
    nvim.until(
        lambda: len(desk.bench.processes()) > 1 and server_pid(desk) != before, "another server"
    )


def test_quitting_in_the_middle_of_a_turn_leaves_nothing_behind(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.command("Agent send /slow 500")
    nvim.until(lambda: "word3" in chat_text(nvim), "some words")
    nvim.close()  # the fixture looks for processes that are left


def test_the_server_is_not_taken_from_the_folder_that_is_open(desk: Desk) -> None:
    folder = desk.workspace / ".venv" / "bin"
    folder.mkdir(parents=True)
    trap = folder / "agentls"
    trap.write_text("#!/bin/sh\ntouch trapped\n")
    trap.chmod(0o755)
    nvim = desk.nvim()
    nvim.lua("vim.g.agentls = {}; vim.env.PATH = '/usr/bin:/bin'; vim.env.VIRTUAL_ENV = nil")
    found = nvim.lua("local f = require('agentls.server').find(); return f and f.cmd[1] or ''")
    assert not found.startswith(str(desk.workspace))


def test_modules_in_the_folder_that_is_open_are_not_run(desk: Desk) -> None:
    trap = "import pathlib\npathlib.Path(__file__).with_name('trapped').touch()\n"
    for name in ("agentls", "pygls", "msgspec", "asyncio", "json", "sitecustomize"):
        desk.write(f"{name}.py", trap)
    script = Path(sys.executable).with_name("agentls")
    nvim = desk.nvim(cmd=None)
    nvim.lua("vim.env.PATH = ... .. ':' .. vim.env.PATH", str(script.parent))
    found = nvim.lua("return require('agentls.server').find().cmd")
    assert found == [str(script)]
    nvim.command("Agent send /run echo hi")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsTurnEnd')")
    assert not (desk.workspace / "trapped").exists()


@pytest.mark.parametrize("editor", ["new"], indirect=True)
def test_the_users_own_lsp_configuration_counts(desk: Desk) -> None:
    nvim = desk.nvim()
    nvim.lua("vim.lsp.config('agentls', { init_options = { askTimeout = 77 } })")
    nvim.command("Agent new")
    nvim.until_lua("#require('agentls').sessions() > 0")
    options = nvim.lua("return vim.lsp.get_clients({ name = 'agentls' })[1].config.init_options")
    assert options["askTimeout"] == 77
    assert SERVER[0] in nvim.lua("return vim.lsp.get_clients({ name = 'agentls' })[1].config.cmd")


@pytest.mark.parametrize("editor", ["new"], indirect=True)
def test_nothing_deprecated_is_called(desk: Desk) -> None:
    desk.write("a.txt", "hello\n")
    nvim = desk.nvim()
    nvim.command("edit a.txt")
    nvim.command("Agent send /edit a.txt hello goodbye")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    nvim.until_lua("vim.tbl_contains(happened, 'AgentlsTurnEnd')")
    nvim.command("checkhealth vim.deprecated")
    text = "\n".join(nvim.request("nvim_buf_get_lines", 0, 0, -1, False))
    assert "agentls" not in text.replace(str(desk.folder), "")
