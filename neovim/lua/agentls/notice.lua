---Says things in passing: one line at a time, never a "press ENTER" prompt, never into a command line.
local M = {}

---@type { text: string, level: integer }[]
local waiting = {}
local scheduled = false

local function one_line(text)
  text = text:gsub("%s+", " ")
  -- A message as wide as the screen makes Neovim ask for ENTER, and that would swallow a key.
  local room = math.max(20, vim.o.columns - 14)
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, room - 1) .. "…"
  end
  return text
end

local function typing_a_command()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or mode.mode:find("^[cr]") ~= nil
end

local flush

local function later(delay)
  scheduled = true
  vim.defer_fn(flush, delay)
end

flush = function()
  scheduled = false
  if #waiting == 0 then
    return
  end
  if typing_a_command() then
    return later(200)
  end
  -- One message for each pause: two in a row would scroll the screen.
  local first = table.remove(waiting, 1)
  vim.notify(one_line(first.text), first.level, { title = "agentls" })
  if #waiting > 0 then
    later(1500)
  end
end

---@param text string
---@param level? integer one of vim.log.levels, INFO by default
function M.say(text, level)
  for _, other in ipairs(waiting) do
    if other.text == text then
      return
    end
  end
  table.insert(waiting, { text = text, level = level or vim.log.levels.INFO })
  if not scheduled then
    later(0)
  end
end

---@param text string
function M.error(text)
  M.say(text, vim.log.levels.ERROR)
end

return M
