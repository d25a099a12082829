---A buffer that shows a session: entries go in at the end, changed ones are mended where they stand.
---
---Only text that is new or different is written, so nothing flickers, and a cursor stays where it is unless
---it was on the last line. The buffer cannot be changed by hand, so what it says is what was written here.
local config = require("agentls.config")
local fences = require("agentls.chat.fences")
local folds = require("agentls.chat.folds")
local render = require("agentls.chat.render")

local api = vim.api

---@class agentls.Record
---@field entry agentls.Entry
---@field mark? integer extmark of its first line; nil when it has no lines
---@field count integer how many lines it has
---@field tail string the line that a message goes on in
---@field below integer lines after that one
---@field fence? agentls.Fence a code block that is still open

---@class agentls.Transcript: agentls.Follower
---@field buf integer
---@field agent string
---@field cwd string
---@field private records table<string, agentls.Record>
---@field private by_mark table<integer, agentls.Record>
---@field private last? agentls.Record the last one with lines
---@field private since? number entries from before are not shown
local Transcript = {}
Transcript.__index = Transcript

local namespace = api.nvim_create_namespace("agentls.entries")
local FAR_RIGHT = 0x7ffffffe

---@param buf integer
---@return agentls.Transcript
function Transcript.new(buf)
  return setmetatable({ buf = buf, agent = "", cwd = "", records = {}, by_mark = {} }, Transcript)
end

---@param buf integer
---@return integer[] windows whose cursor is on the last line, and stays there
local function following(buf)
  local total = api.nvim_buf_line_count(buf)
  local current = api.nvim_get_current_win()
  local selecting = api.nvim_get_mode().mode:find("^[vV\22]") ~= nil
  return vim.tbl_filter(function(win)
    local busy = selecting and win == current
    return not busy and api.nvim_win_get_cursor(win)[1] == total
  end, vim.fn.win_findbuf(buf))
end

---@param write fun()
---@private
function Transcript:write(write)
  local windows = following(self.buf)
  vim.bo[self.buf].modifiable = true
  write()
  vim.bo[self.buf].modifiable = false
  for _, win in ipairs(windows) do
    api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(self.buf), FAR_RIGHT })
  end
end

---@param snapshot agentls.SnapshotResult
function Transcript:snapshot(snapshot)
  self.records, self.by_mark, self.last, self.since = {}, {}, nil, nil
  self.agent, self.cwd = snapshot.session.agent, snapshot.session.cwd
  self:write(function()
    api.nvim_buf_clear_namespace(self.buf, namespace, 0, -1)
    fences.clear(self.buf)
    local lines = {}
    local hidden = snapshot.total - #snapshot.entries
    if hidden > 0 then
      lines = { ("> %d earlier entries are not shown; gO shows them all."):format(hidden) }
      self.since = snapshot.entries[1] and snapshot.entries[1].at
    end
    api.nvim_buf_set_lines(self.buf, 0, -1, false, lines)
    for _, entry in ipairs(snapshot.entries) do
      self:append(entry)
    end
  end)
end

---@param changes agentls.Change[]
function Transcript:apply(changes)
  self:write(function()
    for _, change in ipairs(changes) do
      if change.type == "text" then
        local record = self.records[change.entryId]
        if record then
          self:grow(record, change.text)
        end
      elseif change.type == "entry" then
        self:put(change.entry)
      elseif change.type == "session" then
        self.agent, self.cwd = change.session.agent, change.session.cwd
      end
    end
  end)
end

---@param entry agentls.Entry
---@private
function Transcript:put(entry)
  local record = self.records[entry.id]
  if record and record.mark then
    self:replace(record, entry)
  elseif not (self.since and entry.at < self.since) then
    self:append(entry)
  end
end

---@param entry agentls.Entry
---@return boolean
local function foldable(entry)
  return entry.kind == "tool_call" or (entry.kind == "message" and entry.role == "thought")
end

local compact = { tool_call = true, ask = true, attachment = true }

---What separates an entry from the one before: a blank line, and a heading when somebody else speaks.
---@param entry agentls.Entry
---@param at_top boolean
---@return string[]
---@private
function Transcript:separator(entry, at_top)
  local last = self.last
  local lines = {}
  local together = last and compact[last.entry.kind] and compact[entry.kind]
  local blank_already = last and last.entry.kind == "message" and last.tail == ""
  if not (at_top or together or blank_already) then
    lines = { "" }
  end
  local mine = entry.role == "user"
  if not last or mine ~= (last.entry.role == "user") then
    local who = (entry.sender or "") ~= "" and entry.sender or "You"
    vim.list_extend(lines, { "## " .. (mine and who or self.agent), "" })
  end
  return lines
end

