---Chats: one buffer for each session that is shown, and the windows they are shown in.
local api = vim.api
local client = require("agentls.client")
local colours = require("agentls.chat.colours")
local config = require("agentls.config")
local events = require("agentls.events")
local notice = require("agentls.notice")
local prompt = require("agentls.chat.prompt")
local sessions = require("agentls.sessions")
local status = require("agentls.status")
local Transcript = require("agentls.chat.transcript")

local M = {}

---@class agentls.Chat
---@field id string of the session
---@field buf integer
---@field transcript agentls.Transcript
---@field prompt integer buffer

---@type table<string, agentls.Chat>
local chats = {}
---@type table<integer, agentls.Chat> by either buffer
local by_buffer = {}
---@type string? the session that was shown or prompted last
local latest

local group = api.nvim_create_augroup("agentls.chat", {})
---More entries than any session has.
local ALL = 1000000
---Entries that are shown before one that was looked for.
local BEFORE = 50

---@param win integer
---@param options table<string, any>
local function set_local(win, options)
  for name, value in pairs(options) do
    api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

---@param chat agentls.Chat
local function update_winbar(chat)
  local session = sessions.get(chat.id)
  if not session then
    return
  end
  local text = status.winbar(session)
  for _, win in ipairs(vim.fn.win_findbuf(chat.buf)) do
    if vim.wo[win].winbar ~= text then
      set_local(win, { winbar = text })
    end
  end
end

---@param chat agentls.Chat
---@param win integer
local function dress(chat, win)
  set_local(win, {
    wrap = true,
    linebreak = true,
    breakindent = true,
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    list = false,
    spell = false,
    foldmethod = "manual",
    foldminlines = 0,
    foldenable = true,
    foldtext = "",
    fillchars = "fold: ,eob: ",
    winhighlight = "Folded:Normal",
  })
  chat.transcript:fold(win)
  update_winbar(chat)
end

---@param chat agentls.Chat
local function keymaps(chat)
  local function map(lhs, name, rhs)
    local plug = ("<Plug>(agentls-chat-%s)"):format(name)
    vim.keymap.set("n", plug, rhs, { buffer = chat.buf, desc = "agentls: " .. name })
    if config.get().keymaps then
      vim.keymap.set("n", lhs, plug, { buffer = chat.buf, remap = true })
    end
  end
  local function write()
    M.open(chat.id, { focus = "prompt" })
  end
  map("<CR>", "open", function()
    require("agentls.chat.details").open(chat)
  end)
  map("<Tab>", "fold", "<Cmd>silent! normal! za<CR>")
  map("i", "write", write)
  map("a", "write", write)
  map("q", "close", M.close)
  map("gO", "whole", function()
    M.show_all(chat.id)
  end)
  map("]]", "next-heading", "<Cmd>call search('^## ', 'W')<CR>")
  map("[[", "previous-heading", "<Cmd>call search('^## ', 'bW')<CR>")
  map("<C-c>", "stop", function()
    M.stop(chat.id)
  end)
  map("gl", "login", function()
    require("agentls.commands.recovery").login(sessions.get(chat.id), "")
  end)
  map("gR", "kill", function()
    require("agentls.commands.recovery").kill(sessions.get(chat.id))
  end)
end

---@param chat agentls.Chat
local function forget(chat)
  if chats[chat.id] ~= chat then
    return
  end
  chats[chat.id], by_buffer[chat.buf], by_buffer[chat.prompt] = nil, nil, nil
  sessions.follow(chat.id, nil)
  vim.schedule(function()
    for _, buf in ipairs({ chat.buf, chat.prompt }) do
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end)
end

---@param id string
---@return agentls.Chat
local function create(id)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, "agentls://" .. id)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = "agentls"
  local chat = { id = id, buf = buf, transcript = Transcript.new(buf) }
  chat.prompt = prompt.create(id, function(text)
    M.send(id, text)
  end)
  chats[id], by_buffer[buf], by_buffer[chat.prompt] = chat, chat, chat
  colours.attach(buf)
  keymaps(chat)
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    buffer = buf,
    callback = function()
      dress(chat, api.nvim_get_current_win())
    end,
  })
  -- Who deletes one of its buffers closes the chat; opening it again reads the session anew.
  for _, own in ipairs({ buf, chat.prompt }) do
    api.nvim_create_autocmd("BufUnload", {
      group = group,
      buffer = own,
      once = true,
      callback = function()
        forget(chat)
      end,
    })
  end
  sessions.follow(id, chat.transcript)
  return chat
