---Open asks: what agents wait for, from all sessions, the oldest first.
---
---Deciding is the server's business; here is only what a person can see and say.
local client = require("agentls.client")
local config = require("agentls.config")
local events = require("agentls.events")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@class agentls.Ask
---@field id string
---@field session string
---@field agent string
---@field entry agentls.AskEntry
---@field since number when it was seen first, in milliseconds of the loop

---@type agentls.Ask[]
local open = {}
local announced = false
---Who says "allow" without naming an ask means one that they have seen, so a newer one is not it.
local SEEN_AFTER = 500

---@param id string
---@return integer?
local function position(id)
  for i, ask in ipairs(open) do
    if ask.id == id then
      return i
    end
  end
end

---What it is about, on one line.
---@param ask agentls.Ask
---@return string
function M.title(ask)
  local session = require("agentls.sessions").get(ask.session)
  return require("agentls.chat.render").subject(ask.entry, session and session.head.cwd)
end

---Several at once are announced once.
local function announce()
  if announced or not config.get().notify then
    return
  end
  announced = true
  vim.defer_fn(function()
    announced = false
    if #open == 1 then
      notice.say(("%s asks: %s (:Agent asks)"):format(open[1].agent, M.title(open[1])), vim.log.levels.WARN)
    elseif #open > 1 then
      notice.say(("%d asks are waiting for you (:Agent asks)"):format(#open), vim.log.levels.WARN)
    end
  end, 50)
end

---An ask came, or changed.
---@param session agentls.Session
---@param entry agentls.AskEntry
function M.seen(session, entry)
  local at = position(entry.askId)
  if entry.decision then
    if at then
      local ask = table.remove(open, at)
      events.emit("AskDone", { ask = ask, decision = entry.decision })
    end
  elseif at then
    open[at].entry = entry
  else
    local ask = {
      id = entry.askId,
      session = session.id,
      agent = session.head.agent or "",
      entry = entry,
      since = vim.uv.hrtime() / 1e6,
    }
    table.insert(open, ask)
    announce()
    events.emit("Ask", { ask = ask })
  end
end

---@return agentls.Ask[]
function M.list()
  return open
end

---@param id string
---@return agentls.Ask?
function M.get(id)
  return open[position(id) or 0]
end

---@param params agentls.AskDecideParams
---@param callback? fun(settled: boolean)
function M.decide(params, callback)
  client.request(methods.ask_decide, params, function(error, result)
    if error then
      notice.error(error.message)
    elseif not result.settled then
      notice.say(result.message or "Somebody else was faster.")
    end
    if callback then
      callback(not error and result.settled)
    end
  end)
end

---Reject it; the agent hears why as the next prompt.
---@param ask agentls.Ask
function M.reject_and_say_why(ask)
  vim.ui.input({ prompt = "Why not? " }, function(reason)
    if reason and vim.trim(reason) ~= "" then
      M.decide({ askId = ask.id, verdict = "reject", reason = reason })
    end
  end)
end

---@param verdict "allow"|"reject"
---@param reason? string
function M.decide_oldest(verdict, reason)
  local ask = open[1]
  if not ask then
    return notice.say("No agent asks for anything.")
  end
  if verdict == "allow" and vim.uv.hrtime() / 1e6 - ask.since < SEEN_AFTER then
    return notice.say(
      ("This has only just come, so say it again: %s"):format(M.title(ask)),
      vim.log.levels.WARN
    )
  end
  M.decide({ askId = ask.id, verdict = verdict, reason = reason })
end

events.on("Disconnected", function()
  local gone = open
  open = {}
  for _, ask in ipairs(gone) do
    events.emit("AskDone", { ask = ask })
  end
end)

return M
