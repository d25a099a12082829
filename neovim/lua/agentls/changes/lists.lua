---All changes in the quickfix list, and one file before and after, side by side.
local api = vim.api
local changes = require("agentls.changes")
local events = require("agentls.events")
local notice = require("agentls.notice")

local M = {}

---@type integer? of the quickfix list that we made
local list_id

---@param item agentls.ChangeItem
---@param hunk? agentls.HunkItem
---@return table for setqflist
local function entry(item, hunk)
  local what = item.type
  if hunk then
    local where = hunk.label ~= "" and (" in " .. hunk.label) or ""
    what = ("+%d -%d%s"):format(hunk.added, hunk.removed, where)
  end
  return {
    filename = item.path,
    lnum = hunk and hunk.start + 1 or 1,
    text = ("%s, turn %d: %s"):format(item.agent, item.turn, what),
    user_data = { changeId = item.changeId, hunkId = hunk and hunk.hunkId },
  }
end

---@return table[]
local function entries()
  local found = {}
  for _, item in ipairs(changes.pending()) do
    local hunks = changes.hunks(item)
    for _, hunk in ipairs(hunks) do
      table.insert(found, entry(item, hunk))
    end
    if #hunks == 0 then
      table.insert(found, entry(item))
    end
  end
  return found
end

---Open the list of all that is not decided.
function M.quickfix()
  local items = entries()
  if #items == 0 then
    return notice.say("No change of an agent waits for you.")
  end
  vim.fn.setqflist({}, " ", { title = "Changes of agents", items = items })
  list_id = vim.fn.getqflist({ id = 0 }).id
  vim.cmd("botright copen")
end

-- What is decided leaves the list, wherever it was decided.
events.on("Changes", function()
  if not list_id or vim.fn.getqflist({ id = list_id }).id ~= list_id then
    return
  end
  local at = vim.fn.getqflist({ id = list_id, idx = 0 }).idx
  local items = entries()
  vim.fn.setqflist({}, "r", { id = list_id, items = items, idx = math.max(1, math.min(at, #items)) })
end)

---@param name string
---@param text string
---@param like string a path, for the file type
---@return integer buffer
local function scratch(name, text, like)
  local buf = api.nvim_create_buf(false, true)
  pcall(api.nvim_buf_set_name, buf, name)
  local lines = vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })
  if lines[#lines] == "" then
    table.remove(lines)
  end
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].filetype = vim.filetype.match({ filename = like, buf = buf }) or ""
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  return buf
end

---@param buf integer
local function show_in_diff(buf)
  api.nvim_win_set_buf(0, buf)
  vim.cmd.diffthis()
end

---@param tab integer
---@param buf integer
local function q_closes(tab, buf)
  vim.keymap.set("n", "q", function()
    if api.nvim_tabpage_is_valid(tab) and #api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(api.nvim_tabpage_get_number(tab))
    end
  end, { buffer = buf, desc = "agentls: close the diff" })
end

---@param result agentls.ChangeShowResult
local function open(result)
  local item = result.change
  if not result.before and not result.now then
    return notice.say("This file is not text; it cannot be compared here.")
  end
  local before = scratch(
    ("agentls://before/%s/%s"):format(item.changeId, vim.fs.basename(item.path)),
    result.before or "",
    item.path
  )
  vim.cmd("tab split")
  local tab = api.nvim_get_current_tabpage()
  show_in_diff(before)
  vim.wo.winbar = "%#AgentlsNote# before turn " .. item.turn
  q_closes(tab, before)
  vim.cmd("rightbelow vsplit")
  if vim.uv.fs_stat(item.path) then
    local buf = vim.fn.bufadd(item.path)
    vim.bo[buf].buflisted = true
    show_in_diff(buf)
    vim.wo.winbar = "%#AgentlsNote# now"
  else
    local gone = scratch(("agentls://now/%s"):format(item.changeId), "", item.path)
    show_in_diff(gone)
    vim.wo.winbar = "%#AgentlsNote# now: deleted"
    q_closes(tab, gone)
  end
end

---@param item agentls.ChangeItem
local function diff(item)
  changes.texts(item.changeId, open)
end

---The file of this window before and after, or one that is chosen.
function M.diff()
  local here = vim.uv.fs_realpath(api.nvim_buf_get_name(0)) or ""
  local of_file = changes.of_file(here)
  if #of_file > 0 then
    return diff(of_file[1])
  end
  local all = changes.pending()
  if #all == 0 then
    return notice.say("No change of an agent waits for you.")
  end
  vim.ui.select(all, {
    prompt = "Compare",
    kind = "agentls_change",
    format_item = function(item)
      local path = vim.fn.fnamemodify(item.path, ":~:.")
      return ("%s (%s, %s in turn %d)"):format(path, item.type, item.agent, item.turn)
    end,
  }, function(item)
    if item then
      diff(item)
    end
  end)
end

return M
