---What a person can set, its defaults, and what is wrong with what was set.
---
---Nothing is required: without `setup()` and without `vim.g.agentls` the defaults hold.
local M = {}

---@class agentls.ChatConfig
---@field position "right"|"left"|"bottom"|"tab" Where the chat opens.
---@field width number Columns, or a part of the screen when below 1.
---@field height number Lines at the bottom, or a part of the screen when below 1.
---@field prompt_height integer Lines of the prompt window.
---@field entries integer How many entries of an older session are shown at first.
---@field detail_lines integer Lines of a tool call in the chat; `<CR>` opens the rest.

---@class agentls.ReviewConfig
---@field signs boolean Whether lines that an agent changed have a sign.
---@field removed boolean Whether removed lines are shown where they were.
---@field icons { added: string, changed: string, removed: string } the signs

---@class agentls.Config
---@field cmd? string[] The server and its arguments; found by itself when absent.
---@field settings agentls.Settings What the server is told at its start.
---@field chat agentls.ChatConfig
---@field keymaps boolean Whether chat, prompt and asks get their keys.
---@field notify boolean Whether an ask, and a turn that ends out of sight, is announced.
---@field terminals "view"|"run" Whether commands of agents run in the server, or in terminals of Neovim.
---@field follow boolean Whether files that the agent works on are shown as it goes.
---@field review agentls.ReviewConfig
---@field icons table<string, string>

---@type agentls.Config
M.defaults = {
  cmd = nil,
  settings = {},
  chat = {
    position = "right",
    width = 0.4,
    height = 0.4,
    prompt_height = 5,
    entries = 400,
    detail_lines = 24,
  },
  keymaps = true,
  notify = true,
  terminals = "view",
  follow = false,
  review = {
    signs = true,
    removed = true,
    icons = { added = "┃", changed = "┃", removed = "▔" },
  },
  icons = {
    pending = "○",
    running = "◐",
    done = "✓",
    failed = "✗",
    rejected = "⊘",
    ask = "?",
    idle = "●",
  },
}

local positions = { right = true, left = true, bottom = true, tab = true }

---@type agentls.Config?
local current
---@type string[]
local problems = {}

---@param given any
---@param default any
---@param path string
---@return any
local function merged(given, default, path)
  if given == nil then
    return vim.deepcopy(default)
  end
  if type(given) ~= type(default) then
    table.insert(problems, ("%s must be a %s, not a %s."):format(path, type(default), type(given)))
    return vim.deepcopy(default)
  end
  if type(default) ~= "table" then
    return given
  end
  local result = vim.deepcopy(default)
  for key, value in pairs(given) do
    if default[key] == nil then
      table.insert(problems, ("%s.%s is not known."):format(path, tostring(key)))
    else
      result[key] = merged(value, default[key], path .. "." .. key)
    end
  end
  return result
end

---@param given any
---@return string[]?
local function command(given)
  local all_words = type(given) == "table" and #given > 0
  for _, word in ipairs(all_words and given or {}) do
    all_words = all_words and type(word) == "string"
  end
  if given ~= nil and not all_words then
    table.insert(problems, "agentls.cmd must be a list of strings.")
    return nil
  end
  return given
end

---@param given any
---@return agentls.Settings
local function settings(given)
  local known = require("agentls.protocol").settings
  local result = {}
  for key, value in pairs(type(given) == "table" and given or {}) do
    if known[key] == nil then
      table.insert(problems, ("agentls.settings.%s is not known."):format(tostring(key)))
    elseif type(value) ~= type(known[key]) then
      local wanted = type(known[key])
      table.insert(problems, ("agentls.settings.%s must be a %s."):format(key, wanted))
    else
      result[key] = value
    end
  end
  return result
end

---@param given any
---@return agentls.Config
local function resolve(given)
  problems = {}
  if type(given) == "function" then
    given = given()
  end
  if given ~= nil and type(given) ~= "table" then
    table.insert(problems, "agentls must be a table.")
    given = nil
  end
  local rest = vim.tbl_extend("force", {}, given or {})
  local cmd, set = rest.cmd, rest.settings
  rest.cmd, rest.settings = nil, nil
  local result = merged(rest, M.defaults, "agentls")
  result.cmd = command(cmd)
  result.settings = settings(set)
  if not positions[result.chat.position] then
    table.insert(problems, "agentls.chat.position must be right, left, bottom or tab.")
    result.chat.position = M.defaults.chat.position
  end
  if result.terminals ~= "view" and result.terminals ~= "run" then
    table.insert(problems, "agentls.terminals must be view or run.")
    result.terminals = M.defaults.terminals
  end
  return result
end

---The configuration: what `setup` was given, or else `vim.g.agentls`.
---@return agentls.Config
function M.get()
  if not current then
    M.set(vim.g.agentls)
  end
  return current --[[@as agentls.Config]]
end

---@param given table|fun(): table
function M.set(given)
  current = resolve(given)
  if #problems > 0 then
    local text = "agentls: " .. problems[1]
    if #problems > 1 then
      text = ("%s And %d more; see :checkhealth agentls"):format(text, #problems - 1)
    end
    vim.schedule(function()
      vim.notify(text, vim.log.levels.WARN)
    end)
  end
end

---@return string[] what is wrong, a sentence each
function M.problems()
  M.get()
  return problems
end

return M
