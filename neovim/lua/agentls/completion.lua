---Completion in prompts: a language server inside the editor, so that everybody's completion works with it.
local api = vim.api
local context = require("agentls.context")
local sessions = require("agentls.sessions")

local M = {}

local KIND = { text = 1, func = 3, file = 17, reference = 18, event = 23 }
local FILE_LIMIT = 200

---@type table<integer, string> the session of each prompt buffer
local of_buffer = {}

local fixed = {
  { "selection", "The lines that were selected last" },
  { "diagnostics", "What is wrong in the last file" },
  { "diff", "What has changed since the last commit" },
  { "symbol:", "A symbol of the project" },
}

---@param word string what is written after the @
---@param done fun(names: string[])
local function files(word, done)
  local root = require("agentls.client").root()
  local function pick(names)
    local found = {}
    for _, name in ipairs(names) do
      if name ~= "" and name:lower():find(word:lower(), 1, true) then
        table.insert(found, name)
        if #found >= FILE_LIMIT then
          break
        end
      end
    end
    done(found)
  end
  local command = { "git", "ls-files", "--cached", "--others", "--exclude-standard" }
  local function listed(result)
    vim.schedule(function()
      if result.code == 0 then
        return pick(vim.split(result.stdout or "", "\n", { plain = true }))
      end
      local names = {}
      for name, kind in vim.fs.dir(root, { depth = 3 }) do
        if kind == "file" then
          table.insert(names, name)
        end
        if #names >= 2000 then
          break
        end
      end
      pick(names)
    end)
  end
  if not pcall(vim.system, command, { cwd = root, text = true, timeout = 2000 }, listed) then
    listed({ code = 1 })
  end
end

---@param label string
---@param kind integer
---@param detail string
---@param range table
---@param index integer
local function item(label, kind, detail, range, index)
  return {
    label = label,
    kind = kind,
    detail = detail ~= "" and detail or nil,
    filterText = label,
    sortText = ("%04d"):format(index),
    textEdit = { range = range, newText = label },
  }
end

---@param id string
---@param word string
---@param range table
---@return table[]
local function commands(id, word, range)
  local session = sessions.get(id)
  local items = {}
  for i, command in ipairs(session and session.head.commands or {}) do
    local label = "/" .. command.name
    if vim.startswith(label, word) then
      table.insert(items, item(label, KIND.func, command.description or "", range, i))
    end
  end
  return items
end

---@param word string begins with @
---@param range table
---@param done fun(items: table[])
local function mentions(word, range, done)
  local items = {}
  if vim.startswith(word, "@symbol:") then
    return context.symbols(word:sub(9), function(found)
      for i, symbol in ipairs(found) do
        local label = "@symbol:" .. symbol.name
        table.insert(items, item(label, KIND.reference, symbol.containerName or "", range, i))
      end
      done(items)
    end)
  end
  for i, entry in ipairs(fixed) do
    if vim.startswith("@" .. entry[1], word) then
      table.insert(items, item("@" .. entry[1], KIND.event, entry[2], range, i))
    end
  end
  files(word:sub(2), function(names)
    for i, name in ipairs(names) do
      table.insert(items, item("@" .. name, KIND.file, "", range, 10 + i))
    end
    done(items)
  end)
end

---@param params table CompletionParams
---@param done fun(items: table[])
function M.complete(params, done)
  local buf = vim.uri_to_bufnr(params.textDocument.uri)
  local position = params.position
  local line = api.nvim_buf_get_lines(buf, position.line, position.line + 1, false)[1] or ""
  local before = line:sub(1, math.max(0, vim.fn.byteidx(line, position.character, true)))
  local word = before:match("[@/]%S*$") or ""
  local start = #before - #word
  local edge = start == 0 or before:sub(start, start):find("[%s(]") ~= nil
  local range = {
    start = { line = position.line, character = vim.fn.strutf16len(before:sub(1, start)) },
    ["end"] = position,
  }
  if word:sub(1, 1) == "/" and start == 0 and position.line == 0 then
    done(commands(of_buffer[buf] or "", word, range))
  elseif word:sub(1, 1) == "@" and edge then
    mentions(word, range, done)
  else
    done({})
  end
end

---The server's side of the connection, without a process.
local function serve()
  local closing = false
  local id = 0
  return {
    request = function(method, params, callback)
      id = id + 1
      if method == "initialize" then
        local provider = { triggerCharacters = { "@", "/", ":" } }
        callback(nil, { capabilities = { completionProvider = provider, positionEncoding = "utf-16" } })
      elseif method == "textDocument/completion" then
        M.complete(params, function(items)
          -- Incomplete: files are looked for anew as the word grows.
          callback(nil, { isIncomplete = true, items = items })
        end)
      else
        callback(nil, nil)
      end
      return true, id
    end,
    notify = function()
      return true
    end,
    is_closing = function()
      return closing
    end,
    terminate = function()
      closing = true
    end,
  }
end

---@param buf integer
---@param session string
function M.attach(buf, session)
  of_buffer[buf] = session
  local client = vim.lsp.start(
    { name = "agentls-prompt", cmd = serve, root_dir = vim.uv.cwd() },
    { bufnr = buf }
  )
  if client and vim.lsp.completion and vim.lsp.completion.enable then
    vim.lsp.completion.enable(true, client, buf, { autotrigger = true })
  end
  api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      of_buffer[buf] = nil
    end,
  })
end

return M
