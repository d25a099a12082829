---`:Agent` and its subcommands.
local chat = require("agentls.chat")
local client = require("agentls.client")
local context = require("agentls.context")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")
local sessions = require("agentls.sessions")

local methods = protocol.methods
local M = {}

---@class agentls.Subcommand
---@field run fun(words: string, args: table)
---@field complete? fun(lead: string): string[]

---@param callback fun(session: agentls.Session)
local function with_session(callback)
  local id = chat.current()
  local session = id and sessions.get(id)
  if not session then
    return notice.say("There is no session; :Agent new opens one.")
  end
  callback(session)
end

---@type agentls.AgentItem[]
local known_agents = {}

local function learn_agents()
  client.request(methods.agents, {}, function(error, result)
    known_agents = not error and result.agents or known_agents
  end)
end

---@param text string
---@param args table
local function send(text, args)
  local blocks = {}
  if args.range > 0 then
    table.insert(blocks, context.lines(vim.api.nvim_get_current_buf(), args.line1, args.line2))
  end
  if text ~= "" then
    return require("agentls").send(text, { blocks = blocks })
  end
  vim.ui.input({ prompt = "Prompt: " }, function(typed)
    if typed and vim.trim(typed) ~= "" then
      require("agentls").send(typed, { blocks = blocks })
    end
  end)
end

local function choose_session()
  local list = sessions.list()
  if #list == 0 then
    return notice.say("There is no session; :Agent new opens one.")
  end
  vim.ui.select(list, {
    prompt = "Sessions",
    kind = "agentls_session",
    format_item = function(session)
      local head = session.head
      return ("%s (%s, %s)"):format(
        sessions.title(session),
        head.agent or "?",
        (head.state or ""):gsub("_", " ")
      )
    end,
  }, function(session)
    if session then
      chat.open(session.id)
    end
  end)
end

local function choose_ask()
  local asks = require("agentls.asks")
  local list = asks.list()
  if #list < 2 then
    return require("agentls.asks.float").open()
  end
  vim.ui.select(vim.list_slice(list), {
    prompt = "Asks",
    kind = "agentls_ask",
    format_item = function(ask)
      return ("%s: %s"):format(ask.agent, asks.title(ask))
    end,
  }, function(ask)
    if ask then
      require("agentls.asks.float").open(ask.id)
    end
  end)
end

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
local function modes(session)
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

local function set_mode(wanted)
  with_session(function(session)
    choose(modes(session), "mode", wanted, function(mode)
      client.request(methods.session_set_mode, { sessionId = session.id, mode = mode })
    end)
  end)
end

local function set_model(wanted)
  with_session(function(session)
    local option = model_option(session)
    choose(option and option.choices or {}, "model", wanted, function(value)
      local params = { sessionId = session.id, option = assert(option).id, value = value }
      client.request(methods.session_set_option, params)
    end)
  end)
end

local policies = {
  { value = "ask", name = "ask", description = "What the rules do not decide, you do" },
  { value = "accept_edits", name = "accept_edits", description = "Edits in the workspace are allowed" },
  { value = "read_only", name = "read_only", description = "Nothing may change" },
  { value = "trust", name = "trust", description = "Everything is allowed that no rule denies" },
}

local function set_policy(wanted)
  with_session(function(session)
    choose(policies, "policy", wanted, function(policy)
      client.request(methods.session_set_policy, { sessionId = session.id, policy = policy })
    end)
  end)
end

local function show_rules()
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

local function show_log()
  local log = vim.lsp.log and vim.lsp.log.get_filename() or vim.lsp.get_log_path()
  vim.cmd.tabedit(vim.fn.fnameescape(log))
  vim.cmd("normal! G")
end

---@param find fun(session: agentls.Session): table[]
---@return fun(lead: string): string[]
local function complete_from(find)
  return function(lead)
    local id = chat.current()
    local session = id and sessions.get(id)
    local values = {}
    for _, item in ipairs(session and find(session) or {}) do
      if vim.startswith(item.value, lead) then
        table.insert(values, item.value)
      end
    end
    return values
  end
end

---@type table<string, agentls.Subcommand>
M.subcommands = {
  new = {
    run = function(words)
      chat.start({ agent = words ~= "" and words or nil }, { focus = "prompt" })
    end,
    complete = function(lead)
      learn_agents()
      local names = {}
      for _, agent in ipairs(known_agents) do
        if vim.startswith(agent.name, lead) then
          table.insert(names, agent.name)
        end
      end
      return names
    end,
  },
  chat = { run = chat.toggle },
  send = { run = send },
  stop = {
    run = function()
      with_session(function(session)
        chat.stop(session.id)
      end)
    end,
  },
  sessions = { run = choose_session },
  asks = { run = choose_ask },
  allow = {
    run = function()
      require("agentls.asks").decide_oldest("allow")
    end,
  },
  reject = {
    run = function(words)
      require("agentls.asks").decide_oldest("reject", words ~= "" and words or nil)
    end,
  },
  terminals = {
    run = function()
      require("agentls.terminals").choose()
    end,
  },
  mode = { run = set_mode, complete = complete_from(modes) },
  model = {
    run = set_model,
    complete = complete_from(function(session)
      local option = model_option(session)
      return option and option.choices or {}
    end),
  },
  policy = {
    run = set_policy,
    complete = complete_from(function()
      return policies
    end),
  },
  rules = { run = show_rules },
  restart = {
    run = function()
      client.restart(function(error)
        notice.say(error and error.message or "The agentls server was started again.")
      end)
    end,
  },
  log = { run = show_log },
}

---@param args table of nvim_create_user_command
function M.run(args)
  local name, words = args.args:match("^(%S*)%s*(.-)%s*$")
  if name == "" then
    name = "chat"
  end
  local subcommand = M.subcommands[name]
  if not subcommand then
    local names = table.concat(vim.fn.sort(vim.tbl_keys(M.subcommands)), ", ")
    return notice.error(("There is no :Agent %s. There are: %s"):format(name, names))
  end
  subcommand.run(words, args)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local name = line:match("Agent%s+(%S+)%s")
  if name then
    local subcommand = M.subcommands[name]
    return subcommand and subcommand.complete and subcommand.complete(lead) or {}
  end
  local names = {}
  for other in pairs(M.subcommands) do
    if vim.startswith(other, lead) then
      table.insert(names, other)
    end
  end
  table.sort(names)
  return names
end

return M