---@param entry agentls.Entry
---@private
function Transcript:append(entry)
  local record = { entry = entry, count = 0, tail = "", below = 0 }
  self.records[entry.id] = record
  local lines = render.lines(entry, config.get(), self.cwd)
  if #lines == 0 then
    return
  end
  if self.last then
    self:finish(self.last)
  end
  local total = api.nvim_buf_line_count(self.buf)
  local at_top = total == 1 and api.nvim_buf_get_offset(self.buf, 1) <= 1
  local separator = self:separator(entry, at_top)
  local start = at_top and 0 or total
  local row = start + #separator
  api.nvim_buf_set_lines(self.buf, start, -1, false, vim.list_extend(separator, lines))
  -- It stays in front of text that is put where it stands, so every edit begins at it or after it.
  record.mark = api.nvim_buf_set_extmark(self.buf, namespace, row, 0, { right_gravity = false })
  record.count = #lines
  self.by_mark[record.mark] = record
  self.last = record
  if entry.kind == "message" then
    record.below = entry.role == "thought" and 1 or 0
    record.tail = lines[#lines - record.below]
    entry.text = "" -- the buffer has it; a second copy would only cost memory
    fences.scan(self.buf, record, row, lines)
  end
  if foldable(entry) and record.count > 1 then
    folds.add(self.buf, row, record.count)
  end
end

---Something else follows: close its code block, and leave one blank line of those at its end.
---@param record agentls.Record
---@private
function Transcript:finish(record)
  local last = self:row(record) + record.count - 1
  fences.finish(self.buf, record, last)
  while record.entry.kind == "message" and record.count > 2 do
    local lines = api.nvim_buf_get_lines(self.buf, last - 1, last + 1, false)
    if lines[1] ~= "" or lines[2] ~= "" then
      return
    end
    api.nvim_buf_set_lines(self.buf, last, last + 1, false, {})
    record.count = record.count - 1
    last = last - 1
  end
end

---@param record agentls.Record
---@param text string
---@private
function Transcript:grow(record, text)
  local lines = render.more(record.entry --[[@as agentls.MessageEntry]], text)
  if not record.mark then
    return
  end
  local row = self:row(record) + record.count - 1 - record.below
  local column = #record.tail
  api.nvim_buf_set_text(self.buf, row, column, row, column, lines)
  record.count = record.count + #lines - 1
  lines[1] = record.tail .. lines[1]
  record.tail = lines[#lines]
  fences.scan(self.buf, record, row, lines)
end

---Write only the lines that differ.
---@param record agentls.Record
---@param entry agentls.Entry
---@private
function Transcript:replace(record, entry)
  local row = self:row(record)
  local old = api.nvim_buf_get_lines(self.buf, row, row + record.count, false)
  local new = render.lines(entry, config.get(), self.cwd)
  record.entry = entry
  if #new == 0 then
    new = { "" }
  end
  if entry.kind == "message" then
    record.tail = new[#new - record.below]
    entry.text = ""
  end
  local same = 0
  while same < #old and same < #new and old[same + 1] == new[same + 1] do
    same = same + 1
  end
  local below = 0
  while below < #old - same and below < #new - same and old[#old - below] == new[#new - below] do
    below = below + 1
  end
  if same == #old and same == #new then
    return
  end
  self:rewrite(row, old, new, same, below)
  record.count = #new
  if foldable(entry) and #old == 1 and #new > 1 then
    folds.add(self.buf, row, #new)
  end
end

---Close what can be folded, in a window that has just begun to show the buffer.
---@param win integer
function Transcript:fold(win)
  local ranges = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(self.buf, namespace, 0, -1, {})) do
    local record = self.by_mark[mark[1]]
    if record and record.count > 1 and foldable(record.entry) then
      table.insert(ranges, { mark[2], record.count })
    end
  end
  folds.renew(win, ranges)
end

---Edits never touch the line after the entry: the mark of the next one is there.
---@param row integer
---@param old string[]
---@param new string[]
---@param same integer lines at the start that stay
---@param below integer lines at the end that stay
---@private
function Transcript:rewrite(row, old, new, same, below)
  local lines = vim.list_slice(new, same + 1, #new - below)
  local last = #old - below
  if same > 0 then
    local column = #old[same]
    table.insert(lines, 1, "")
    api.nvim_buf_set_text(self.buf, row + same - 1, column, row + last - 1, #old[last], lines)
  elseif last > 0 then
    api.nvim_buf_set_text(self.buf, row, 0, row + last - 1, #old[last], lines)
  else
    table.insert(lines, "")
    api.nvim_buf_set_text(self.buf, row, 0, row, 0, lines)
  end
end

---@param record agentls.Record
---@return integer row counted from 0
function Transcript:row(record)
  return api.nvim_buf_get_extmark_by_id(self.buf, namespace, record.mark --[[@as integer]], {})[1]
end

---The entry at a line, and the lines it has.
---@param row integer counted from 0
---@return agentls.Entry? entry, integer first, integer count
function Transcript:entry_at(row)
  local marks = api.nvim_buf_get_extmarks(self.buf, namespace, { row, 0 }, 0, { limit = 1 })
  local record = marks[1] and self.by_mark[marks[1][1]]
  if record and row < marks[1][2] + record.count then
    return record.entry, marks[1][2], record.count
  end
  return nil, 0, 0
end

---@param id string
---@return integer? row counted from 0; nil when it is not shown
function Transcript:row_of(id)
  local record = self.records[id]
  return record and record.mark and self:row(record)
end

return Transcript