end

---The windows of this tab that show a chat and a prompt.
---@return integer? chat, integer? prompt
local function windows()
  local found = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local buf = api.nvim_win_get_buf(win)
    local chat = by_buffer[buf]
    if chat then
      found[buf == chat.buf and "chat" or "prompt"] = win
    end
  end
  return found.chat, found.prompt
end

local function size(value, whole)
  return math.max(10, math.floor(value < 1 and whole * value or value))
end

---@param buf integer
---@return integer window
local function open_window(buf)
  local options = config.get().chat
  if options.position == "tab" then
    vim.cmd("tab split")
    local win = api.nvim_get_current_win()
    api.nvim_win_set_buf(win, buf)
    return win
  elseif options.position == "bottom" then
    local height = size(options.height, vim.o.lines)
    return api.nvim_open_win(buf, false, { split = "below", win = -1, height = height })
  end
  local width = size(options.width, vim.o.columns)
  return api.nvim_open_win(buf, false, { split = options.position, win = -1, width = width })
end

---@param buf integer
---@param below integer
---@return integer window
local function open_prompt(buf, below)
  local height = config.get().chat.prompt_height
  local win = api.nvim_open_win(buf, false, { split = "below", win = below, height = height })
  set_local(win, {
    winfixheight = true,
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    wrap = true,
    linebreak = true,
    spell = false,
    winbar = "%#AgentlsNote# prompt%=" .. prompt.hint() .. " ",
  })
  return win
end

---A prompt without its chat is of no use.
---@param chat_win integer
---@param prompt_win integer
local function close_together(chat_win, prompt_win)
  api.nvim_create_autocmd("WinClosed", {
    group = group,
    pattern = tostring(chat_win),
    once = true,
    callback = function()
      vim.schedule(function()
        if api.nvim_win_is_valid(prompt_win) then
          pcall(api.nvim_win_close, prompt_win, false)
        end
      end)
    end,
  })
end

---Show a session in this tab.
---@param id string
---@param options? { focus?: "prompt"|"chat"|"none" }
function M.open(id, options)
  local focus = options and options.focus or "prompt"
  local chat = chats[id] or create(id)
  latest = id
  local chat_win, prompt_win = windows()
  if chat_win then
    api.nvim_win_set_buf(chat_win, chat.buf)
  else
    chat_win = open_window(chat.buf)
    dress(chat, chat_win)
  end
  if prompt_win then
    api.nvim_win_set_buf(prompt_win, chat.prompt)
  else
    prompt_win = open_prompt(chat.prompt, chat_win)
    close_together(chat_win, prompt_win)
  end
  api.nvim_win_set_cursor(chat_win, { api.nvim_buf_line_count(chat.buf), 0 })
  if focus == "chat" then
    api.nvim_set_current_win(chat_win)
  elseif focus == "prompt" then
    api.nvim_set_current_win(prompt_win)
    vim.cmd.startinsert({ bang = true })
  end
end

---Close the windows of this tab that show chats. The sessions go on.
function M.close()
  local chat_win, prompt_win = windows()
  for _, win in pairs({ prompt_win, chat_win }) do
    if #api.nvim_tabpage_list_wins(0) > 1 then
      api.nvim_win_close(win, false)
    else
      api.nvim_win_set_buf(win, api.nvim_create_buf(true, false))
    end
  end
end

---Open the chat, or close it when it is open.
function M.toggle()
  if windows() then
    return M.close()
  end
  local id = M.current()
  if id then
    return M.open(id)
  end
  M.start({}, { focus = "prompt" })
end

---The session that a command without an id is about: the one of this window, or the last one.
---@return string?
function M.current()
  local here = by_buffer[api.nvim_get_current_buf()]
  if here then
    return here.id
  end
  if latest and sessions.get(latest) then
    return latest
  end
  for _, other in ipairs(sessions.list()) do
    if other.head.state ~= "closed" then
      return other.id
    end
  end
end

---@return table where the person is, and what they have typed there
local function place()
  local win = api.nvim_get_current_win()
  local tick = vim.b[api.nvim_win_get_buf(win)].changedtick
  return { win, api.nvim_get_mode().mode, tick, api.nvim_win_get_cursor(win) }
end

