---Terminals that Neovim runs itself, on the server's behalf, when `terminals = "run"` says so.
local api = vim.api
local client = require("agentls.client")
local protocol = require("agentls.protocol")
local window = require("agentls.terminals.window")

local methods = protocol.methods
local M = {}

---@class agentls.Running
---@field buf integer
---@field job integer
---@field params agentls.TerminalRunParams
---@field rest string bytes of a character that is not complete
---@field killed boolean
---@field started number in milliseconds of the loop

---@type table<string, agentls.Running>
local running = {}
---How long a command may take to end by itself, in milliseconds.
local GRACE = 2000

local function key(params)
  return params.sessionId .. "/" .. params.terminalId
end

---Whole characters, and the bytes of the one that is not complete yet.
---@param text string
---@return string whole, string rest
function M.whole(text)
  for back = 1, math.min(3, #text) do
    local byte = text:byte(#text - back + 1)
    if byte >= 0xC0 then
      local needed = byte >= 0xF0 and 4 or byte >= 0xE0 and 3 or 2
      if needed > back then
        return text:sub(1, #text - back), text:sub(#text - back + 1)
      end
      break
    elseif byte < 0x80 then
      break
    end
  end
  return text, ""
end

---@param it agentls.Running
---@param data string[]
local function tell(it, data)
  local whole, rest = M.whole(it.rest .. table.concat(data, "\n"))
  it.rest = rest
  if whole ~= "" then
    -- JSON has no way to carry bytes that are no text.
    local text = vim.fn.iconv(whole, "utf-8", "utf-8")
    client.notify(methods.terminal_output, {
      sessionId = it.params.sessionId,
      terminalId = it.params.terminalId,
      text = text ~= "" and text or whole:gsub("[\128-\255]", "?"),
    })
  end
end

---@param it agentls.Running
---@param code integer
local function ended(it, code)
  it.job = 0
  client.notify(methods.terminal_exited, {
    sessionId = it.params.sessionId,
    terminalId = it.params.terminalId,
    exitCode = not it.killed and code or nil,
    signal = it.killed and "SIGTERM" or nil,
  })
end

---@param it agentls.Running
---@return integer job, or what jobstart says instead
local function start(it)
  local options = {
    cwd = it.params.cwd,
    env = next(it.params.env) and it.params.env or nil,
    on_stdout = function(_, data)
      tell(it, data)
    end,
    on_exit = function(_, code)
      ended(it, code)
    end,
  }
  return api.nvim_buf_call(it.buf, function()
    if vim.fn.has("nvim-0.11") == 1 then
      options.term = true
      return vim.fn.jobstart(it.params.argv, options)
    end
    return vim.fn.termopen(it.params.argv, options)
  end)
end

---The server asks for a command to be run.
---@param params agentls.TerminalRunParams
---@return table? result, string? problem
function M.run(params)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  local it =
    { buf = buf, job = 0, params = params, rest = "", killed = false, started = vim.uv.hrtime() / 1e6 }
  running[key(params)] = it
  local ok, job = pcall(start, it)
  if not ok or job <= 0 then
    running[key(params)] = nil
    api.nvim_buf_delete(buf, { force = true })
    return nil, ("%s cannot be run"):format(params.argv[1] or "nothing")
  end
  it.job = job
  vim.bo[buf].filetype = "agentls-terminal"
  return vim.empty_dict(), nil
end

---Whether the process is the command already, and not still the copy of Neovim that becomes it. A signal to
---that copy would end Neovim: until the command runs, the two share the pipe that signals are read from.
---@param it agentls.Running
---@param pid integer
---@return boolean
local function has_begun(it, pid)
  local age = vim.uv.hrtime() / 1e6 - it.started
  local program = vim.uv.fs_readlink(("/proc/%d/exe"):format(pid))
  if program then
    return program ~= vim.uv.fs_readlink("/proc/self/exe") or age > GRACE
  end
  return age > 300
end

---It leads a group of its own, so a signal reaches what it started too.
---@param it agentls.Running
---@param pid integer
---@param name string
local function signal(it, pid, name)
  if it.job <= 0 then
    return
  elseif has_begun(it, pid) then
    vim.uv.kill(-pid, name)
  else
    vim.defer_fn(function()
      signal(it, pid, name)
    end, 10)
  end
end

---@param params agentls.TerminalParams
---@return table
function M.kill(params)
  local it = running[key(params)]
  if it and it.job > 0 then
    it.killed = true
    local pid = vim.fn.jobpid(it.job)
    signal(it, pid, "sigterm")
    vim.defer_fn(function()
      signal(it, pid, "sigkill")
    end, GRACE)
  end
  return vim.empty_dict()
end

---The agent needs it no longer; what it printed can still be read.
---@param params agentls.TerminalParams
---@return table
function M.release(params)
  return M.kill(params)
end

---@param item agentls.TerminalItem
function M.open(item)
  local it = running[key(item)]
  if it and api.nvim_buf_is_valid(it.buf) then
    return window.show(it.buf)
  end
  require("agentls.notice").say("This terminal is gone.")
end

return M
