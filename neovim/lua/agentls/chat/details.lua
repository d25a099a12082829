---Opens what a line of the chat stands for: an ask, all of a tool call, or a file.
local api = vim.api
local client = require("agentls.client")
local notice = require("agentls.notice")
local render = require("agentls.chat.render")

local M = {}

---Lines that are put into a buffer at once; more would keep the editor from answering a key.
local SLICE = 4000

---@param buf integer
---@param lines string[]
---@param from? integer
local function fill(buf, lines, from)
  from = from or 1
  if not api.nvim_buf_is_valid(buf) then
    return
  end
  local slice = vim.list_slice(lines, from, from + SLICE - 1)
  vim.bo[buf].modifiable = true
  local start = api.nvim_buf_line_count(buf)
  local empty = start == 1 and api.nvim_buf_get_offset(buf, 1) <= 1
  api.nvim_buf_set_lines(buf, empty and 0 or start, -1, false, slice)
  vim.bo[buf].modifiable = false
  if from + SLICE <= #lines then
    vim.defer_fn(function()
      fill(buf, lines, from + SLICE)
    end, 1)
  else
    vim.b[buf].agentls_complete = true
  end
end

---@param name string
---@param filetype string
---@return integer buffer
local function open_split(name, filetype)
  local buf = api.nvim_create_buf(false, true)
  pcall(api.nvim_buf_set_name, buf, name)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].undolevels = -1
  api.nvim_open_win(buf, true, { split = "above", win = 0 })
  vim.bo[buf].filetype = filetype
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = "agentls: close" })
  return buf
end

---@class agentls.Piece
---@field part integer|string
---@field side? string
---@field body agentls.Body

---@param entry agentls.ToolCallEntry
---@return agentls.Piece[] what there is to show
local function pieces(entry)
  local found = {}
  for i, part in ipairs(entry.content or {}) do
    if part.type == "text" then
      table.insert(found, { part = i - 1, body = part.body })
    elseif part.type == "diff" then
      if part.old then
        table.insert(found, { part = i - 1, side = "old", body = part.old })
      end
      table.insert(found, { part = i - 1, side = "new", body = part.new })
    end
  end
  for _, terminal in ipairs(entry.terminals or {}) do
    table.insert(found, { part = terminal.terminalId, body = terminal.output })
  end
  return found
end

---Get the whole of every text that travelled cut.
---@param session string
---@param entry agentls.ToolCallEntry
---@param callback fun(entry: agentls.ToolCallEntry)
local function complete(session, entry, callback)
  local whole = vim.deepcopy(entry)
  local missing = 0
  for _, piece in ipairs(pieces(whole)) do
    if piece.body.cut then
      missing = missing + 1
      local params = { sessionId = session, entryId = entry.id, part = piece.part, side = piece.side }
      client.request("agentls/session/body", params, function(error, result)
        missing = missing - 1
        if error then
          notice.error(error.message)
        else
          piece.body.text, piece.body.cut = result.text, false
        end
        if missing == 0 then
          callback(whole)
        end
      end)
    end
  end
  if missing == 0 then
    callback(whole)
  end
end

---@param entry agentls.ToolCallEntry
---@return string[] lines, string filetype
local function all_lines(entry)
  local lines, diffs = {}, 0
  for _, part in ipairs(entry.content or {}) do
    if part.type == "diff" then
      diffs = diffs + 1
      vim.list_extend(lines, { "--- " .. part.path, "+++ " .. part.path })
      vim.list_extend(lines, (render.diff(part)))
    elseif part.type == "text" then
      vim.list_extend(lines, render.printed(part.body.text))
    end
  end
  for _, terminal in ipairs(entry.terminals or {}) do
    vim.list_extend(lines, render.printed(terminal.output.text))
  end
  return lines, diffs > 0 and "diff" or ""
end

---@param session string
---@param entry agentls.ToolCallEntry
function M.show(session, entry)
  local has_diff = vim.iter(entry.content or {}):any(function(part)
    return part.type == "diff"
  end)
  local buf =
    open_split(("agentls://%s/%s"):format(session, entry.id), has_diff and "diff" or "agentls-output")
  complete(session, entry, function(whole)
    fill(buf, (all_lines(whole)))
  end)
end

---Show a file in a window that is not ours.
---@param location agentls.FileLocation
function M.jump(location)
  require("agentls.follow").show(location, true)
end

---@param session string
---@param entry agentls.ToolCallEntry
---@return agentls.TerminalItem?
local function terminal_of(session, entry)
  for _, part in ipairs(entry.content or {}) do
    local item = part.type == "terminal" and require("agentls.terminals").get(session, part.terminalId)
    if item then
      return item
    end
  end
end

---What the cursor is on.
---@param chat agentls.Chat
function M.open(chat)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local entry = chat.transcript:entry_at(row)
  if not entry then
    return
  end
  if entry.kind == "ask" and not entry.decision then
    require("agentls.asks.float").open(entry.askId)
  elseif entry.kind == "question" and not entry.reply then
    require("agentls.questions").answer(entry)
  elseif entry.kind == "tool_call" then
    local terminal = terminal_of(chat.id, entry)
    if terminal then
      require("agentls.terminals").open(terminal)
    elseif #pieces(entry) > 0 then
      M.show(chat.id, entry)
    elseif entry.locations and entry.locations[1] then
      M.jump(entry.locations[1])
    end
  elseif entry.kind == "attachment" and vim.startswith(entry.block.uri or "", "file://") then
    M.jump({ path = vim.uri_to_fname((entry.block.uri:gsub("#.*", ""))) })
  end
end

return M
