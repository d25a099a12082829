---Folds of a chat, one for each tool call and thought, closed until somebody opens them.
---
---They are made by hand, because Neovim does not look at 'foldexpr' while somebody types in any window.
local api = vim.api
local M = {}

---@param win integer
---@param row integer
---@param count integer
local function fold(win, row, count)
  api.nvim_win_call(win, function()
    vim.cmd(("silent! %d,%dfold"):format(row + 1, row + count))
  end)
end

---In every window that shows the buffer.
---@param buf integer
---@param row integer the head line, counted from 0
---@param count integer lines with the head
function M.add(buf, row, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    fold(win, row, count)
  end
end

---@param win integer
---@param ranges { [1]: integer, [2]: integer }[] rows and counts
function M.renew(win, ranges)
  api.nvim_win_call(win, function()
    vim.cmd("silent! normal! zE")
    for _, range in ipairs(ranges) do
      vim.cmd(("silent! %d,%dfold"):format(range[1] + 1, range[1] + range[2]))
    end
  end)
end

return M
