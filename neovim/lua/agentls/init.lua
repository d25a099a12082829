---AI coding agents in Neovim, by way of the agentls language server. See |agentls|.
---
---Everything here can be called from people's own maps and scripts. Nothing waits: what takes time calls back.
local M = {}

---Optional. The same table can be in `vim.g.agentls`.
---@param options? table see |agentls-config|
function M.setup(options)
  require("agentls.config").set(options or {})
end

---Open a session and its chat.
---@param options? agentls.SessionNewParams
---@param callback? fun(session: agentls.Session)
function M.new(options, callback)
  require("agentls.chat").start(options or {}, { focus = "prompt" }, callback)
end

---Open the chat, or close it when it is open.
function M.toggle()
  require("agentls.chat").toggle()
end

---Send a prompt to the current session; a new one is opened if there is none.
---@param text string
---@param options? { session?: string, blocks?: agentls.ContentBlock[] }
function M.send(text, options)
  options = options or {}
  local chat = require("agentls.chat")
  local id = options.session or chat.current()
  if id then
    if not chat.get(id) then
      chat.open(id, { focus = "none" })
    end
    return chat.send(id, text, options.blocks)
  end
  chat.start({}, { focus = "none" }, function(session)
    chat.send(session.id, text, options.blocks)
  end)
end

---Stop the running turn of a session.
---@param session? string
function M.stop(session)
  local chat = require("agentls.chat")
  local id = session or chat.current()
  if id then
    chat.stop(id)
  end
end

---The heads of all sessions, the newest first.
---@return agentls.SessionHead[]
function M.sessions()
  return vim.tbl_map(function(session)
    return session.head
  end, require("agentls.sessions").list())
end

---Open asks, the oldest first.
---@return agentls.Ask[]
function M.asks()
  return require("agentls.asks").list()
end

---Answer an ask.
---@param params agentls.AskDecideParams
---@param callback? fun(settled: boolean)
function M.decide(params, callback)
  require("agentls.asks").decide(params, callback)
end

---Any request of docs/protocol.md.
---@param method string
---@param params table
---@param callback? fun(error: agentls.RequestError?, result: any)
function M.request(method, params, callback)
  require("agentls.client").request(method, params, callback)
end

---For a statusline: how many sessions work, how many asks wait.
---@return string
function M.statusline()
  return require("agentls.status").statusline()
end

return M
