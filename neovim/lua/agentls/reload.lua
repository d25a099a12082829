---Buffers follow the disk: what an agent wrote is read again, unless the person has changed the buffer.
local api = vim.api
local events = require("agentls.events")

local M = {}

---@param buf integer
local function may_reload(buf)
  return api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ""
    and not vim.bo[buf].modified
    and api.nvim_buf_get_name(buf) ~= ""
    and vim.o.autoread
end

---Read again what has changed on disk. A buffer with changes of its own is left alone, without a question.
function M.check()
  if vim.fn.getcmdwintype() ~= "" then
    return
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if may_reload(buf) then
      vim.cmd.checktime(buf)
    end
  end
end

local changes = { edit = true, delete = true, move = true, execute = true }

events.on("ToolCall", function(data)
  if data.entry.status == "completed" and changes[data.entry.tool] then
    M.check()
  end
end)
events.on("TurnEnd", M.check)
events.on("Changes", M.check)

return M
