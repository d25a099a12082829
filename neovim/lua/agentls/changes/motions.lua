---Goes from change to change, in the file and then from file to file.
local api = vim.api
local changes = require("agentls.changes")
local marks = require("agentls.changes.marks")
local notice = require("agentls.notice")

local M = {}

---@return string[] files with changes that are not decided and that there are, the oldest change first
local function files()
  local found, seen = {}, {}
  for _, item in ipairs(changes.pending()) do
    if not seen[item.path] and #changes.hunks(item) > 0 and vim.uv.fs_stat(item.path) then
      seen[item.path] = true
      table.insert(found, item.path)
    end
  end
  return found
end

---@param step 1|-1
---@return string? the file after, or before, that of this window
local function next_file(step)
  local all = files()
  local here = vim.uv.fs_realpath(api.nvim_buf_get_name(0)) or ""
  for i, path in ipairs(all) do
    if path == here then
      return all[(i + step - 1) % #all + 1]
    end
  end
  return all[step == 1 and 1 or #all]
end

---@param hunk { first: integer, change: string, hunk: agentls.HunkItem }
---@param number integer
---@param total integer
local function say(hunk, number, total)
  local item = changes.get(hunk.change)
  local text = ("%s, turn %d: +%d -%d (%d of %d in this file)"):format(
    item and item.agent or "?",
    item and item.turn or 0,
    hunk.hunk.added,
    hunk.hunk.removed,
    number,
    total
  )
  api.nvim_echo({ { text, "AgentlsNote" } }, false, {})
end

---@param number integer
local function go(number)
  local hunks = marks.hunks(api.nvim_get_current_buf())
  local hunk = hunks[number]
  if hunk then
    local last = api.nvim_buf_line_count(0)
    api.nvim_win_set_cursor(0, { math.min(hunk.first + 1, last), 0 })
    vim.cmd("normal! zv")
    say(hunk, number, #hunks)
  end
end

---@param step 1|-1
local function one(step)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local hunks = marks.hunks(api.nvim_get_current_buf())
  for i = step == 1 and 1 or #hunks, step == 1 and #hunks or 1, step do
    if (hunks[i].first - row) * step > 0 then
      return go(i)
    end
  end
  local path = next_file(step)
  if not path then
    return notice.say("No change of an agent waits for you.")
  end
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].buflisted = true
  if buf ~= api.nvim_get_current_buf() then
    api.nvim_win_set_buf(0, buf)
    marks.refresh(buf)
  end
  go(step == 1 and 1 or #marks.hunks(api.nvim_get_current_buf()))
end

---@param step 1|-1
function M.move(step)
  local count = vim.v.count1 -- any command forgets it
  vim.cmd("normal! m'")
  for _ = 1, count do
    one(step)
  end
end

return M
