---What sessions are doing, in a few characters: for the bar of a chat and for a statusline.
local config = require("agentls.config")
local events = require("agentls.events")

local M = {}

---Characters of a title in the bar: what the session is doing must have room beside it.
local TITLE_LIMIT = 32

local states = {
  starting = { "running", "starting" },
  idle = { "idle", "ready" },
  running = { "running", "working" },
  waiting_for_you = { "ask", "waiting for you" },
  waiting_for_agent = { "running", "waiting for another agent" },
  failed = { "failed", "failed" },
  closed = { "rejected", "closed" },
}

local function safe(text)
  return (text:gsub("%%", "%%%%"):gsub("%s+", " "))
end

---@param number integer
---@return string
local function thousands(number)
  return number < 1000 and tostring(number) or ("%.0fk"):format(number / 1000)
end

---@param usage agentls.TokenUsage?
---@return string?
local function usage_text(usage)
  if not usage then
    return nil
  end
  local parts = {}
  if usage.contextUsed and (usage.contextSize or 0) > 0 then
    local part = usage.contextUsed / usage.contextSize * 100
    table.insert(
      parts,
      ("%s/%s (%.0f%%%%)"):format(thousands(usage.contextUsed), thousands(usage.contextSize), part)
    )
  elseif usage.totalTokens then
    table.insert(parts, thousands(usage.totalTokens) .. " tokens")
  end
  if usage.cost then
    table.insert(parts, safe(("%.2f %s"):format(usage.cost, usage.currency or "")))
  end
  return #parts > 0 and table.concat(parts, " ") or nil
end

---@param head agentls.SessionHead
---@param category string
---@return string?
local function option_name(head, category)
  for _, option in ipairs(head.options or {}) do
    if option.category == category or option.id == category then
      for _, choice in ipairs(option.choices or {}) do
        if choice.value == option.value then
          return choice.name
        end
      end
    end
  end
end

---@param head agentls.SessionHead
---@return string?
local function mode_name(head)
  for _, mode in ipairs(head.modes or {}) do
    if mode.id == head.mode then
      return mode.name
    end
  end
end

---@param head agentls.SessionHead
---@return { [1]: string, [2]: string } the icon, and a word or two with what helps, if anything is needed
local function state_of(head)
  if #(head.login or {}) > 0 then
    return { "ask", "not logged in: gl or :Agent login" }
  elseif head.stuck then
    local quiet = math.max(0, os.time() - (head.lastSign or os.time()))
    return { "failed", ("no sign of life for %d s: <C-c> stops it"):format(quiet) }
  elseif head.place == "past" then
    return { "pending", "past: a prompt takes it up" }
  elseif head.place == "elsewhere" then
    return { "running", "open in another window" }
  elseif head.state == "failed" then
    return { "failed", "failed: gR starts the agent again" }
  end
  return states[head.state] or states.idle
end

---What a session is doing, in a word or two.
---@param head agentls.SessionHead
---@return string
function M.words(head)
  return state_of(head)[2]
end

---The bar above a chat.
---@param session agentls.Session
---@return string in the form of 'statusline'
function M.winbar(session)
  local head = session.head
  local state = session.stopping and { "running", "stopping: <C-c> again kills it" } or state_of(head)
  local group = "Agentls" .. state[1]:sub(1, 1):upper() .. state[1]:sub(2)
  local words = safe(state[2])
  if #(head.queue or {}) > 0 then
    words = ("%s, %d queued"):format(words, #head.queue)
  end
  local right = {}
  local policy = head.policy or "ask"
  for _, part in ipairs({ mode_name(head) or "", option_name(head, "model") or "" }) do
    if part ~= "" then
      table.insert(right, safe(part))
    end
  end
  table.insert(right, usage_text(head.usage))
  local changed = require("agentls.changes").count(session.id)
  if changed > 0 then
    table.insert(right, "±" .. changed)
  end
  if policy ~= "ask" then
    local trust = policy == "trust" and "%#AgentlsTrust#" or ""
    table.insert(right, trust .. safe(policy:gsub("_", " ")) .. "%#AgentlsNote#")
  end
  local title = require("agentls.sessions").title(session)
  if vim.fn.strchars(title) > TITLE_LIMIT then
    title = vim.fn.strcharpart(title, 0, TITLE_LIMIT - 1) .. "…"
  end
  local icon = config.get().icons[state[1]]
  return (" %%#%s#%s %%#AgentlsHeading#%s %%#AgentlsNote#%s %%<%%=%s "):format(
    group,
    icon,
    safe(title),
    words,
    table.concat(right, " · ")
  )
end

---For a statusline: how many sessions work, how many asks wait. Empty when there is nothing to say.
---@return string
function M.statusline()
  if not package.loaded["agentls.sessions"] then
    return ""
  end
  local running = 0
  for _, session in ipairs(require("agentls.sessions").list()) do
    if session.head.turnRunning then
      running = running + 1
    end
  end
  local asks = #require("agentls.asks").list()
  local icons = config.get().icons
  local parts = {}
  if running > 0 then
    table.insert(parts, icons.running .. " " .. running)
  end
  if asks > 0 then
    table.insert(parts, icons.ask .. " " .. asks)
  end
  return table.concat(parts, " ")
end

local drawn = ""

---A statusline that shows it is drawn again when it says something else, and only then.
local function refresh()
  local text = M.statusline()
  if text ~= drawn then
    drawn = text
    vim.cmd("redrawstatus!")
  end
end

for _, name in ipairs({ "Session", "Ask", "AskDone", "Disconnected" }) do
  events.on(name, refresh)
end

return M
