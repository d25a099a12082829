---What agents did to files, as far as the server knows: which changes there are, and deciding about them.
---
---The server has the last word on every hunk; here is what it said last.
local client = require("agentls.client")
local events = require("agentls.events")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@type table<string, agentls.ChangeItem>
local all = {}
---@type string[] ids, the oldest first
local order = {}
---@type agentls.ChangeDecideParams? what was undone last
local undone

---@param item agentls.ChangeItem
local function remember(item)
  item = vim.tbl_extend("keep", item, protocol.defaults.ChangeItem)
  for i, hunk in ipairs(item.hunks) do
    item.hunks[i] = vim.tbl_extend("keep", hunk, protocol.defaults.HunkItem)
  end
  if not all[item.changeId] then
    table.insert(order, item.changeId)
  end
  all[item.changeId] = item
end

---@param id string
local function forget(id)
  all[id] = nil
  for i, other in ipairs(order) do
    if other == id then
      table.remove(order, i)
      return
    end
  end
end

---@param items agentls.ChangeItem[]
---@param gone? string[]
local function learn(items, gone)
  local paths = {}
  for _, item in ipairs(items) do
    remember(item)
    paths[item.path] = true
  end
  for _, id in ipairs(gone or {}) do
    if all[id] then
      paths[all[id].path] = true
      forget(id)
    end
  end
  events.emit("Changes", { paths = vim.tbl_keys(paths) })
end

---@return agentls.ChangeItem[] those that are not decided, the oldest first
function M.pending()
  local found = {}
  for _, id in ipairs(order) do
    if all[id].pending then
      table.insert(found, all[id])
    end
  end
  return found
end

---@param path string
---@return agentls.ChangeItem[] those of a file that are not decided, the oldest first
function M.of_file(path)
  return vim.tbl_filter(function(item)
    return item.path == path
  end, M.pending())
end

---@param session string
---@return integer files of it that wait for a decision
function M.count(session)
  local paths = {}
  for _, item in ipairs(M.pending()) do
    if item.sessionId == session then
      paths[item.path] = true
    end
  end
  return vim.tbl_count(paths)
end

---@param id string
---@return agentls.ChangeItem?
function M.get(id)
  return all[id]
end

---@param item agentls.ChangeItem
---@return agentls.HunkItem[] those that are not decided
function M.hunks(item)
  return vim.tbl_filter(function(hunk)
    return hunk.state == "pending"
  end, item.hunks)
end

local said = { keep = "Kept", undo = "Undone", redo = "Done again", merge = "Merged" }

---@param refusal agentls.ChangeRefusal
---@param item agentls.ChangeItem as it is now
---@return boolean whether somebody altered what is to be undone, so that only a merge can
local function altered(refusal, item)
  return vim.iter(item.hunks or {}):any(function(hunk)
    return hunk.altered and vim.tbl_contains(refusal.hunkIds or {}, hunk.hunkId)
  end)
end

---@param refusal agentls.ChangeRefusal
local function explain(refusal)
  M.texts(refusal.changeId, function(result)
    if not altered(refusal, result.change) then
      return notice.error(refusal.why)
    end
    local options = { prompt = refusal.why, kind = "agentls_merge" }
    vim.ui.select({ "Merge", "Leave it" }, options, function(choice)
      if choice == "Merge" then
        M.decide({ verdict = "merge", changeId = refusal.changeId, hunkIds = refusal.hunkIds })
      end
    end)
  end)
end

---@param verdict string
---@param changes agentls.ChangeItem[]
local function report(verdict, changes)
  if #changes == 0 then
    return notice.say("There is nothing to decide.")
  end
  local one = vim.fn.fnamemodify(changes[1].path, ":~:.")
  notice.say(("%s: %s"):format(said[verdict], #changes == 1 and one or #changes .. " files"))
end

---@param params agentls.ChangeDecideParams
---@param callback? fun(result: agentls.ChangeDecideResult?)
function M.decide(params, callback)
  client.request(methods.change_decide, params, function(error, result)
    if error then
      notice.error(error.message)
    else
      learn(result.changes)
      vim.iter(result.refused or {}):each(explain)
      if #(result.refused or {}) == 0 then
        report(params.verdict, result.changes)
      end
      if params.verdict == "undo" then
        undone = vim.tbl_extend("force", params, { verdict = "redo" })
      end
    end
    if callback then
      callback(result)
    end
  end)
end

---Do again what was undone last.
function M.redo()
  if not undone then
    return notice.say("Nothing was undone.")
  end
  local again = undone
  undone = nil
  M.decide(again)
end

---@param id string
---@param callback fun(result: agentls.ChangeShowResult)
function M.texts(id, callback)
  client.request(methods.change_show, { changeId = id }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    callback(result)
  end)
end

client.handle(methods.change_did_change, function(params)
  learn(params.items, params.gone)
end)

events.on("Connected", function()
  client.request(methods.change_list, { pending = true }, function(error, result)
    if not error and #result.changes > 0 then
      learn(result.changes)
    end
  end)
end)

events.on("Disconnected", function()
  learn({}, vim.deepcopy(order))
end)

return M
