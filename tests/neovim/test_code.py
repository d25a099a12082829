"""Agents hear what the other language servers of the editor know, through tools."""

from __future__ import annotations

import json
from typing import Any

from .conftest import Desk, chat_text
from .nvim import Nvim

LANGUAGE_SERVER = """
local at = function(line, from) return { start = { line = line, character = from },
  ["end"] = { line = line, character = from + 4 } } end
local uri = vim.uri_from_bufnr(0)
_G.asked = {}
local answers = {
  initialize = { capabilities = { definitionProvider = true, referencesProvider = true,
    documentSymbolProvider = true, workspaceSymbolProvider = true, positionEncoding = "utf-8" } },
  ["textDocument/definition"] = { uri = uri, range = at(0, 4) },
  ["textDocument/references"] = { { uri = uri, range = at(0, 4) },
    { uri = uri, range = at(3, 9) } },
  ["textDocument/documentSymbol"] = { { name = "Tea", kind = 5, range = at(0, 0),
    selectionRange = at(0, 4), children = { { name = "pour", kind = 6, range = at(1, 0),
    selectionRange = at(1, 6) } } } },
  ["workspace/symbol"] = { { name = "pour", kind = 12,
    location = { uri = uri, range = at(1, 6) } } },
}
vim.lsp.start({ name = "fake", root_dir = vim.fn.getcwd(), cmd = function()
  return {
    request = function(method, params, callback)
      _G.asked[method] = params
      vim.schedule(function() callback(nil, answers[method]) end)
      return true, 1
    end,
    notify = function() return true end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end })
vim.diagnostic.set(vim.api.nvim_create_namespace("fake"), 0, {
  { lnum = 3, col = 9, message = "no such tea", severity = 1, source = "fake", code = "E1" } })
"""


def play(nvim: Nvim, *steps: dict[str, Any]) -> list[str]:
    """What the tools answered the puppet."""
    nvim.lua("require('agentls').send(...)", json.dumps(steps))

    def answers() -> list[str]:
        lines = [line for line in chat_text(nvim).splitlines() if line.startswith('{"tool"')]
        return lines if len(lines) == len(steps) else []

    found = nvim.until(answers, "the answers of the tools")
    return [json.loads(line)["result"]["content"][0]["text"] for line in found]


def test_tools_ask_the_other_language_servers(desk: Desk) -> None:
    desk.bench.add_puppet()
    desk.write("tea.py", "def Tea():\n    def pour(): ...\n\n    'é𝄞' + Tea()\n")
    nvim = desk.nvim(settings={"agent": "puppet"})
    nvim.command("edit tea.py")
    nvim.lua(LANGUAGE_SERVER)
    nvim.until_lua("#vim.lsp.get_clients({ name = 'fake' }) == 1")
    place = {"path": "tea.py", "line": 4, "symbol": "Tea"}
    problems, definition, references, symbols, found = play(
        nvim,
        {"tool": "diagnostics", "args": {"wait": 0}},
        {"tool": "definition", "args": place},
        {"tool": "references", "args": place},
        {"tool": "document_symbols", "args": {"path": "tea.py"}},
        {"tool": "workspace_symbols", "args": {"query": "pour"}},
    )
    assert problems == "tea.py:4:10: error: no such tea [fake E1]"
    assert definition == "tea.py:1:5"
    assert references == "tea.py:1:5\ntea.py:4:10"
    assert symbols == "1: class Tea\n2: method pour in Tea"
    assert found == "tea.py:2:7: function pour"
    asked = nvim.lua("return asked['textDocument/definition'].position")
    before = "    'é𝄞' + ".encode()
    assert asked == {"line": 3, "character": len(before)}, "in the words of that server"


def test_without_a_language_server_symbols_come_from_the_grammar(desk: Desk) -> None:
    desk.bench.add_puppet()
    desk.write("tea.py", "class Tea:\n    def pour(self): ...\n")
    nvim = desk.nvim(settings={"agent": "puppet"})
    definition, symbols = play(
        nvim,
        {"tool": "definition", "args": {"path": "tea.py", "line": 1, "symbol": "Tea"}},
        {"tool": "document_symbols", "args": {"path": "tea.py"}},
    )
    assert definition.startswith("No language server in the editor can tell.")
    assert symbols == "1: class Tea\n2: def pour in class Tea"
