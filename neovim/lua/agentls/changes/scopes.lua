---What "keep" and "undo" are about: the hunks at the cursor, the file, the turn, the session, or everything.
local api = vim.api
local changes = require("agentls.changes")
local marks = require("agentls.changes.marks")
local notice = require("agentls.notice")

local M = {}

M.names = { "hunk", "file", "turn", "session", "all" }

---@class agentls.Lines first and last line of a range, from 1
---@field first integer
---@field last integer

---@return string
local function this_file()
  local name = api.nvim_buf_get_name(0)
  return vim.uv.fs_realpath(name) or name
end

---@param lines agentls.Lines
---@return table<string, string[]> hunks by change, in lines of this buffer
local function hunks_in(lines)
  local found = {}
  for _, it in ipairs(marks.hunks(api.nvim_get_current_buf())) do
    if it.first <= lines.last - 1 and it.last >= lines.first - 1 then
      found[it.change] = found[it.change] or {}
      table.insert(found[it.change], it.hunk.hunkId)
    end
  end
  return found
end

---@return agentls.ChangeItem? the change at the cursor, or the newest of the current session, or of all
local function nearest()
  local line = api.nvim_win_get_cursor(0)[1]
  local id = next(hunks_in({ first = line, last = line }))
  if id then
    return changes.get(id)
  end
  local all, session = changes.pending(), require("agentls.chat").current()
  for i = #all, 1, -1 do
    if all[i].sessionId == session then
      return all[i]
    end
  end
  return all[#all]
end

---@param lines agentls.Lines
---@return table[]? selections
local function of_hunks(lines)
  local found = {}
  for change, hunks in pairs(hunks_in(lines)) do
    table.insert(found, { changeId = change, hunkIds = hunks })
  end
  if #found == 0 then
    notice.say("No change is here; say file, turn, session or all for more.")
    return nil
  end
  return found
end

---@param scope string
---@param lines agentls.Lines
---@return table[]? selections, each with the fields of agentls.ChangeDecideParams
local function selections(scope, lines)
  if scope == "hunk" then
    return of_hunks(lines)
  elseif scope == "file" then
    return { { path = this_file() } }
  elseif scope == "all" then
    return { {} }
  end
  local item = nearest()
  if not item then
    notice.say("No change of an agent waits for you.")
    return nil
  end
  return { { sessionId = item.sessionId, turn = scope == "turn" and item.turn or nil } }
end

---@param verdict "keep"|"undo"
---@param scope string one of `names`; empty for the hunk at the cursor
---@param lines agentls.Lines
function M.decide(verdict, scope, lines)
  scope = scope == "" and "hunk" or scope
  if not vim.tbl_contains(M.names, scope) then
    return notice.error(("Say one of %s, not %q."):format(table.concat(M.names, ", "), scope))
  end
  for _, selection in ipairs(selections(scope, lines) or {}) do
    changes.decide(vim.tbl_extend("force", selection, { verdict = verdict }))
  end
end

return M
