---Colours the lines of chats that are on the screen, and only those: the cost does not grow with the chat.
---
---Neovim's own Markdown highlighter reads the whole buffer again as it grows; this one reads a line.
local fences = require("agentls.chat.fences")

local api = vim.api
local M = {}

local namespace = api.nvim_create_namespace("agentls.colours")

local groups = {
  AgentlsHeading = "@markup.heading",
  AgentlsCode = "@markup.raw",
  AgentlsStrong = "@markup.strong",
  AgentlsEmphasis = "@markup.italic",
  AgentlsLink = "@markup.link",
  AgentlsList = "@markup.list",
  AgentlsQuote = "@markup.quote",
  AgentlsBar = "NonText",
  AgentlsOutput = "Comment",
  AgentlsThought = "Comment",
  AgentlsNote = "Comment",
  AgentlsAdded = "Added",
  AgentlsRemoved = "Removed",
  AgentlsHunk = "Changed",
  AgentlsPending = "Comment",
  AgentlsRunning = "DiagnosticInfo",
  AgentlsDone = "DiagnosticOk",
  AgentlsFailed = "DiagnosticError",
  AgentlsRejected = "DiagnosticWarn",
  AgentlsAsk = "DiagnosticWarn",
  AgentlsIdle = "DiagnosticOk",
  AgentlsTrust = "DiagnosticError",
  AgentlsSignAdded = "Added",
  AgentlsSignChanged = "Changed",
  AgentlsSignRemoved = "Removed",
  AgentlsRemovedLine = "DiffDelete",
}

function M.define_groups()
  for name, link in pairs(groups) do
    api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

---@alias agentls.Span { [1]: integer, [2]: integer, [3]: string } columns from and to, and the group

local bars = { ["│ "] = "AgentlsOutput", ["┃ "] = "diff", ["┆ "] = "AgentlsThought" }
local diff_groups = { ["+"] = "AgentlsAdded", ["-"] = "AgentlsRemoved", ["@"] = "AgentlsHunk" }

---@param line string
---@return agentls.Span[]?
local function barred(line)
  if line == "╰" then
    return { { 0, 3, "AgentlsBar" } }
  end
  local group = bars[line:sub(1, 4)] or bars[line .. " "]
  if not group then
    return nil
  end
  local spans = { { 0, 3, "AgentlsBar" } }
  if group == "diff" then
    group = diff_groups[line:sub(5, 5)]
  end
  if group then
    table.insert(spans, { 3, #line, group })
  end
  return spans
end

---@param line string
---@param at integer where a mark is
---@return integer? last, string? group
local function marked(line, at)
  local mark = line:sub(at, at)
  local pattern, group
  if mark == "`" then
    local ticks = line:match("^`+", at)
    local _, last = line:find(ticks, at + #ticks, true)
    return last, "AgentlsCode"
  elseif mark == "[" then
    pattern, group = "^%[[^%]]+%]%([^)]+%)", "AgentlsLink"
  elseif line:sub(at, at + 1) == "**" then
    pattern, group = "^%*%*%S.-%*%*", "AgentlsStrong"
  elseif at > 1 and line:sub(at - 1, at - 1):find("%w") then
    return nil -- within a word, as in snake_case
  else
    pattern, group = mark == "*" and "^%*%w[^*]-%*" or "^_%w[^_]-_%f[%W]", "AgentlsEmphasis"
  end
  local _, last = line:find(pattern, at)
  return last, group
end

---@param spans agentls.Span[]
---@param line string
local function inline(spans, line)
  local at = line:find("[`*%[_]")
  while at do
    local last, group = marked(line, at)
    if last then
      table.insert(spans, { at - 1, last, group })
    end
    at = line:find("[`*%[_]", (last or at) + 1)
  end
end

---@param line string
---@param icons table<string, string> the group of each icon that begins a line
---@return agentls.Span[]
function M.spans(line, icons)
  local spans = barred(line)
  if spans then
    return spans
  end
  if line:find("^#+ ") then
    return { { 0, #line, "AgentlsHeading" } }
  end
  spans = {}
  local icon = line:match("^(%S+) ")
  if icon and icons[icon] then
    table.insert(spans, { 0, #icon, icons[icon] })
    local note = line:find(" %([^()]*%)$")
    if note then
      table.insert(spans, { note, #line, "AgentlsNote" })
    end
    return spans
  end
  if line:find("^> ") then
    table.insert(spans, { 0, #line, "AgentlsQuote" })
  end
  local _, marker = line:find("^%s*[-*+] ")
  if not marker then
    _, marker = line:find("^%s*%d+[.)] ")
  end
  if marker then
    table.insert(spans, { 0, marker, "AgentlsList" })
  end
  inline(spans, line)
  return spans
end

---@type table<integer, true>
local buffers = {}
---@type table<integer, boolean>
local code = {}
---@type table<string, string>
local icons = {}

local function on_win(_, _, buf, top, bottom)
  if not buffers[buf] then
    return false
  end
  code = fences.rows(buf, top, bottom)
end

local function on_line(_, _, buf, row)
  local line = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if not line or line == "" then
    return
  end
  local spans = code[row] and { { 0, #line, "AgentlsCode" } } or M.spans(line:sub(1, 2000), icons)
  for _, span in ipairs(spans) do
    api.nvim_buf_set_extmark(buf, namespace, row, span[1], {
      end_col = span[2],
      hl_group = span[3],
      ephemeral = true,
      priority = 100,
    })
  end
end

local ready = false

---@param buf integer
function M.attach(buf)
  buffers[buf] = true
  api.nvim_buf_attach(buf, false, {
    on_detach = function()
      buffers[buf] = nil
    end,
  })
  if ready then
    return
  end
  ready = true
  M.define_groups()
  api.nvim_create_autocmd("ColorScheme", { callback = M.define_groups })
  for name, icon in pairs(require("agentls.config").get().icons) do
    icons[icon] = "Agentls" .. name:sub(1, 1):upper() .. name:sub(2)
  end
  icons["…"] = "AgentlsThought"
  api.nvim_set_decoration_provider(namespace, { on_win = on_win, on_line = on_line })
end

return M
