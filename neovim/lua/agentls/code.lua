---Tells the tools of agents what the other language servers of this editor know.
---
---Handlers may wait: Neovim answers a server in a coroutine.
local client = require("agentls.client")

local M = {}

local patience = 5000 -- milliseconds that language servers get
local severities = { "error", "warning", "information", "hint" }

---@param uri string
---@return integer? buf
local function loaded(uri)
  local buf = vim.fn.bufnr(vim.uri_to_fname(uri))
  return buf >= 0 and vim.api.nvim_buf_is_loaded(buf) and buf or nil
end

---The language servers to ask about a file: those of its buffer, or else those that would have it.
---@param method string
---@param uri string?
---@return vim.lsp.Client[]
local function servers(method, uri)
  local buf = uri and loaded(uri)
  local path = uri and vim.uri_to_fname(uri)
  local filetype = path and vim.filetype.match({ filename = path })
  return vim.tbl_filter(function(server)
    if server.name == "agentls" then
      return false
    elseif not path or buf then
      return true
    end
    local root, filetypes = server.config.root_dir, server.config.filetypes
    return (not root or vim.startswith(path, root .. "/"))
      and (not filetypes or vim.tbl_contains(filetypes, filetype))
  end, vim.lsp.get_clients({ bufnr = buf, method = method }))
end

---Ask all of them, and go on when the last has answered or time is up.
---@param method string
---@param asked vim.lsp.Client[]
---@param params fun(server: vim.lsp.Client): table
---@return table[] results
local function ask(method, asked, params)
  local waiting, over, results = #asked, false, {}
  local thread = coroutine.running()
  local function done()
    if not over and waiting == 0 then
      over = true
      vim.schedule(function()
        coroutine.resume(thread)
      end)
    end
  end
  for _, server in ipairs(asked) do
    local function answered(problem, result)
      if not problem and result then
        results[#results + 1] = { server = server, result = result }
      end
      waiting = waiting - 1
      done()
    end
    local sent
    if vim.fn.has("nvim-0.11") == 1 then
      sent = server:request(method, params(server), answered)
    else
      sent = server.request(method, params(server), answered)
    end
    if not sent then
      waiting = waiting - 1
    end
  end
  if #asked > 0 then
    vim.defer_fn(function()
      waiting = 0
      done()
    end, waiting > 0 and patience or 0)
    coroutine.yield()
  end
  return results
end

---@param kind integer?
local function kind_name(kind)
  local name = kind and vim.lsp.protocol.SymbolKind[kind]
  return name and name:lower() or ""
end

---@param place table Location, LocationLink or a range within `uri`
local function spot(place, uri, name, kind, inside)
  local range = place.targetSelectionRange or place.selectionRange or place.range
  return {
    uri = place.targetUri or place.uri or uri,
    line = range.start.line,
    character = range.start.character,
    name = name or "",
    kind = kind_name(kind),
    inside = inside or "",
  }
end

---@param found table[]
---@param uri string
---@param inside string
---@param spots table[]
local function add_symbols(found, uri, inside, spots)
  for _, symbol in ipairs(found) do
    local place = symbol.location or symbol
    spots[#spots + 1] = spot(place, uri, symbol.name, symbol.kind, symbol.containerName or inside)
    add_symbols(symbol.children or {}, uri, symbol.name, spots)
  end
end

---@param uri string
---@param line integer
---@param character integer in UTF-16
---@param encoding string
local function position(uri, line, character, encoding)
  local buf = loaded(uri)
  local text = buf and vim.api.nvim_buf_get_lines(buf, line, line + 1, false)[1]
    or vim.fn.readfile(vim.uri_to_fname(uri), "", line + 1)[line + 1]
  if encoding == "utf-16" or not text then
    return { line = line, character = character }
  end
  local before, units = "", 0
  for _, char in ipairs(vim.fn.split(text, [[\zs]])) do
    if units >= character then
      break
    end
    units = units + (#char > 3 and 2 or 1)
    before = before .. char
  end
  local column = encoding == "utf-8" and #before or vim.fn.strchars(before)
  return { line = line, character = column }
end

---@param method string
---@param more table?
local function at_place(method, more)
  return function(params)
    local asked = servers(method, params.uri)
    local results = ask(method, asked, function(server)
      return vim.tbl_extend("error", more or {}, {
        textDocument = { uri = params.uri },
        position = position(params.uri, params.line, params.character, server.offset_encoding),
      })
    end)
    local spots = {}
    for _, answer in ipairs(results) do
      local found = vim.islist(answer.result) and answer.result or { answer.result }
      for _, place in ipairs(found) do
        spots[#spots + 1] = spot(place)
      end
    end
    return { spots = spots, known = #results > 0 }
  end
end

---@param params { uri?: string }
function M.problems(params)
  local buf = nil
  if params.uri then
    buf = loaded(params.uri)
    if not buf then
      return { problems = {} }
    end
  end
  local problems = {}
  for _, problem in ipairs(vim.diagnostic.get(buf)) do
    if problem.source ~= "agentls" and vim.api.nvim_buf_get_name(problem.bufnr) ~= "" then
      problems[#problems + 1] = {
        uri = vim.uri_from_bufnr(problem.bufnr),
        line = problem.lnum,
        character = problem.col,
        severity = severities[problem.severity] or "error",
        message = problem.message,
        source = problem.source or "",
        code = problem.code and tostring(problem.code) or "",
      }
    end
  end
  return { problems = problems }
end

---@param params { uri: string }
function M.symbols(params)
  local method = "textDocument/documentSymbol"
  local results = ask(method, servers(method, params.uri), function()
    return { textDocument = { uri = params.uri } }
  end)
  local spots = {}
  for _, answer in ipairs(results) do
    add_symbols(answer.result, params.uri, "", spots)
  end
  return { spots = spots, known = #results > 0 }
end

---@param params { query: string }
function M.search(params)
  local results = ask("workspace/symbol", servers("workspace/symbol"), function()
    return { query = params.query }
  end)
  local spots = {}
  for _, answer in ipairs(results) do
    for _, symbol in ipairs(answer.result) do
      local place = symbol.location
      if place and place.range then
        spots[#spots + 1] = spot(place, place.uri, symbol.name, symbol.kind, symbol.containerName)
      end
    end
  end
  return { spots = spots, known = #results > 0 }
end

client.handle("agentls/code/problems", M.problems)
client.handle("agentls/code/definition", at_place("textDocument/definition"))
client.handle(
  "agentls/code/references",
  at_place("textDocument/references", { context = { includeDeclaration = true } })
)
client.handle("agentls/code/symbols", M.symbols)
client.handle("agentls/code/search", M.search)

return M
