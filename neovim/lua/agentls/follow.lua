---Follow the agent: show the file it works on, in a window that is not a chat. Only when the person wants it.
local api = vim.api
local config = require("agentls.config")
local events = require("agentls.events")

local M = {}

---@return integer? a window of this tab that shows an ordinary file
local function file_window()
  local here = api.nvim_get_current_win()
  local found
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local ordinary = vim.bo[api.nvim_win_get_buf(win)].buftype == ""
    if ordinary and api.nvim_win_get_config(win).relative == "" then
      if win ~= here then
        return win
      end
      found = win
    end
  end
  return found
end

---@param location agentls.FileLocation
---@param enter boolean
function M.show(location, enter)
  local win = file_window()
  local buf = vim.fn.bufadd(location.path)
  vim.bo[buf].buflisted = true
  if not win then
    win = api.nvim_open_win(buf, false, { split = "left", win = 0 })
  end
  api.nvim_win_set_buf(win, buf)
  if location.line then
    local line = math.min(location.line, api.nvim_buf_line_count(buf))
    pcall(api.nvim_win_set_cursor, win, { math.max(1, line), 0 })
  end
  if enter then
    api.nvim_set_current_win(win)
  end
end

local at_work = { in_progress = true, completed = true }
---@type string? the call and the place that were shown last
local shown

events.on("ToolCall", function(data)
  local entry = data.entry
  local location = entry.locations and entry.locations[1]
  if not (config.get().follow and location and at_work[entry.status]) then
    return
  end
  local place = ("%s %s:%d"):format(entry.callId, location.path, location.line or 0)
  if place == shown then
    return
  end
  shown = place
  -- Never the window that a person types in.
  local win = file_window()
  if win and win ~= api.nvim_get_current_win() and vim.fn.filereadable(location.path) == 1 then
    M.show(location, false)
  end
end)

return M