---Open a session and show it. Who has gone on typing elsewhere in the meantime is left there.
---@param params agentls.SessionNewParams
---@param options? { focus?: "prompt"|"none" }
---@param callback? fun(session: agentls.Session)
function M.start(params, options, callback)
  local before = place()
  sessions.new(params, function(error, session)
    if error or not session then
      return notice.error(error and error.message or "No session was opened.")
    end
    local focus = vim.deep_equal(before, place()) and options and options.focus or "none"
    M.open(session.id, { focus = focus })
    if callback then
      callback(session)
    end
  end)
end

---@param id string
---@param text string
---@param blocks? agentls.ContentBlock[]
function M.send(id, text, blocks)
  latest = id
  require("agentls.context").resolve(text, function(found)
    local all = vim.list_extend(blocks or {}, found)
    local params = { sessionId = id, text = text, blocks = #all > 0 and all or nil }
    sessions.prompt(params, function(error)
      if not error then
        return
      end
      notice.error(error.message)
      if chats[id] then
        prompt.give_back(chats[id].prompt, text)
      end
    end)
  end)
end

---Stop the running turn. An agent that was told so before and goes on can be killed.
---@param id string
function M.stop(id)
  local session = sessions.get(id)
  if session and session.stopping then
    return require("agentls.commands.recovery").offer_kill(session)
  end
  if session and session.head.turnRunning then
    session.stopping = true
    if chats[id] then
      update_winbar(chats[id])
    end
  end
  client.request("agentls/session/cancel", { sessionId = id }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    -- What was waiting is not lost: it is in the prompt again.
    local returned = result and result.returned or {}
    if chats[id] and #returned > 0 then
      prompt.give_back(chats[id].prompt, table.concat(returned, "\n\n"))
    end
  end)
end

---@param id string
function M.show_all(id)
  sessions.read(id, ALL, function(error)
    if error then
      notice.error(error.message)
    end
  end)
end

---Show a session from some entries before this one on, with the cursor at it.
---@param id string
---@param entry string
function M.open_at(id, entry)
  M.open(id, { focus = "chat" })
  local function go()
    local chat = chats[id]
    local win = chat and vim.fn.bufwinid(chat.buf) or -1
    local row = chat and chat.transcript:row_of(entry)
    if win ~= -1 and row then
      api.nvim_win_set_cursor(win, { row + 1, 0 })
      api.nvim_win_call(win, function()
        vim.cmd("normal! zvzz")
      end)
    end
    return row ~= nil
  end
  client.request("agentls/session/snapshot", { sessionId = id, last = 1 }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    local after = result.total - (tonumber(entry:sub(2)) or 0)
    sessions.read(id, math.max(after + BEFORE, config.get().chat.entries), go)
  end)
end

---@param id string
---@return agentls.Chat?
function M.get(id)
  return chats[id]
end

---@param buf integer
---@return agentls.Chat? the chat that a chat or prompt buffer belongs to
function M.of_buffer(buf)
  return by_buffer[buf]
end

---@param id string
---@return boolean whether a person can see it now
local function is_visible(id)
  local chat = chats[id]
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if chat and api.nvim_win_get_buf(win) == chat.buf then
      return true
    end
  end
  return false
end

---@param head agentls.SessionHead
---@param previous agentls.SessionHead
local function tell_what_helps(head, previous)
  if not config.get().notify then
    return
  end
  if head.stuck and not previous.stuck then
    notice.say(("%s gives no sign of life. :Agent stop stops it."):format(head.agent), vim.log.levels.WARN)
  elseif #(head.login or {}) > 0 and #(previous.login or {}) == 0 then
    notice.say(("%s wants you to log in: :Agent login"):format(head.agent), vim.log.levels.WARN)
  end
end

events.on("Session", function(data)
  local chat = chats[data.session.id]
  if chat then
    update_winbar(chat)
  end
  tell_what_helps(data.session, data.previous)
end)

events.on("Changes", function()
  for _, chat in pairs(chats) do
    update_winbar(chat)
  end
end)

events.on("TurnEnd", function(data)
  if config.get().notify and not is_visible(data.session.id) then
    local session = sessions.get(data.session.id)
    local failed = data.entry.reason == "failed"
    local text = ("%s: %s"):format(failed and "Failed" or "Done", session and sessions.title(session) or "")
    notice.say(text, failed and vim.log.levels.ERROR or vim.log.levels.INFO)
  end
end)

events.on("Disconnected", function(data)
  if not data.expected then
    notice.error(("The agentls server ended (%s). :Agent restart starts it again."):format(data.how))
  end
end)

return M
