---Files that an agent changed in the lines that a person has changed and not saved: both stay until they decide.
local client = require("agentls.client")
local events = require("agentls.events")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@type agentls.ConflictItem[]
local open = {}

---@param path string
---@return string
local function short(path)
  return vim.fn.fnamemodify(path, ":~:.")
end

---@return agentls.ConflictItem[]
function M.list()
  return open
end

---@param conflicts agentls.ConflictItem[]
local function learn(conflicts)
  local known = {}
  for _, it in ipairs(open) do
    known[it.path] = true
  end
  open = conflicts
  for _, it in ipairs(conflicts) do
    if not known[it.path] then
      local text = ("%s changed %s too: :Agent conflicts"):format(it.agent, short(it.path))
      notice.say(text, vim.log.levels.WARN)
    end
  end
end

---@param conflict agentls.ConflictItem
local function settle(conflict)
  local choices = {
    { take = "mine", text = ("Take mine: save it over what %s wrote"):format(conflict.agent) },
    { take = "agent", text = ("Take what %s wrote: drop my unsaved changes"):format(conflict.agent) },
    { take = "merge", text = "Merge by hand: put both into the text, marked" },
  }
  vim.ui.select(choices, {
    prompt = short(conflict.path),
    kind = "agentls_conflict",
    format_item = function(choice)
      return choice.text
    end,
  }, function(choice)
    if choice then
      local params = { path = conflict.path, take = choice.take }
      client.request(methods.conflict_settle, params, function(error, result)
        if error then
          return notice.error(error.message)
        end
        learn(result.conflicts)
        require("agentls.reload").check()
      end)
    end
  end)
end

---Decide about the conflict of this file, or about one that is chosen.
function M.choose()
  if #open == 0 then
    return notice.say("There is no file that you and an agent both changed.")
  end
  local here = vim.uv.fs_realpath(vim.api.nvim_buf_get_name(0))
  for _, it in ipairs(open) do
    if #open == 1 or it.path == here then
      return settle(it)
    end
  end
  vim.ui.select(open, {
    prompt = "Conflicts",
    kind = "agentls_conflict",
    format_item = function(it)
      return ("%s (you and %s)"):format(short(it.path), it.agent)
    end,
  }, function(it)
    if it then
      settle(it)
    end
  end)
end

client.handle(methods.conflict_did_change, function(params)
  learn(params.conflicts)
end)

events.on("Disconnected", function()
  open = {}
end)

return M
