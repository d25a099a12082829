---Turns entries into lines of text. Pure: the same entry always gives the same lines.
---
---Lines below the head of a tool call or a thought begin with a bar, and colours go by the bar alone. The last
---of them is always the same: lines that are put in front of it are inside the fold that it ends.
local M = {}

---What the lines below a head line begin with.
M.bars = { output = "│ ", diff = "┃ ", thought = "┆ " }
M.closing = "╰"
---Longer lines make Neovim slow, and nobody reads them in a chat.
local LINE_LIMIT = 400
local HEAD_LIMIT = 160

---@param text string
---@return string[]
function M.split(text)
  if text:find("\r", 1, true) then
    -- All of them: the end of a line may come in two pieces.
    text = text:gsub("\r", "")
  end
  return vim.split(text, "\n", { plain = true })
end

---What a program printed, as a screen shows it in the end: after a carriage return a line begins anew.
---@param text string
---@return string[]
function M.printed(text)
  if text:find("\r", 1, true) then
    text = text:gsub("\r+\n", "\n"):gsub("[^\n]*\r", "")
  end
  return vim.split(text, "\n", { plain = true })
end

---@param text string
---@param limit integer
---@return string
local function short(text, limit)
  if #text <= limit then
    return text
  end
  return vim.fn.strcharpart(text:sub(1, limit * 4), 0, limit) .. "…"
end

local function plain(text)
  -- Colours and cursor movements of a program that believed it had a terminal.
  return (text:gsub("\27%[[%d;?]*%a", ""):gsub("\27%][^\7]*\7", ""):gsub("[%z\1-\8\11-\31]", ""))
end

local function count(number, word)
  local digits = tostring(number):reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return ("%s %s%s"):format(digits, word, number == 1 and "" or "s")
end

---@param lines string[]
---@param text string
---@param bar string
local function barred(lines, text, bar)
  table.insert(lines, (bar .. short(plain(text), LINE_LIMIT)):gsub("%s+$", "") .. "")
end

