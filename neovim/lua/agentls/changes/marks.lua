---Shows what agents changed where it is: a sign beside each line, and what was removed above it.
---
---Marks move with the text, so a hunk is where its mark is; the server's numbers only place it.
local api = vim.api
local changes = require("agentls.changes")
local config = require("agentls.config")
local events = require("agentls.events")

local M = {}

local namespace = api.nvim_create_namespace("agentls.changes")
local group = api.nvim_create_augroup("agentls.changes", {})
---Lines of removed text that are shown in the file; the diff has them all.
local REMOVED_LIMIT = 30

---@class agentls.Placed
---@field mark integer
---@field change string
---@field hunk agentls.HunkItem

---@type table<integer, agentls.Placed[]> by buffer
local placed = {}
---@type table<string, { of: string, before: table<string, string> }> by change: what was there before, by hunk
local removed = {}

---@param buf integer
---@return string? the file it shows, as the server calls it
local function path_of(buf)
  if vim.bo[buf].buftype ~= "" then
    return nil
  end
  local name = api.nvim_buf_get_name(buf)
  return name ~= "" and (vim.uv.fs_realpath(name) or name) or nil
end

---@param text string
---@return string[]
local function lines_of(text)
  local lines = vim.split((text:gsub("\r", "")), "\n", { plain = true })
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end

---@param buf integer
---@param text string
---@return table for `virt_lines`
local function virtual_lines(buf, text)
  local tab = (" "):rep(vim.bo[buf].tabstop)
  local found = {}
  local lines = lines_of(text)
  for i = 1, math.min(#lines, REMOVED_LIMIT) do
    local line = lines[i]:gsub("\t", tab)
    local room = (" "):rep(math.max(0, vim.o.columns - vim.fn.strdisplaywidth(line)))
    table.insert(found, { { line .. room, "AgentlsRemovedLine" } })
  end
  if #lines > REMOVED_LIMIT then
    local more = ("⋯ %d more lines were here; :Agent diff shows them"):format(#lines - REMOVED_LIMIT)
    table.insert(found, { { more, "AgentlsNote" } })
  end
  return found
end

---@param hunk agentls.HunkItem
---@return string text, string highlight group
local function sign_of(hunk)
  local icons = config.get().review.icons
  if hunk.start == hunk["end"] then
    return icons.removed, "AgentlsSignRemoved"
  elseif hunk.removed == 0 then
    return icons.added, "AgentlsSignAdded"
  end
  return icons.changed, "AgentlsSignChanged"
end

---@param buf integer
---@param item agentls.ChangeItem
---@param hunk agentls.HunkItem
local function place(buf, item, hunk)
  local total = api.nvim_buf_line_count(buf)
  local row = math.min(hunk.start, total - 1)
  local sign, highlight = sign_of(hunk)
  local options = { sign_text = sign, sign_hl_group = highlight, priority = 12, strict = false }
  options.end_row = math.max(row, math.min(hunk["end"], total) - 1)
  local text = removed[item.changeId] and removed[item.changeId].before[hunk.hunkId]
  if text and text ~= "" and config.get().review.removed then
    options.virt_lines = virtual_lines(buf, text)
    options.virt_lines_above = hunk.start < total
  end
  if not config.get().review.signs then
    options.sign_text, options.sign_hl_group = nil, nil
  end
  local mark = api.nvim_buf_set_extmark(buf, namespace, row, 0, options)
  table.insert(placed[buf], { mark = mark, change = item.changeId, hunk = hunk })
  if row == 0 and options.virt_lines_above and options.virt_lines then
    M.make_room(buf, #options.virt_lines)
  end
end

---What is above the first line is not seen unless the window makes room for it.
---@param buf integer
---@param count integer
function M.make_room(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      if vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topfill = count })
      end
    end)
  end
end

---@param item agentls.ChangeItem
---@return string the same as long as what was removed is
local function fingerprint(item)
  local parts = {}
  for _, hunk in ipairs(item.hunks) do
    table.insert(parts, hunk.hunkId .. "-" .. hunk.removed)
  end
  return table.concat(parts, " ")
end

---What was removed is asked for once, not whenever lines move.
---@param buf integer
---@param item agentls.ChangeItem
local function ask_for_text(buf, item)
  local of = fingerprint(item)
  if removed[item.changeId] and removed[item.changeId].of == of then
    return
  end
  removed[item.changeId] = { of = of, before = {} }
  changes.texts(item.changeId, function(result)
    local before = {}
    for _, hunk in ipairs(result.hunks or {}) do
      before[hunk.hunkId] = hunk.before
    end
    removed[item.changeId] = { of = of, before = before }
    M.refresh(buf)
  end)
end

---@param buf integer
---@param wanted boolean
local function keymaps(buf, wanted)
  if not config.get().keymaps then
    return
  end
  for key, name in pairs({ ["]a"] = "next", ["[a"] = "previous" }) do
    if wanted then
      local desc = "agentls: " .. name .. " change"
      local plug = ("<Plug>(agentls-%s-change)"):format(name)
      vim.keymap.set("n", key, plug, { buffer = buf, remap = true, desc = desc })
    else
      pcall(vim.keymap.del, "n", key, { buffer = buf })
    end
  end
end

---Put the marks of a buffer where the server says that the hunks are.
---@param buf integer
function M.refresh(buf)
  local path = api.nvim_buf_is_loaded(buf) and path_of(buf)
  if not path then
    return
  end
  local had = placed[buf]
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  placed[buf] = {}
  for _, item in ipairs(changes.of_file(path)) do
    for _, hunk in ipairs(changes.hunks(item)) do
      place(buf, item, hunk)
    end
    if config.get().review.removed then
      ask_for_text(buf, item)
    end
  end
  local has = #placed[buf] > 0
  if has ~= (had ~= nil) then
    keymaps(buf, has)
  end
  placed[buf] = has and placed[buf] or nil
end

---Where the hunks of a buffer are now, from top to bottom; rows from 0, the last one included.
---@param buf integer
---@return { first: integer, last: integer, change: string, hunk: agentls.HunkItem }[]
function M.hunks(buf)
  local found = {}
  for _, it in ipairs(placed[buf] or {}) do
    local at = api.nvim_buf_get_extmark_by_id(buf, namespace, it.mark, { details = true })
    if at[1] then
      local last = math.max(at[1], at[3].end_row or at[1])
      table.insert(found, { first = at[1], last = last, change = it.change, hunk = it.hunk })
    end
  end
  table.sort(found, function(a, b)
    return a.first < b.first
  end)
  return found
end

---@param paths string[]
local function refresh_files(paths)
  local wanted = {}
  for _, path in ipairs(paths) do
    wanted[path] = true
  end
  for id in pairs(removed) do
    if not changes.get(id) then
      removed[id] = nil
    end
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local path = api.nvim_buf_is_loaded(buf) and path_of(buf)
    if path and wanted[path] then
      M.refresh(buf)
    end
  end
end

events.on("Changes", function(data)
  require("agentls.chat.colours").define_groups()
  refresh_files(data.paths)
end)

api.nvim_create_autocmd({ "BufReadPost", "BufWinEnter", "FileChangedShellPost" }, {
  group = group,
  callback = function(args)
    vim.schedule(function()
      if api.nvim_buf_is_valid(args.buf) and #changes.pending() > 0 then
        M.refresh(args.buf)
      end
    end)
  end,
})

api.nvim_create_autocmd("BufUnload", {
  group = group,
  callback = function(args)
    placed[args.buf] = nil
  end,
})

return M
