---What is known of the sessions: their heads, where the batches stand, and tool calls that are not finished.
---
---The text of a session is not kept here: a chat that shows it follows it (see `follow`).
local client = require("agentls.client")
local events = require("agentls.events")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@class agentls.Follower
---@field snapshot fun(self: agentls.Follower, snapshot: agentls.SnapshotResult) Replace all that is shown.
---@field apply fun(self: agentls.Follower, changes: agentls.Change[])

---@class agentls.Session
---@field id string
---@field head agentls.SessionHead
---@field seq integer The number of the last batch.
---@field calls table<string, agentls.ToolCallEntry> Tool calls that are not finished, by their id.
---@field follower? agentls.Follower
---@field pending? agentls.DidChangeParams[] Batches that came while a snapshot was on its way.
---@field stopping? boolean Somebody wants the running turn to stop.
---@field gone? boolean The server that had it has ended, and there is no other yet.

---@type table<string, agentls.Session>
local all = {}

local unfinished = { pending = true, in_progress = true }

---@param id string
---@return agentls.Session
local function ensure(id)
  if not all[id] then
    all[id] = { id = id, head = { id = id }, seq = 0, calls = {} }
  end
  return all[id]
end

---@param session agentls.Session
---@param head agentls.SessionHead
local function set_head(session, head)
  local previous = session.head
  session.head = head
  events.emit("Session", { session = head, previous = previous })
end

---@param session agentls.Session
---@param entry agentls.Entry
local function note(session, entry)
  if entry.kind == "tool_call" then
    session.calls[entry.callId] = unfinished[entry.status] and entry or nil
    events.emit("ToolCall", { session = session.head, entry = entry })
  elseif entry.kind == "ask" then
    require("agentls.asks").seen(session, entry)
  elseif entry.kind == "turn_end" then
    session.calls, session.stopping = {}, nil
    events.emit("TurnEnd", { session = session.head, entry = entry })
  end
end

---What is shown may fail; what agents ask must come through all the same.
---@param session agentls.Session
---@param method "apply"|"snapshot"
---@param what any
local function show(session, method, what)
  local follower = session.follower
  if not follower then
    return
  end
  local ok, problem = xpcall(follower[method], debug.traceback, follower, what)
  if not ok then
    session.follower = nil
    require("agentls.notice").error("The chat cannot be shown any more; :messages says why.")
    vim.schedule(function()
      vim.api.nvim_echo({ { "agentls: " .. problem, "ErrorMsg" } }, true, {})
    end)
  end
end

---@param session agentls.Session
---@param batch agentls.DidChangeParams
local function apply(session, batch)
  session.seq = batch.seq
  show(session, "apply", batch.changes)
  for _, change in ipairs(batch.changes) do
    if change.type == "entry" then
      note(session, change.entry)
    elseif change.type == "session" then
      set_head(session, change.session)
    end
  end
end

---@param session agentls.Session
---@param last? integer how many entries
---@param done? fun(error: agentls.RequestError?)
local function resync(session, last, done)
  session.pending = {}
  local mine = session.pending
  last = last or (session.follower and require("agentls.config").get().chat.entries or 50)
  local params = { sessionId = session.id, last = last }
  client.request(methods.session_snapshot, params, function(error, result)
    if session.pending ~= mine then
      return -- somebody has asked for another since
    end
    session.pending = nil
    if error or not result then
      return done and done(error)
    end
    session.seq, session.gone = result.seq, nil
    show(session, "snapshot", result)
    for _, entry in ipairs(result.entries) do
      if entry.kind == "tool_call" or entry.kind == "ask" then
        note(session, entry)
      end
    end
    set_head(session, result.session)
    for _, batch in ipairs(mine) do
      M.receive(batch)
    end
    if done then
      done(nil)
    end
  end)
end

---A batch from the server.
---@param batch agentls.DidChangeParams
function M.receive(batch)
  local session = ensure(batch.sessionId)
  if session.pending then
    table.insert(session.pending, batch)
  elseif batch.seq == session.seq + 1 then
    apply(session, batch)
  elseif batch.seq > session.seq then
    resync(session)
  end
end

---Read a session anew, with so many entries.
---@param id string
---@param last integer
---@param done fun(error: agentls.RequestError?)
function M.read(id, last, done)
  resync(ensure(id), last, done)
end

---@param id string
---@return agentls.Session?
function M.get(id)
  return all[id]
end

---@return agentls.Session[] the newest first
function M.list()
  local list = vim.tbl_values(all)
  table.sort(list, function(a, b)
    return (a.head.created or 0) > (b.head.created or 0)
  end)
  return list
end

---Bring the follower up to date and keep it so; nil lets go of it.
---@param id string
---@param follower agentls.Follower?
function M.follow(id, follower)
  local session = ensure(id)
  session.follower = follower
  if follower and not session.gone then
    resync(session)
  end
end

---@param params agentls.SessionNewParams
---@param callback fun(error: agentls.RequestError?, session: agentls.Session?)
function M.new(params, callback)
  params.cwd = params.cwd or client.root()
  client.request(methods.session_new, params, function(error, result)
    if error then
      return callback(error, nil)
    end
    local session = ensure(result.session.id)
    if session.seq == 0 then
      set_head(session, result.session)
    end
    callback(nil, session)
  end)
end

---@param params agentls.PromptParams
---@param callback? fun(error: agentls.RequestError?, result: agentls.PromptResult?)
function M.prompt(params, callback)
  client.request(methods.session_prompt, params, callback)
end

---The name of an agent for people.
---@param session agentls.Session
---@return string
function M.title(session)
  local title = session.head.title
  return (title and title ~= "") and title or ("New session with " .. (session.head.agent or "?"))
end

---After connecting to a server: sessions that a chat shows go on, under the same id.
local function take_up()
  for id, session in pairs(all) do
    if session.gone and session.follower then
      session.seq = 0
      resync(session)
    elseif session.gone then
      all[id] = nil
    end
  end
end

---Learn what is there already, after connecting to a server.
local function learn()
  take_up()
  client.request(methods.session_list, { places = { "here" } }, function(error, result)
    for _, head in ipairs(not error and result.sessions or {}) do
      local session = ensure(head.id)
      if session.seq == 0 then
        session.head = head
        resync(session)
      end
    end
  end)
end

client.handle(methods.session_did_change, M.receive)
events.on("Connected", learn)
events.on("Disconnected", function()
  for _, session in pairs(all) do
    session.gone, session.pending, session.calls, session.stopping = true, nil, {}, nil
    set_head(
      session,
      vim.tbl_extend("force", session.head, {
        state = "closed",
        turnRunning = false,
        openAsks = 0,
        place = "past",
        detail = "The agentls server ended.",
      })
    )
  end
end)

return M
