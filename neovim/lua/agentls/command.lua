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

---@param names string[]
---@return fun(lead: string): string[]
local function complete_words(names)
  return function(lead)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, names)
  end
end

---@param module string
---@param name string
---@return fun(words: string) calls that function of it with the current session and the words
local function of_session(module, name)
  return function(words)
    with_session(function(session)
      require("agentls." .. module)[name](session, words)
    end)
  end
end

---@param module string
---@param name string
---@return fun(words: string)
local function of(module, name)
  return function(words)
    require("agentls." .. module)[name](words)
  end
end

local scopes = { "hunk", "file", "turn", "session", "all" }

---@param verdict "keep"|"undo"
---@return agentls.Subcommand
local function review(verdict)
  return {
    run = function(words, args)
      local lines = { first = args.line1, last = args.line2 }
      require("agentls.changes.scopes").decide(verdict, words, lines)
    end,
    complete = complete_words(scopes),
  }
end

---@type table<string, agentls.Subcommand>
M.subcommands = {
  new = {
    run = function(words)
      chat.start({ agent = words ~= "" and words or nil }, { focus = "prompt" })
    end,
    complete = function(lead)
      learn_agents()
      return complete_words(vim.tbl_map(function(agent)
        return agent.name
      end, known_agents))(lead)
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
  kill = { run = of_session("commands.recovery", "kill") },
  login = {
    run = of_session("commands.recovery", "login"),
    complete = complete_from(function(session)
      return vim.tbl_map(function(way)
        return { value = way.id }
      end, session.head.login or {})
    end),
  },
  sessions = { run = of("commands.sessions", "choose") },
  resume = { run = of("commands.sessions", "resume") },
  search = { run = of("commands.sessions", "search") },
  rename = { run = of_session("commands.sessions", "rename") },
  archive = { run = of_session("commands.sessions", "archive") },
  export = {
    run = of_session("commands.sessions", "export"),
    complete = function(lead)
      return vim.fn.getcompletion(lead, "file")
    end,
  },
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
  changes = { run = of("changes.lists", "quickfix") },
  conflicts = { run = of("conflicts", "choose") },
  diff = { run = of("changes.lists", "diff") },
  keep = review("keep"),
  undo = review("undo"),
  redo = { run = of("changes", "redo") },
  restore = {
    run = function(words)
      with_session(function(session)
        require("agentls.changes.restore").start(session.id, words)
      end)
    end,
    complete = complete_words({ "undo" }),
  },
  terminals = { run = of("terminals", "choose") },
  mode = {
    run = of_session("commands.settings", "set_mode"),
    complete = complete_from(function(session)
      return require("agentls.commands.settings").modes(session)
    end),
  },
  model = {
    run = of_session("commands.settings", "set_model"),
    complete = complete_from(function(session)
      return require("agentls.commands.settings").models(session)
    end),
  },
  policy = {
    run = of_session("commands.settings", "set_policy"),
    complete = complete_from(function()
      return require("agentls.commands.settings").policies
    end),
  },
  rules = { run = of("commands.settings", "show_rules") },
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
