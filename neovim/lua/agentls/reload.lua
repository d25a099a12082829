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

---Neovim would stop and ask what to do with a buffer that has unsaved changes; the server merges, or keeps both.
vim.api.nvim_create_autocmd("FileChangedShell", {
  group = vim.api.nvim_create_augroup("agentls.reload", {}),
  callback = function(args)
    local client = require("agentls.client").id()
    local ours = client and vim.lsp.buf_is_attached(args.buf, client)
    if not (ours and vim.bo[args.buf].modified) then
      vim.v.fcs_choice = "ask" -- as without this
      return
    end
    vim.v.fcs_choice = ""
    local name = vim.fn.fnamemodify(api.nvim_buf_get_name(args.buf), ":~:.")
    local text = ("%s was changed on disk while you have unsaved changes in it."):format(name)
    require("agentls.notice").say(text, vim.log.levels.WARN)
  end,
})

local changes = { edit = true, delete = true, move = true, execute = true }

events.on("ToolCall", function(data)
  if data.entry.status == "completed" and changes[data.entry.tool] then
    M.check()
  end
end)
events.on("TurnEnd", M.check)
events.on("Changes", M.check)

return M
