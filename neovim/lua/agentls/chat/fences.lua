---Code blocks in messages: found as the text comes, remembered as extmarks, coloured once when they are complete.
local api = vim.api
local M = {}

---@class agentls.Fence
---@field mark integer
---@field row integer
---@field language string
---@field closing string what ends it begins with this

local namespace = api.nvim_create_namespace("agentls.fences")
local colours = api.nvim_create_namespace("agentls.code")
---Larger blocks are shown without the colours of their language.
local COLOUR_LIMIT = 400

---@param buf integer
function M.clear(buf)
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  api.nvim_buf_clear_namespace(buf, colours, 0, -1)
end

---@param buf integer
---@param first integer
---@param last integer
---@param language string
local function colour(buf, first, last, language)
  language = vim.treesitter.language.get_lang(language) or language
  if language == "" or last - first > COLOUR_LIMIT or not pcall(vim.treesitter.language.add, language) then
    return
  end
  local text = table.concat(api.nvim_buf_get_lines(buf, first, last, false), "\n")
  local ok, parser = pcall(vim.treesitter.get_string_parser, text, language)
  local query = ok and vim.treesitter.query.get(language, "highlights")
  if not ok or not query then
    return
  end
  local tree = parser:parse()[1]
  for id, node in query:iter_captures(tree:root(), text) do
    local name = query.captures[id]
    if name:sub(1, 1) ~= "_" and name ~= "spell" then
      local row, column, end_row, end_column = node:range()
      api.nvim_buf_set_extmark(buf, colours, first + row, column, {
        end_row = first + end_row,
        end_col = end_column,
        hl_group = ("@%s.%s"):format(name, language),
        priority = 110,
        strict = false,
      })
    end
  end
end

---@param buf integer
---@param fence agentls.Fence
---@param last integer
local function stretch(buf, fence, last)
  api.nvim_buf_set_extmark(
    buf,
    namespace,
    fence.row,
    0,
    { id = fence.mark, end_row = last, end_col = 0, strict = false }
  )
end

---@param buf integer
---@param record agentls.Record
---@param row integer
---@param line string a line that will not change any more
local function line_done(buf, record, row, line)
  local indent, ticks, info = line:match("^( ? ? ?)([`~][`~][`~]+)%s*([^`]*)$")
  local fence = record.fence
  if fence then
    if ticks and info == "" and vim.startswith(ticks, fence.closing) then
      fence.row = api.nvim_buf_get_extmark_by_id(buf, namespace, fence.mark, {})[1]
      stretch(buf, fence, row)
      colour(buf, fence.row + 1, row, fence.language)
      record.fence = nil
    end
  elseif indent then
    local language = (info:match("^[%w_+#.-]+") or ""):lower()
    local mark = api.nvim_buf_set_extmark(buf, namespace, row, 0, { end_row = row, end_col = 0 })
    record.fence = { mark = mark, row = row, language = language, closing = ticks }
  end
end

---@param buf integer
---@param record agentls.Record
---@param row integer where the lines begin
---@param lines string[] the last of them may still grow
function M.scan(buf, record, row, lines)
  if record.entry.role == "thought" then
    return
  end
  for i = 1, #lines - 1 do
    local first = lines[i]:byte(1)
    -- A space, a backtick or a tilde: nothing else begins a fence.
    if first == 96 or first == 126 or first == 32 then
      line_done(buf, record, row + i - 1, lines[i])
    end
  end
  if record.fence and #lines > 1 then
    record.fence.row = api.nvim_buf_get_extmark_by_id(buf, namespace, record.fence.mark, {})[1]
    stretch(buf, record.fence, row + #lines - 1)
  end
end

---No more text will come.
---@param buf integer
---@param record agentls.Record
---@param row integer its last line
function M.finish(buf, record, row)
  if record.fence then
    line_done(buf, record, row, record.tail)
    record.fence = nil
  end
end

---@param buf integer
---@param top integer
---@param bottom integer
---@return table<integer, boolean> the rows that are code
function M.rows(buf, top, bottom)
  local rows = {}
  local options = { overlap = true, details = true }
  local marks = api.nvim_buf_get_extmarks(buf, namespace, { top, 0 }, { bottom, -1 }, options)
  for _, mark in ipairs(marks) do
    for row = math.max(top, mark[2]), math.min(bottom, mark[4].end_row or mark[2]) do
      rows[row] = true
    end
  end
  return rows
end

return M
