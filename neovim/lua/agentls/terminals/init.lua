---The commands that agents run: which there are, and the buffers that show them.
local client = require("agentls.client")
local config = require("agentls.config")
local events = require("agentls.events")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@type agentls.TerminalItem[] oldest first
local all = {}

---@param item agentls.TerminalItem
---@return string
local function key(item)
  return item.sessionId .. "/" .. item.terminalId
end

---@param item agentls.TerminalItem
local function remember(item)
  for i, other in ipairs(all) do
    if key(other) == key(item) then
      all[i] = item
      return
    end
  end
  table.insert(all, item)
end

---@return agentls.TerminalItem[]
function M.list()
  return all
end

---@param session string
---@param terminal string
---@return agentls.TerminalItem?
function M.get(session, terminal)
  for _, item in ipairs(all) do
    if item.sessionId == session and item.terminalId == terminal then
      return item
    end
  end
end

---How it stands, in a word or two.
---@param item agentls.TerminalItem
---@return string
function M.state(item)
  if item.running then
    return item.source == "mirrored" and "running, the agent's own" or "running"
  elseif (item.signal or "") ~= "" then
    return item.signal
  elseif item.exitCode then
    return "exit " .. item.exitCode
  end
  return "ended"
end

---Show it in a window and go there.
---@param item agentls.TerminalItem
function M.open(item)
  if item.source == "editor" then
    return require("agentls.terminals.run").open(item)
  end
  require("agentls.terminals.view").open(item)
end

---End the command and all that it started.
---@param item agentls.TerminalItem
function M.kill(item)
  client.request(methods.terminal_kill, { sessionId = item.sessionId, terminalId = item.terminalId })
end

---Choose one from a list.
function M.choose()
  if #all == 0 then
    return notice.say("No agent has run a command yet.")
  end
  local newest_first = {}
  for i = #all, 1, -1 do
    table.insert(newest_first, all[i])
  end
  vim.ui.select(newest_first, {
    prompt = "Terminals",
    kind = "agentls_terminal",
    format_item = function(item)
      return ("%s (%s)"):format((item.command:gsub("%s+", " ")), M.state(item))
    end,
  }, function(item)
    if item then
      M.open(item)
    end
  end)
end

---Whether this editor runs the commands itself.
---@return boolean
function M.runs_them()
  return config.get().terminals == "run"
end

client.handle(methods.terminal_did_open, function(params)
  remember(params.terminal)
  events.emit("Terminal", { terminal = params.terminal })
end)

client.handle(methods.terminal_did_exit, function(params)
  remember(params.terminal)
  local view = package.loaded["agentls.terminals.view"]
  if view then
    view.ended(params.terminal)
  end
  events.emit("Terminal", { terminal = params.terminal })
end)

client.handle(methods.terminal_data, function(params)
  require("agentls.terminals.view").data(params)
end)

local requests =
  { run = methods.terminal_run, kill = "agentls/terminal/kill", release = methods.terminal_release }
for name, method in pairs(requests) do
  client.handle(method, function(params)
    return require("agentls.terminals.run")[name](params)
  end)
end

events.on("Connected", function()
  client.request(methods.terminal_list, {}, function(error, result)
    for _, item in ipairs(not error and result.terminals or {}) do
      remember(item)
    end
  end)
end)

events.on("Disconnected", function()
  for _, item in ipairs(all) do
    item.running = false
  end
end)

return M
