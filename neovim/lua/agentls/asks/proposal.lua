---What an agent wants to write, in a tab beside what is there now, to be edited before it is accepted.
local api = vim.api
local asks = require("agentls.asks")
local client = require("agentls.client")
local config = require("agentls.config")
local events = require("agentls.events")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local M = {}

---@type table<string, { tab: integer, bufs: integer[] }[]> by ask
local shown = {}

---@param id string of the ask
local function close(id)
  local pages = shown[id] or {}
  shown[id] = nil
  for _, page in ipairs(pages) do
    if api.nvim_tabpage_is_valid(page.tab) and #api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose({ api.nvim_tabpage_get_number(page.tab), bang = true })
    end
    for _, buf in ipairs(page.bufs) do
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

---@param buf integer
---@param ask agentls.Ask
local function keymaps(buf, ask)
  local function map(modes, key, name, action)
    local plug = ("<Plug>(agentls-proposal-%s)"):format(name)
    vim.keymap.set(modes, plug, action, { buffer = buf, desc = "agentls: " .. name })
    if config.get().keymaps then
      vim.keymap.set(modes, key, plug, { buffer = buf, remap = true })
    end
  end
  map({ "n", "i" }, "<C-s>", "accept", function()
    vim.cmd.stopinsert()
    asks.decide({ askId = ask.id, verdict = "allow" })
  end)
  map("n", "q", "later", function()
    close(ask.id)
  end)
end

---@param text string
---@param file agentls.ProposedFile
---@return integer buffer
local function old_text(text, file)
  local buf = api.nvim_create_buf(false, true)
  local lines = vim.split((text:gsub("\r\n", "\n"):gsub("\n$", "")), "\n", { plain = true })
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].filetype = vim.filetype.match({ filename = file.path }) or ""
  vim.bo[buf].modifiable = false
  return buf
end

---@param ask agentls.Ask
---@param file agentls.ProposedFile
local function show(ask, file)
  vim.cmd.tabnew()
  local empty = api.nvim_get_current_buf()
  local before = old_text(file.before or "", file)
  api.nvim_win_set_buf(0, before)
  vim.cmd.diffthis()
  vim.wo.winbar = "%#AgentlsNote# now"
  vim.cmd("rightbelow vsplit")
  vim.cmd.diffoff()
  vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(file.uri)))
  vim.cmd.diffthis()
  vim.wo.winbar = ("%%#AgentlsNote# as %s wants it%%=<C-s> writes this, q decides later "):format(ask.agent)
  pcall(api.nvim_buf_delete, empty, {})
  local buf = api.nvim_get_current_buf()
  vim.bo[buf].buflisted = false
  keymaps(buf, ask)
  keymaps(before, ask)
  shown[ask.id] = shown[ask.id] or {}
  table.insert(shown[ask.id], { tab = api.nvim_get_current_tabpage(), bufs = { buf, before } })
end

---@param ask agentls.Ask
function M.open(ask)
  client.request(protocol.methods.ask_proposal, { askId = ask.id }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    close(ask.id)
    for _, file in ipairs(result.files) do
      show(ask, file)
    end
  end)
end

events.on("AskDone", function(data)
  close(data.ask.id)
end)

return M
