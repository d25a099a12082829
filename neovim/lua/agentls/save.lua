---Saves what an agent edited in a buffer, as `:write` does, with everything that happens then.
local api = vim.api
local client = require("agentls.client")

local M = {}

---@param uri string
---@return boolean whether the buffer is on disk now
function M.save(uri)
  local buf = vim.fn.bufnr(vim.uri_to_fname(uri))
  if buf < 0 or not api.nvim_buf_is_loaded(buf) or vim.bo[buf].buftype ~= "" or vim.bo[buf].readonly then
    return false
  end
  local name = api.nvim_buf_get_name(buf)
  if vim.fn.filereadable(name) == 1 and vim.fn.filewritable(name) ~= 1 then
    return false
  end
  -- With a bang, because Neovim would stop and ask when the file is newer than the buffer. The server has just
  -- seen what is on disk, and all else that the bang overrides is excluded above.
  local done = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent write!")
  end)
  return done and not vim.bo[buf].modified
end

client.handle("agentls/document/save", function(params)
  return { saved = M.save(params.uri) }
end)

return M
