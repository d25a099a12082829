"""A prompt carries what the person points at, and the words for it are completed."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from .conftest import Desk, allow, chat_text
from .nvim import Nvim


def resolved(nvim: Nvim, text: str) -> list[dict[str, Any]]:
    nvim.lua(
        "_G.blocks = nil; require('agentls.context').resolve(..., function(b) _G.blocks = b end)",
        text,
    )
    return list(nvim.until_lua("blocks and { blocks }")[0])


def in_git(desk: Desk) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(
            ["git", *who, *words], cwd=desk.workspace, env=desk.environment(), check=True
        )


def test_a_range_carries_its_file_lines_and_text(desk: Desk) -> None:
    path = desk.write("code.py", "one\ntwo\nthree\nfour\n")
    nvim = desk.nvim()
    nvim.command("edit code.py")
    nvim.lua(
        """
        local chat = require("agentls.chat")
        local send = chat.send
        chat.send = function(id, text, blocks)
          _G.carried = { text, blocks }
          send(id, text, blocks)
        end
        """
    )
    nvim.command("2,3Agent send fix this")
    nvim.until(lambda: "You attached `code.py#L2-L3`" in chat_text(nvim), "the agent got it")
    text, (block,) = nvim.lua("return carried")
    assert text == "fix this"
    assert block["uri"] == f"{path.as_uri()}#L2-L3"
    assert block["text"] == "two\nthree"


def test_files_are_links(desk: Desk) -> None:
    path = desk.write("code.py", "x\n")
    nvim = desk.nvim()
    nvim.command("edit code.py")
    (block,) = resolved(nvim, "explain @code.py, please; not @nothing.py or a@b.c")
    assert block == {"kind": "link", "uri": path.as_uri(), "name": "code.py"}


def test_the_selection_the_diagnostics_and_the_diff_are_texts(desk: Desk) -> None:
    desk.write("code.py", "one\ntwo\nthree\n")
    in_git(desk)
    desk.write("code.py", "one\nTWO\nthree\n")
    nvim = desk.nvim()
    nvim.command("edit code.py")
    nvim.keys("jVj<Esc>")
    nvim.until_lua("vim.fn.mode() == 'n' and vim.fn.line(\"'>\") == 3")
    nvim.lua(
        "vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0,"
        " { { lnum = 1, col = 0, message = 'too loud', severity = 2 } })"
    )
    selection, diagnostics, diff = resolved(nvim, "@selection @diagnostics @diff")
    assert selection["text"] == "TWO\nthree"
    assert diagnostics["text"] == "2:1: warning: too loud"
    assert "+TWO" in diff["text"]


def test_what_stands_for_nothing_stays_a_word(nvim: Nvim) -> None:
    assert resolved(nvim, "@selection @diagnostics @diff @symbol:Foo") == []


def completed(nvim: Nvim, text: str) -> list[str]:
    """What is offered after this text in a prompt."""
    nvim.lua(
        """
        _G.items = nil
        local buf = vim.fn.bufnr("agentls://" .. require("agentls").sessions()[1].id .. "/prompt")
        vim.api.nvim_buf_set_lines(buf, 0, -1, false, { ... })
        local params = {
          textDocument = { uri = vim.uri_from_bufnr(buf) },
          position = { line = 0, character = vim.fn.strutf16len(...) },
        }
        vim.lsp.buf_request(buf, "textDocument/completion", params, function(_, result)
          _G.items = vim.tbl_map(function(i) return i.label end, result.items)
        end)
        """,
        text,
    )
    return list(nvim.until_lua("items and { items }")[0])


@pytest.fixture
def prompt(desk: Desk) -> Nvim:
    desk.write("main.py", "x\n")
    desk.write("other.txt", "x\n")
    nvim = desk.nvim()
    nvim.command("edit main.py")
    nvim.command("Agent new")
    nvim.until_lua("require('agentls').sessions()[1] and require('agentls').sessions()[1].commands")
    return nvim


def test_slash_commands_files_and_other_words_are_completed(prompt: Nvim) -> None:
    assert {"/tour", "/help"} <= set(completed(prompt, "/"))
    assert completed(prompt, "/ru") == ["/run"]
    assert completed(prompt, "say /ru") == []
    assert completed(prompt, "é look at @mai") == ["@main.py"]
    assert {"@selection", "@diagnostics", "@diff", "@main.py"} <= set(completed(prompt, "@"))
    assert completed(prompt, "mail me a@mai") == []


def test_completion_replaces_the_word_that_is_there(prompt: Nvim) -> None:
    prompt.until_lua("vim.fn.mode() == 'i'")
    prompt.keys("look at @mai")
    prompt.keys("<C-x><C-o>")
    # Neovim inserts the first, or offers it in a menu, by 'completeopt'.
    prompt.until_lua(
        "vim.fn.pumvisible() == 1 or vim.api.nvim_get_current_line() == 'look at @main.py'"
    )
    if prompt.lua("return vim.fn.pumvisible() == 1"):
        prompt.keys("<C-n>" if prompt.lua("return vim.fn.complete_info().selected < 0") else "")
        prompt.keys("<C-y>")
    prompt.until_lua("vim.api.nvim_get_current_line() == 'look at @main.py'")


def test_modes_and_models_are_set_and_shown(nvim: Nvim) -> None:
    nvim.command("Agent new")
    nvim.until_lua("#((require('agentls').sessions()[1] or {}).modes or {}) > 1")
    mode = nvim.lua("return require('agentls').sessions()[1].modes[2].id")
    nvim.command("stopinsert")
    nvim.command(f"Agent mode {mode}")
    nvim.until_lua("require('agentls').sessions()[1].mode == ...", mode)
    nvim.command("Agent policy read_only")
    nvim.until_lua("require('agentls').sessions()[1].policy == 'read_only'")
    nvim.command("Agent mode dance")
    nvim.until_lua("vim.iter(said):any(function(s) return s:find('There is no mode') end)")


def test_follow_shows_the_file_the_agent_works_on(desk: Desk) -> None:
    desk.write("a.txt", "mine\n")
    desk.write("b.txt", "one\ntwo\nhello\n")
    nvim = desk.nvim(follow=True)
    nvim.command("edit a.txt")
    nvim.command("Agent new")
    nvim.until_lua("vim.bo.filetype == 'agentls-prompt'")
    nvim.lua("require('agentls').send('/edit b.txt hello goodbye')")
    nvim.until_lua("#require('agentls').asks() == 1")
    allow(nvim)
    nvim.until_lua("vim.fn.bufwinid('b.txt') ~= -1")
    assert nvim.lua("return vim.bo.filetype") == "agentls-prompt", "the person stays in the prompt"
