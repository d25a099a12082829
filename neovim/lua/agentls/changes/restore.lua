---Goes back to before a turn: first what that means for each file is shown, then a person decides.
local api = vim.api
local client = require("agentls.client")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")

local methods = protocol.methods
local M = {}

---@type string? the last one that was done
local done

local words = { changed = "changes", made = "comes back", removed = "is removed", none = "stays" }

---@param result agentls.ChangeRestoreResult
---@param turn integer
---@return string[]
local function describe(result, turn)
  local lines = { ("Go back to before turn %d:"):format(turn), "" }
  for _, file in ipairs(result.files) do
    local why = (file.why or "") ~= "" and (" (" .. file.why .. ")") or ""
    local path = vim.fn.fnamemodify(file.path, ":~:.")
    table.insert(lines, ("  %-11s %s%s"):format(words[file.effect] or file.effect, path, why))
  end
  vim.list_extend(lines, { "", "<CR> goes back    q leaves everything as it is" })
  return lines
end

---@param id string
---@param step "do"|"undo"
---@param text string
local function perform(id, step, text)
  client.request(methods.change_restore, { step = step, restoreId = id }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    done = step == "do" and result.restoreId or nil
    require("agentls.reload").check()
    local left = vim.tbl_filter(function(file)
      return file.effect == "none"
    end, result.files)
    notice.say(#left == 0 and text or ("%s %d files were left as they are."):format(text, #left))
  end)
end

---@param result agentls.ChangeRestoreResult
---@param turn integer
local function preview(result, turn)
  if #result.files == 0 then
    return notice.say("All files are as they were before that turn.")
  end
  local lines = describe(result, turn)
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].filetype = "agentls-restore"
  local height = math.min(#lines, math.floor(vim.o.lines / 2))
  local win = api.nvim_open_win(buf, true, { split = "below", win = -1, height = height })
  vim.wo[win].wrap = false
  local function map(key, action)
    vim.keymap.set("n", key, function()
      api.nvim_win_close(win, true)
      action()
    end, { buffer = buf, nowait = true })
  end
  map("<CR>", function()
    local text = ("Back to before turn %d; :Agent restore undo takes it back."):format(turn)
    perform(result.restoreId, "do", text)
  end)
  map("q", function() end)
end

---@param session string
---@param turn integer
local function plan(session, turn)
  client.request(methods.change_restore, { sessionId = session, turn = turn }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    preview(result, turn)
  end)
end

---@param session string
local function choose(session)
  client.request(methods.change_list, { sessionId = session }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    local turns, seen = {}, {}
    for i = #result.changes, 1, -1 do
      local item = result.changes[i]
      if not seen[item.turn] then
        seen[item.turn] = true
        table.insert(turns, item)
      end
    end
    if #turns == 0 then
      return notice.say("The agent has changed no file in this session.")
    end
    vim.ui.select(turns, {
      prompt = "Go back to before",
      kind = "agentls_turn",
      format_item = function(item)
        return ("turn %d: %s"):format(item.turn, (item.prompt:gsub("%s+", " ")))
      end,
    }, function(item)
      if item then
        plan(session, item.turn)
      end
    end)
  end)
end

---@param session string
---@param wanted string a turn, `undo`, or nothing to choose from a list
function M.start(session, wanted)
  if wanted == "undo" then
    if not done then
      return notice.say("Nothing was gone back to.")
    end
    return perform(done, "undo", "All files are as they were before you went back.")
  end
  local turn = tonumber(wanted)
  if wanted ~= "" and not turn then
    return notice.error("Say the number of a turn, or undo.")
  end
  if turn then
    return plan(session, turn)
  end
  choose(session)
end

return M
