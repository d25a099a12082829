---Tells the other parts of the plugin, and people's autocommands, what happened.
---
---Every event is also `User Agentls<Name>`, with the same table as `data`.
local M = {}

---@alias agentls.Event
---| "Connected" the server is there
---| "Disconnected" the server is gone
---| "Session" a session is new or its head changed: { session, previous }
---| "Ask" an agent asks: { ask }
---| "AskDone" an ask is decided or withdrawn: { ask, decision }
---| "TurnEnd" a turn ended: { session, entry }
---| "ToolCall" a tool call is new or changed: { session, entry }
---| "Changes" what agents did to files is new, or was decided: { paths }
---| "Terminal" a terminal opened or ended: { terminal }

---@type table<string, fun(data: table)[]>
local listeners = {}

---@param name agentls.Event
---@param listener fun(data: table)
function M.on(name, listener)
  listeners[name] = listeners[name] or {}
  table.insert(listeners[name], listener)
end

---@param name agentls.Event
---@param data table
function M.emit(name, data)
  for _, listener in ipairs(listeners[name] or {}) do
    listener(data)
  end
  vim.api.nvim_exec_autocmds("User", { pattern = "Agentls" .. name, modeline = false, data = data })
end

return M
