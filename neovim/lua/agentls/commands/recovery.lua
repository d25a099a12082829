---What helps a session that cannot go on by itself: logging in, or killing an agent that does not answer.
local client = require("agentls.client")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@param result agentls.LoginResult
local function go_on(result)
  notice.say(result.text)
  if result.state ~= "running" then
    return
  end
  local terminals = require("agentls.terminals")
  local terminal = terminals.get(result.sessionId or "", result.terminalId or "")
  if terminal then
    terminals.open(terminal)
  end
end

---@param params agentls.LoginParams
local function login(params)
  client.request(methods.agent_login, params, function(error, result)
    if error then
      return notice.error(error.message)
    end
    if result.state ~= "confirm" then
      return go_on(result)
    end
    local prompt = ("%s It runs: %s"):format(result.text, result.command)
    vim.ui.select({ "Run it", "Leave it" }, { prompt = prompt, kind = "agentls_login" }, function(choice)
      if choice == "Run it" then
        login(vim.tbl_extend("force", params, { confirmed = true }))
      end
    end)
  end)
end

---Log in to the agent of a session, which goes on with its prompt afterwards.
---@param session agentls.Session
---@param wanted string the id of a way to log in
function M.login(session, wanted)
  local params = { agent = session.head.agent, sessionId = session.id }
  local ways = session.head.login or {}
  if wanted ~= "" or #ways < 2 then
    params.method = wanted ~= "" and wanted or nil
    return login(params)
  end
  vim.ui.select(ways, {
    prompt = "Log in",
    kind = "agentls_login",
    format_item = function(way)
      return (way.description or "") ~= "" and ("%s: %s"):format(way.name, way.description) or way.name
    end,
  }, function(way)
    if way then
      login(vim.tbl_extend("force", params, { method = way.id }))
    end
  end)
end

---Kill the agent and take the session up again.
---@param session agentls.Session
function M.kill(session)
  client.request(methods.session_restart, { sessionId = session.id })
end

---Somebody wants it to stop, and has said so before.
---@param session agentls.Session
function M.offer_kill(session)
  local prompt = ("%s does not stop."):format(session.head.agent)
  local choices = { "Wait", "Kill it and take the session up again" }
  vim.ui.select(choices, { prompt = prompt, kind = "agentls_kill" }, function(choice)
    if choice == choices[2] then
      M.kill(session)
    end
  end)
end

return M
