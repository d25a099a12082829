---Views of terminals that the server runs, or an agent: live, and what is typed goes to the command.
local api = vim.api
local client = require("agentls.client")
local protocol = require("agentls.protocol")
local window = require("agentls.terminals.window")

local methods = protocol.methods
local M = {}

---@class agentls.View
---@field item agentls.TerminalItem
---@field buf integer
---@field channel integer

---@type table<string, agentls.View>
local views = {}
local group = api.nvim_create_augroup("agentls.terminals", {})

local function key(item)
  return item.sessionId .. "/" .. item.terminalId
end

---@param item agentls.TerminalItem
---@param more? table
---@return table
local function params(item, more)
  local named = { sessionId = item.sessionId, terminalId = item.terminalId }
  return vim.tbl_extend("force", named, more or {})
end

---@param view agentls.View
---@param text string
local function write(view, text)
  pcall(api.nvim_chan_send, view.channel, text)
end

---@param view agentls.View
local function farewell(view)
  write(view, ("\r\n\27[2m[%s]\27[0m"):format(require("agentls.terminals").state(view.item)))
end

---@param view agentls.View
local function attach(view)
  local columns, rows = window.size(view.buf)
  local wanted = params(view.item, { columns = columns, rows = rows })
  client.request(methods.terminal_attach, wanted, function(error, result)
    if error then
      return write(view, error.message)
    end
    view.item = result.terminal
    write(view, result.text)
    if not result.terminal.running then
      farewell(view)
    end
  end)
end

---@param view agentls.View
local function watch_size(view)
  local known
  api.nvim_create_autocmd("WinResized", {
    group = group,
    callback = function()
      if not api.nvim_buf_is_valid(view.buf) then
        return true
      end
      local columns, rows = window.size(view.buf)
      local size = columns and (columns .. "x" .. rows)
      if size and size ~= known and view.item.running and view.item.source == "hosted" then
        known = size
        client.request(methods.terminal_resize, params(view.item, { columns = columns, rows = rows }))
      end
    end,
  })
end

---@param item agentls.TerminalItem
---@return agentls.View
local function create(item)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, ("agentls://%s/terminal/%s"):format(item.sessionId, item.terminalId))
  vim.bo[buf].bufhidden = "hide"
  local view = { item = item, buf = buf, channel = 0 }
  views[key(item)] = view
  window.show(buf)
  view.channel = api.nvim_open_term(buf, {
    on_input = function(_, _, _, data)
      if view.item.running and view.item.source == "hosted" then
        client.request(methods.terminal_input, params(view.item, { text = data }))
      end
    end,
  })
  vim.bo[buf].filetype = "agentls-terminal"
  vim.keymap.set("n", "<C-c>", function()
    require("agentls.terminals").kill(view.item)
  end, { buffer = buf, desc = "agentls: end the command" })
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = "agentls: close" })
  api.nvim_create_autocmd("BufWipeout", {
    group = group,
    buffer = buf,
    callback = function()
      views[key(item)] = nil
      if client.is_connected() then
        client.request(methods.terminal_detach, params(item), function() end)
      end
    end,
  })
  watch_size(view)
  attach(view)
  return view
end

---@param item agentls.TerminalItem
function M.open(item)
  local view = views[key(item)]
  if view and api.nvim_buf_is_valid(view.buf) then
    return window.show(view.buf)
  end
  create(item)
end

---@param data agentls.TerminalDataParams
function M.data(data)
  local view = views[key(data)]
  if view then
    -- Clear the screen and what scrolled off it.
    write(view, (data.reset and "\27[2J\27[3J\27[H" or "") .. data.text)
  end
end

---@param item agentls.TerminalItem
function M.ended(item)
  local view = views[key(item)]
  if view then
    view.item = item
    farewell(view)
  end
end

return M