---@param body agentls.Body
---@return string[] lines without an empty one at the end
local function body_lines(body)
  local lines = M.printed(body.text)
  if lines[#lines] == "" then
    table.remove(lines)
  end
  return lines
end

local unified = vim.text and vim.text.diff or vim.diff

---@param diff agentls.DiffContent
---@return string[] lines, integer added, integer removed
function M.diff(diff)
  local old = diff.old and diff.old.text or ""
  local text = unified(old, diff.new.text, { ctxlen = 3, result_type = "unified" }) --[[@as string]]
  local lines, added, removed = {}, 0, 0
  for line in vim.gsplit(text, "\n", { plain = true, trimempty = true }) do
    local sign = line:sub(1, 1)
    added = added + (sign == "+" and 1 or 0)
    removed = removed + (sign == "-" and 1 or 0)
    if sign ~= "\\" then
      table.insert(lines, line)
    end
  end
  return lines, added, removed
end

---@class agentls.Details
---@field lines string[]
---@field notes string[] for the end of the head line
---@field cut boolean whether there is more than the lines

---@param details agentls.Details
---@param found string[]
---@param bar string
---@param room integer
---@param more boolean whether the text travelled cut
---@param ends boolean the end is what matters
local function add_part(details, found, bar, room, more, ends)
  local first, last = 1, #found
  if #found > room then
    details.cut = true
    if ends then
      first = #found - room + 1
    else
      last = room
    end
  end
  details.cut = details.cut or more
  if ends and (first > 1 or more) then
    table.insert(details.lines, bar .. "⋯")
  end
  for i = first, last do
    barred(details.lines, found[i], bar)
  end
  if not ends and (last < #found or more) then
    table.insert(details.lines, bar .. "⋯")
  end
end

---@param entry agentls.ToolCallEntry
---@param room integer
---@return agentls.Details
local function details_of(entry, room)
  local details = { lines = {}, notes = {}, cut = false }
  local bars = M.bars
  for _, part in ipairs(entry.content or {}) do
    if part.type == "diff" then
      local found, added, removed = M.diff(part)
      local more = part.new.cut or (part.old and part.old.cut) or false
      table.insert(details.notes, ("+%d -%d%s"):format(added, removed, more and "…" or ""))
      add_part(details, found, bars.diff, room, more, false)
    elseif part.type == "text" then
      local found = body_lines(part.body)
      add_part(details, found, bars.output, room, part.body.cut or false, false)
    elseif part.type == "block" then
      local name = part.block.name ~= "" and part.block.name or part.block.uri or part.block.kind
      barred(details.lines, ("[%s] %s"):format(part.block.kind, name or ""), bars.output)
    end
  end
  for _, terminal in ipairs(entry.terminals or {}) do
    local found = body_lines(terminal.output)
    add_part(details, found, bars.output, room, terminal.output.cut or false, true)
    if (terminal.exitCode or 0) ~= 0 then
      table.insert(details.notes, "exit " .. terminal.exitCode)
    elseif (terminal.signal or "") ~= "" then
      table.insert(details.notes, terminal.signal)
    end
  end
  return details
end

local status_icons = {
  pending = "pending",
  in_progress = "running",
  completed = "done",
  failed = "failed",
  rejected = "rejected",
  cancelled = "rejected",
  unfinished = "failed",
}

---@param entry agentls.ToolCallEntry
---@param options agentls.Config
---@return string[]
local function tool_call(entry, options)
  local icon = options.icons[status_icons[entry.status] or "pending"]
  local details = details_of(entry, options.chat.detail_lines)
  if details.cut then
    local size = 0
    for _, terminal in ipairs(entry.terminals or {}) do
      size = size + terminal.output.size
    end
    for _, part in ipairs(entry.content or {}) do
      size = size + (part.type == "text" and part.body.size or 0)
    end
    if size > 0 then
      table.insert(details.notes, ("%s in all, <CR> opens it"):format(count(size, "character")))
    else
      table.insert(details.notes, "<CR> opens it all")
    end
  end
  local title = short(plain((entry.title:gsub("%s*\n%s*", " "))), HEAD_LIMIT)
  local head = icon .. " " .. title
  if #details.notes > 0 then
    head = ("%s (%s)"):format(head, table.concat(details.notes, ", "))
  end
  if #details.lines > 0 then
    table.insert(details.lines, M.closing)
  end
  table.insert(details.lines, 1, head)
  return details.lines
end

local plan_marks = { completed = "x", in_progress = "~", pending = " " }

---@param entry agentls.PlanEntry
---@return string[]
local function plan(entry)
  local lines = { "**Plan**", "" }
  for _, step in ipairs(entry.steps) do
    local text = plain((step.text:gsub("%s*\n%s*", " ")))
    table.insert(lines, ("- [%s] %s"):format(plan_marks[step.status] or " ", text))
  end
  return lines
end

---What an ask is about, on one line; files of the project by their place in it.
---@param entry agentls.AskEntry
---@param cwd? string
---@return string
function M.subject(entry, cwd)
  local shown = (entry.shown or "") ~= "" and entry.shown or entry.title
  local what = plain((shown:gsub("%s*\n%s*", " ⏎ ")))
  if cwd and cwd ~= "" and vim.startswith(what, cwd .. "/") then
    what = what:sub(#cwd + 2)
  end
  return short(what, HEAD_LIMIT)
end

---@param entry agentls.AskEntry
---@param options agentls.Config
---@param cwd string
---@return string[]
local function ask(entry, options, cwd)
  local what = M.subject(entry, cwd)
  local decision = entry.decision
  if not decision then
    return { ("%s May I? %s (<CR> to answer)"):format(options.icons.ask, what) }
  end
  local by = decision.by == "you" and "you" or decision.by
  if decision.allowed then
    return { ("%s Allowed by %s: %s"):format(options.icons.done, by, what) }
  elseif decision.optionId then
    return { ("%s Rejected by %s: %s"):format(options.icons.rejected, by, what) }
  end
  return { ("%s Not answered (%s): %s"):format(options.icons.rejected, by, what) }
end

---@param entry agentls.QuestionEntry
---@param options agentls.Config
---@return string[]
local function question(entry, options)
  local to = (entry.to or "") ~= "" and (" to " .. plain(entry.to)) or ""
  local reply = entry.reply
  local lines = { ("%s Question%s:%s"):format(options.icons.ask, to, reply and "" or " (<CR> to answer)") }
  for _, line in ipairs(M.split(entry.text)) do
    barred(lines, line, M.bars.output)
  end
  if not reply then
    for _, option in ipairs(entry.options or {}) do
      barred(lines, "- " .. option, M.bars.output)
    end
  elseif type(reply.text) ~= "string" then
    table.insert(lines, ("%s Not answered (%s)"):format(options.icons.rejected, plain(reply.by)))
  else
    table.insert(lines, ("%s Answered by %s:"):format(options.icons.done, plain(reply.by)))
    for _, line in ipairs(M.split(reply.text)) do
      barred(lines, line, M.bars.output)
    end
  end
  return lines
end

local reasons = {
  cancelled = "Stopped.",
  max_tokens = "The agent stopped: it reached its limit of tokens.",
  max_turn_requests = "The agent stopped: it reached its limit of requests in one turn.",
  refusal = "The agent refuses to go on.",
}

---@param entry agentls.TurnEndEntry
---@return string[]
local function turn_end(entry)
  if (entry.error or "") ~= "" then
    return { "> **Error** " .. plain((entry.error:gsub("%s*\n%s*", " "))) }
  elseif entry.reason ~= "end_turn" then
    return { "> " .. (reasons[entry.reason] or ("The turn ended: " .. entry.reason .. ".")) }
  end
  return {}
end

---@param entry agentls.AttachmentEntry
---@return string[]
local function attachment(entry)
  local block = entry.block
  local name = (block.name or "") ~= "" and block.name or vim.fs.basename(block.uri or "")
  if (block.uri or "") ~= "" then
    return { ("- [%s](%s)"):format(name ~= "" and name or block.uri, block.uri) }
  end
  return { ("- [%s]"):format(name ~= "" and name or block.kind) }
end

---@param entry agentls.Entry
---@param options agentls.Config
---@param cwd string of the session
---@return string[]
function M.lines(entry, options, cwd)
  if entry.kind == "message" then
    local lines = M.split(entry.text)
    if entry.role ~= "thought" then
      return lines
    end
    for i, line in ipairs(lines) do
      lines[i] = M.bars.thought .. line
    end
    table.insert(lines, 1, "… Thinking")
    table.insert(lines, M.closing)
    return lines
  elseif entry.kind == "tool_call" then
    return tool_call(entry, options)
  elseif entry.kind == "plan" then
    return plan(entry)
  elseif entry.kind == "ask" then
    return ask(entry, options, cwd)
  elseif entry.kind == "question" then
    return question(entry, options)
  elseif entry.kind == "turn_end" then
    return turn_end(entry)
  elseif entry.kind == "notice" then
    return { ("> **%s** %s"):format(entry.level, plain((entry.text:gsub("%s*\n%s*", " ")))) }
  elseif entry.kind == "attachment" then
    return attachment(entry)
  end
  return { ("> The agent sent `%s`, which agentls does not know."):format(entry.update or entry.kind) }
end

---Text to add to the end of what `lines` gave for a message.
---@param entry agentls.MessageEntry
---@param text string
---@return string[]
function M.more(entry, text)
  local lines = M.split(text)
  if entry.role == "thought" then
    for i = 2, #lines do
      lines[i] = M.bars.thought .. lines[i]
    end
  end
  return lines
end

return M
