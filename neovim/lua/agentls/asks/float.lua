---One ask in a floating window: what would happen, and a key for each answer.
---
---It opens only when a person asks for it, and takes no key that was typed before it was on the screen.
local api = vim.api
local asks = require("agentls.asks")
local events = require("agentls.events")
local render = require("agentls.chat.render")
local sessions = require("agentls.sessions")

local M = {}

---@class agentls.Choice
---@field key string
---@field label string
---@field choose fun(ask: agentls.Ask)

---@type { win: integer, buf: integer, ask: agentls.Ask, armed: boolean }?
local shown

local namespace = api.nvim_create_namespace("agentls.float")
local option_keys = {
  allow_once = { "a", "y" },
  allow_always = { "A" },
  reject_once = { "r", "n" },
  reject_always = { "R" },
}

---@param ask agentls.Ask
---@return agentls.Choice[]
local function choices(ask)
  local used, found = { q = true, w = true, o = true, e = true }, {}
  local function add(wanted, label, choose)
    local candidates = vim.list_extend(vim.list_extend({}, wanted), vim.split("123456789", ""))
    for _, key in ipairs(candidates) do
      if not used[key] then
        used[key] = true
        table.insert(found, { key = key, label = label, choose = choose })
        return
      end
    end
  end
  for _, option in ipairs(ask.entry.options) do
    add(option_keys[option.kind] or {}, option.name, function()
      asks.decide({ askId = ask.id, optionId = option.id })
    end)
  end
  for _, offer in ipairs(ask.entry.always or {}) do
    add({}, offer.label, function()
      asks.decide({ askId = ask.id, always = offer.id })
    end)
  end
  local function put(key, label, choose)
    table.insert(found, { key = key, label = label, choose = choose })
  end
  if ask.entry.editable then
    put("e", "Edit it first…", function()
      require("agentls.asks.proposal").open(ask)
    end)
  end
  put("w", "Reject and say why…", function()
    asks.reject_and_say_why(ask)
  end)
  return found
end

---@param ask agentls.Ask
---@return string[] lines, table<integer, string> groups by line
local function describe(ask)
  local lines, groups = {}, {}
  local function add(text, group)
    for _, line in ipairs(render.split(text)) do
      table.insert(lines, " " .. line)
      groups[#lines] = group
    end
  end
  local session = sessions.get(ask.session)
  local call = session and session.calls[ask.entry.callId]
  local shows_diff = false
  for _, part in ipairs(call and call.content or {}) do
    if part.type == "diff" then
      shows_diff = true
      add(vim.fn.fnamemodify(part.path, ":~:."), "AgentlsHeading")
      local diff = render.diff(part)
      for i = 1, math.min(#diff, 200) do
        local sign = diff[i]:sub(1, 1)
        local group = sign == "+" and "AgentlsAdded" or sign == "-" and "AgentlsRemoved" or nil
        add(diff[i], sign == "@" and "AgentlsHunk" or group)
      end
      if #diff > 200 or part.new.cut then
        add("⋯ o shows it all", "AgentlsNote")
      end
    end
  end
  if not shows_diff then
    add((ask.entry.shown or "") ~= "" and ask.entry.shown or ask.entry.title, "AgentlsCode")
  end
  if (ask.entry.why or "") ~= "" then
    table.insert(lines, "")
    add(ask.entry.why, "AgentlsNote")
  end
  return lines, groups
end

local function close()
  local old = shown
  shown = nil
  if old and api.nvim_win_is_valid(old.win) then
    api.nvim_win_close(old.win, true)
  end
end

---@param lines string[]
---@param ask agentls.Ask
---@return table for nvim_open_win
local function layout(lines, ask)
  local width = 40
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 1)
  end
  width = math.min(width, math.max(40, math.floor(vim.o.columns * 0.8)))
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  local height = math.max(1, math.min(rows, vim.o.lines - 6))
  local more = #asks.list() - 1
  local title = (" %s asks%s "):format(ask.agent, more > 0 and (" (%d more)"):format(more) or "")
  return {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.floor((vim.o.columns - width) / 2),
    style = "minimal",
    border = "rounded",
    title = title,
    title_pos = "center",
    footer = rows > height and " more below " or nil,
    footer_pos = rows > height and "center" or nil,
  }
end

---@param buf integer
---@param ask agentls.Ask
---@param found agentls.Choice[]
local function map_keys(buf, ask, found)
  local function map(key, desc, action)
    vim.keymap.set("n", key, function()
      if shown and shown.ask == ask and shown.armed then
        action()
      end
    end, { buffer = buf, nowait = true, desc = "agentls: " .. desc })
  end
  for _, choice in ipairs(found) do
    map(choice.key, choice.label, function()
      close()
      choice.choose(ask)
    end)
  end
  map("o", "show the tool call", function()
    local session = sessions.get(ask.session)
    local call = session and session.calls[ask.entry.callId]
    close()
    if call then
      require("agentls.chat.details").show(ask.session, call)
    end
  end)
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, close, { buffer = buf, nowait = true, desc = "agentls: later" })
  end
end

---@param ask agentls.Ask
local function show(ask)
  close()
  require("agentls.chat.colours").define_groups()
  local lines, groups = describe(ask)
  local found = choices(ask)
  table.insert(lines, "")
  local first_choice = #lines
  for _, choice in ipairs(found) do
    table.insert(lines, (" %s  %s"):format(choice.key, choice.label))
  end
  table.insert(lines, " q  Decide later")
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = "agentls-ask"
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  for row, group in pairs(groups) do
    local options = { end_col = #lines[row], hl_group = group }
    api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, options)
  end
  for row = first_choice, #lines - 1 do
    api.nvim_buf_set_extmark(buf, namespace, row, 0, { end_col = 2, hl_group = "AgentlsAsk" })
  end
  map_keys(buf, ask, found)
  local win = api.nvim_open_win(buf, true, layout(lines, ask))
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = false
  local mine = { win = win, buf = buf, ask = ask, armed = false }
  shown = mine
  -- Keys that were typed before it was there are read before this timer runs, and find it deaf.
  vim.defer_fn(function()
    mine.armed = true
  end, 150)
  api.nvim_create_autocmd("WinLeave", {
    buffer = buf,
    once = true,
    callback = function()
      vim.schedule(function()
        if shown == mine then
          close()
        end
      end)
    end,
  })
end

---@param id? string of an ask; the oldest by default
function M.open(id)
  local ask = id and asks.get(id) or asks.list()[1]
  if not ask then
    return require("agentls.notice").say("No agent asks for anything.")
  end
  show(ask)
end

---@return boolean
function M.is_open()
  return shown ~= nil
end

---@return boolean whether it takes keys
function M.is_armed()
  return shown ~= nil and shown.armed
end

events.on("AskDone", function(data)
  if shown and shown.ask.id == data.ask.id then
    close()
  end
end)

return M
