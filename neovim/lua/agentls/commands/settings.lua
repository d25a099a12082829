---What a session and the server are set to: mode, model, policy, and the rules that hold.
local client = require("agentls.client")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@param items { value: any, name: string, description?: string }[]
---@param what string
---@param wanted string
---@param done fun(value: any)
local function choose(items, what, wanted, done)
  if #items == 0 then
    return notice.say(("The agent offers no %s."):format(what))
  end
  if wanted ~= "" then
    for _, item in ipairs(items) do
      if item.value == wanted or item.name == wanted then
        return done(item.value)
      end
    end
    return notice.error(("There is no %s %q."):format(what, wanted))
  end
  vim.ui.select(items, {
    prompt = what,
    kind = "agentls_" .. what,
    format_item = function(item)
      return (item.description or "") ~= "" and ("%s: %s"):format(item.name, item.description) or item.name
    end,
  }, function(item)
    if item then
      done(item.value)
    end
  end)
end

---@param session agentls.Session
---@return { value: string, name: string, description?: string }[]
function M.modes(session)
  return vim.tbl_map(function(mode)
    return { value = mode.id, name = mode.name, description = mode.description }
  end, session.head.modes or {})
end

---@param session agentls.Session
---@return agentls.SessionOption?
local function model_option(session)
  for _, option in ipairs(session.head.options or {}) do
    if option.category == "model" or option.id == "model" then
      return option
    end
  end
end

---@param session agentls.Session
---@return agentls.OptionChoice[]
function M.models(session)
  local option = model_option(session)
  return option and option.choices or {}
end

---@param session agentls.Session
---@param wanted string
function M.set_mode(session, wanted)
  choose(M.modes(session), "mode", wanted, function(mode)
    client.request(methods.session_set_mode, { sessionId = session.id, mode = mode })
  end)
end

---@param session agentls.Session
---@param wanted string
function M.set_model(session, wanted)
  choose(M.models(session), "model", wanted, function(value)
    local params = { sessionId = session.id, option = assert(model_option(session)).id, value = value }
    client.request(methods.session_set_option, params)
  end)
end

M.policies = {
  { value = "ask", name = "ask", description = "What the rules do not decide, you do" },
  { value = "accept_edits", name = "accept_edits", description = "Edits in the workspace are allowed" },
  { value = "read_only", name = "read_only", description = "Nothing may change" },
  { value = "trust", name = "trust", description = "Everything is allowed that no rule denies" },
}

---@param session agentls.Session
---@param wanted string
function M.set_policy(session, wanted)
  choose(M.policies, "policy", wanted, function(policy)
    client.request(methods.session_set_policy, { sessionId = session.id, policy = policy })
  end)
end

---The rules that hold here, in the quickfix list.
function M.show_rules()
  client.request(methods.rule_list, { cwd = client.root() }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    local items = {}
    for _, rule in ipairs(result.rules) do
      table.insert(items, {
        filename = rule.source,
        lnum = rule.line,
        text = ("%s %s (%s)"):format(rule.verdict, rule.what, rule.scope),
      })
    end
    for _, problem in ipairs(result.problems or {}) do
      table.insert(items, { text = problem, type = "E" })
    end
    if #items == 0 then
      return notice.say("There are no rules: every ask comes to you.")
    end
    vim.fn.setqflist({}, " ", { title = "agentls rules", items = items })
    vim.cmd("botright copen")
  end)
end

return M
