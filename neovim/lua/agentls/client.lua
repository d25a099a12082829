---The connection to the server: one language client for the whole editor, started when it is first needed.
---
---Nothing here waits: whoever asks for something gets it through a callback.
local config = require("agentls.config")
local events = require("agentls.events")
local protocol = require("agentls.protocol")

local M = {}

---@class agentls.RequestError
---@field code integer
---@field message string

---@type table?
local client
---@type (fun(error: agentls.RequestError?))[]
local waiting = {}
local starting = false
---Set while we stop the server ourselves.
local stopping = false
---@type table<string, fun(params: any): any, string?>
local handlers = {}
---The parts that listen to the server; each calls `handle` when it loads.
local listening = {
  "sessions",
  "asks",
  "follow",
  "reload",
  "save",
  "code",
  "terminals",
  "status",
  "changes.marks",
  "changes.lists",
  "conflicts",
}
local group = vim.api.nvim_create_augroup("agentls.client", {})

---Some versions of Neovim hand on null as `vim.NIL`, which is true; here absent is absent.
---@generic T
---@param value T
---@return T
local function without_nulls(value)
  if type(value) == "table" then
    for key, part in pairs(value) do
      if part == vim.NIL then
        value[key] = nil
      elseif type(part) == "table" then
        without_nulls(part)
      end
    end
  end
  return value
end

---Changes of agents have signs; as diagnostics, which are for editors without a plugin, they would be shown twice.
local function without_hints(error, result, ...)
  if result then
    result.diagnostics = vim.tbl_filter(function(it)
      return it.severity ~= vim.lsp.protocol.DiagnosticSeverity.Hint
    end, result.diagnostics)
  end
  return vim.lsp.handlers["textDocument/publishDiagnostics"](error, result, ...)
end

---What to do when the server sends this method. A request is answered with what the handler returns: a result,
---or nil and what is wrong.
---@param method string
---@param handler fun(params: any): any, string?
function M.handle(method, handler)
  handlers[method] = handler
end

local function attach(buf)
  if not client or vim.bo[buf].buftype ~= "" or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name ~= "" and not name:find("^%a[%w+.-]+://") then
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

local function attach_all()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    attach(buf)
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = group,
    callback = function(args)
      attach(args.buf)
    end,
  })
end

local function flush(error)
  starting = false
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(error)
  end
end

local function connected(new)
  client = new
  stopping = false
  attach_all()
  events.emit("Connected", {})
  flush(nil)
end

local function exited(code, signal)
  vim.schedule(function()
    local was = client
    local expected = stopping
    client, stopping = nil, false
    vim.api.nvim_clear_autocmds({ group = group })
    local how = signal ~= 0 and ("signal " .. signal) or ("code " .. code)
    if was or starting then
      flush({ code = 0, message = ("The agentls server ended (%s). :Agent log says more."):format(how) })
    end
    if was then
      events.emit("Disconnected", { expected = expected, how = how })
    end
  end)
end

---What the language client is started with. On Neovim 0.11 and later `vim.lsp.config` adds to it.
---@return table
function M.config()
  for _, part in ipairs(listening) do
    require("agentls." .. part)
  end
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  local runs_terminals = require("agentls.terminals").runs_them()
  capabilities.experimental = {
    agentls = {
      version = protocol.version,
      runsTerminals = runs_terminals,
      savesDocuments = true,
      knowsCode = true,
    },
  }
  local lsp_handlers = {}
  for method, handler in pairs(handlers) do
    lsp_handlers[method] = function(_, params)
      local result, problem = handler(without_nulls(params))
      if problem then
        return nil, vim.lsp.rpc_response_error(vim.lsp.protocol.ErrorCodes.InternalError, problem)
      end
      return result == nil and vim.NIL or result
    end
  end
  lsp_handlers["textDocument/publishDiagnostics"] = without_hints
  local found = require("agentls.server").find()
  return {
    name = "agentls",
    cmd = found and found.cmd or nil,
    root_dir = M.root(),
    capabilities = capabilities,
    init_options = next(config.get().settings) and config.get().settings or vim.empty_dict(),
    handlers = lsp_handlers,
    on_init = connected,
    on_exit = exited,
  }
end

---The folder that sessions work in: the project of the current file, or the current folder.
---@return string
function M.root()
  local cwd = vim.fn.getcwd()
  local name = vim.api.nvim_buf_get_name(0)
  if vim.bo.buftype ~= "" or name == "" then
    return vim.fs.root(cwd, ".git") or cwd
  end
  return vim.fs.root(0, ".git") or (vim.startswith(name, cwd .. "/") and cwd) or vim.fs.dirname(name)
end

local function start()
  starting = true
  local wanted = M.config()
  if vim.lsp.config then
    -- A copy, because looking it up resolves lsp/agentls.lua and what the person added.
    wanted = vim.tbl_extend("keep", { root_dir = wanted.root_dir }, vim.lsp.config.agentls or wanted)
  end
  if not wanted.cmd then
    local advice = require("agentls.server").advice
    return flush({ code = 0, message = "The agentls server was not found. " .. advice })
  end
  local id
  if vim.fn.has("nvim-0.11") == 1 then
    id = vim.lsp.start(wanted, { attach = false })
  else
    id = vim.lsp.start_client(wanted)
  end
  if not id then
    flush({ code = 0, message = "The agentls server could not be started. :Agent log says more." })
  end
end

---Call back when the server is there, or with why it is not.
---@param callback fun(error: agentls.RequestError?)
function M.ready(callback)
  if client then
    return callback(nil)
  end
  table.insert(waiting, callback)
  if not starting then
    start()
  end
end

---@return boolean
function M.is_connected()
  return client ~= nil
end

---@return integer? id of the language client
function M.id()
  return client and client.id
end

---@generic T
---@param method string
---@param params table
---@param callback? fun(error: agentls.RequestError?, result: any)
function M.request(method, params, callback)
  callback = callback
    or function(error)
      if error then
        require("agentls.notice").error(error.message)
      end
    end
  M.ready(function(error)
    if error then
      return callback(error, nil)
    end
    local body = next(params) and params or vim.empty_dict()
    local function answered(problem, result)
      callback(problem, without_nulls(result))
    end
    local current = assert(client)
    local sent
    if vim.fn.has("nvim-0.11") == 1 then
      sent = current:request(method, body, answered)
    else
      sent = current.request(method, body, answered)
    end
    if not sent then
      callback({ code = 0, message = "The agentls server is ending; try again in a moment." }, nil)
    end
  end)
end

---@param method string
---@param params table
function M.notify(method, params)
  if not client then
    return
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

---Stop the server; call back when it is gone.
---@param callback? fun()
function M.stop(callback)
  if not client then
    return callback and callback()
  end
  stopping = true
  local old = client
  if callback then
    local id
    id = vim.api.nvim_create_autocmd("User", {
      pattern = "AgentlsDisconnected",
      callback = function()
        vim.api.nvim_del_autocmd(id)
        callback()
      end,
    })
  end
  if vim.fn.has("nvim-0.11") == 1 then
    old:stop()
  else
    old.stop()
  end
end

---@param callback? fun(error: agentls.RequestError?)
function M.restart(callback)
  M.stop(function()
    M.ready(callback or function() end)
  end)
end

return M
