---Where a prompt is written: an ordinary buffer with completion and history.
local api = vim.api
local config = require("agentls.config")

local M = {}

---What was sent in this editor, the oldest first, for all sessions.
---@type string[]
local history = {}
local HISTORY_LIMIT = 200

---@param buf integer
---@return string
local function text_of(buf)
  return table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
end

---@param buf integer
---@param text string
local function set_text(buf, text)
  local lines = vim.split(text, "\n", { plain = true })
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_set_cursor(win, { #lines, #lines[#lines] })
  end
end

---Go to an older (-1) or newer (1) prompt; what is being written is at the end.
---@param buf integer
---@param step integer
local function recall(buf, step)
  local state = vim.b[buf].agentls_history or { at = #history + 1, draft = "" }
  local at = state.at + step
  if at < 1 or at > #history + 1 then
    return
  end
  if state.at == #history + 1 then
    state.draft = text_of(buf)
  end
  state.at = at
  vim.b[buf].agentls_history = state
  set_text(buf, history[at] or state.draft)
end

---@param buf integer
---@param send fun(text: string)
local function submit(buf, send)
  local text = vim.trim(text_of(buf))
  if text == "" then
    return
  end
  if history[#history] ~= text then
    table.insert(history, text)
    if #history > HISTORY_LIMIT then
      table.remove(history, 1)
    end
  end
  vim.b[buf].agentls_history = nil
  set_text(buf, "")
  send(text)
end

---@param buf integer
---@param step integer
---@param key string what it does elsewhere
local function recall_at_edge(buf, step, key)
  return function()
    local line = api.nvim_win_get_cursor(0)[1]
    local edge = step < 0 and 1 or api.nvim_buf_line_count(buf)
    if line == edge and vim.fn.pumvisible() == 0 then
      vim.schedule(function()
        recall(buf, step)
      end)
      return ""
    end
    return key
  end
end

---@param id string of the session
---@param send fun(text: string)
---@return integer buffer
function M.create(id, send)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(buf, ("agentls://%s/prompt"):format(id))
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = "agentls-prompt"
  local function plug(modes, name, rhs, options)
    options = vim.tbl_extend("force", { buffer = buf, desc = "agentls: " .. name }, options or {})
    vim.keymap.set(modes, ("<Plug>(agentls-prompt-%s)"):format(name), rhs, options)
  end
  plug({ "n", "i" }, "send", function()
    submit(buf, send)
  end)
  plug("n", "older", function()
    recall(buf, -1)
  end)
  plug("n", "newer", function()
    recall(buf, 1)
  end)
  if config.get().keymaps then
    local remap = { buffer = buf, remap = true }
    vim.keymap.set("n", "<CR>", "<Plug>(agentls-prompt-send)", remap)
    vim.keymap.set({ "n", "i" }, "<C-s>", "<Plug>(agentls-prompt-send)", remap)
    vim.keymap.set("n", "<C-p>", "<Plug>(agentls-prompt-older)", remap)
    vim.keymap.set("n", "<C-n>", "<Plug>(agentls-prompt-newer)", remap)
    local expr = { buffer = buf, expr = true }
    vim.keymap.set("i", "<Up>", recall_at_edge(buf, -1, "<Up>"), expr)
    vim.keymap.set("i", "<Down>", recall_at_edge(buf, 1, "<Down>"), expr)
    vim.keymap.set({ "n", "i" }, "<C-c>", function()
      require("agentls.chat").stop(id)
    end, { buffer = buf, desc = "agentls: stop" })
    vim.keymap.set("n", "q", function()
      require("agentls.chat").close()
    end, { buffer = buf, desc = "agentls: close" })
  end
  require("agentls.completion").attach(buf, id)
  return buf
end

---@return string
function M.hint()
  return config.get().keymaps and "<C-s> sends, <C-c> stops" or ""
end

---Put a prompt that could not be sent back, in front of what has been written since.
---@param buf integer
---@param text string
function M.give_back(buf, text)
  local now = vim.trim(text_of(buf))
  set_text(buf, now == "" and text or (text .. "\n\n" .. now))
end

return M
