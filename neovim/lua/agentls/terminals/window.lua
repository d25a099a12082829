---Where terminals are shown: a split at the bottom, one for each tab, used again for the next one.
local api = vim.api
local M = {}

---@type table<integer, true> the buffers that are terminals of ours
local ours = {}

---@param buf integer
function M.show(buf)
  ours[buf] = true
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if ours[api.nvim_win_get_buf(win)] then
      api.nvim_set_current_win(win)
      api.nvim_win_set_buf(win, buf)
      return
    end
  end
  local height = math.max(8, math.floor(vim.o.lines * 0.3))
  api.nvim_open_win(buf, true, { split = "below", win = -1, height = height })
end

---@param buf integer
---@return integer? columns, integer? rows of the window that shows it
function M.size(buf)
  local win = vim.fn.bufwinid(buf)
  if win ~= -1 then
    return api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  end
end

return M
