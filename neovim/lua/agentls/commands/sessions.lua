---Sessions wherever they are: chosen from a list, taken up, searched, renamed, put aside, written to a file.
local chat = require("agentls.chat")
local client = require("agentls.client")
local notice = require("agentls.notice")
local protocol = require("agentls.protocol")
local status = require("agentls.status")

local methods = protocol.methods
local M = {}

---Sessions that are offered at a time.
local PAGE = 50

---@param seconds number since the epoch
---@return string
local function ago(seconds)
  local past = math.max(0, os.time() - seconds)
  for _, unit in ipairs({ { 86400, "d" }, { 3600, "h" }, { 60, "min" } }) do
    if past >= unit[1] then
      return ("%d %s ago"):format(past / unit[1], unit[2])
    end
  end
  return "now"
end

---@param head agentls.SessionHead
---@return string
local function describe(head)
  local title = head.title ~= "" and head.title or "(nothing said yet)"
  local how = head.place == "past" and ago(head.lastSign) or status.words(head)
  local where = head.cwd == client.root() and "" or (" in " .. vim.fn.fnamemodify(head.cwd, ":~"))
  local name = (head.name or "") ~= "" and ("%s%s: "):format(("  "):rep(head.depth or 0) .. "↳ ", head.name)
    or ""
  return ("%s%s (%s, %s)%s"):format(name, (title:gsub("%s+", " ")), head.agent, how, where)
end

---The same with each session below the one that started it, and how deep that is.
---@param heads agentls.SessionHead[]
---@return agentls.SessionHead[]
function M.nested(heads)
  local known, below, found = {}, {}, {}
  for _, head in ipairs(heads) do
    known[head.id] = true
  end
  for _, head in ipairs(heads) do
    local above = known[head.orchestrator or ""] and head.orchestrator or ""
    below[above] = below[above] or {}
    table.insert(below[above], head)
  end
  local function add(above, depth)
    for _, head in ipairs(below[above] or {}) do
      table.insert(found, vim.tbl_extend("force", head, { depth = depth }))
      add(head.id, depth + 1)
    end
  end
  add("", 0)
  return found
end

---@param params agentls.SessionListParams
---@param prompt string
---@param chosen fun(head: agentls.SessionHead)
local function choose(params, prompt, chosen)
  params.limit = PAGE
  client.request(methods.session_list, params, function(error, result)
    if error then
      return notice.error(error.message)
    end
    local items = M.nested(result.sessions)
    if #items == 0 then
      return notice.say("There is no such session; :Agent new opens one.")
    end
    if (result.next or "") ~= "" then
      table.insert(items, { older = result.next })
    end
    vim.ui.select(items, {
      prompt = prompt,
      kind = "agentls_session",
      format_item = function(head)
        return head.older and "… older sessions" or describe(head)
      end,
    }, function(head)
      if head and head.older then
        choose(vim.tbl_extend("force", params, { after = head.older }), prompt, chosen)
      elseif head then
        chosen(head)
      end
    end)
  end)
end

---Choose one of all sessions, live and past.
function M.choose()
  choose({}, "Sessions", function(head)
    chat.open(head.id)
  end)
end

---@param id string
local function resume(id)
  chat.open(id)
  client.request(methods.session_resume, { sessionId = id })
end

---Take up a past session of this folder.
---@param words string somewhere in its title
function M.resume(words)
  local params = { places = { "past" }, cwd = client.root(), title = words ~= "" and words or nil }
  choose(params, "Resume", function(head)
    resume(head.id)
  end)
end

---@param words string
local function search(words)
  client.request(methods.search, { words = words }, function(error, result)
    if error then
      return notice.error(error.message)
    end
    if #result.hits == 0 then
      return notice.say(("Nobody has said %q in any session."):format(words))
    end
    vim.ui.select(result.hits, {
      prompt = "Found",
      kind = "agentls_hit",
      format_item = function(hit)
        local title = hit.title ~= "" and hit.title or hit.agent
        return ("%s: %s (%s)"):format(title, (hit.snippet:gsub("%s+", " ")), ago(hit.at))
      end,
    }, function(hit)
      if hit then
        chat.open_at(hit.sessionId, hit.entryId)
      end
    end)
  end)
end

---Search in all that was ever said, edited or run.
---@param words string
function M.search(words)
  if words ~= "" then
    return search(words)
  end
  vim.ui.input({ prompt = "Search in all sessions: " }, function(typed)
    if typed and vim.trim(typed) ~= "" then
      search(typed)
    end
  end)
end

---@param session agentls.Session
---@param title string
function M.rename(session, title)
  local function rename(wanted)
    client.request(methods.session_rename, { sessionId = session.id, title = wanted })
  end
  if title ~= "" then
    return rename(title)
  end
  vim.ui.input({ prompt = "Title: ", default = session.head.title }, function(typed)
    if typed then
      rename(vim.trim(typed))
    end
  end)
end

---Put it aside, or bring it back.
---@param session agentls.Session
function M.archive(session)
  local archived = not session.head.archived
  local params = { sessionId = session.id, archived = archived }
  client.request(methods.session_archive, params, function(error)
    if error then
      return notice.error(error.message)
    end
    session.head.archived = archived
    notice.say(archived and "Put aside; :Agent search still finds it." or "Brought back.")
  end)
end

---@param path string
---@param text string
local function write(path, text)
  local full = vim.fn.fnamemodify(path, ":p")
  if vim.uv.fs_stat(full) then
    return notice.error(("%s is there already; name another file."):format(path))
  end
  local file, problem = io.open(full, "w")
  if not file then
    return notice.error(("Not written: %s"):format(problem))
  end
  file:write(text)
  file:close()
  notice.say("Written to " .. path)
end

---@param text string
local function show(text)
  vim.cmd.tabnew()
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[buf].filetype = "markdown"
end

---As Markdown in a buffer, or in a file; as JSON when its name says so.
---@param session agentls.Session
---@param path string
function M.export(session, path)
  local format = path:find("%.json$") and "json" or "markdown"
  local params = { sessionId = session.id, format = format }
  client.request(methods.session_export, params, function(error, result)
    if error then
      return notice.error(error.message)
    end
    if path == "" then
      return show(result.markdown)
    end
    write(path, result[format])
  end)
end

return M
